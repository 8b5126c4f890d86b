-- Reading an array at many indices, most of which occur often: the gradient adds what comes back at the same index. The
-- objective is half the sum of squares of the differences between what is read and a target.
-- ==
-- entry: objective
-- input { [1f64, 2, 3] [0i32, 2, 2, 0, 2] [0f64, 1, 2, 3, 4] } output { 5.5f64 }

-- ==
-- entry: derivative
-- input { [1f64, 2, 3] [0i32, 2, 2, 0, 2] [0f64, 1, 2, 3, 4] } output { [-1f64, 0, 2] }

def loss [n][m] (indices: [m]i32) (targets: [m]f64) (table: [n]f64) : f64 =
  0.5 * f64.sum (map2 (\i target -> (table[i] - target) ** 2) indices targets)

entry objective [n][m] (table: [n]f64) (indices: [m]i32) (targets: [m]f64) : f64 = loss indices targets table

entry derivative [n][m] (table: [n]f64) (indices: [m]i32) (targets: [m]f64) : [n]f64 = grad (loss indices targets) table
