-- | A partial differential equation: heat spreads over a plate whose edges are joined. What the rightmost cell loses, the
-- leftmost gets.
--
-- Try it:
--
--     dagaz run examples/pointful/heat.fut --entry spot --arg 64 --arg 200 --picture heat.png

def step [n][m] (rate: f64) (u: [n][m]f64) : [n][m]f64 =
  for i j ->
    let around = u[(i + 1) % n, j] + u[(i - 1) % n, j] + u[i, (j + 1) % m] + u[i, (j - 1) % m]
    in u[i,j] + rate * (around - 4 * u[i,j])

def spread [n][m] (steps: i64) (u: [n][m]f64) : [n][m]f64 =
  loop u for _t < steps do step 0.2 u

-- | The plate after some steps, hot in the middle at first.
entry spot (n: i64) (steps: i64) : [n][n]f64 =
  spread steps (for i < n j < n -> if i == n / 2 && j == n / 2 then 1 else 0)

def total [n][m] (u: [n][m]f64) : f64 = f64.sum (for i -> f64.sum u[i])

-- | Heat is neither made nor lost, and how the total depends on each cell says the same: by 1.
-- ==
-- entry: conserved sensitivity
-- input { 8i64 50i64 } output { true }
entry conserved (n: i64) (steps: i64) : bool = f64.abs (total (spot n steps) - 1) < 1e-9

entry sensitivity (n: i64) (steps: i64) : bool =
  let u = for i < n j < n -> f64.i64 (i * j)
  let du = vjp (\u -> total (spread steps u)) u 1
  in and (for i -> and (for j -> f64.abs (du[i,j] - 1) < 1e-9))
