-- | Bodies that attract each other: Newton's law, in steps of equal length.
--
-- Try it:
--
--     dagaz run examples/nbody.fut --entry circle --arg 1000

-- | A module type says what an implementation must offer; code that only needs this much works with any of them.
module type vector = {
  type t
  val zero : t
  val + : t -> t -> t
  val - : t -> t -> t
  val scale : f64 -> t -> t
  val dot : t -> t -> f64
}

module plane : vector with t = (f64, f64) = {
  type t = (f64, f64)
  def zero : t = (0, 0)
  def scale (k: f64) ((x, y): t) : t = (k * x, k * y)
  def dot ((x1, y1): t) ((x2, y2): t) : f64 = x1 * x2 + y1 * y2
  def (-) ((x1, y1): t) ((x2, y2): t) : t = (x1 - x2, y1 - y2)
  def (+) ((x1, y1): t) ((x2, y2): t) : t = (x1 + x2, y1 + y2)
}

-- | The mechanics, for vectors of any dimension.
module bodies (v: vector) = {
  type body = {mass: f64, position: v.t, velocity: v.t}

  -- | What the body `b` does to the velocity of `a` in a unit of time. A body does nothing to itself.
  def attraction (a: body) (b: body) : v.t =
    let r = v.(b.position - a.position)
    let d2 = v.dot r r
    in if d2 == 0 then v.zero else v.scale (b.mass / (d2 * f64.sqrt d2)) r

  def accelerations [n] (bs: [n]body) : [n]v.t =
    map (\a -> reduce (v.+) v.zero (map (attraction a) bs)) bs

  -- | One step of the leapfrog method: half a kick, a drift, and the other half of the kick.
  def step [n] (dt: f64) (bs: [n]body) : [n]body =
    let kick (b: body) (a: v.t) = b with velocity = v.(b.velocity + scale (dt / 2) a)
    let drift (b: body) = b with position = v.(b.position + scale dt b.velocity)
    let moved = map2 kick bs (accelerations bs) |> map drift
    in map2 kick moved (accelerations moved)

  -- | Energy of motion and of position, which stays the same but for the error of the method.
  def energy [n] (bs: [n]body) : f64 =
    let motion = map (\b -> b.mass * v.dot b.velocity b.velocity / 2) bs |> f64.sum
    let potential a b =
      let r = v.(a.position - b.position)
      in if v.dot r r == 0 then 0 else -a.mass * b.mass / f64.sqrt (v.dot r r)
    in motion + f64.sum (map (\a -> f64.sum (map (potential a) bs)) bs) / 2
}

module flat = bodies plane

def run [n] (steps: i32) (dt: f64) (bs: [n]flat.body) = iterate steps (flat.step dt) bs

-- | Masses, places and velocities in, places out.
-- ==
-- input { 2 0.5 [1.0, 2.0, 3.0] [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]] [[0.0, 0.0], [0.0, 1.0], [-0.5, 0.0]] }
-- output { [[1.1273359628154551, 0.9347195461138174], [0.1872534041419639, 1.059371901664734],
--            [-0.33394759036646093, 1.6488455501855714]] }
entry main [n] (steps: i32) (dt: f64) (masses: [n]f64) (places: [n][2]f64) (velocities: [n][2]f64) : [n][2]f64 =
  let pair (xs: [2]f64) = (xs[0], xs[1])
  let body mass place velocity : flat.body = {mass, position = pair place, velocity = pair velocity}
  in run steps dt (map3 body masses places velocities) |> map (\b -> [b.position.0, b.position.1])

-- | A light body on a circle of radius one around a heavy one. How far is it from its start after a whole turn, divided
-- into so many steps, and is the energy what it was? The method is of second order: with ten times as many steps the
-- distance is a hundred times smaller. So it is given in units of one step squared.
-- ==
-- entry: circle
-- input { 100 } output { 82.55975863688165 true }
-- input { 1000 } output { 82.68214123508926 true }
entry circle (steps: i32) : (f64, bool) =
  let start : [2]flat.body =
    [ {mass = 1, position = (0, 0), velocity = (0, 0)}
    , {mass = 1e-12, position = (1, 0), velocity = (0, 1)}
    ]
  let end = run steps (2 * f64.pi / f64.i32 steps) start
  let gap = plane.(end[1].position - start[1].position)
  in (f64.sqrt (plane.dot gap gap) * f64.i32 steps ** 2, f64.abs (flat.energy end / flat.energy start - 1) < 1e-10)
