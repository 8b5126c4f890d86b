-- The operations that the compiler itself provides, with their types.
--
-- The module `intrinsics` is in scope everywhere. The attribute `overload` says, for each type parameter in
-- turn, which primitive types it may stand for: `numeric`, `integral`, `float`, `prim` (any primitive type),
-- `bits` (integers and bool), `boolean`, or `equality` (anything without functions).

module type intrinsics = {
  -- Arithmetic. `/` and `%` round integers towards negative infinity, `//` and `%%` towards zero.
  #[overload(numeric)] val (+) 't : t -> t -> t
  #[overload(numeric)] val (-) 't : t -> t -> t
  #[overload(numeric)] val (*) 't : t -> t -> t
  #[overload(numeric)] val (/) 't : t -> t -> t
  #[overload(numeric)] val (%) 't : t -> t -> t
  #[overload(numeric)] val (**) 't : t -> t -> t
  #[overload(integral)] val (//) 't : t -> t -> t
  #[overload(integral)] val (%%) 't : t -> t -> t
  #[overload(numeric)] val neg 't : t -> t
  #[overload(numeric)] val abs 't : t -> t
  #[overload(numeric)] val sgn 't : t -> t
  #[overload(prim)] val min 't : t -> t -> t
  #[overload(prim)] val max 't : t -> t -> t

  -- Bits. `>>` is an arithmetic shift for signed types and a logical one for unsigned types; `>>>` is logical.
  #[overload(bits)] val not 't : t -> t
  #[overload(integral)] val (&) 't : t -> t -> t
  #[overload(integral)] val (|) 't : t -> t -> t
  #[overload(integral)] val (^) 't : t -> t -> t
  #[overload(integral)] val (<<) 't : t -> t -> t
  #[overload(integral)] val (>>) 't : t -> t -> t
  #[overload(integral)] val (>>>) 't : t -> t -> t
  #[overload(integral)] val popc 't : t -> i32
  #[overload(integral)] val clz 't : t -> i32
  #[overload(integral)] val ctz 't : t -> i32
  #[overload(integral)] val mul_hi 't : t -> t -> t
  #[overload(integral)] val mad_hi 't : t -> t -> t -> t

  -- Comparisons.
  #[overload(equality)] val (==) '^t : t -> t -> bool
  #[overload(equality)] val (!=) '^t : t -> t -> bool
  #[overload(prim)] val (<) 't : t -> t -> bool
  #[overload(prim)] val (<=) 't : t -> t -> bool
  #[overload(prim)] val (>) 't : t -> t -> bool
  #[overload(prim)] val (>=) 't : t -> t -> bool
  val (&&) : bool -> bool -> bool
  val (||) : bool -> bool -> bool

  -- Conversion between any two primitive types: floats are truncated and saturate, NaN becomes 0,
  -- integers wrap, and a number becomes a `bool` by comparing it with zero.
  #[overload(prim, prim)] val convert 'a 'b : a -> b

