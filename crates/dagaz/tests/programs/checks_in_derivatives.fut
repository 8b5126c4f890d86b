-- A derivative that does not need the result of the function stops where the function does.

def squares [n][m] (is: [m]i32) (xs: [n]f64) : f64 = f64.sum (map (\i -> xs[i] * xs[i]) is)

-- ==
-- entry: gradient
-- input { [0i32, 1] [1f64, 2] } output { [2f64, 4] }
-- input { [0i32, 99] [1f64, 2] } error: Index \[99\] out of bounds
-- input { [0i32, -1] [1f64, 2] } error: Index \[-1\] out of bounds
entry gradient [n][m] (is: [m]i32) (xs: [n]f64) : [n]f64 = grad (squares is) xs

-- ==
-- entry: second
-- input { [0i32, 1] [1f64, 2] } output { [2f64, 4] }
-- input { [0i32, 99] [1f64, 2] } error: Index \[99\] out of bounds
entry second [n][m] (is: [m]i32) (xs: [n]f64) : [n]f64 = (jvp2 (grad (squares is)) xs xs).1

-- A size that is negative stops the function, whether or not what has it is used.
def filled (n: i64) (x: f64) : f64 =
  let unused = replicate n x
  let range = map f64.i64 (iota n)
  in if n > 100 then f64.sum unused + f64.sum range else x * x

-- ==
-- entry: gradient_of_filled
-- input { 2i64 3f64 } output { 6f64 }
-- input { -1i64 3f64 } error: negative|-1
entry gradient_of_filled (n: i64) (x: f64) : f64 = vjp (filled n) x 1

-- ==
-- entry: tangent_of_filled
-- input { 2i64 3f64 } output { 6f64 }
-- input { -1i64 3f64 } error: negative|-1
entry tangent_of_filled (n: i64) (x: f64) : f64 = jvp (filled n) x 1

-- ==
-- entry: gradient_of_unused
-- input { 2i64 3f64 } output { 6f64 }
-- input { -1i64 3f64 } error: negative|-1
entry gradient_of_unused (n: i64) (x: f64) : f64 =
  vjp (\x -> let unused = replicate n x in if n == 7 then unused[0] else x * x) x 1

def nearest [n][d][m] (is: [m]i32) (xs: [n][d]f64) : f64 =
  f64.minimum (map (\c -> f64.sum (map (\i -> xs[c, i] * xs[c, i]) is)) (iota n))

-- ==
-- entry: gradient_of_nearest
-- input { [0i32] [[1f64, 2], [3, 4]] } output { [[2f64, 0], [0, 0]] }
-- input { [0i32, 2] [[1f64, 2], [3, 4]] } error: out of bounds
entry gradient_of_nearest [n][d][m] (is: [m]i32) (xs: [n][d]f64) : [n][d]f64 = grad (nearest is) xs
