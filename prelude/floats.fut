-- | The floating-point types as modules.

import "numeric"
import "integers"

-- | Double precision: 53 bits of mantissa.
module f64 : (float with t = f64 with int_t = u64) = {
  type t = f64
  type int_t = u64

  -- Inside this module, `u64` is a conversion.
  local
  module bits = u64

  def (+) (x: f64) (y: f64) : f64 = x intrinsics.+ y
  def (-) (x: f64) (y: f64) : f64 = x intrinsics.- y
  def (*) (x: f64) (y: f64) : f64 = x intrinsics.* y
  def (/) (x: f64) (y: f64) : f64 = x intrinsics./ y
  def (%) (x: f64) (y: f64) : f64 = x intrinsics.% y
  def (**) (x: f64) (y: f64) : f64 = x intrinsics.** y

  def i8 (x: i8) : f64 = intrinsics.convert x
  def i16 (x: i16) : f64 = intrinsics.convert x
  def i32 (x: i32) : f64 = intrinsics.convert x
  def i64 (x: i64) : f64 = intrinsics.convert x
  def u8 (x: u8) : f64 = intrinsics.convert x
  def u16 (x: u16) : f64 = intrinsics.convert x
  def u32 (x: u32) : f64 = intrinsics.convert x
  def u64 (x: u64) : f64 = intrinsics.convert x
  def f16 (x: f16) : f64 = intrinsics.convert x
  def f32 (x: f32) : f64 = intrinsics.convert x
  def f64 (x: f64) : f64 = intrinsics.convert x
  def bool (x: bool) : f64 = intrinsics.convert x

  def from_fraction (x: i64) (y: i64) : f64 = i64 x / i64 y
  def to_i64 (x: f64) : i64 = intrinsics.convert x
  def to_f64 (x: f64) : f64 = intrinsics.convert x

  def (==) (x: f64) (y: f64) : bool = x intrinsics.== y
  def (!=) (x: f64) (y: f64) : bool = x intrinsics.!= y
  def (<) (x: f64) (y: f64) : bool = x intrinsics.< y
  def (<=) (x: f64) (y: f64) : bool = x intrinsics.<= y
  def (>) (x: f64) (y: f64) : bool = x intrinsics.> y
  def (>=) (x: f64) (y: f64) : bool = x intrinsics.>= y

  def neg (x: f64) : f64 = intrinsics.neg x
  def abs (x: f64) : f64 = intrinsics.abs x
  def sgn (x: f64) : f64 = intrinsics.sgn x
  def recip (x: f64) : f64 = 1f64 / x
  def max (x: f64) (y: f64) : f64 = intrinsics.max x y
  def min (x: f64) (y: f64) : f64 = intrinsics.min x y

  def sqrt (x: f64) : f64 = intrinsics.sqrt x
  def rsqrt (x: f64) : f64 = intrinsics.rsqrt x
  def cbrt (x: f64) : f64 = intrinsics.cbrt x
  def exp (x: f64) : f64 = intrinsics.exp x
  def log (x: f64) : f64 = intrinsics.log x
  def log2 (x: f64) : f64 = intrinsics.log2 x
  def log10 (x: f64) : f64 = intrinsics.log10 x
  def log1p (x: f64) : f64 = intrinsics.log1p x
  def sin (x: f64) : f64 = intrinsics.sin x
  def cos (x: f64) : f64 = intrinsics.cos x
  def tan (x: f64) : f64 = intrinsics.tan x
  def sinpi (x: f64) : f64 = intrinsics.sinpi x
  def cospi (x: f64) : f64 = intrinsics.cospi x
  def tanpi (x: f64) : f64 = intrinsics.tanpi x
  def asin (x: f64) : f64 = intrinsics.asin x
  def acos (x: f64) : f64 = intrinsics.acos x
  def atan (x: f64) : f64 = intrinsics.atan x
  def asinpi (x: f64) : f64 = intrinsics.asinpi x
  def acospi (x: f64) : f64 = intrinsics.acospi x
  def atanpi (x: f64) : f64 = intrinsics.atanpi x
  def sinh (x: f64) : f64 = intrinsics.sinh x
  def cosh (x: f64) : f64 = intrinsics.cosh x
  def tanh (x: f64) : f64 = intrinsics.tanh x
  def asinh (x: f64) : f64 = intrinsics.asinh x
  def acosh (x: f64) : f64 = intrinsics.acosh x
  def atanh (x: f64) : f64 = intrinsics.atanh x
  def atan2 (x: f64) (y: f64) : f64 = intrinsics.atan2 x y
  def atan2pi (x: f64) (y: f64) : f64 = intrinsics.atan2pi x y
  def hypot (x: f64) (y: f64) : f64 = intrinsics.hypot x y
  def gamma (x: f64) : f64 = intrinsics.gamma x
  def lgamma (x: f64) : f64 = intrinsics.lgamma x
  def erf (x: f64) : f64 = intrinsics.erf x
  def erfc (x: f64) : f64 = intrinsics.erfc x