  -- Floating point.
  #[overload(float)] val sqrt 't : t -> t
  #[overload(float)] val rsqrt 't : t -> t
  #[overload(float)] val cbrt 't : t -> t
  #[overload(float)] val exp 't : t -> t
  #[overload(float)] val log 't : t -> t
  #[overload(float)] val log2 't : t -> t
  #[overload(float)] val log10 't : t -> t
  #[overload(float)] val log1p 't : t -> t
  #[overload(float)] val sin 't : t -> t
  #[overload(float)] val cos 't : t -> t
  #[overload(float)] val tan 't : t -> t
  #[overload(float)] val sinpi 't : t -> t
  #[overload(float)] val cospi 't : t -> t
  #[overload(float)] val tanpi 't : t -> t
  #[overload(float)] val asin 't : t -> t
  #[overload(float)] val acos 't : t -> t
  #[overload(float)] val atan 't : t -> t
  #[overload(float)] val asinpi 't : t -> t
  #[overload(float)] val acospi 't : t -> t
  #[overload(float)] val atanpi 't : t -> t
  #[overload(float)] val sinh 't : t -> t
  #[overload(float)] val cosh 't : t -> t
  #[overload(float)] val tanh 't : t -> t
  #[overload(float)] val asinh 't : t -> t
  #[overload(float)] val acosh 't : t -> t
  #[overload(float)] val atanh 't : t -> t
  #[overload(float)] val atan2 't : t -> t -> t
  #[overload(float)] val atan2pi 't : t -> t -> t
  #[overload(float)] val hypot 't : t -> t -> t
  #[overload(float)] val gamma 't : t -> t
  #[overload(float)] val lgamma 't : t -> t
  #[overload(float)] val erf 't : t -> t
  #[overload(float)] val erfc 't : t -> t
  #[overload(float)] val ceil 't : t -> t
  #[overload(float)] val floor 't : t -> t
  #[overload(float)] val trunc 't : t -> t
  #[overload(float)] val round 't : t -> t
  #[overload(float)] val lerp 't : t -> t -> t -> t
  #[overload(float)] val mad 't : t -> t -> t -> t
  #[overload(float)] val fma 't : t -> t -> t -> t
  #[overload(float)] val isnan 't : t -> bool
  #[overload(float)] val isinf 't : t -> bool
  #[overload(float)] val nextafter 't : t -> t -> t
  #[overload(float)] val copysign 't : t -> t -> t
  #[overload(float)] val ldexp 't : t -> i32 -> t
  val to_bits_f16 : f16 -> u16
  val to_bits_f32 : f32 -> u32
  val to_bits_f64 : f64 -> u64
  val from_bits_f16 : u16 -> f16
  val from_bits_f32 : u32 -> f32
  val from_bits_f64 : u64 -> f64

  -- Arrays.
  val replicate 't : (n: i64) -> t -> *[n]t
  val concat 't [n] [m] : [n]t -> [m]t -> *[n + m]t
  val flatten 't [n] [m] : [n][m]t -> [n * m]t
  val unflatten 't [n] [m] : (a: i64) -> (b: i64) -> [n * m]t -> [n][m]t
  val transpose 't [n] [m] : [n][m]t -> [m][n]t
  val zip 'a 'b [n] : [n]a -> [n]b -> *[n](a, b)
  val unzip 'a 'b [n] : [n](a, b) -> (*[n]a, *[n]b)
  val manifest 't : t -> *t

  -- Parallel operations.
  val map 'a 'x [n] : (a -> x) -> [n]a -> *[n]x
  val reduce 'a [n] : (a -> a -> a) -> a -> [n]a -> *a
  val reduce_comm 'a [n] : (a -> a -> a) -> a -> [n]a -> *a
  val scan 'a [n] : (a -> a -> a) -> a -> [n]a -> *[n]a
  val scatter 't [k] [n] : *[k]t -> [n]i64 -> [n]t -> *[k]t
  val scatter_2d 't [k] [l] [n] : *[k][l]t -> [n](i64, i64) -> [n]t -> *[k][l]t
  val scatter_3d 't [k] [l] [m] [n] : *[k][l][m]t -> [n](i64, i64, i64) -> [n]t -> *[k][l][m]t
  val hist_1d 't [k] [n] : (rf: i64) -> *[k]t -> (t -> t -> t) -> t -> [n]i64 -> [n]t -> *[k]t
  val hist_2d 't [k] [l] [n] : (rf: i64) -> *[k][l]t -> (t -> t -> t) -> t -> [n](i64, i64) -> [n]t -> *[k][l]t
  val hist_3d 't [k] [l] [m] [n] : (rf: i64) -> *[k][l][m]t -> (t -> t -> t) -> t -> [n](i64, i64, i64) -> [n]t -> *[k][l][m]t
  -- Applies a function with a result of varying size to every element: the sizes, a flag at the start of
  -- each segment, the offsets, all results in a row, and the other results.
  val flatmap 'a 'b 'c [n] : (a -> ?[k].([k]b, c)) -> [n]a -> ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c)

