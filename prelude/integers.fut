-- | The integer types and `bool` as modules.

import "numeric"

-- | Truth values. A number is false if it is zero, and true otherwise.
module bool : from_prim with t = bool = {
  type t = bool

  def i8 (x: i8) : bool = intrinsics.convert x
  def i16 (x: i16) : bool = intrinsics.convert x
  def i32 (x: i32) : bool = intrinsics.convert x
  def i64 (x: i64) : bool = intrinsics.convert x
  def u8 (x: u8) : bool = intrinsics.convert x
  def u16 (x: u16) : bool = intrinsics.convert x
  def u32 (x: u32) : bool = intrinsics.convert x
  def u64 (x: u64) : bool = intrinsics.convert x
  def f16 (x: f16) : bool = intrinsics.convert x
  def f32 (x: f32) : bool = intrinsics.convert x
  def f64 (x: f64) : bool = intrinsics.convert x
  def bool (x: bool) : bool = x
}

-- | Signed integers of 8 bits. Arithmetic wraps around.
module i8 : (integral with t = i8) = {
  type t = i8

  def (+) (x: i8) (y: i8) : i8 = x intrinsics.+ y
  def (-) (x: i8) (y: i8) : i8 = x intrinsics.- y
  def (*) (x: i8) (y: i8) : i8 = x intrinsics.* y
  def (/) (x: i8) (y: i8) : i8 = x intrinsics./ y
  def (%) (x: i8) (y: i8) : i8 = x intrinsics.% y
  def (**) (x: i8) (y: i8) : i8 = x intrinsics.** y
  def (//) (x: i8) (y: i8) : i8 = x intrinsics.// y
  def (%%) (x: i8) (y: i8) : i8 = x intrinsics.%% y
  def (&) (x: i8) (y: i8) : i8 = x intrinsics.& y
  def (|) (x: i8) (y: i8) : i8 = x intrinsics.| y
  def (^) (x: i8) (y: i8) : i8 = x intrinsics.^ y
  def (<<) (x: i8) (y: i8) : i8 = x intrinsics.<< y
  def (>>) (x: i8) (y: i8) : i8 = x intrinsics.>> y
  def (>>>) (x: i8) (y: i8) : i8 = x intrinsics.>>> y
  def not (x: i8) : i8 = !x

  def i8 (x: i8) : i8 = intrinsics.convert x
  def i16 (x: i16) : i8 = intrinsics.convert x
  def i32 (x: i32) : i8 = intrinsics.convert x
  def i64 (x: i64) : i8 = intrinsics.convert x
  def u8 (x: u8) : i8 = intrinsics.convert x
  def u16 (x: u16) : i8 = intrinsics.convert x
  def u32 (x: u32) : i8 = intrinsics.convert x
  def u64 (x: u64) : i8 = intrinsics.convert x
  def f16 (x: f16) : i8 = intrinsics.convert x
  def f32 (x: f32) : i8 = intrinsics.convert x
  def f64 (x: f64) : i8 = intrinsics.convert x
  def bool (x: bool) : i8 = intrinsics.convert x

  def to_i64 (x: i8) : i64 = intrinsics.convert x

  def (==) (x: i8) (y: i8) : bool = x intrinsics.== y
  def (!=) (x: i8) (y: i8) : bool = x intrinsics.!= y
  def (<) (x: i8) (y: i8) : bool = x intrinsics.< y
  def (<=) (x: i8) (y: i8) : bool = x intrinsics.<= y
  def (>) (x: i8) (y: i8) : bool = x intrinsics.> y
  def (>=) (x: i8) (y: i8) : bool = x intrinsics.>= y

  def neg (x: i8) : i8 = intrinsics.neg x
  def abs (x: i8) : i8 = intrinsics.abs x
  def sgn (x: i8) : i8 = intrinsics.sgn x
  def max (x: i8) (y: i8) : i8 = intrinsics.max x y
  def min (x: i8) (y: i8) : i8 = intrinsics.min x y

  def highest : i8 = 127i8
  def lowest : i8 = not highest

  def num_bits : i32 = 8
  def get_bit (bit: i32) (x: i8) : i32 = intrinsics.convert ((x >> i32 bit) & 1i8)

  def set_bit (bit: i32) (x: i8) (b: i32) : i8 =
    (x & not (1i8 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: i8) : i32 = intrinsics.popc x
  def clz (x: i8) : i32 = intrinsics.clz x
  def ctz (x: i8) : i32 = intrinsics.ctz x
  def mul_hi (x: i8) (y: i8) : i8 = intrinsics.mul_hi x y
  def mad_hi (a: i8) (b: i8) (c: i8) : i8 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]i8) : i8 = intrinsics.reduce (+) 0i8 xs
  def product [n] (xs: [n]i8) : i8 = intrinsics.reduce (*) 1i8 xs
  def maximum [n] (xs: [n]i8) : i8 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]i8) : i8 = intrinsics.reduce min highest xs
}

