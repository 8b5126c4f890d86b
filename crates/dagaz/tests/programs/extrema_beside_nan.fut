-- Least and greatest numbers beside NaN, in vectors that are long enough for vector units.
-- ==
-- entry: least
-- input { 100i64 } output { -3f64 3f64 -3f32 f32.inf }
entry least (n: i64) : (f64, f64, f32, f32) =
  let at i = if i % 7 == 3 then f64.nan else f64.i64 (i % 5) - 3 + 0 * f64.i64 i
  let xs = tabulate n at
  in (f64.minimum xs, f64.maximum (map f64.neg xs), f32.minimum (map f32.f64 xs), f32.minimum (replicate n f32.nan))
