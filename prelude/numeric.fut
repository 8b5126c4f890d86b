-- | What numeric modules have in common, as module types for writing code that works for many number types.

-- | Types whose values can be made from those of the primitive types. In the modules of the prelude:
--
-- * `true` becomes 1 and `false` becomes 0; a number becomes `false` exactly if it is 0;
-- * an integer that is too wide loses its upper bits;
-- * an integer that is too narrow is extended by its sign bit in a signed type, by zeros in an unsigned one;
-- * a float becomes an integer by rounding towards zero;
-- * an integer becomes the nearest float.
module type from_prim = {
  -- | The type of the values made.
  type t

  -- | From `i8`.
  val i8 : i8 -> t
  -- | From `i16`.
  val i16 : i16 -> t
  -- | From `i32`.
  val i32 : i32 -> t
  -- | From `i64`.
  val i64 : i64 -> t

  -- | From `u8`.
  val u8 : u8 -> t
  -- | From `u16`.
  val u16 : u16 -> t
  -- | From `u32`.
  val u32 : u32 -> t
  -- | From `u64`.
  val u64 : u64 -> t

  -- | From `f16`.
  val f16 : f16 -> t
  -- | From `f32`.
  val f32 : f32 -> t
  -- | From `f64`.
  val f64 : f64 -> t

  -- | From `bool`.
  val bool : bool -> t
}

-- | Numbers with arithmetic and an order.
module type numeric = {
  include from_prim

  -- | Sum.
  val (+) : t -> t -> t
  -- | Difference.
  val (-) : t -> t -> t
  -- | Product.
  val (*) : t -> t -> t
  -- | Quotient; integers round towards negative infinity.
  val (/) : t -> t -> t
  -- | Remainder that goes with `/`.
  val (%) : t -> t -> t
  -- | Power.
  val (**) : t -> t -> t

  -- | To `i64`.
  val to_i64 : t -> i64

  -- | Equal.
  val (==) : t -> t -> bool
  -- | Less.
  val (<) : t -> t -> bool
  -- | Greater.
  val (>) : t -> t -> bool
  -- | Less or equal.
  val (<=) : t -> t -> bool
  -- | Greater or equal.
  val (>=) : t -> t -> bool
  -- | Different.
  val (!=) : t -> t -> bool

  -- | The number with the opposite sign.
  val neg : t -> t
  -- | The greater of two numbers.
  val max : t -> t -> t
  -- | The smaller of two numbers.
  val min : t -> t -> t

  -- | The number without its sign.
  val abs : t -> t

  -- | -1, 0 or 1 for a number below, at or above zero.
  val sgn : t -> t

  -- | The greatest number of the type.
  val highest : t

  -- | The smallest number of the type, below zero if there are such.
  val lowest : t

  -- | The sum of all elements; zero if there are none.
  val sum [n] : [n]t -> t

  -- | The product of all elements; one if there are none.
  val product [n] : [n]t -> t

  -- | The greatest element; `lowest` if there are none.
  val maximum [n] : [n]t -> t

  -- | The smallest element; `highest` if there are none.
  val minimum [n] : [n]t -> t
}

-- | Integers, made of bits.
module type integral = {
  include numeric

  -- | Quotient that rounds towards zero. Differs from `/` only where one operand is negative.
  val (//) : t -> t -> t

  -- | Remainder that goes with `//`.
  val (%%) : t -> t -> t

  -- | Bits that are set in both.
  val (&) : t -> t -> t

  -- | Bits that are set in one or both.
  val (|) : t -> t -> t

  -- | Bits that are set in exactly one.
  val (^) : t -> t -> t

  -- | All bits turned over.
  val not : t -> t

  -- | Shift left; zeros come in.
  val (<<) : t -> t -> t

  -- | Shift right; copies of the upmost bit come in.
  val (>>) : t -> t -> t

  -- | Shift right; zeros come in.
  val (>>>) : t -> t -> t

  -- | How many bits the type has.
  val num_bits : i32

  -- | The bit at a position, counted from the lowest, as 0 or 1.
  val get_bit : i32 -> t -> i32

  -- | The number with the bit at a position replaced by the one given last.
  val set_bit : i32 -> t -> i32 -> t

  -- | How many bits are set.
  val popc : t -> i32

  -- | The upper half of the product in twice as many bits.
  val mul_hi : (x: t) -> (y: t) -> t

  -- | `mul_hi a b + c`.
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t

  -- | How many zeros precede the highest bit that is set; `num_bits` for zero.
  val clz : t -> i32

  -- | How many zeros follow the lowest bit that is set; `num_bits` for zero.
  val ctz : t -> i32
}

-- | Numbers that stand for real numbers, more or less exactly.
module type real = {
  include numeric

