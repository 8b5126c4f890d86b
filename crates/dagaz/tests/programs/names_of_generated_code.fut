-- Variables may have the names that generated code uses for itself: numbers follow both.
-- ==
-- entry: shift
-- input { [1.0, 2.0, 3.0] [1.0, 1.0, 1.0] [2.0, 0.0, 1.0] }
-- output { [2.0, 3.0, 4.0] [18.0, 27.0, 36.0] [-62.0, -53.0, -44.0] [1.0, 3.0, 2.0] }

-- ==
-- entry: calls
-- input { [1.0, 2.0] 0i64 } output { [3.0, 6.0] }
-- input { [1.0, 2.0] 2i64 } error: Index \[2\] out of bounds

entry shift [n] (task: [n]f64) (env: [n]f64) (site: [n]f64) =
  let sites = map (+ 1) task
  let constant = f64.sum sites
  let more = map (* constant) sites
  let total = f64.sum more
  in (sites, more, map2 (\x y -> x - total + y) env more, map2 (\x y -> x + sites[i64.f64 y] - 2 * y) env site)

def f_calls_0 [n] (f_calls: [n]f64) (dz_ctx: i64) : [n]f64 = map (\ctx -> ctx * (2 + f_calls[dz_ctx])) f_calls

entry calls [n] (f_calls: [n]f64) (dz_entry: i64) : [n]f64 = f_calls_0 f_calls dz_entry
