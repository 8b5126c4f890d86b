-- A linear recurrence, x[i] = a[i] x[i - 1] + b[i], as a scan of linear functions: the core of state-space models. The
-- objective is half the sum of squares of all x.
-- ==
-- entry: objective
-- input { [0.5f64, -1, 2] [1f64, 2, 3] } output { 13.5f64 }

-- ==
-- entry: derivative
-- input { [0.5f64, -1, 2] [1f64, 2, 3] } output { [0f64, 11, 5] [-10f64, 11, 5] }

def energy [n] (a: [n]f64, b: [n]f64) : f64 =
  let after (a, b) (c, d) = (a * c, b * c + d)
  let (_, xs) = unzip (scan after (1, 0) (zip a b))
  in 0.5 * f64.sum (map (\x -> x * x) xs)

entry objective [n] (a: [n]f64) (b: [n]f64) : f64 = energy (a, b)

entry derivative [n] (a: [n]f64) (b: [n]f64) : ([n]f64, [n]f64) = grad energy (a, b)
