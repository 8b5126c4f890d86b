-- Parts of arrays.
-- ==
-- entry: parts
-- input { [1, 2, 3] } output { 3i64 false 1 3 [2, 3] [1, 2] [1, 2] [3] [3, 2, 1] }
-- input { empty([0]i32) } error: out of bounds
entry parts (xs: []i32) =
  (length xs, null xs, head xs, last xs, tail xs, init xs, take 2 xs, drop 2 xs, reverse xs)

-- ==
-- entry: empty_arrays
-- input { empty([0]i32) } output { 0i64 true empty([0]i32) empty([0]i32) }
entry empty_arrays (xs: []i32) = (length xs, null xs, reverse xs, xs ++ xs)

-- ==
-- entry: joined
-- input { [1, 2] [3] } output { [1, 2, 3] [1, 2, 3] [1, 2] [3] }
entry joined [n] [m] (xs: [n]i32) (ys: [m]i32) =
  let (first, second) = split (xs ++ ys) : ([n]i32, [m]i32)
  in (xs ++ ys, concat xs ys, first, second)

-- A negative rotation goes the other way.
-- ==
-- entry: rotated
-- input { 1i64 [1, 2, 3] } output { [2, 3, 1] }
-- input { -1i64 [1, 2, 3] } output { [3, 1, 2] }
-- input { 5i64 empty([0]i32) } output { empty([0]i32) }
entry rotated (r: i64) (xs: []i32) = rotate r xs

-- ==
-- entry: made
-- input { 3i64 } output { [0i64, 1i64, 2i64] [7, 7, 7] [0i64, 1i64, 4i64] [7, 7] }
-- input { 0i64 } output { empty([0]i64) empty([0]i32) empty([0]i64) [7, 7] }
entry made (n: i64) = (iota n, replicate n 7, tabulate n (\i -> i * i), (rep 7 : [2]i32))

-- ==
-- entry: negative_size
-- input { -1i64 } error:
entry negative_size (n: i64) = replicate n 1i32

-- ==
-- entry: tables
-- input { 2i64 } output { [[0i64, 1i64], [10i64, 11i64]] [[[0i64], [10i64]], [[100i64], [110i64]]] }
entry tables (n: i64) =
  (tabulate_2d n n (\i j -> 10 * i + j), tabulate_3d n n 1 (\i j k -> 100 * i + 10 * j + k))

-- ==
-- entry: sized_array
-- input { 2i64 [1, 2] } output { [1, 2] [0i64, 1i64] }
-- input { 3i64 [1, 2] } error:
entry sized_array (n: i64) (xs: []i32) = (sized n xs, indices xs)

-- A copy may be changed without changing the original.
-- ==
-- entry: copies
-- input { [1, 2] } output { [1, 2] [9, 2] [8, 2] }
entry copies (xs: []i32) =
  (copy xs, copy xs with [0] = 9, manifest xs with [0] = 8)

-- ==
-- entry: flat
-- input { [[1, 2], [3, 4]] } output { [1, 2, 3, 4] [[1, 2], [3, 4]] [[1, 3], [2, 4]] }
entry flat [n] [m] (xs: [n][m]i32) = (flatten xs, (unflatten (flatten xs) : [n][m]i32), transpose xs)

-- Flattening and its inverse cancel out in every dimension.
-- ==
-- entry: flat_in_more_dimensions
-- input { [[[1, 2], [3, 4]]] } output { [1, 2, 3, 4] [[[1, 2], [3, 4]]] [1, 2, 3, 4] [[[[1, 2], [3, 4]]]] }
entry flat_in_more_dimensions [n] [m] [l] (xs: [n][m][l]i32) =
  let ys = [xs]
  in ( flatten_3d xs
     , (unflatten_3d (flatten_3d xs) : [n][m][l]i32)
     , flatten_4d ys
     , (unflatten_4d (flatten_4d ys) : [1][n][m][l]i32)
     )

-- ==
-- entry: truths
-- input { [true, false] } output { false true }
-- input { [true, true] } output { true true }
-- input { empty([0]bool) } output { true false }
entry truths (xs: []bool) = (and xs, or xs)

-- ==
-- entry: folds
-- input { [1, 2, 3] } output { 123 321 }
-- input { empty([0]i32) } output { 0 0 }
entry folds (xs: []i32) = (foldl (\a x -> 10 * a + x) 0 xs, foldr (\x a -> 10 * a + x) 0 xs)
