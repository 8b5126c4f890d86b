-- Sizes are given, and must be right.
-- ==
-- entry: rows
-- input { 2i64 3i64 [1, 2, 3, 4, 5, 6] } output { [[1, 2, 3], [4, 5, 6]] [[1, 2, 3], [4, 5, 6]] [1, 2, 3, 4, 5, 6] }
-- input { 2i64 2i64 [1, 2, 3, 4, 5, 6] } error: cannot match
entry rows (n: i64) (m: i64) (xs: []i32) =
  let all = unflatten n m xs
  in (all, unflatten_to n m xs, flatten_to (n * m) all)

-- ==
-- entry: joined
-- input { 5i64 [1, 2] [3, 4, 5] } output { [1, 2, 3, 4, 5] }
-- input { 4i64 [1, 2] [3, 4, 5] } error: cannot match
entry joined (k: i64) (xs: []i32) (ys: []i32) : [k]i32 = concat_to k xs ys

-- A function of this name that the program itself has is meant.
-- ==
-- entry: own
-- input { 2i64 3i64 [1, 2] } output { 7i64 }
def own_one (xs: []i32) =
  let unflatten (n: i64) (m: i64) (ys: []i32) = n + m + length ys
  in \n m -> unflatten n m xs

entry own (n: i64) (m: i64) (xs: []i32) : i64 = own_one xs n m
