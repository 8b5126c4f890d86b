-- | Arrays by their indices, after sections 2.1, 2.4 and 3.4 of the paper on Dex.

-- ==
-- entry: transposed
-- input { [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] } output { [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]] }
entry transposed [n][m] (matrix: [n][m]f64) = for i j -> matrix[j,i]

-- ==
-- entry: product combinator_product
-- input { [[1.0, 2.0], [3.0, 4.0]] [[5.0, 6.0], [7.0, 8.0]] } output { [[19.0, 22.0], [43.0, 50.0]] }
entry product [n][m][o] (x: [n][m]f64) (y: [m][o]f64) : [n][o]f64 =
  for i j -> f64.sum (for k -> x[i,k] * y[k,j])

-- | The same without indices.
entry combinator_product [n][m][o] (x: [n][m]f64) (y: [m][o]f64) : [n][o]f64 =
  let dot x y = f64.sum (map (uncurry (*)) (zip x y))
  in map (\row -> map (\column -> dot row column) (transpose y)) x

-- | A size that is computed: the sum of the first hundred squares.
-- ==
-- entry: computed_size
-- input { } output { 328350i64 328350.0 }
entry computed_size : (i64, f64) =
  let n = i64.sum (for (i: idx [100]) -> ordinal i * ordinal i)
  let x : [n]f64 = for _i -> 1
  in (length x, f64.sum x)

-- | Any function on vectors works on a matrix, whose elements are numbered by pairs: here, the sums so far.
-- ==
-- entry: on_pairs
-- input { [[1.0, 2.0], [3.0, 4.0]] } output { [[1.0, 3.0], [6.0, 10.0]] }
entry on_pairs [n][m] (x: [n][m]f64) : [n][m]f64 =
  let g 'a (v: [a]f64) : [a]f64 = scan (+) 0 v
  let y = g (for (i, j) -> x[i,j])
  in for i j -> y[(i, j)]

-- | There and back again.
-- ==
-- entry: flat_and_back
-- input { [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] } output { [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] }
entry flat_and_back [n][m] (x: [n][m]f64) : [n][m]f64 =
  let y : [(n, m)]f64 = for (i, j) -> x[i,j]
  in for i j -> y[(i, j)]
