-- The cost of k-means: the squared distance of every point to its nearest centre; by indices and by combinators.
-- ==
-- entry: pointful combinators gradient_pointful gradient_combinators
-- random input { [10000][8]f64 [16][8]f64 }

def by_indices [n][k][d] (points: [n][d]f64) (centres: [k][d]f64) : f64 =
  f64.sum (for i -> f64.minimum (for c -> f64.sum (for j -> (points[i,j] - centres[c,j]) ** 2)))

def by_combinators [n][k][d] (points: [n][d]f64) (centres: [k][d]f64) : f64 =
  let distance p c = f64.sum (map2 (\x y -> (x - y) ** 2) p c)
  in f64.sum (map (\p -> f64.minimum (map (distance p) centres)) points)

entry pointful [n][k][d] (points: [n][d]f64) (centres: [k][d]f64) = by_indices points centres
entry combinators [n][k][d] (points: [n][d]f64) (centres: [k][d]f64) = by_combinators points centres
entry gradient_pointful [n][k][d] (points: [n][d]f64) (centres: [k][d]f64) = vjp (by_indices points) centres 1
entry gradient_combinators [n][k][d] (points: [n][d]f64) (centres: [k][d]f64) = vjp (by_combinators points) centres 1
