-- The temperature of a chip, some steps of a simulation with the power that every cell takes. The objective is half the sum of
-- squares of how much cells are warmer than the air; the gradient is by the temperatures at the start and by the power.
-- ==
-- entry: objective
-- input { 3i64 [[80f32, 85, 90], [81, 83, 82]] [[0.5f32, 1, 2], [0, 1, 0]] }
-- output { 71.46335f32 }

-- ==
-- entry: derivative
-- input { 3i64 [[80f32, 85, 90], [81, 83, 82]] [[0.5f32, 1, 2], [0, 1, 0]] }
-- output { [[0.2490555f32, 5.060465, 9.854232], [1.029334, 3.099823, 2.25371]] [[0.02886628f32, 0.7635415, 1.500151],
--   [0.1527939, 0.4674832, 0.3256319]] }

def air : f32 = 80

def step [n][m] (power: [n][m]f32) (t: [n][m]f32) : [n][m]f32 =
  tabulate_2d n m (\i j ->
    let c = t[i, j]
    let north = t[i64.max 0 (i - 1), j]
    let south = t[i64.min (n - 1) (i + 1), j]
    let west = t[i, i64.max 0 (j - 1)]
    let east = t[i, i64.min (m - 1) (j + 1)]
    in c + 0.05 * (power[i, j] + (north + south - 2 * c) * 0.1 + (east + west - 2 * c) * 0.1 + (air - c) * 0.02))

def excess [n][m] (steps: i64) (t: [n][m]f32, power: [n][m]f32) : f32 =
  let t = loop t for _i < steps do step power t
  in 0.5 * f32.sum (map (\x -> (x - air) ** 2) (flatten t))

entry objective [n][m] (steps: i64) (t: [n][m]f32) (power: [n][m]f32) : f32 = excess steps (t, power)

entry derivative [n][m] (steps: i64) (t: [n][m]f32) (power: [n][m]f32) : ([n][m]f32, [n][m]f32) =
  grad (excess steps) (t, power)
