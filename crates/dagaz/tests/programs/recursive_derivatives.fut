-- Derivatives of functions that call themselves.

def power (x: f64) (n: i64) : f64 = if n == 0 then 1 else x * power x (n - 1)

-- ==
-- entry: of_power
-- input { 2.0 5i64 } output { 80.0 80.0 160.0 160.0 160.0 160.0 }
-- input { 2.0 0i64 } output { 0.0 0.0 0.0 0.0 0.0 0.0 }
entry of_power (x: f64) (n: i64) : (f64, f64, f64, f64, f64, f64) =
  let f x = power x n
  let d x = jvp f x 1
  let r x = vjp f x 1
  in (d x, r x, jvp d x 1, jvp r x 1, vjp d x 1, vjp r x 1)

-- Halves of an array, whose sizes are known to the calls alone.
def total [n] (xs: [n]f64) : f64 =
  if n == 0 then 0
  else if n == 1 then xs[0] * xs[0]
  else total (take (n / 2) xs) + 2 * total (drop (n / 2) xs)

-- ==
-- entry: of_total
-- input { [1.0, 2.0, 3.0] } output { [2.0, 8.0, 24.0] [2.0, 8.0, 24.0] }
entry of_total [n] (xs: [n]f64) : ([n]f64, [n]f64) =
  (vjp total xs 1, map (\i -> jvp total xs (map (\j -> f64.bool (i == j)) (iota n))) (iota n))

-- Results whose sizes only the call knows, in an array that grows.
def powers (x: f64) (n: i64) : []f64 =
  if n == 0 then [] else let ps = powers x (n - 1) in ps ++ [if n == 1 then x else x * last ps]

-- ==
-- entry: of_powers
-- input { 2.0 3i64 } output { 17.0 17.0 }
entry of_powers (x: f64) (n: i64) : (f64, f64) =
  let f x = f64.sum (powers x n)
  in (vjp f x 1, jvp f x 1)

-- In a map and in a loop.
-- ==
-- entry: in_map_and_loop
-- input { [1.0, 2.0] } output { [24.0, 768.0] }
entry in_map_and_loop [n] (xs: [n]f64) : [n]f64 =
  vjp (\ys -> f64.sum (map (\y -> loop z = 1 for _i < 2 do z * power y 3 * 2) ys)) xs 1