  -- Index sets: the attribute `index` says which type parameter is one. `pointful` is what `for` stands for.
  #[index(k)] val pointful 'k 'a : (k -> a) -> *[k]a
  #[index(k)] val cardinality 'k : () -> i64
  #[index(k)] val ordinal 'k : k -> i64
  #[index(k)] val from_ordinal 'k : i64 -> k

  -- Accumulators: write-only arrays that many iterations may write at once.
  type~ acc 't
  val acc_write 't [k] : *acc ([k]t) -> i64 -> t -> *acc ([k]t)
  val scatter_stream 'a 'b [k] [n] : *[k]a -> (*acc ([k]a) -> b -> acc ([k]a)) -> [n]b -> *[k]a
  val hist_stream 'a 'b [k] [n] : *[k]a -> (a -> a -> a) -> a -> (*acc ([k]a) -> b -> acc ([k]a)) -> [n]b -> *[k]a

  -- References, and the handlers that make them. The attribute `vector` says of which
  -- type parameters values are computed, or made from nothing: those stand for no type of indices.
  type^ state 't
  type^ accum 't
  val run_state 's 'a : s -> (state s -> a) -> (a, *s)
  #[vector(s)] val run_accum 's 'a : (accum s -> a) -> (a, *s)
  val run_accum_with 's 'e 'a : (e -> e -> e) -> e -> (accum s -> a) -> (a, *s)
  val state_get 't : state t -> *t
  val state_set 't : state t -> t -> ()
  #[vector(t)] val accumulate 't : accum t -> t -> ()

  -- Views by offset and (length, stride) per dimension.
  val flat_index_2d 't [n] : [n]t -> (offset: i64) -> (n1: i64) -> (s1: i64) -> (n2: i64) -> (s2: i64) -> ?[m][k].[m][k]t
  val flat_update_2d 't [n] [k] [l] : *[n]t -> (offset: i64) -> (s1: i64) -> (s2: i64) -> [k][l]t -> *[n]t
  val flat_index_3d 't [n] : [n]t -> (offset: i64) -> (n1: i64) -> (s1: i64) -> (n2: i64) -> (s2: i64) -> (n3: i64) -> (s3: i64) -> ?[m][k][l].[m][k][l]t
  val flat_update_3d 't [n] [k] [l] [p] : *[n]t -> (offset: i64) -> (s1: i64) -> (s2: i64) -> (s3: i64) -> [k][l][p]t -> *[n]t
  val flat_index_4d 't [n] : [n]t -> (offset: i64) -> (n1: i64) -> (s1: i64) -> (n2: i64) -> (s2: i64) -> (n3: i64) -> (s3: i64) -> (n4: i64) -> (s4: i64) -> ?[m][k][l][p].[m][k][l][p]t
  val flat_update_4d 't [n] [k] [l] [p] [q] : *[n]t -> (offset: i64) -> (s1: i64) -> (s2: i64) -> (s3: i64) -> (s4: i64) -> [k][l][p][q]t -> *[n]t

  -- Differentiation.
  #[vector(a, b)] val jvp2 'a 'b : (a -> b) -> a -> a -> (b, b)
  #[vector(a, b)] val vjp2 'a 'b : (a -> b) -> a -> b -> (b, a)
  #[vector(a, b)] val jmp2 'a 'b [n] : (a -> b) -> a -> [n]a -> (b, *[n]b)
  #[vector(a, b)] val mjp2 'a 'b [n] : (a -> b) -> a -> [n]b -> (b, *[n]a)
  #[vector(t)] val unit_seed 't : bool -> t
  #[vector(a, b)] val linearize 'a 'b : (a -> b) -> a -> (b, a -> b)
  #[vector(a, b)] val linear_transpose 'a 'b : (a -> b) -> b -> a
  val stop_gradient 't : t -> t
  #[vector(a, b)] val with_vjp 'a 'b : (a -> b) -> (b -> b -> a) -> a -> b

  val opaque '^t : t -> t
}
