-- | A picture by marching rays: a scene is a function that gives the distance to the nearest surface, and a ray goes on by
-- that distance until it is there. The normal of a surface is the gradient of the distance.
--
-- Try it:
--
--     dagaz run examples/pointful/ray_march.fut --entry brightness --arg 640 --arg 480 --picture ball.png

type vec = [3]f64

def dot (a: vec) (b: vec) : f64 = f64.sum (for i -> a[i] * b[i])
def along (a: vec) (t: f64) (b: vec) : vec = for i -> a[i] + t * b[i]
def unit (a: vec) : vec = let n = f64.sqrt (dot a a) in for i -> a[i] / n

-- | A ball on the ground.
def distance (p: vec) : f64 =
  let ball = let q = along p (-1) [0, 1, 4] in f64.sqrt (dot q q) - 1
  in f64.min ball p[1]

def march (origin: vec) (direction: vec) : f64 =
  let (t, _, _) = loop (t, d, k) = (0, 1, 0i32) while d > 1e-4 && k < 200 && t < 50 do
                    let d = distance (along origin t direction)
                    in (t + d, d, k + 1)
  in t

-- | How bright the point is that a ray meets: by the light that falls on it, if nothing is in between.
def shade (origin: vec) (direction: vec) : f64 =
  let t = march origin direction
  let p = along origin t direction
  let normal = unit (vjp distance p 1)
  let light = unit [-1, 2, -1]
  let lit = march (along p 0.01 normal) light > 20
  in if t > 40 then 0 else 0.1 + (if lit then 0.9 * f64.max 0 (dot normal light) else 0)

entry brightness (width: i64) (height: i64) : [height][width]f64 =
  for y < height x < width ->
    let right = (f64.i64 x + 0.5) / f64.i64 width * 2 - 1
    let up = 1 - (f64.i64 y + 0.5) / f64.i64 height * 2
    in shade [0, 1.2, 0] (unit [right, 0.6 * up, 1])

-- | Lines of characters, brighter ones for brighter points.
entry picture (width: i64) (height: i64) : [height][width]u8 =
  let inks = " .:-=+*#%@"
  let bright = brightness width height
  in for y x -> inks[i64.f64 (9.99 * f64.min 1 (f64.max 0 bright[y,x]))]

-- | The sky is dark, and the ball has a bright side.
-- ==
-- entry: seen
-- input { 24i64 16i64 } output { true true }
entry seen (width: i64) (height: i64) : (bool, bool) =
  let b = brightness width height
  in (b[0,0] == 0, f64.maximum (for y -> f64.maximum b[y]) > 0.8)
