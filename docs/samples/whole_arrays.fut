-- Programs that are shown as operations on whole arrays.

-- | The product of two matrices.
entry product [n][m][p] (x: [n][m]f64) (y: [m][p]f64) : [n][p]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose y)) x

-- | The elements two places further, with a factor.
entry shifted [n] (xs: [n]f64) (factor: f64) : []f64 =
  map (\i -> factor * xs[i + 2]) (iota (n - 2))

-- | One step of the Collatz sequence.
entry step [n] (xs: [n]i64) : [n]i64 =
  map (\x -> if x % 2 == 0 then x / 2 else 3 * x + 1) xs

-- | How long the Collatz sequences of some numbers are.
entry collatz [n] (xs: [n]i64) : [n]i64 =
  map (\x -> (loop (a, steps) = (x, 0) while a > 1 do (if a % 2 == 0 then a / 2 else 3 * a + 1, steps + 1)).1) xs

-- | Elements that are looked up, with a check.
entry looked_up [n][m] (xs: [n]f64) (is: [m]i64) : [m]f64 =
  map (\i -> xs[i]) is

-- | The sums of rows that are parts of one array.
entry rows [n][m] (xs: [n]f64) (starts: [m]i64) (lengths: [m]i64) : [m]f64 =
  map2 (\start length -> f64.sum (map (\i -> xs[start + i]) (iota length))) starts lengths

-- | The gradient of a sum of squared distances.
entry gradient [n] (xs: [n]f64) (centre: f64) : f64 =
  vjp (\c -> f64.sum (map (\x -> (x - c) * (x - c)) xs)) centre 1

-- | Numbers up to a limit, one after the other, have another length for each limit.
entry joined [n] (limits: [n]i64) : [n]i64 =
  map (\limit -> i64.sum (iota limit ++ iota limit)) limits
