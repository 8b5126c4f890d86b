-- Steps of a stencil of seven points in three dimensions, whose border stays as it is. The objective is half the sum of squares
-- of the result, and the gradient is by the start.
-- ==
-- entry: objective
-- input { 3i64 [[[1f32, 2, 1], [0, 1, 0], [3, 1, 1]], [[2, 1, 0], [4, 5, 1], [0, 0, 1]], [[1, 1, 1], [2, 3, 2], [0, 1, 0]]] }
-- output { 32.7672f32 }

-- ==
-- entry: derivative
-- input { 3i64 [[[1f32, 2, 1], [0, 1, 0], [3, 1, 1]], [[2, 1, 0], [4, 5, 1], [0, 0, 1]], [[1, 1, 1], [2, 3, 2], [0, 1, 0]]] }
-- output { [[[1f32, 2, 1], [0, 1.29328, 0], [3, 1, 1]], [[2, 1.29328, 0], [4.29328, 0.12032, 1.29328], [0, 0.29328, 1]],
--   [[1, 1, 1], [2, 3.29328, 2], [0, 1, 0]]] }

def step [n][m][k] (a: [n][m][k]f32) : [n][m][k]f32 =
  tabulate_3d n m k (\x y z ->
    if x > 0 && x < n - 1 && y > 0 && y < m - 1 && z > 0 && z < k - 1
    then 0.4 * a[x, y, z]
         + 0.1 * (a[x - 1, y, z] + a[x + 1, y, z] + a[x, y - 1, z] + a[x, y + 1, z] + a[x, y, z - 1] + a[x, y, z + 1])
    else a[x, y, z])

def energy [n][m][k] (steps: i64) (a: [n][m][k]f32) : f32 =
  let a = loop a for _i < steps do step a
  in 0.5 * f32.sum (map (\x -> x * x) (flatten_3d a))

entry objective [n][m][k] (steps: i64) (a: [n][m][k]f32) : f32 = energy steps a

entry derivative [n][m][k] (steps: i64) (a: [n][m][k]f32) : [n][m][k]f32 = grad (energy steps) a