-- | Signed integers of 16 bits. Arithmetic wraps around.
module i16 : (integral with t = i16) = {
  type t = i16

  def (+) (x: i16) (y: i16) : i16 = x intrinsics.+ y
  def (-) (x: i16) (y: i16) : i16 = x intrinsics.- y
  def (*) (x: i16) (y: i16) : i16 = x intrinsics.* y
  def (/) (x: i16) (y: i16) : i16 = x intrinsics./ y
  def (%) (x: i16) (y: i16) : i16 = x intrinsics.% y
  def (**) (x: i16) (y: i16) : i16 = x intrinsics.** y
  def (//) (x: i16) (y: i16) : i16 = x intrinsics.// y
  def (%%) (x: i16) (y: i16) : i16 = x intrinsics.%% y
  def (&) (x: i16) (y: i16) : i16 = x intrinsics.& y
  def (|) (x: i16) (y: i16) : i16 = x intrinsics.| y
  def (^) (x: i16) (y: i16) : i16 = x intrinsics.^ y
  def (<<) (x: i16) (y: i16) : i16 = x intrinsics.<< y
  def (>>) (x: i16) (y: i16) : i16 = x intrinsics.>> y
  def (>>>) (x: i16) (y: i16) : i16 = x intrinsics.>>> y
  def not (x: i16) : i16 = !x

  def i8 (x: i8) : i16 = intrinsics.convert x
  def i16 (x: i16) : i16 = intrinsics.convert x
  def i32 (x: i32) : i16 = intrinsics.convert x
  def i64 (x: i64) : i16 = intrinsics.convert x
  def u8 (x: u8) : i16 = intrinsics.convert x
  def u16 (x: u16) : i16 = intrinsics.convert x
  def u32 (x: u32) : i16 = intrinsics.convert x
  def u64 (x: u64) : i16 = intrinsics.convert x
  def f16 (x: f16) : i16 = intrinsics.convert x
  def f32 (x: f32) : i16 = intrinsics.convert x
  def f64 (x: f64) : i16 = intrinsics.convert x
  def bool (x: bool) : i16 = intrinsics.convert x

  def to_i64 (x: i16) : i64 = intrinsics.convert x

  def (==) (x: i16) (y: i16) : bool = x intrinsics.== y
  def (!=) (x: i16) (y: i16) : bool = x intrinsics.!= y
  def (<) (x: i16) (y: i16) : bool = x intrinsics.< y
  def (<=) (x: i16) (y: i16) : bool = x intrinsics.<= y
  def (>) (x: i16) (y: i16) : bool = x intrinsics.> y
  def (>=) (x: i16) (y: i16) : bool = x intrinsics.>= y

  def neg (x: i16) : i16 = intrinsics.neg x
  def abs (x: i16) : i16 = intrinsics.abs x
  def sgn (x: i16) : i16 = intrinsics.sgn x
  def max (x: i16) (y: i16) : i16 = intrinsics.max x y
  def min (x: i16) (y: i16) : i16 = intrinsics.min x y

  def highest : i16 = 32767i16
  def lowest : i16 = not highest

  def num_bits : i32 = 16
  def get_bit (bit: i32) (x: i16) : i32 = intrinsics.convert ((x >> i32 bit) & 1i16)

  def set_bit (bit: i32) (x: i16) (b: i32) : i16 =
    (x & not (1i16 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: i16) : i32 = intrinsics.popc x
  def clz (x: i16) : i32 = intrinsics.clz x
  def ctz (x: i16) : i32 = intrinsics.ctz x
  def mul_hi (x: i16) (y: i16) : i16 = intrinsics.mul_hi x y
  def mad_hi (a: i16) (b: i16) (c: i16) : i16 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]i16) : i16 = intrinsics.reduce (+) 0i16 xs
  def product [n] (xs: [n]i16) : i16 = intrinsics.reduce (*) 1i16 xs
  def maximum [n] (xs: [n]i16) : i16 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]i16) : i16 = intrinsics.reduce min highest xs
}

