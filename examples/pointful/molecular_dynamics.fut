-- | Molecules that attract each other from afar and repel each other when close. The forces are not written down: they
-- are the derivative of the energy.

-- | The energy of a pair by the square of its distance.
def pair_energy (r2: f64) : f64 =
  let s6 = 1 / r2 ** 3
  in 4 * (s6 * s6 - s6)

def potential [n] (x: [n][3]f64) : f64 =
  f64.sum (for i -> f64.sum (for j ->
    if i <= j then 0 else pair_energy (f64.sum (for (a: idx [3]) -> (x[i,a] - x[j,a]) ** 2))))

def forces [n] (x: [n][3]f64) : [n][3]f64 =
  let gradient = vjp potential x 1
  in for i a -> -gradient[i,a]

-- | One step of the velocity Verlet method.
def step [n] (dt: f64) (x: [n][3]f64, v: [n][3]f64) : ([n][3]f64, [n][3]f64) =
  let f = forces x
  let half : [n][3]f64 = for i a -> v[i,a] + dt / 2 * f[i,a]
  let new_x : [n][3]f64 = for i a -> x[i,a] + dt * half[i,a]
  let new_f = forces new_x
  in (new_x, for i a -> half[i,a] + dt / 2 * new_f[i,a])

def energy [n] (x: [n][3]f64) (v: [n][3]f64) : f64 =
  potential x + f64.sum (for i -> f64.sum (for a -> v[i,a] ** 2)) / 2

-- | A block of molecules at rest, after some steps of 0.002: the energy is as it was, and so is the momentum.
-- ==
-- entry: conserved
-- input { 3i64 100i64 } output { true }
entry conserved (side: i64) (steps: i64) : bool =
  let start = flatten_3d (for i < side j < side k < side ->
                let at (l: i64) = 1.2 * f64.i64 l + 0.01 * f64.sin (f64.i64 (l + i + 2 * j + 3 * k))
                in [at i, at j, at k])
  let rest = map (map (const 0)) start
  let (x, v) = loop s = (start, rest) for _t < steps do step 0.002 s
  let momentum = for (a: idx [3]) -> f64.sum (for i -> v[i,a])
  in f64.abs (energy x v - energy start rest) < 1e-3 && f64.abs (f64.sum momentum) < 1e-9
