-- The matrix product, by indices and by combinators, and its gradients.
-- ==
-- entry: pointful combinators
-- random input { [512][512]f64 [512][512]f64 }

-- ==
-- entry: gradient_pointful gradient_combinators
-- random input { [512][512]f64 [512][512]f64 [512][512]f64 }

def by_indices [n][m][p] (x: [n][m]f64) (y: [m][p]f64) : [n][p]f64 =
  for i j -> f64.sum (for k -> x[i,k] * y[k,j])

def by_combinators [n][m][p] (x: [n][m]f64) (y: [m][p]f64) : [n][p]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose y)) x

entry pointful [n][m][p] (x: [n][m]f64) (y: [m][p]f64) = by_indices x y
entry combinators [n][m][p] (x: [n][m]f64) (y: [m][p]f64) = by_combinators x y
entry gradient_pointful [n][m][p] (x: [n][m]f64) (y: [m][p]f64) (seed: [n][p]f64) =
  vjp (\(x, y) -> by_indices x y) (x, y) seed
entry gradient_combinators [n][m][p] (x: [n][m]f64) (y: [m][p]f64) (seed: [n][p]f64) =
  vjp (\(x, y) -> by_combinators x y) (x, y) seed