-- | Signed integers of 32 bits. Arithmetic wraps around.
module i32 : (integral with t = i32) = {
  type t = i32

  def (+) (x: i32) (y: i32) : i32 = x intrinsics.+ y
  def (-) (x: i32) (y: i32) : i32 = x intrinsics.- y
  def (*) (x: i32) (y: i32) : i32 = x intrinsics.* y
  def (/) (x: i32) (y: i32) : i32 = x intrinsics./ y
  def (%) (x: i32) (y: i32) : i32 = x intrinsics.% y
  def (**) (x: i32) (y: i32) : i32 = x intrinsics.** y
  def (//) (x: i32) (y: i32) : i32 = x intrinsics.// y
  def (%%) (x: i32) (y: i32) : i32 = x intrinsics.%% y
  def (&) (x: i32) (y: i32) : i32 = x intrinsics.& y
  def (|) (x: i32) (y: i32) : i32 = x intrinsics.| y
  def (^) (x: i32) (y: i32) : i32 = x intrinsics.^ y
  def (<<) (x: i32) (y: i32) : i32 = x intrinsics.<< y
  def (>>) (x: i32) (y: i32) : i32 = x intrinsics.>> y
  def (>>>) (x: i32) (y: i32) : i32 = x intrinsics.>>> y
  def not (x: i32) : i32 = !x

  def i8 (x: i8) : i32 = intrinsics.convert x
  def i16 (x: i16) : i32 = intrinsics.convert x
  def i32 (x: i32) : i32 = intrinsics.convert x
  def i64 (x: i64) : i32 = intrinsics.convert x
  def u8 (x: u8) : i32 = intrinsics.convert x
  def u16 (x: u16) : i32 = intrinsics.convert x
  def u32 (x: u32) : i32 = intrinsics.convert x
  def u64 (x: u64) : i32 = intrinsics.convert x
  def f16 (x: f16) : i32 = intrinsics.convert x
  def f32 (x: f32) : i32 = intrinsics.convert x
  def f64 (x: f64) : i32 = intrinsics.convert x
  def bool (x: bool) : i32 = intrinsics.convert x

  def to_i64 (x: i32) : i64 = intrinsics.convert x

  def (==) (x: i32) (y: i32) : bool = x intrinsics.== y
  def (!=) (x: i32) (y: i32) : bool = x intrinsics.!= y
  def (<) (x: i32) (y: i32) : bool = x intrinsics.< y
  def (<=) (x: i32) (y: i32) : bool = x intrinsics.<= y
  def (>) (x: i32) (y: i32) : bool = x intrinsics.> y
  def (>=) (x: i32) (y: i32) : bool = x intrinsics.>= y

  def neg (x: i32) : i32 = intrinsics.neg x
  def abs (x: i32) : i32 = intrinsics.abs x
  def sgn (x: i32) : i32 = intrinsics.sgn x
  def max (x: i32) (y: i32) : i32 = intrinsics.max x y
  def min (x: i32) (y: i32) : i32 = intrinsics.min x y

  def highest : i32 = 2147483647i32
  def lowest : i32 = not highest

  def num_bits : i32 = 32
  def get_bit (bit: i32) (x: i32) : i32 = intrinsics.convert ((x >> i32 bit) & 1i32)

  def set_bit (bit: i32) (x: i32) (b: i32) : i32 =
    (x & not (1i32 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: i32) : i32 = intrinsics.popc x
  def clz (x: i32) : i32 = intrinsics.clz x
  def ctz (x: i32) : i32 = intrinsics.ctz x
  def mul_hi (x: i32) (y: i32) : i32 = intrinsics.mul_hi x y
  def mad_hi (a: i32) (b: i32) (c: i32) : i32 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]i32) : i32 = intrinsics.reduce (+) 0i32 xs
  def product [n] (xs: [n]i32) : i32 = intrinsics.reduce (*) 1i32 xs
  def maximum [n] (xs: [n]i32) : i32 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]i32) : i32 = intrinsics.reduce min highest xs
}

