-- The product of two matrices.
entry main [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 =
  map (\row -> map (\column -> f32.sum (map2 (*) row column)) (transpose b)) a