  def ceil (x: f64) : f64 = intrinsics.ceil x
  def floor (x: f64) : f64 = intrinsics.floor x
  def trunc (x: f64) : f64 = intrinsics.trunc x
  def round (x: f64) : f64 = intrinsics.round x
  def lerp (from: f64) (to: f64) (part: f64) : f64 = intrinsics.lerp from to part
  def mad (a: f64) (b: f64) (c: f64) : f64 = intrinsics.mad a b c
  def fma (a: f64) (b: f64) (c: f64) : f64 = intrinsics.fma a b c

  def isinf (x: f64) : bool = intrinsics.isinf x
  def isnan (x: f64) : bool = intrinsics.isnan x
  def nextafter (x: f64) (y: f64) : f64 = intrinsics.nextafter x y
  def copysign (x: f64) (y: f64) : f64 = intrinsics.copysign x y
  def ldexp (x: f64) (power: i32) : f64 = intrinsics.ldexp x power

  def to_bits (x: f64) : u64 = intrinsics.to_bits_f64 x
  def from_bits (x: u64) : f64 = intrinsics.from_bits_f64 x
  def num_bits : i32 = 64
  def get_bit (bit: i32) (x: f64) : i32 = bits.get_bit bit (to_bits x)
  def set_bit (bit: i32) (x: f64) (b: i32) : f64 = from_bits (bits.set_bit bit (to_bits x) b)

  def inf : f64 = 1f64 / 0f64
  def nan : f64 = 0f64 / 0f64
  def highest : f64 = inf
  def lowest : f64 = neg inf
  def epsilon : f64 = 2.220446049250313e-16f64
  def pi : f64 = 3.14159265358979323846264338327950288f64
  def e : f64 = 2.71828182845904523536028747135266249f64

  def sum [n] (xs: [n]f64) : f64 = intrinsics.reduce (+) 0f64 xs
  def product [n] (xs: [n]f64) : f64 = intrinsics.reduce (*) 1f64 xs
  def maximum [n] (xs: [n]f64) : f64 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]f64) : f64 = intrinsics.reduce min highest xs
}

-- | Single precision: 24 bits of mantissa.
module f32 : (float with t = f32 with int_t = u32) = {
  type t = f32
  type int_t = u32

  -- Inside this module, `u32` is a conversion.
  local
  module bits = u32

  def (+) (x: f32) (y: f32) : f32 = x intrinsics.+ y
  def (-) (x: f32) (y: f32) : f32 = x intrinsics.- y
  def (*) (x: f32) (y: f32) : f32 = x intrinsics.* y
  def (/) (x: f32) (y: f32) : f32 = x intrinsics./ y
  def (%) (x: f32) (y: f32) : f32 = x intrinsics.% y
  def (**) (x: f32) (y: f32) : f32 = x intrinsics.** y

  def i8 (x: i8) : f32 = intrinsics.convert x
  def i16 (x: i16) : f32 = intrinsics.convert x
  def i32 (x: i32) : f32 = intrinsics.convert x
  def i64 (x: i64) : f32 = intrinsics.convert x
  def u8 (x: u8) : f32 = intrinsics.convert x
  def u16 (x: u16) : f32 = intrinsics.convert x
  def u32 (x: u32) : f32 = intrinsics.convert x
  def u64 (x: u64) : f32 = intrinsics.convert x
  def f16 (x: f16) : f32 = intrinsics.convert x
  def f32 (x: f32) : f32 = intrinsics.convert x
  def f64 (x: f64) : f32 = intrinsics.convert x
  def bool (x: bool) : f32 = intrinsics.convert x