-- | Signed integers of 64 bits. Arithmetic wraps around.
module i64 : (integral with t = i64) = {
  type t = i64

  def (+) (x: i64) (y: i64) : i64 = x intrinsics.+ y
  def (-) (x: i64) (y: i64) : i64 = x intrinsics.- y
  def (*) (x: i64) (y: i64) : i64 = x intrinsics.* y
  def (/) (x: i64) (y: i64) : i64 = x intrinsics./ y
  def (%) (x: i64) (y: i64) : i64 = x intrinsics.% y
  def (**) (x: i64) (y: i64) : i64 = x intrinsics.** y
  def (//) (x: i64) (y: i64) : i64 = x intrinsics.// y
  def (%%) (x: i64) (y: i64) : i64 = x intrinsics.%% y
  def (&) (x: i64) (y: i64) : i64 = x intrinsics.& y
  def (|) (x: i64) (y: i64) : i64 = x intrinsics.| y
  def (^) (x: i64) (y: i64) : i64 = x intrinsics.^ y
  def (<<) (x: i64) (y: i64) : i64 = x intrinsics.<< y
  def (>>) (x: i64) (y: i64) : i64 = x intrinsics.>> y
  def (>>>) (x: i64) (y: i64) : i64 = x intrinsics.>>> y
  def not (x: i64) : i64 = !x

  def i8 (x: i8) : i64 = intrinsics.convert x
  def i16 (x: i16) : i64 = intrinsics.convert x
  def i32 (x: i32) : i64 = intrinsics.convert x
  def i64 (x: i64) : i64 = intrinsics.convert x
  def u8 (x: u8) : i64 = intrinsics.convert x
  def u16 (x: u16) : i64 = intrinsics.convert x
  def u32 (x: u32) : i64 = intrinsics.convert x
  def u64 (x: u64) : i64 = intrinsics.convert x
  def f16 (x: f16) : i64 = intrinsics.convert x
  def f32 (x: f32) : i64 = intrinsics.convert x
  def f64 (x: f64) : i64 = intrinsics.convert x
  def bool (x: bool) : i64 = intrinsics.convert x

  def to_i64 (x: i64) : i64 = intrinsics.convert x

  def (==) (x: i64) (y: i64) : bool = x intrinsics.== y
  def (!=) (x: i64) (y: i64) : bool = x intrinsics.!= y
  def (<) (x: i64) (y: i64) : bool = x intrinsics.< y
  def (<=) (x: i64) (y: i64) : bool = x intrinsics.<= y
  def (>) (x: i64) (y: i64) : bool = x intrinsics.> y
  def (>=) (x: i64) (y: i64) : bool = x intrinsics.>= y

  def neg (x: i64) : i64 = intrinsics.neg x
  def abs (x: i64) : i64 = intrinsics.abs x
  def sgn (x: i64) : i64 = intrinsics.sgn x
  def max (x: i64) (y: i64) : i64 = intrinsics.max x y
  def min (x: i64) (y: i64) : i64 = intrinsics.min x y

  def highest : i64 = 9223372036854775807i64
  def lowest : i64 = not highest

  def num_bits : i32 = 64
  def get_bit (bit: i32) (x: i64) : i32 = intrinsics.convert ((x >> i32 bit) & 1i64)

  def set_bit (bit: i32) (x: i64) (b: i32) : i64 =
    (x & not (1i64 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: i64) : i32 = intrinsics.popc x
  def clz (x: i64) : i32 = intrinsics.clz x
  def ctz (x: i64) : i32 = intrinsics.ctz x
  def mul_hi (x: i64) (y: i64) : i64 = intrinsics.mul_hi x y
  def mad_hi (a: i64) (b: i64) (c: i64) : i64 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]i64) : i64 = intrinsics.reduce (+) 0i64 xs
  def product [n] (xs: [n]i64) : i64 = intrinsics.reduce (*) 1i64 xs
  def maximum [n] (xs: [n]i64) : i64 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]i64) : i64 = intrinsics.reduce min highest xs
}

-- | Unsigned integers of 8 bits. Arithmetic wraps around.
module u8 : (integral with t = u8) = {
  type t = u8

