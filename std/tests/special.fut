-- Derivatives of special functions by their laws, and values at edges.

import "std/special"

module s = special_f64

local def close (x: f64) (y: f64) : bool = f64.abs (x - y) <= 1e-6 * (1 + f64.abs x)

local def difference (f: f64 -> f64) (x: f64) : f64 =
  let h = 1e-6 * (1 + f64.abs x)
  in (f (x + h) - f (x - h)) / (2 * h)

-- Is the derivative at all points the limit of differences, in both modes?
local
def laws [n] (f: f64 -> f64) (xs: [n]f64) : bool =
  all (\x -> let slope = jvp f x 1 in close slope (difference f x) && close (grad f x) slope) xs

-- And is the second one that of the first?
local
def second [n] (f: f64 -> f64) (xs: [n]f64) : bool =
  all (\x -> close (jvp (grad f) x 1) (difference (grad f) x)) xs

-- ==
-- entry: of_one_number
-- input { } output { [true, true, true, true, true, true] }
entry of_one_number =
  [ laws s.digamma [0.3, 1, 4.5, -0.4]
  , laws s.trigamma [0.7, 3]
  , laws s.erf_inverse [-0.9, 0, 0.3, 0.6]
  , laws s.erfc_inverse [0.02, 0.7, 1.4]
  , laws s.normal_quantile [0.1, 0.5, 0.8] && laws s.normal_cdf [-2, 0, 1]
  , laws s.zeta [-3.3, -0.2, 0.4, 1.7, 5] ]

-- ==
-- entry: bessel
-- input { } output { [true, true, true, true, true, true, true, true] }
entry bessel =
  let both = [0.2, 3, 24, 27, -2, -30, 0]
  let positive = [0.2, 0.9, 3, 24, 27]
  in [ laws s.bessel_j0 both, laws s.bessel_j1 both, laws s.bessel_y0 positive, laws s.bessel_y1 positive
     , laws (\x -> f64.exp (-(f64.abs x)) * s.bessel_i0 x) [0.2, 3, 27, -2], laws s.bessel_i1 [0, 1, -2]
     , laws s.bessel_k0 positive, laws s.bessel_k1 positive ]

-- ==
-- entry: of_several
-- input { } output { [true, true, true, true, true, true] }
entry of_several =
  [ laws (s.gamma_p 2.5) [0.4, 2, 9] && laws (s.gamma_q 12) [5, 14, 20]
  , laws (\a -> s.gamma_p a 3) [0.4, 2, 3, 12]
  , laws (s.beta_p 2 3.5) [0.1, 0.5, 0.9]
  , laws (\a -> s.beta_p a 3 0.4) [0.5, 2, 7]
  , laws (\b -> s.beta_p 3 b 0.4) [0.5, 2, 7]
  , laws (\a -> s.log_beta a 3) [0.3, 4, 40] && laws (\a -> s.log_beta 20 a) [0.3, 4, 40] ]

-- ==
-- entry: second_derivatives
-- input { } output { [true, true, true, true, true, true] }
entry second_derivatives =
  [ second s.digamma [0.3, 4.5], second s.erf_inverse [0.3], second s.erfc_inverse [0.02, 0.7]
  , second s.bessel_j1 [0, 3, 27], second s.bessel_k0 [0.2, 3, 27], second (\a -> s.gamma_p a 3) [2, 12] ]

-- ==
-- entry: edges
-- input { } output { [-f64.inf, f64.inf, f64.nan] [f64.inf, -f64.inf, f64.nan] [0.0, 1.0, f64.nan] [0.0, 1.0, f64.nan] [1.0, 0.0, -f64.inf, f64.inf] }
entry edges =
  ( map s.erf_inverse [-1, 1, 1.5]
  , map s.erfc_inverse [0, 2, -0.1]
  , map (s.gamma_p 2) [0, f64.inf, -1]
  , map (s.beta_p 2 3) [0, 1, 2]
  , [s.bessel_j0 0, s.bessel_j1 f64.inf, s.bessel_y0 0, s.bessel_k1 0] )

-- ==
-- entry: single
-- tolerance: 1e-6
-- input { } output { [1.6448522f32, 0.76519769f32, 0.264241118f32, 1.0f32] }
entry single =
  [special_f32.normal_quantile 0.95, special_f32.bessel_j0 1, special_f32.gamma_p 2 1, special_f32.beta_p 1 1 1]
