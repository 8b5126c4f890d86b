-- Arrays of tuples.
-- ==
-- entry: round_trip
-- input { [1, 2] [true, false] [3u8, 4u8] [5i64, 6i64] [7.0, 8.0] }
-- output { [1, 2] [true, false] [3u8, 4u8] [5i64, 6i64] [7.0, 8.0] true true true }
entry round_trip [n] (a: [n]i32) (b: [n]bool) (c: [n]u8) (d: [n]i64) (e: [n]f64) =
  let (a', b') = unzip (zip a b)
  let (_, b'', c') = unzip3 (zip3 a b c)
  let (_, _, _, d') = unzip4 (zip4 a b c d)
  let (a'', _, c'', d'', e') = unzip5 (zip5 a b c d e)
  in (a', b', c', d', e', and (map2 (==) b' b''), and (map2 (==) c' c''), and (map2 (==) a a'') && and (map2 (==) d d''))

-- ==
-- entry: pairs
-- input { [1, 2] [3, 4] } output { [13, 24] [13, 24] [1, 2] }
entry pairs [n] (a: [n]i32) (b: [n]i32) =
  let join (x, y) = 10 * x + y
  in (map join (zip a b), map join (zip2 a b), (unzip2 (zip2 a b)).0)