  def (+) (x: u8) (y: u8) : u8 = x intrinsics.+ y
  def (-) (x: u8) (y: u8) : u8 = x intrinsics.- y
  def (*) (x: u8) (y: u8) : u8 = x intrinsics.* y
  def (/) (x: u8) (y: u8) : u8 = x intrinsics./ y
  def (%) (x: u8) (y: u8) : u8 = x intrinsics.% y
  def (**) (x: u8) (y: u8) : u8 = x intrinsics.** y
  def (//) (x: u8) (y: u8) : u8 = x intrinsics.// y
  def (%%) (x: u8) (y: u8) : u8 = x intrinsics.%% y
  def (&) (x: u8) (y: u8) : u8 = x intrinsics.& y
  def (|) (x: u8) (y: u8) : u8 = x intrinsics.| y
  def (^) (x: u8) (y: u8) : u8 = x intrinsics.^ y
  def (<<) (x: u8) (y: u8) : u8 = x intrinsics.<< y

  local
  def to_signed (x: u8) : i8 = intrinsics.convert x

  def (>>) (x: u8) (y: u8) : u8 = intrinsics.convert (to_signed x intrinsics.>> to_signed y)
  def (>>>) (x: u8) (y: u8) : u8 = x intrinsics.>>> y
  def not (x: u8) : u8 = !x

  -- A signed number keeps its bits, and a narrower one gains zeros in front.
  def i8 (x: i8) : u8 = intrinsics.convert x
  def i16 (x: i16) : u8 = intrinsics.convert x
  def i32 (x: i32) : u8 = intrinsics.convert x
  def i64 (x: i64) : u8 = intrinsics.convert x
  def u8 (x: u8) : u8 = intrinsics.convert x
  def u16 (x: u16) : u8 = intrinsics.convert x
  def u32 (x: u32) : u8 = intrinsics.convert x
  def u64 (x: u64) : u8 = intrinsics.convert x
  def f16 (x: f16) : u8 = intrinsics.convert x
  def f32 (x: f32) : u8 = intrinsics.convert x
  def f64 (x: f64) : u8 = intrinsics.convert x
  def bool (x: bool) : u8 = intrinsics.convert x

  def to_i64 (x: u8) : i64 = intrinsics.convert x

  def (==) (x: u8) (y: u8) : bool = x intrinsics.== y
  def (!=) (x: u8) (y: u8) : bool = x intrinsics.!= y
  def (<) (x: u8) (y: u8) : bool = x intrinsics.< y
  def (<=) (x: u8) (y: u8) : bool = x intrinsics.<= y
  def (>) (x: u8) (y: u8) : bool = x intrinsics.> y
  def (>=) (x: u8) (y: u8) : bool = x intrinsics.>= y

  def neg (x: u8) : u8 = intrinsics.neg x
  def abs (x: u8) : u8 = intrinsics.abs x
  def sgn (x: u8) : u8 = intrinsics.sgn x
  def max (x: u8) (y: u8) : u8 = intrinsics.max x y
  def min (x: u8) (y: u8) : u8 = intrinsics.min x y

  def highest : u8 = 255u8
  def lowest : u8 = 0u8

  def num_bits : i32 = 8
  def get_bit (bit: i32) (x: u8) : i32 = intrinsics.convert ((x >> i32 bit) & 1u8)

  def set_bit (bit: i32) (x: u8) (b: i32) : u8 =
    (x & not (1u8 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: u8) : i32 = intrinsics.popc x
  def clz (x: u8) : i32 = intrinsics.clz x
  def ctz (x: u8) : i32 = intrinsics.ctz x
  def mul_hi (x: u8) (y: u8) : u8 = intrinsics.mul_hi x y
  def mad_hi (a: u8) (b: u8) (c: u8) : u8 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]u8) : u8 = intrinsics.reduce (+) 0u8 xs
  def product [n] (xs: [n]u8) : u8 = intrinsics.reduce (*) 1u8 xs
  def maximum [n] (xs: [n]u8) : u8 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]u8) : u8 = intrinsics.reduce min highest xs
}

-- | Unsigned integers of 16 bits. Arithmetic wraps around.
module u16 : (integral with t = u16) = {
  type t = u16

