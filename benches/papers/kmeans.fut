-- Clustering by k-means as an optimisation: the cost is the squared distance of every point to its nearest centre, and a step
-- of Newton's method divides its gradient by its second derivatives. A second derivative by two different numbers of the
-- centres is zero, so that one product of the matrix of second derivatives with ones gives all that are not.
-- ==
-- entry: objective
-- input { [[0f32, 0], [1, 0], [4, 4], [5, 7]] [[0.5f32, 1], [4, 5]] } output { 8.5f32 }

-- ==
-- entry: derivative
-- input { [[0f32, 0], [1, 0], [4, 4], [5, 7]] [[0.5f32, 1], [4, 5]] } output { [[0f32, 1], [-0.5, -0.5]] }
-- input { [[0f32, 0], [1, 0]] [[0.5f32, 1], [4, 5]] } output { [[0f32, 1], [0, 0]] }

def square (x: f32) : f32 = x * x

-- The distance |p - c|² is |p|² - 2pc + |c|², where all products pc are one product of matrices.
def cost [n][k][d] (points: [n][d]f32) (centres: [k][d]f32) : f32 =
  let norm x = f32.sum (map square x)
  let norms = map norm centres
  let products = map (\point -> map (\centre -> f32.sum (map2 (*) point centre)) centres) points
  let nearest point row = norm point + f32.minimum (map2 (\norm x -> norm - 2 * x) norms row)
  in f32.sum (map2 nearest points products)

entry objective [n][k][d] (points: [n][d]f32) (centres: [k][d]f32) : f32 = cost points centres

-- What to subtract from the centres. A centre without points stays where it is.
entry derivative [n][k][d] (points: [n][d]f32) (centres: [k][d]f32) : [k][d]f32 =
  let (first, second) = jvp2 (grad (cost points)) centres (replicate k (replicate d 1))
  in map2 (map2 (\a b -> if b == 0 then 0 else a / b)) first second
