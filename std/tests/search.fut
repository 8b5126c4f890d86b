-- Places of elements; the first one of several, and nothing where there is nothing.

import "std/search"

-- ==
-- entry: extremes
-- input { [3.0, f64.nan, 1.0, 1.0, 3.0] } output { 2i64 0i64 }
-- input { [f64.nan, f64.nan] } output { 0i64 0i64 }
-- input { [f64.nan, f64.inf, -f64.inf] } output { 2i64 1i64 }
-- input { [f64.inf] } output { 0i64 0i64 }
-- input { empty([0]f64) } output { -1i64 -1i64 }
entry extremes (xs: []f64) = (search_f64.argmin xs, search_f64.argmax xs)

-- ==
-- entry: integers
-- input { [3, 1, 2, 1, 3] } output { 1i64 0i64 1i64 0i64 }
-- input { [2147483647] } output { 0i64 0i64 0i64 0i64 }
entry integers (xs: []i32) =
  (search_i32.argmin xs, search_i32.argmax xs, search_i64.argmin (map i64.i32 xs), argmax_by (<) xs)

-- ==
-- entry: places
-- input { [0, 5, 1, 7] } output { [1i64, 3i64] 1i64 3i64 2i64 false true }
-- input { [0, 1] } output { empty([0]i64) -1i64 -1i64 0i64 true false }
-- input { empty([0]i32) } output { empty([0]i64) -1i64 -1i64 0i64 true false }
entry places (xs: []i32) =
  (find_indices (> 1) xs, find_index (> 1) xs, find_last_index (> 1) xs, count (> 1) xs, none (> 1) xs, contains (==) 5 xs)

-- ==
-- entry: first
-- input { [0, 5, 7] } output { 5 }
-- input { [0] } output { -1 }
entry first (xs: []i32) =
  match find (> 1) xs
  case #some x -> x
  case #none -> -1

-- ==
-- entry: large
-- input { 100000i64 } output { 77777i64 12345i64 }
entry large (n: i64) =
  let xs = tabulate n (\i -> if i >= 77777 then -1 else i % 1000)
  in (search_i64.argmin xs, find_index (== 345) (map2 (\x i -> if i > 12000 then x else 0) xs (iota n)))

-- The nearest of some points, with the derivative of the distance to it.
-- ==
-- entry: nearest
-- input { [1.0, 4.0, 7.0] } output { 4.0 [0.0, -2.0, 0.0] [10, 2, 30] [0.0, 1.0, 1.0] }
entry nearest (xs: []f64) =
  let distance xs = let x = minimum_by_key (\x -> f64.abs (x - 5)) xs in (x - 5) ** 2
  in ( minimum_by_key (\x -> f64.abs (x - 5)) xs
     , grad distance xs
     , select [false, true, false] [1, 2, 3] [10, 20, 30]
     , grad (\xs -> f64.sum (gather [1, 2] xs)) xs )
