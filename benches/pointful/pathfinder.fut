-- The cheapest way from the first row of a wall to every place of the last one; by indices and by combinators.
-- ==
-- entry: pointful combinators gradient_pointful gradient_combinators
-- random input { [50][20000]f32 }

def by_indices [rows][n] (wall: [rows][n]f32) : [n]f32 =
  loop best = wall[0] for r in 1..<rows do
    for j -> wall[r,j] + f32.min best[j] (f32.min best[i64.max 0 (j - 1)] best[i64.min (n - 1) (j + 1)])

def by_combinators [rows][n] (wall: [rows][n]f32) : [n]f32 =
  loop best = wall[0] for r in 1..<rows do
    map2 (\w j -> w + f32.min best[j] (f32.min best[i64.max 0 (j - 1)] best[i64.min (n - 1) (j + 1)])) wall[r] (iota n)

entry pointful [rows][n] (wall: [rows][n]f32) = by_indices wall
entry combinators [rows][n] (wall: [rows][n]f32) = by_combinators wall
entry gradient_pointful [rows][n] (wall: [rows][n]f32) = vjp by_indices wall (replicate n 1)
entry gradient_combinators [rows][n] (wall: [rows][n]f32) = vjp by_combinators wall (replicate n 1)
