-- Fits of lines to points.
import "points"

type line = {slope: f64, start: f64}
type kind = #rising | #falling | #level

entry residuals [n] (xs: [n]f64) (ys: [n]f64) (slope: f64) (start: f64) : [n]f64 =
  map2 (\x y -> y - at slope start x) xs ys

entry loss [n] (xs: [n]f64) (ys: [n]f64) (weights: [2]f64) : f64 =
  f64.sum (map (** 2) (residuals xs ys weights[0] weights[1]))
