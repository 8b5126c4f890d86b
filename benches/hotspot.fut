-- The temperature of a chip: steps of a simulation with the power that every cell takes.
def step [n][m] (power: [n][m]f32) (t: [n][m]f32): [n][m]f32 =
  tabulate_2d n m (\i j ->
    let c = t[i, j]
    let north = t[i64.max 0 (i - 1), j]
    let south = t[i64.min (n - 1) (i + 1), j]
    let west = t[i, i64.max 0 (j - 1)]
    let east = t[i, i64.min (m - 1) (j + 1)]
    in c + 0.05 * (power[i, j] + (north + south - 2 * c) * 0.1 + (east + west - 2 * c) * 0.1 + (80 - c) * 0.02))

entry main [n][m] (steps: i64) (t: [n][m]f32) (power: [n][m]f32): [n][m]f32 = loop t for _i < steps do step power t
