-- Derivatives of statistics by their laws, and empty samples.

import "std/stats"

module s = stats_f64

-- Is the gradient the limit of differences, and in agreement with forward mode?
local
def laws [n] (f: [n]f64 -> f64) (x: [n]f64) : bool =
  let close x y = f64.abs (x - y) <= 1e-6 * (1 + f64.abs x)
  let v = map (\i -> f64.cos (f64.i64 i)) (iota n)
  let moved h = map2 (\x v -> x + h * v) x v
  let slope = f64.sum (map2 (*) (grad f x) v)
  in close slope ((f (moved 1e-5) - f (moved (-1e-5))) / 2e-5) && close slope (jvp f x v)

-- ==
-- entry: derivatives
-- input { [2.5, -1.0, 4.0, 0.5, 3.25] } output { [true, true, true, true, true, true, true, true] }
entry derivatives [n] (x: [n]f64) =
  let w = map (\i -> f64.i64 (i + 1)) (iota n)
  in [ laws s.mean x, laws (s.variance 1) x, laws (s.deviation 0) x, laws s.skewness x, laws s.excess_kurtosis x
     , laws (s.correlation w) x, laws (\x -> f64.sum (s.quantiles [0.1, 0.6] x)) x, laws (\x -> (s.linear_fit x w).slope) x ]

-- ==
-- entry: few
-- input { empty([0]f64) } output { f64.nan f64.nan f64.nan [0i64, 0i64] }
-- input { [3.0] } output { 3.0 0.0 3.0 [0i64, 0i64] }
-- input { [1.0, f64.nan, -0.5, 0.0] } output { f64.nan f64.nan 0.5 [1i64, 1i64] }
entry few (x: []f64) = (s.mean x, s.variance 0 x, s.median x, s.histogram 2 (0, 1) x)
