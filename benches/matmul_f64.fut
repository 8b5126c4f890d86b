-- The product of two matrices.
entry main [n][m][p] (a: [n][m]f64) (b: [m][p]f64): [n][p]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose b)) a
