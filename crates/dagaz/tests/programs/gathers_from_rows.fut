-- Sums of elements at the same indices of many rows, which are computed for all rows at once where there are enough.

def sums [r][m][k][d] (iss: [r][m]i32) (xss: [k][d]f64) : [r][k]f64 =
  map (\is -> map (\xs -> f64.sum (map (\i -> xs[i]) is)) xss) iss

-- The rows of a table with n rows: 0, 1, 2, then 10, 11, 12, ….
def table (n: i64) : [n][3]f64 = tabulate_2d n 3 (\i j -> f64.i64 (10 * i + j))

-- ==
-- entry: of_table
-- input { 3i64 [[0i32, 2], [1, 1]] } output { [[2f64, 22, 42], [2, 22, 42]] }
-- input { 5i64 [[0i32, 2], [1, 1]] } output { [[2f64, 22, 42, 62, 82], [2, 22, 42, 62, 82]] }
-- input { 8i64 [[0i32, 2], [1, 1]] }
-- output { [[2f64, 22, 42, 62, 82, 102, 122, 142], [2, 22, 42, 62, 82, 102, 122, 142]] }
-- input { 10i64 [[0i32, 2], [0, 1]] }
-- output { [[2f64, 22, 42, 62, 82, 102, 122, 142, 162, 182], [1, 21, 41, 61, 81, 101, 121, 141, 161, 181]] }
-- input { 10i64 [[0i32, 2], [1, 3]] } error: Index \[3\] out of bounds for array of shape \[3\]
-- input { 10i64 [[0i32, -1], [1, 3]] } error: Index \[-1\] out of bounds for array of shape \[3\]
-- input { 3i64 [[0i32, -1], [1, 3]] } error: Index \[-1\] out of bounds for array of shape \[3\]
entry of_table [r][m] (n: i64) (iss: [r][m]i32) : [r][n]f64 = sums iss (table n)

-- Whole tiles, pairs of tiles, and what is left over.
-- ==
-- entry: are_same
-- input { 8i64 } output { true }
-- input { 31i64 } output { true }
-- input { 32i64 } output { true }
-- input { 41i64 } output { true }
-- input { 71i64 } output { true }
-- input { 129i64 } output { true }
entry are_same (n: i64) : bool =
  let iss = [[0i32, 1, 2], [2, 1, 1]]
  let expected = map (\is -> map (\row -> 30 * f64.i64 row + f64.i32 (i32.sum is)) (iota n)) iss
  in and (map2 (\xs ys -> and (map2 (==) xs ys)) (sums iss (table n)) expected)

-- Parts of one array that are given by where they begin. Without rows, nothing is read.
-- ==
-- entry: nearest
-- input { [1i32, 0, 1, 0] [0i64, 1, 4] [[1f64, 9], [2, 1], [3, 5], [4, 2]] } output { [1f64, 5] }
-- input { [1i32, 0, 1, 0] [0i64, 5, 4] [[1f64, 9], [2, 1], [3, 5], [4, 2]] } error: Index \[0:5\] out of bounds
-- input { [1i32, 0, 2, 0] [0i64, 1, 4] [[1f64, 9], [2, 1], [3, 5], [4, 2]] } error: Index \[0, 2\] out of bounds
-- input { [1i32, 0, 2, 0] [0i64, 1, 9] empty([0][2]f64) } output { [f64.inf, f64.inf] }
entry nearest [m][r][k][d] (is: [m]i32) (starts: [r]i64) (xss: [k][d]f64) : []f64 =
  let sum row c = f64.sum (map (\i -> xss[c, i]) is[starts[row]:starts[row + 1]])
  in map (\row -> f64.minimum (map (sum row) (iota k))) (iota (r - 1))

-- Sums of whole rows.
-- ==
-- entry: rows
-- input { [[0i32, 2], [1, 1]] 3i64 } output { [[20f64, 22, 24], [20, 22, 24]] }
-- input { [[0i32, 2], [1, 3]] 3i64 } error: Index \[3\] out of bounds
entry rows [r][m] (iss: [r][m]i32) (n: i64) : [r][3]f64 =
  let xss = table n
  in map (\is -> reduce (map2 (+)) (replicate 3 0) (map (\i -> xss[i]) is)) iss

-- ==
-- entry: long_rows
-- input { [[0i32, 2], [1, 1]] 9i64 } output { true }
-- input { [[0i32, 2], [1, 1]] 77i64 } output { true }
entry long_rows [r][m] (iss: [r][m]i32) (d: i64) : bool =
  let xss = transpose (table d)
  let found = map (\is -> reduce (map2 (+)) (replicate d 0) (map (\i -> xss[i]) is)) iss
  let expected = map (\is -> map (\q -> f64.i64 (10 * m * q) + f64.i32 (i32.sum is)) (iota d)) iss
  in and (map2 (\xs ys -> and (map2 (==) xs ys)) found expected)