  -- | One divided by the number.
  val recip : t -> t

  -- | The quotient of two integers.
  val from_fraction : i64 -> i64 -> t

  -- | To `i64`, rounding towards zero.
  val to_i64 : t -> i64

  -- | To `f64`.
  val to_f64 : t -> f64

  -- | Square root.
  val sqrt : t -> t

  -- | One divided by the square root.
  val rsqrt : t -> t

  -- | Cube root.
  val cbrt : t -> t

  -- | `e` to the power of the number.
  val exp : t -> t

  -- | Sine of an angle in radians.
  val sin : t -> t
  -- | Cosine of an angle in radians.
  val cos : t -> t
  -- | Tangent of an angle in radians.
  val tan : t -> t

  -- | Sine of an angle in half turns: `sin (pi * x)`.
  val sinpi : t -> t
  -- | Cosine of an angle in half turns: `cos (pi * x)`.
  val cospi : t -> t
  -- | Tangent of an angle in half turns: `tan (pi * x)`.
  val tanpi : t -> t

  -- | Inverse sine, in radians.
  val asin : t -> t
  -- | Inverse cosine, in radians.
  val acos : t -> t
  -- | Inverse tangent, in radians.
  val atan : t -> t

  -- | Inverse sine, in half turns.
  val asinpi : t -> t
  -- | Inverse cosine, in half turns.
  val acospi : t -> t
  -- | Inverse tangent, in half turns.
  val atanpi : t -> t

  -- | Hyperbolic sine.
  val sinh : t -> t
  -- | Hyperbolic cosine.
  val cosh : t -> t
  -- | Hyperbolic tangent.
  val tanh : t -> t

  -- | Inverse hyperbolic sine.
  val asinh : t -> t
  -- | Inverse hyperbolic cosine.
  val acosh : t -> t
  -- | Inverse hyperbolic tangent.
  val atanh : t -> t

  -- | `atan2 y x` is the angle of the point `(x, y)`, in radians.
  val atan2 : t -> t -> t
  -- | `atan2pi y x` is the angle of the point `(x, y)`, in half turns.
  val atan2pi : t -> t -> t

  -- | The distance of the point `(x, y)` from the origin, without overflow on the way.
  val hypot : t -> t -> t

  -- | The gamma function.
  val gamma : t -> t

  -- | The natural logarithm of the absolute value of `gamma`.
  val lgamma : t -> t

  -- | The error function.
  val erf : t -> t

  -- | One minus the error function.
  val erfc : t -> t

  -- | `lerp a b part` lies between `a` and `b`: `part` is 0 for `a` and 1 for `b`.
  val lerp : t -> t -> t -> t

  -- | Natural logarithm.
  val log : t -> t

  -- | Logarithm with base 2.
  val log2 : t -> t

  -- | Logarithm with base 10.
  val log10 : t -> t

  -- | `log (1 + x)`, accurate near zero as well.
  val log1p : t -> t

  -- | The next whole number upwards.
  val ceil : t -> t

  -- | The next whole number downwards.
  val floor : t -> t

  -- | The next whole number towards zero.
  val trunc : t -> t

  -- | The nearest whole number, and the even one of two that are equally near.
  val round : t -> t

  -- | `a * b + c`, rounded once or twice, whichever is faster.
  val mad : (a: t) -> (b: t) -> (c: t) -> t

  -- | `a * b + c`, rounded once.
  val fma : (a: t) -> (b: t) -> (c: t) -> t

  -- | Is this infinity, of either sign?
  val isinf : t -> bool

  -- | Is this not a number?
  val isnan : t -> bool

  -- | Positive infinity.
  val inf : t

  -- | Not a number.
  val nan : t

  -- | The circumference of a circle divided by its diameter.
  val pi : t

  -- | The base of the natural logarithm.
  val e : t
}

-- | Floating-point numbers as IEEE 754 has them, with access to their bits.
module type float = {
  include real

  -- | The unsigned integer type with as many bits.
  type int_t

  -- | The float with the given bits.
  val from_bits : int_t -> t

  -- | The bits of a float.
  val to_bits : t -> int_t

  -- | How many bits the type has.
  val num_bits : i32

  -- | The bit at a position, counted from the lowest, as 0 or 1.
  val get_bit : i32 -> t -> i32

  -- | The number with the bit at a position replaced by the one given last.
  val set_bit : i32 -> t -> i32 -> t

  -- | The distance from 1 to the next greater number.
  val epsilon : t

  -- | The number next to `x` in the direction of `y`.
  val nextafter : (x: t) -> (y: t) -> t

  -- | The number times a power of two.
  val ldexp : t -> i32 -> t

  -- | The magnitude of `x` with the sign of `y`.
  val copysign : (x: t) -> (y: t) -> t
}
