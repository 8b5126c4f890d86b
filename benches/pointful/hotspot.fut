-- The temperature of a chip, some steps of a simulation; by indices and by combinators.
-- ==
-- entry: pointful combinators gradient_pointful gradient_combinators
-- random input { [512][512]f32 [512][512]f32 }

def flow (c: f32) (p: f32) (n: f32) (s: f32) (w: f32) (e: f32) : f32 =
  c + 0.05 * (p + (n + s - 2 * c) * 0.1 + (e + w - 2 * c) * 0.1 + (80 - c) * 0.02)

def by_indices [n][m] (power: [n][m]f32) (t: [n][m]f32) : [n][m]f32 =
  loop t for _step < 4 do
    for i j ->
      flow t[i,j] power[i,j]
           t[i64.max 0 (i - 1), j] t[i64.min (n - 1) (i + 1), j]
           t[i, i64.max 0 (j - 1)] t[i, i64.min (m - 1) (j + 1)]

def by_combinators [n][m] (power: [n][m]f32) (t: [n][m]f32) : [n][m]f32 =
  loop t for _step < 4 do
    tabulate_2d n m (\i j ->
      flow t[i,j] power[i,j]
           t[i64.max 0 (i - 1), j] t[i64.min (n - 1) (i + 1), j]
           t[i, i64.max 0 (j - 1)] t[i, i64.min (m - 1) (j + 1)])

entry pointful [n][m] (power: [n][m]f32) (t: [n][m]f32) = by_indices power t
entry combinators [n][m] (power: [n][m]f32) (t: [n][m]f32) = by_combinators power t
entry gradient_pointful [n][m] (power: [n][m]f32) (t: [n][m]f32) = vjp (by_indices power) t (replicate n (replicate m 1))
entry gradient_combinators [n][m] (power: [n][m]f32) (t: [n][m]f32) = vjp (by_combinators power) t (replicate n (replicate m 1))