  def from_fraction (x: i64) (y: i64) : f32 = i64 x / i64 y
  def to_i64 (x: f32) : i64 = intrinsics.convert x
  def to_f64 (x: f32) : f64 = intrinsics.convert x

  def (==) (x: f32) (y: f32) : bool = x intrinsics.== y
  def (!=) (x: f32) (y: f32) : bool = x intrinsics.!= y
  def (<) (x: f32) (y: f32) : bool = x intrinsics.< y
  def (<=) (x: f32) (y: f32) : bool = x intrinsics.<= y
  def (>) (x: f32) (y: f32) : bool = x intrinsics.> y
  def (>=) (x: f32) (y: f32) : bool = x intrinsics.>= y

  def neg (x: f32) : f32 = intrinsics.neg x
  def abs (x: f32) : f32 = intrinsics.abs x
  def sgn (x: f32) : f32 = intrinsics.sgn x
  def recip (x: f32) : f32 = 1f32 / x
  def max (x: f32) (y: f32) : f32 = intrinsics.max x y
  def min (x: f32) (y: f32) : f32 = intrinsics.min x y

  def sqrt (x: f32) : f32 = intrinsics.sqrt x
  def rsqrt (x: f32) : f32 = intrinsics.rsqrt x
  def cbrt (x: f32) : f32 = intrinsics.cbrt x
  def exp (x: f32) : f32 = intrinsics.exp x
  def log (x: f32) : f32 = intrinsics.log x
  def log2 (x: f32) : f32 = intrinsics.log2 x
  def log10 (x: f32) : f32 = intrinsics.log10 x
  def log1p (x: f32) : f32 = intrinsics.log1p x
  def sin (x: f32) : f32 = intrinsics.sin x
  def cos (x: f32) : f32 = intrinsics.cos x
  def tan (x: f32) : f32 = intrinsics.tan x
  def sinpi (x: f32) : f32 = intrinsics.sinpi x
  def cospi (x: f32) : f32 = intrinsics.cospi x
  def tanpi (x: f32) : f32 = intrinsics.tanpi x
  def asin (x: f32) : f32 = intrinsics.asin x
  def acos (x: f32) : f32 = intrinsics.acos x
  def atan (x: f32) : f32 = intrinsics.atan x
  def asinpi (x: f32) : f32 = intrinsics.asinpi x
  def acospi (x: f32) : f32 = intrinsics.acospi x
  def atanpi (x: f32) : f32 = intrinsics.atanpi x
  def sinh (x: f32) : f32 = intrinsics.sinh x
  def cosh (x: f32) : f32 = intrinsics.cosh x
  def tanh (x: f32) : f32 = intrinsics.tanh x
  def asinh (x: f32) : f32 = intrinsics.asinh x
  def acosh (x: f32) : f32 = intrinsics.acosh x
  def atanh (x: f32) : f32 = intrinsics.atanh x
  def atan2 (x: f32) (y: f32) : f32 = intrinsics.atan2 x y
  def atan2pi (x: f32) (y: f32) : f32 = intrinsics.atan2pi x y
  def hypot (x: f32) (y: f32) : f32 = intrinsics.hypot x y
  def gamma (x: f32) : f32 = intrinsics.gamma x
  def lgamma (x: f32) : f32 = intrinsics.lgamma x
  def erf (x: f32) : f32 = intrinsics.erf x
  def erfc (x: f32) : f32 = intrinsics.erfc x

  def ceil (x: f32) : f32 = intrinsics.ceil x
  def floor (x: f32) : f32 = intrinsics.floor x
  def trunc (x: f32) : f32 = intrinsics.trunc x
  def round (x: f32) : f32 = intrinsics.round x
  def lerp (from: f32) (to: f32) (part: f32) : f32 = intrinsics.lerp from to part
  def mad (a: f32) (b: f32) (c: f32) : f32 = intrinsics.mad a b c
  def fma (a: f32) (b: f32) (c: f32) : f32 = intrinsics.fma a b c

