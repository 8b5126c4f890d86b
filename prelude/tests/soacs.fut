-- Maps over one and several arrays.
-- ==
-- entry: maps
-- input { [1, 2] [10, 20] [100, 200] }
-- output { [2, 3] [2, 3] [11, 22] [111, 222] [112, 224] [122, 244] }
entry maps [n] (a: [n]i32) (b: [n]i32) (c: [n]i32) =
  ( map (+ 1) a
  , map1 (+ 1) a
  , map2 (+) a b
  , map3 (\x y z -> x + y + z) a b c
  , map4 (\x y z w -> x + y + z + w) a b c a
  , map5 (\x y z w v -> x + y + z + w + v) a b c a b
  )

-- Reductions keep the order of elements, which an operator that is not commutative shows.
-- ==
-- entry: reductions
-- input { [1, 2, 3] } output { 3 6 6 }
-- input { empty([0]i32) } output { 0 0 0 }
entry reductions (xs: []i32) =
  (reduce (\_ y -> y) 0 xs, reduce (+) 0 xs, reduce_comm (+) 0 xs)

-- ==
-- entry: scans
-- input { [1, 2, 3] } output { [1, 3, 6] [0, 1, 3] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) }
entry scans (xs: []i32) = (scan (+) 0 xs, exscan (+) 0 xs)

-- ==
-- entry: quantifiers
-- input { [2, 4] } output { true true }
-- input { [1, 2] } output { false true }
-- input { [1, 3] } output { false false }
-- input { empty([0]i32) } output { true false }
entry quantifiers (xs: []i32) = (all (\x -> x % 2 == 0) xs, any (\x -> x % 2 == 0) xs)

-- Positions out of bounds are ignored.
-- ==
-- entry: histograms
-- input { [0i64, 2i64, 0i64, 3i64, -1i64] [1, 2, 3, 4, 5] } output { [4, 0, 2] [14, 10, 12] }
entry histograms [n] (is: [n]i64) (xs: [n]i32) =
  (hist (+) 0 3 is xs, reduce_by_index [10, 10, 10] (+) 0 is xs)

-- ==
-- entry: histograms_of_more_dimensions
-- input { [0i64, 1i64, 0i64, 2i64] [1i64, 0i64, 1i64, 0i64] [1, 2, 3, 4] } output { [[0, 4], [2, 0]] [[[0, 4], [2, 0]]] }
entry histograms_of_more_dimensions [n] (is: [n]i64) (js: [n]i64) (xs: [n]i32) =
  ( reduce_by_index_2d (replicate 2 (replicate 2 0)) (+) 0 (zip is js) xs
  , reduce_by_index_3d (replicate 1 (replicate 2 (replicate 2 0))) (+) 0 (map2 (\i j -> (0, i, j)) is js) xs
  )

-- ==
-- entry: scatters
-- input { [2i64, 0i64, 7i64, -1i64] [1, 2, 3, 4] } output { [2, 9, 1] [2, 9, 1] }
entry scatters [n] (is: [n]i64) (xs: [n]i32) =
  (scatter (replicate 3 9) is xs, spread 3 9 is xs)

-- ==
-- entry: scatters_of_more_dimensions
-- input { [0i64, 1i64, 2i64] [1i64, 0i64, 0i64] [1, 2, 3] } output { [[0, 1], [2, 0]] [[[0, 1], [2, 0]]] }
entry scatters_of_more_dimensions [n] (is: [n]i64) (js: [n]i64) (xs: [n]i32) =
  ( scatter_2d (replicate 2 (replicate 2 0)) (zip is js) xs
  , scatter_3d (replicate 1 (replicate 2 (replicate 2 0))) (map2 (\i j -> (0, i, j)) is js) xs
  )

-- Every filter keeps the order.
-- ==
-- entry: filters
-- input { [5, 2, 8, 1] } output { [2, 8] [2, 8] [5, 1] }
-- input { [1] } output { empty([0]i32) empty([0]i32) [1] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry filters (xs: []i32) =
  let even (x: i32) = x % 2 == 0
  let (evens, odds) = partition even xs
  in (filter even xs, evens, odds)

-- ==
-- entry: three_parts
-- input { [5, -2, 8, 0, -1, 0] } output { [5, 8] [-2, -1] [0, 0] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry three_parts (xs: []i32) = partition2 (> 0) (< 0) xs

-- ==
-- entry: flatmaps
-- input { [2i64, 0i64, 3i64] }
-- output { [2i64, 0i64, 3i64] [true, false, true, false, false] [0i64, 2i64, 2i64] [0i64, 1i64, 0i64, 1i64, 2i64] }
entry flatmaps (ns: []i64) = flatmap' (\n -> iota n) ns
