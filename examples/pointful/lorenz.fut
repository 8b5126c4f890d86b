-- | An ordinary differential equation: the Lorenz system by the Runge-Kutta method of fourth order. The steps go in
-- order, so the trajectory is made with state.
--
-- Try it:
--
--     dagaz run examples/pointful/lorenz.fut --entry trajectory --arg 2000 --arg 0.01 --picture lorenz.svg

def rk4 [d] (f: [d]f64 -> [d]f64) (dt: f64) (y: [d]f64) : [d]f64 =
  let ahead h k = for i -> y[i] + h * k[i]
  let a = f y
  let b = f (ahead (dt / 2) a)
  let c = f (ahead (dt / 2) b)
  let d = f (ahead dt c)
  in for i -> y[i] + dt / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i])

def lorenz (p: [3]f64) : [3]f64 =
  let (x, y, z) = (p[0], p[1], p[2])
  in [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

-- | The positions at so many times.
entry trajectory (steps: i64) (dt: f64) : [steps][3]f64 =
  (run_state [1, 1, 1] (\p -> for _t < steps -> (p := rk4 lorenz dt (get p); get p))).0

-- | An oscillator is back where it was after a full turn.
-- ==
-- entry: error_after_a_turn
-- input { 100i64 } output { true }
-- input { 1000i64 } output { true }
entry error_after_a_turn (steps: i64) : bool =
  let dt = 2 * f64.pi / f64.i64 steps
  let end = loop p = [1, 0] for _t < steps do rk4 (\p -> [p[1], -p[0]]) dt p
  in f64.abs (end[0] - 1) + f64.abs end[1] < 10 * dt ** 4
