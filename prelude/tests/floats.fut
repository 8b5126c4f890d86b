-- ==
-- entry: arithmetic
-- input { 7.0 2.0 } output { 9.0 5.0 14.0 3.5 1.0 49.0 -7.0 7.0 1.0 7.0 2.0 0.5 }
entry arithmetic (x: f64) (y: f64) =
  ( x f64.+ y
  , x f64.- y
  , x f64.* y
  , x f64./ y
  , x f64.% y
  , x f64.** y
  , f64.neg x
  , f64.abs (-x)
  , f64.sgn x
  , f64.max x y
  , f64.min x y
  , f64.recip y
  )

-- Inverse functions cancel out.
-- ==
-- entry: inverses
-- input { 0.5 } output { true }
-- input { 0.25 } output { true }
entry inverses (x: f64) =
  let same = \y -> f64.abs (x - y) < 1e-12
  in and [ same (f64.sqrt (x * x))
         , same (1 / f64.rsqrt x / f64.rsqrt x)
         , same (f64.cbrt (x * x * x))
         , same (f64.log (f64.exp x))
         , same (f64.log2 (2 ** x))
         , same (f64.log10 (10 ** x))
         , same (f64.exp (f64.log1p x) - 1)
         , same (f64.asin (f64.sin x))
         , same (f64.acos (f64.cos x))
         , same (f64.atan (f64.tan x))
         , same (f64.asinpi (f64.sinpi x))
         , same (f64.acospi (f64.cospi x))
         , same (f64.atanpi (f64.tanpi (x / 2)) * 2)
         , same (f64.asinh (f64.sinh x))
         , same (f64.acosh (f64.cosh x))
         , same (f64.atanh (f64.tanh x))
         , same (f64.tan (f64.atan2 x 1))
         , same (f64.tanpi (f64.atan2pi (x / 2) 1) * 2)
         , same (1 - f64.erfc x + x - f64.erf x)
         ]

-- ==
-- entry: special
-- input { 5.0 } output { 24.0 3.1780538 13.0 11.0 35.0 35.0 }
entry special (x: f64) =
  (f64.gamma x, f64.lgamma x, f64.hypot x 12, f64.lerp x 17 0.5, f64.mad x 6 x, f64.fma x 6 x)

-- Halves go to the even neighbour.
-- ==
-- entry: rounding
-- input { [2.5, 3.5, -2.5, 1.2] } output { [3.0, 4.0, -2.0, 2.0] [2.0, 3.0, -3.0, 1.0] [2.0, 3.0, -2.0, 1.0] [2.0, 4.0, -2.0, 1.0] }
entry rounding (xs: []f64) = (map f64.ceil xs, map f64.floor xs, map f64.trunc xs, map f64.round xs)

-- ==
-- entry: infinities
-- input { } output { true true true true false true true }
entry infinities =
  ( f64.isinf f64.inf
  , f64.isnan f64.nan
  , f64.inf == f64.highest
  , f64.lowest == -f64.inf
  , f64.nan == f64.nan
  , f32.isinf f32.inf
  , f16.isnan f16.nan
  )

-- The epsilon is the gap above one.
-- ==
-- entry: epsilons
-- input { } output { true true true }
entry epsilons =
  ( f64.nextafter 1 2 == 1 + f64.epsilon
  , f32.nextafter 1 2 == 1 + f32.epsilon
  , f16.nextafter 1 2 == 1 + f16.epsilon
  )

-- ==
-- entry: representation
-- input { 1.0f32 } output { 1065353216u32 1.0f32 0 -1.0f32 8.0f32 -1.0f32 32 }
entry representation (x: f32) =
  ( f32.to_bits x
  , f32.from_bits (f32.to_bits x)
  , f32.get_bit 31 x
  , f32.set_bit 31 x 1
  , f32.ldexp x 3
  , f32.copysign x (-2)
  , f32.num_bits
  )

-- ==
-- entry: constants
-- input { } output { 3.14159265 2.71828183 3.1415927f32 0.25 }
entry constants = (f64.pi, f64.e, f32.pi, f64.from_fraction 1 4)

-- ==
-- entry: folds
-- input { [3.0, -1.0, 2.0] } output { 4.0 -6.0 3.0 -1.0 }
-- input { empty([0]f64) } output { 0.0 1.0 -f64.inf f64.inf }
entry folds (xs: []f64) = (f64.sum xs, f64.product xs, f64.maximum xs, f64.minimum xs)

-- ==
-- entry: conversions
-- input { -3i8 250u8 1.5f32 } output { -3.0 250.0 1.5 1.5f16 1i64 1.0 1.5 }
entry conversions (a: i8) (b: u8) (c: f32) =
  (f64.i8 a, f64.u8 b, f64.f32 c, f16.f32 c, f32.to_i64 c, f64.bool true, f32.to_f64 c)