  def (+) (x: u16) (y: u16) : u16 = x intrinsics.+ y
  def (-) (x: u16) (y: u16) : u16 = x intrinsics.- y
  def (*) (x: u16) (y: u16) : u16 = x intrinsics.* y
  def (/) (x: u16) (y: u16) : u16 = x intrinsics./ y
  def (%) (x: u16) (y: u16) : u16 = x intrinsics.% y
  def (**) (x: u16) (y: u16) : u16 = x intrinsics.** y
  def (//) (x: u16) (y: u16) : u16 = x intrinsics.// y
  def (%%) (x: u16) (y: u16) : u16 = x intrinsics.%% y
  def (&) (x: u16) (y: u16) : u16 = x intrinsics.& y
  def (|) (x: u16) (y: u16) : u16 = x intrinsics.| y
  def (^) (x: u16) (y: u16) : u16 = x intrinsics.^ y
  def (<<) (x: u16) (y: u16) : u16 = x intrinsics.<< y

  local
  def to_signed (x: u16) : i16 = intrinsics.convert x

  def (>>) (x: u16) (y: u16) : u16 = intrinsics.convert (to_signed x intrinsics.>> to_signed y)
  def (>>>) (x: u16) (y: u16) : u16 = x intrinsics.>>> y
  def not (x: u16) : u16 = !x

  -- A signed number keeps its bits, and a narrower one gains zeros in front.
  def i8 (x: i8) : u16 = let bits : u8 = intrinsics.convert x in intrinsics.convert bits
  def i16 (x: i16) : u16 = intrinsics.convert x
  def i32 (x: i32) : u16 = intrinsics.convert x
  def i64 (x: i64) : u16 = intrinsics.convert x
  def u8 (x: u8) : u16 = intrinsics.convert x
  def u16 (x: u16) : u16 = intrinsics.convert x
  def u32 (x: u32) : u16 = intrinsics.convert x
  def u64 (x: u64) : u16 = intrinsics.convert x
  def f16 (x: f16) : u16 = intrinsics.convert x
  def f32 (x: f32) : u16 = intrinsics.convert x
  def f64 (x: f64) : u16 = intrinsics.convert x
  def bool (x: bool) : u16 = intrinsics.convert x

  def to_i64 (x: u16) : i64 = intrinsics.convert x

  def (==) (x: u16) (y: u16) : bool = x intrinsics.== y
  def (!=) (x: u16) (y: u16) : bool = x intrinsics.!= y
  def (<) (x: u16) (y: u16) : bool = x intrinsics.< y
  def (<=) (x: u16) (y: u16) : bool = x intrinsics.<= y
  def (>) (x: u16) (y: u16) : bool = x intrinsics.> y
  def (>=) (x: u16) (y: u16) : bool = x intrinsics.>= y

  def neg (x: u16) : u16 = intrinsics.neg x
  def abs (x: u16) : u16 = intrinsics.abs x
  def sgn (x: u16) : u16 = intrinsics.sgn x
  def max (x: u16) (y: u16) : u16 = intrinsics.max x y
  def min (x: u16) (y: u16) : u16 = intrinsics.min x y

  def highest : u16 = 65535u16
  def lowest : u16 = 0u16

  def num_bits : i32 = 16
  def get_bit (bit: i32) (x: u16) : i32 = intrinsics.convert ((x >> i32 bit) & 1u16)

  def set_bit (bit: i32) (x: u16) (b: i32) : u16 =
    (x & not (1u16 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: u16) : i32 = intrinsics.popc x
  def clz (x: u16) : i32 = intrinsics.clz x
  def ctz (x: u16) : i32 = intrinsics.ctz x
  def mul_hi (x: u16) (y: u16) : u16 = intrinsics.mul_hi x y
  def mad_hi (a: u16) (b: u16) (c: u16) : u16 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]u16) : u16 = intrinsics.reduce (+) 0u16 xs
  def product [n] (xs: [n]u16) : u16 = intrinsics.reduce (*) 1u16 xs
  def maximum [n] (xs: [n]u16) : u16 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]u16) : u16 = intrinsics.reduce min highest xs
}

-- | Unsigned integers of 32 bits. Arithmetic wraps around.
module u32 : (integral with t = u32) = {
  type t = u32

