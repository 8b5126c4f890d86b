-- Handlers and references.
-- ==
-- entry: with_run_state
-- input { 5i64 } output { 10i64 7i64 }
-- ==
-- entry: with_yield_state
-- input { [3i64, 1i64, 2i64] } output { [3i64, 4i64, 6i64] }
-- ==
-- entry: with_run_accum
-- input { [3i64, 1i64, 2i64] } output { [9i64, 1i64, 4i64] 6i64 }
-- ==
-- entry: with_yield_accum
-- input { [0i64, 2i64, 2i64] } output { [1i64, 0i64, 2i64] [0.5f64, 0f64, 1f64] }
-- input { [0i64, -1i64] } error: out of bounds
-- ==
-- entry: with_run_accum_with
-- input { [3i64, 1i64, 2i64] } output { [false, true, false] 6i64 }
-- ==
-- entry: with_yield_accum_with
-- input { [true, false] } output { [true, false, true] }

entry with_run_state (x: i64) : (i64, i64) =
  run_state x (\s -> let before = get s in (s := before + 2; 2 * before))

entry with_yield_state [n] (xs: [n]i64) : [n]i64 =
  yield_state xs (\s -> loop () for i < n - 1 do s[i + 1] := get s[i + 1] + get s[i])

entry with_run_accum [n] (xs: [n]i64) : ([n]i64, i64) =
  run_accum (\h -> for i -> (h += xs[i]; xs[i] * xs[i]))

entry with_yield_accum [n] (is: [n]i64) : ([3]i64, [3]f64) =
  yield_accum (\h -> map (\i -> (h.0[i] += 1; h.1[i] += 0.5)) is)

entry with_run_accum_with [n] (xs: [n]i64) : ([n]bool, i64) =
  run_accum_with (*) 1 (\h -> for i -> (h += xs[i]; xs[i] == 1))

entry with_yield_accum_with [n] (xs: [n]bool) : [3]bool =
  yield_accum_with (||) false (\h -> for i -> (h[2 * ordinal i % 3] += xs[i]; h[2] += xs[i]))
