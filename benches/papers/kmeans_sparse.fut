-- Clustering by k-means, as in `kmeans.fut`, of points that are mostly zeros: the rows of a sparse matrix, of which `values`
-- and `columns` hold what is not zero, row after row, and `starts` where each row begins. The centres are dense.
-- ==
-- entry: objective
-- input { [1f32, 4, 4, 5, 7] [0i32, 0, 1, 0, 1] [0i32, 0, 1, 3, 5] [[0.5f32, 1], [4, 5]] } output { 8.5f32 }

-- ==
-- entry: derivative
-- input { [1f32, 4, 4, 5, 7] [0i32, 0, 1, 0, 1] [0i32, 0, 1, 3, 5] [[0.5f32, 1], [4, 5]] }
-- output { [[0f32, 1], [-0.5, -0.5]] }

def square (x: f32) : f32 = x * x

-- The distance |p - c|² is |p|² - 2pc + |c|², of which the first two need only the numbers of p that are not zero.
def cost [m][r][k][d] (values: [m]f32) (columns: [m]i32) (starts: [r]i32) (centres: [k][d]f32) : f32 =
  let norms = map (\centre -> f32.sum (map square centre)) centres
  let nearest row =
    let (from, to) = (i64.i32 starts[row], i64.i32 starts[row + 1])
    let distance c = norms[c] + f32.sum (map2 (\x j -> x * (x - 2 * centres[c, j])) values[from:to] columns[from:to])
    in f32.minimum (map distance (iota k))
  in f32.sum (map nearest (iota (r - 1)))

entry objective [m][r][k][d] (values: [m]f32) (columns: [m]i32) (starts: [r]i32) (centres: [k][d]f32) : f32 =
  cost values columns starts centres

-- What to subtract from the centres. A centre without points stays where it is.
entry derivative [m][r][k][d] (values: [m]f32) (columns: [m]i32) (starts: [r]i32) (centres: [k][d]f32) : [k][d]f32 =
  let (first, second) = jvp2 (grad (cost values columns starts)) centres (replicate k (replicate d 1))
  in map2 (map2 (\a b -> if b == 0 then 0 else a / b)) first second