  def (+) (x: u32) (y: u32) : u32 = x intrinsics.+ y
  def (-) (x: u32) (y: u32) : u32 = x intrinsics.- y
  def (*) (x: u32) (y: u32) : u32 = x intrinsics.* y
  def (/) (x: u32) (y: u32) : u32 = x intrinsics./ y
  def (%) (x: u32) (y: u32) : u32 = x intrinsics.% y
  def (**) (x: u32) (y: u32) : u32 = x intrinsics.** y
  def (//) (x: u32) (y: u32) : u32 = x intrinsics.// y
  def (%%) (x: u32) (y: u32) : u32 = x intrinsics.%% y
  def (&) (x: u32) (y: u32) : u32 = x intrinsics.& y
  def (|) (x: u32) (y: u32) : u32 = x intrinsics.| y
  def (^) (x: u32) (y: u32) : u32 = x intrinsics.^ y
  def (<<) (x: u32) (y: u32) : u32 = x intrinsics.<< y

  local
  def to_signed (x: u32) : i32 = intrinsics.convert x

  def (>>) (x: u32) (y: u32) : u32 = intrinsics.convert (to_signed x intrinsics.>> to_signed y)
  def (>>>) (x: u32) (y: u32) : u32 = x intrinsics.>>> y
  def not (x: u32) : u32 = !x

  -- A signed number keeps its bits, and a narrower one gains zeros in front.
  def i8 (x: i8) : u32 = let bits : u8 = intrinsics.convert x in intrinsics.convert bits
  def i16 (x: i16) : u32 = let bits : u16 = intrinsics.convert x in intrinsics.convert bits
  def i32 (x: i32) : u32 = intrinsics.convert x
  def i64 (x: i64) : u32 = intrinsics.convert x
  def u8 (x: u8) : u32 = intrinsics.convert x
  def u16 (x: u16) : u32 = intrinsics.convert x
  def u32 (x: u32) : u32 = intrinsics.convert x
  def u64 (x: u64) : u32 = intrinsics.convert x
  def f16 (x: f16) : u32 = intrinsics.convert x
  def f32 (x: f32) : u32 = intrinsics.convert x
  def f64 (x: f64) : u32 = intrinsics.convert x
  def bool (x: bool) : u32 = intrinsics.convert x

  def to_i64 (x: u32) : i64 = intrinsics.convert x

  def (==) (x: u32) (y: u32) : bool = x intrinsics.== y
  def (!=) (x: u32) (y: u32) : bool = x intrinsics.!= y
  def (<) (x: u32) (y: u32) : bool = x intrinsics.< y
  def (<=) (x: u32) (y: u32) : bool = x intrinsics.<= y
  def (>) (x: u32) (y: u32) : bool = x intrinsics.> y
  def (>=) (x: u32) (y: u32) : bool = x intrinsics.>= y

  def neg (x: u32) : u32 = intrinsics.neg x
  def abs (x: u32) : u32 = intrinsics.abs x
  def sgn (x: u32) : u32 = intrinsics.sgn x
  def max (x: u32) (y: u32) : u32 = intrinsics.max x y
  def min (x: u32) (y: u32) : u32 = intrinsics.min x y

  def highest : u32 = 4294967295u32
  def lowest : u32 = 0u32

  def num_bits : i32 = 32
  def get_bit (bit: i32) (x: u32) : i32 = intrinsics.convert ((x >> i32 bit) & 1u32)

  def set_bit (bit: i32) (x: u32) (b: i32) : u32 =
    (x & not (1u32 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: u32) : i32 = intrinsics.popc x
  def clz (x: u32) : i32 = intrinsics.clz x
  def ctz (x: u32) : i32 = intrinsics.ctz x
  def mul_hi (x: u32) (y: u32) : u32 = intrinsics.mul_hi x y
  def mad_hi (a: u32) (b: u32) (c: u32) : u32 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]u32) : u32 = intrinsics.reduce (+) 0u32 xs
  def product [n] (xs: [n]u32) : u32 = intrinsics.reduce (*) 1u32 xs
  def maximum [n] (xs: [n]u32) : u32 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]u32) : u32 = intrinsics.reduce min highest xs
}

-- | Unsigned integers of 64 bits. Arithmetic wraps around.
module u64 : (integral with t = u64) = {
  type t = u64

