-- Steps of a stencil of seven points in three dimensions; the border stays as it is.
def step [n][m][k] (a: [n][m][k]f32): [n][m][k]f32 =
  tabulate_3d n m k (\x y z ->
    if x > 0 && x < n - 1 && y > 0 && y < m - 1 && z > 0 && z < k - 1
    then 0.4 * a[x, y, z]
         + 0.1 * (a[x - 1, y, z] + a[x + 1, y, z] + a[x, y - 1, z] + a[x, y + 1, z] + a[x, y, z - 1] + a[x, y, z + 1])
    else a[x, y, z])

entry main [n][m][k] (steps: i64) (a: [n][m][k]f32): [n][m][k]f32 = loop a for _i < steps do step a
