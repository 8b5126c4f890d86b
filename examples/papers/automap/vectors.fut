-- | Sums and products of arrays of any rank, written as for numbers (001 4.1 and 4.2.1).
--
-- `dagaz automap` shows the maps: `map2 (+) xs ys`, `map (+ c) xs`, `map (map (map (* c))) a`.

-- ==
-- entry: add
-- input { [1, 2, 3] [4, 5, 6] } output { [5, 7, 9] }
entry add [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = xs + ys

-- ==
-- entry: offset
-- input { [3, 4, 5] 1 } output { [4, 5, 6] }
entry offset (xs: []i32) (c: i32) = xs + c

-- ==
-- entry: add_matrices
-- input { [[1, 2], [3, 4]] [[10, 20], [30, 40]] } output { [[11, 22], [33, 44]] }
entry add_matrices [n] [m] (a: [n][m]i32) (b: [n][m]i32) = a + b

-- ==
-- entry: scale
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] 3 } output { [[[3, 6], [9, 12]], [[15, 18], [21, 24]]] }
entry scale [n] [m] [k] (a: [n][m][k]i32) (c: i32) = a * c

-- | A vector is added to every row.
-- ==
-- entry: add_to_rows
-- input { [[1, 2], [3, 4]] [10, 20] } output { [[11, 22], [13, 24]] }
entry add_to_rows [n] [m] (a: [n][m]i32) (row: [m]i32) = a + row

-- ==
-- entry: roots
-- input { [1.0, 4.0, 9.0] } output { [1.0, 2.0, 3.0] }
entry roots (xs: []f64) = f64.sqrt xs
