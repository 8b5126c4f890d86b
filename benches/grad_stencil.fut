-- The gradient of half the sum of squares after one step of a stencil of seven points.
def step [n][m][k] (a: [n][m][k]f32): [n][m][k]f32 =
  tabulate_3d n m k (\x y z ->
    if x > 0 && x < n - 1 && y > 0 && y < m - 1 && z > 0 && z < k - 1
    then 0.4 * a[x, y, z]
         + 0.1 * (a[x - 1, y, z] + a[x + 1, y, z] + a[x, y - 1, z] + a[x, y + 1, z] + a[x, y, z - 1] + a[x, y, z + 1])
    else a[x, y, z])

def energy [n][m][k] (a: [n][m][k]f32): f32 = 0.5 * f32.sum (map (\x -> x * x) (flatten_3d (step a)))

entry main [n][m][k] (a: [n][m][k]f32): [n][m][k]f32 = vjp energy a 1