  def isinf (x: f32) : bool = intrinsics.isinf x
  def isnan (x: f32) : bool = intrinsics.isnan x
  def nextafter (x: f32) (y: f32) : f32 = intrinsics.nextafter x y
  def copysign (x: f32) (y: f32) : f32 = intrinsics.copysign x y
  def ldexp (x: f32) (power: i32) : f32 = intrinsics.ldexp x power

  def to_bits (x: f32) : u32 = intrinsics.to_bits_f32 x
  def from_bits (x: u32) : f32 = intrinsics.from_bits_f32 x
  def num_bits : i32 = 32
  def get_bit (bit: i32) (x: f32) : i32 = bits.get_bit bit (to_bits x)
  def set_bit (bit: i32) (x: f32) (b: i32) : f32 = from_bits (bits.set_bit bit (to_bits x) b)

  def inf : f32 = 1f32 / 0f32
  def nan : f32 = 0f32 / 0f32
  def highest : f32 = inf
  def lowest : f32 = neg inf
  def epsilon : f32 = 1.1920929e-7f32
  def pi : f32 = 3.14159265358979323846264338327950288f32
  def e : f32 = 2.71828182845904523536028747135266249f32

  def sum [n] (xs: [n]f32) : f32 = intrinsics.reduce (+) 0f32 xs
  def product [n] (xs: [n]f32) : f32 = intrinsics.reduce (*) 1f32 xs
  def maximum [n] (xs: [n]f32) : f32 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]f32) : f32 = intrinsics.reduce min highest xs
}

-- | Half precision: 11 bits of mantissa. Slow wherever the machine lacks it.
module f16 : (float with t = f16 with int_t = u16) = {
  type t = f16
  type int_t = u16

  -- Inside this module, `u16` is a conversion.
  local
  module bits = u16

  def (+) (x: f16) (y: f16) : f16 = x intrinsics.+ y
  def (-) (x: f16) (y: f16) : f16 = x intrinsics.- y
  def (*) (x: f16) (y: f16) : f16 = x intrinsics.* y
  def (/) (x: f16) (y: f16) : f16 = x intrinsics./ y
  def (%) (x: f16) (y: f16) : f16 = x intrinsics.% y
  def (**) (x: f16) (y: f16) : f16 = x intrinsics.** y

  def i8 (x: i8) : f16 = intrinsics.convert x
  def i16 (x: i16) : f16 = intrinsics.convert x
  def i32 (x: i32) : f16 = intrinsics.convert x
  def i64 (x: i64) : f16 = intrinsics.convert x
  def u8 (x: u8) : f16 = intrinsics.convert x
  def u16 (x: u16) : f16 = intrinsics.convert x
  def u32 (x: u32) : f16 = intrinsics.convert x
  def u64 (x: u64) : f16 = intrinsics.convert x
  def f16 (x: f16) : f16 = intrinsics.convert x
  def f32 (x: f32) : f16 = intrinsics.convert x
  def f64 (x: f64) : f16 = intrinsics.convert x
  def bool (x: bool) : f16 = intrinsics.convert x

  def from_fraction (x: i64) (y: i64) : f16 = i64 x / i64 y
  def to_i64 (x: f16) : i64 = intrinsics.convert x
  def to_f64 (x: f16) : f64 = intrinsics.convert x

  def (==) (x: f16) (y: f16) : bool = x intrinsics.== y
  def (!=) (x: f16) (y: f16) : bool = x intrinsics.!= y
  def (<) (x: f16) (y: f16) : bool = x intrinsics.< y
  def (<=) (x: f16) (y: f16) : bool = x intrinsics.<= y
  def (>) (x: f16) (y: f16) : bool = x intrinsics.> y
  def (>=) (x: f16) (y: f16) : bool = x intrinsics.>= y

  def neg (x: f16) : f16 = intrinsics.neg x
  def abs (x: f16) : f16 = intrinsics.abs x
  def sgn (x: f16) : f16 = intrinsics.sgn x
  def recip (x: f16) : f16 = 1f16 / x
  def max (x: f16) (y: f16) : f16 = intrinsics.max x y
  def min (x: f16) (y: f16) : f16 = intrinsics.min x y

