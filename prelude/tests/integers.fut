-- Division rounds down, `//` towards zero.
-- ==
-- entry: division
-- input { 7 2 } output { 3 1 3 1 }
-- input { -7 2 } output { -4 1 -3 -1 }
-- input { 7 -2 } output { -4 -1 -3 1 }
-- input { 1 0 } error: ivision by zero
entry division (x: i32) (y: i32) = (x i32./ y, x i32.% y, x i32.// y, x i32.%% y)

-- ==
-- entry: arithmetic
-- input { 6i8 3i8 } output { 9i8 3i8 18i8 -40i8 -6i8 6i8 1i8 6i8 3i8 }
entry arithmetic (x: i8) (y: i8) =
  (x i8.+ y, x i8.- y, x i8.* y, x i8.** y, i8.neg x, i8.abs (i8.neg x), i8.sgn x, i8.max x y, i8.min x y)

-- ==
-- entry: comparisons
-- input { 200u8 100u8 } output { false true false false true true }
entry comparisons (x: u8) (y: u8) = (x u8.== y, x u8.!= y, x u8.< y, x u8.<= y, x u8.> y, x u8.>= y)

-- The shift `>>` repeats the upmost bit, `>>>` does not.
-- ==
-- entry: bits
-- input { -16i8 } output { -32i8 -8i8 120i8 15i8 0 1 -15i8 -32i8 4 0 4 }
entry bits (x: i8) =
  ( x i8.<< 1
  , x i8.>> 1
  , x i8.>>> 1
  , i8.not x
  , i8.get_bit 0 x
  , i8.get_bit 7 x
  , i8.set_bit 0 x 1
  , i8.set_bit 4 x 0
  , i8.popc x
  , i8.clz x
  , i8.ctz x
  )

-- ==
-- entry: unsigned_shifts
-- input { 128u8 } output { 192u8 64u8 127u8 }
entry unsigned_shifts (x: u8) = (x u8.>> 1, x u8.>>> 1, u8.not x)

-- ==
-- entry: logic
-- input { 12u16 10u16 } output { 8u16 14u16 6u16 }
entry logic (x: u16) (y: u16) = (x u16.& y, x u16.| y, x u16.^ y)

-- ==
-- entry: zeros
-- input { 0i64 } output { 0 64 64 }
entry zeros (x: i64) = (i64.popc x, i64.clz x, i64.ctz x)

-- ==
-- entry: high_halves
-- input { 255u8 255u8 1u8 } output { 254u8 255u8 }
entry high_halves (x: u8) (y: u8) (z: u8) = (u8.mul_hi x y, u8.mad_hi x y z)

-- ==
-- entry: extremes
-- input { } output { 127i8 -128i8 255u8 0u8 9223372036854775807i64 -9223372036854775808i64 18446744073709551615u64 8 64 }
entry extremes =
  (i8.highest, i8.lowest, u8.highest, u8.lowest, i64.highest, i64.lowest, u64.highest, i8.num_bits, u64.num_bits)

-- ==
-- entry: folds
-- input { [3, -1, 2] } output { 4 -6 3 -1 }
-- input { empty([0]i32) } output { 0 1 -2147483648 2147483647 }
entry folds (xs: []i32) = (i32.sum xs, i32.product xs, i32.maximum xs, i32.minimum xs)

-- A wide integer loses its upper bits, a narrow one is extended.
-- ==
-- entry: conversions
-- input { -1i8 300i32 200u8 -2.7 true } output { -1i32 255u32 44i8 44u8 -56i8 200i32 -2i32 1i64 -1i64 }
entry conversions (a: i8) (b: i32) (c: u8) (d: f64) (e: bool) =
  (i32.i8 a, u32.i8 a, i8.i32 b, u8.i32 b, i8.u8 c, i32.u8 c, i32.f64 d, i64.bool e, i8.to_i64 a)

-- ==
-- entry: truths
-- input { 0 2.5 } output { false true true }
entry truths (x: i32) (y: f64) = (bool.i32 x, bool.f64 y, bool.bool true)
