-- The matrix Q of a magnetic resonance reconstruction: a sum of waves at every point; by indices and by combinators.
-- ==
-- entry: pointful combinators gradient_pointful gradient_combinators
-- random input { [1024][3]f32 [1024]f32 [4096][3]f32 }

def by_indices [k][n] (waves: [k][3]f32) (weights: [k]f32) (points: [n][3]f32) : [n](f32, f32) =
  for i ->
    let angle = for w -> 6.2831853 * f32.sum (for (axis: idx [3]) -> waves[w,axis] * points[i,axis])
    in (f32.sum (for w -> weights[w] * f32.cos angle[w]), f32.sum (for w -> weights[w] * f32.sin angle[w]))

def by_combinators [k][n] (waves: [k][3]f32) (weights: [k]f32) (points: [n][3]f32) : [n](f32, f32) =
  map (\point ->
         let angles = map (\wave -> 6.2831853 * f32.sum (map2 (*) wave point)) waves
         in (f32.sum (map2 (\w a -> w * f32.cos a) weights angles), f32.sum (map2 (\w a -> w * f32.sin a) weights angles)))
      points

entry pointful [k][n] (waves: [k][3]f32) (weights: [k]f32) (points: [n][3]f32) = unzip (by_indices waves weights points)
entry combinators [k][n] (waves: [k][3]f32) (weights: [k]f32) (points: [n][3]f32) = unzip (by_combinators waves weights points)
entry gradient_pointful [k][n] (waves: [k][3]f32) (weights: [k]f32) (points: [n][3]f32) =
  vjp (\weights -> by_indices waves weights points) weights (replicate n (1, 1))
entry gradient_combinators [k][n] (waves: [k][3]f32) (weights: [k]f32) (points: [n][3]f32) =
  vjp (\weights -> by_combinators waves weights points) weights (replicate n (1, 1))
