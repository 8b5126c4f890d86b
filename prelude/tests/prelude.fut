-- What the root of the prelude adds.
-- ==
-- entry: conversions
-- input { 3 2.7f32 -2.7 } output { 3.0f32 3.0 2 -2 }
entry conversions (x: i32) (y: f32) (z: f64) = (r32 x, r64 x, t32 y, t64 z)

-- ==
-- entry: unchanged
-- input { 3 true } output { false 3 3 3 }
entry unchanged (x: i32) (b: bool) = (not b, opaque x, trace x, break x)

-- Modules can be written for any number type.
-- ==
-- entry: generic
-- input { [1, 2] [0.5, 1.5] } output { 3 2.0 }
module mean_of (m: numeric) = {
  def total (xs: []m.t) : m.t = m.(sum xs + i32 0)
}

module ints = mean_of i32
module floats = mean_of f64

entry generic (xs: []i32) (ys: []f64) = (ints.total xs, floats.total ys)