  def (+) (x: u64) (y: u64) : u64 = x intrinsics.+ y
  def (-) (x: u64) (y: u64) : u64 = x intrinsics.- y
  def (*) (x: u64) (y: u64) : u64 = x intrinsics.* y
  def (/) (x: u64) (y: u64) : u64 = x intrinsics./ y
  def (%) (x: u64) (y: u64) : u64 = x intrinsics.% y
  def (**) (x: u64) (y: u64) : u64 = x intrinsics.** y
  def (//) (x: u64) (y: u64) : u64 = x intrinsics.// y
  def (%%) (x: u64) (y: u64) : u64 = x intrinsics.%% y
  def (&) (x: u64) (y: u64) : u64 = x intrinsics.& y
  def (|) (x: u64) (y: u64) : u64 = x intrinsics.| y
  def (^) (x: u64) (y: u64) : u64 = x intrinsics.^ y
  def (<<) (x: u64) (y: u64) : u64 = x intrinsics.<< y

  local
  def to_signed (x: u64) : i64 = intrinsics.convert x

  def (>>) (x: u64) (y: u64) : u64 = intrinsics.convert (to_signed x intrinsics.>> to_signed y)
  def (>>>) (x: u64) (y: u64) : u64 = x intrinsics.>>> y
  def not (x: u64) : u64 = !x

  -- A signed number keeps its bits, and a narrower one gains zeros in front.
  def i8 (x: i8) : u64 = let bits : u8 = intrinsics.convert x in intrinsics.convert bits
  def i16 (x: i16) : u64 = let bits : u16 = intrinsics.convert x in intrinsics.convert bits
  def i32 (x: i32) : u64 = let bits : u32 = intrinsics.convert x in intrinsics.convert bits
  def i64 (x: i64) : u64 = intrinsics.convert x
  def u8 (x: u8) : u64 = intrinsics.convert x
  def u16 (x: u16) : u64 = intrinsics.convert x
  def u32 (x: u32) : u64 = intrinsics.convert x
  def u64 (x: u64) : u64 = intrinsics.convert x
  def f16 (x: f16) : u64 = intrinsics.convert x
  def f32 (x: f32) : u64 = intrinsics.convert x
  def f64 (x: f64) : u64 = intrinsics.convert x
  def bool (x: bool) : u64 = intrinsics.convert x

  def to_i64 (x: u64) : i64 = intrinsics.convert x

  def (==) (x: u64) (y: u64) : bool = x intrinsics.== y
  def (!=) (x: u64) (y: u64) : bool = x intrinsics.!= y
  def (<) (x: u64) (y: u64) : bool = x intrinsics.< y
  def (<=) (x: u64) (y: u64) : bool = x intrinsics.<= y
  def (>) (x: u64) (y: u64) : bool = x intrinsics.> y
  def (>=) (x: u64) (y: u64) : bool = x intrinsics.>= y

  def neg (x: u64) : u64 = intrinsics.neg x
  def abs (x: u64) : u64 = intrinsics.abs x
  def sgn (x: u64) : u64 = intrinsics.sgn x
  def max (x: u64) (y: u64) : u64 = intrinsics.max x y
  def min (x: u64) (y: u64) : u64 = intrinsics.min x y

  def highest : u64 = 18446744073709551615u64
  def lowest : u64 = 0u64

  def num_bits : i32 = 64
  def get_bit (bit: i32) (x: u64) : i32 = intrinsics.convert ((x >> i32 bit) & 1u64)

  def set_bit (bit: i32) (x: u64) (b: i32) : u64 =
    (x & not (1u64 << i32 bit)) | (i32 b << i32 bit)

  def popc (x: u64) : i32 = intrinsics.popc x
  def clz (x: u64) : i32 = intrinsics.clz x
  def ctz (x: u64) : i32 = intrinsics.ctz x
  def mul_hi (x: u64) (y: u64) : u64 = intrinsics.mul_hi x y
  def mad_hi (a: u64) (b: u64) (c: u64) : u64 = intrinsics.mad_hi a b c

  def sum [n] (xs: [n]u64) : u64 = intrinsics.reduce (+) 0u64 xs
  def product [n] (xs: [n]u64) : u64 = intrinsics.reduce (*) 1u64 xs
  def maximum [n] (xs: [n]u64) : u64 = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]u64) : u64 = intrinsics.reduce min highest xs
}