  def sqrt (x: f16) : f16 = intrinsics.sqrt x
  def rsqrt (x: f16) : f16 = intrinsics.rsqrt x
  def cbrt (x: f16) : f16 = intrinsics.cbrt x
  def exp (x: f16) : f16 = intrinsics.exp x
  def log (x: f16) : f16 = intrinsics.log x
  def log2 (x: f16) : f16 = intrinsics.log2 x
  def log10 (x: f16) : f16 = intrinsics.log10 x
  def log1p (x: f16) : f16 = intrinsics.log1p x
  def sin (x: f16) : f16 = intrinsics.sin x
  def cos (x: f16) : f16 = intrinsics.cos x
  def tan (x: f16) : f16 = intrinsics.tan x
  def sinpi (x: f16) : f16 = intrinsics.sinpi x
  def cospi (x: f16) : f16 = intrinsics.cospi x
  def tanpi (x: f16) : f16 = intrinsics.tanpi x
  def asin (x: f16) : f16 = intrinsics.asin x
  def acos (x: f16) : f16 = intrinsics.acos x
  def atan (x: f16) : f16 = intrinsics.atan x
  def asinpi (x: f16) : f16 = intrinsics.asinpi x
  def acospi (x: f16) : f16 = intrinsics.acospi x
  def atanpi (x: f16) : f16 = intrinsics.atanpi x
  def sinh (x: f16) : f16 = intrinsics.sinh x
  def cosh (x: f16) : f16 = intrinsics.cosh x
  def tanh (x: f16) : f16 = intrinsics.tanh x
  def asinh (x: f16) : f16 = intrinsics.asinh x
  def acosh (x: f16) : f16 = intrinsics.acosh x
  def atanh (x: f16) : f16 = intrinsics.atanh x
  def atan2 (x: f16) (y: f16) : f16 = intrinsics.atan2 x y
  def atan2pi (x: f16) (y: f16) : f16 = intrinsics.atan2pi x y
  def hypot (x: f16) (y: f16) : f16 = intrinsics.hypot x y
  def gamma (x: f16) : f16 = intrinsics.gamma x
  def lgamma (x: f16) : f16 = intrinsics.lgamma x
  def erf (x: f16) : f16 = intrinsics.erf x
  def erfc (x: f16) : f16 = intrinsics.erfc x

  def ceil (x: f16) : f16 = intrinsics.ceil x
  def floor (x: f16) : f16 = intrinsics.floor x
  def trunc (x: f16) : f16 = intrinsics.trunc x
  def round (x: f16) : f16 = intrinsics.round x
  def lerp (from: f16) (to: f16) (part: f16) : f16 = intrinsics.lerp from to part
  def mad (a: f16) (b: f16) (c: f16) : f16 = intrinsics.mad a b c
  def fma (a: f16) (b: f16) (c: f16) : f16 = intrinsics.fma a b c

  def isinf (x: f16) : bool = intrinsics.isinf x
  def isnan (x: f16) : bool = intrinsics.isnan x
  def nextafter (x: f16) (y: f16) : f16 = intrinsics.nextafter x y
  def copysign (x: f16) (y: f16) : f16 = intrinsics.copysign x y
  def ldexp (x: f16) (power: i32) : f16 = intrinsics.ldexp x power

  def to_bits (x: f16) : u16 = intrinsics.to_bits_f16 x
  def from_bits (x: u16) : f16 = intrinsics.from_bits_f16 x
  def num_bits : i32 = 16
  def get_bit (bit: i32) (x: f16) : i32 = bits.get_bit bit (to_bits x)
  def set_bit (bit: i32) (x: f16) (b: i32) : f16 = from_bits (bits.set_bit bit (to_bits x) b)

  def inf : f16 = 1f16 / 0f16
  def nan : f16 = 0f16 / 0f16
  def highest : f16 = inf
  def lowest : f16 = neg inf
  def epsilon : f16 = 0.0009765625f16
  def pi : f16 = 3.14159265358979323846264338327950288f16
  def e : f16 = 2.71828182845904523536028747135266249f16

  def sum [n] (xs: [n]f16) : f16 = intrinsics.reduce (+) 0f16 xs
  def product [n] (xs: [n]f16) : f16 = intrinsics.reduce (*) 1f16 xs
  def maximum [n] (xs: [n]f16) : f16 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]f16) : f16 = intrinsics.reduce min highest xs
}
