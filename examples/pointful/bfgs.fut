-- | Minimisation by the method of Broyden, Fletcher, Goldfarb and Shanno: gradients teach an approximation of the inverse
-- of the second derivative.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (for i -> a[i] * b[i])

-- | A step along `p` that makes `f` smaller by enough.
def line_search [n] (f: [n]f64 -> f64) (x: [n]f64) (p: [n]f64) (slope: f64) : f64 =
  let ahead t = f (for i -> x[i] + t * p[i])
  in loop t = 1 while ahead t > f x + 1e-4 * t * slope && t > 1e-12 do t / 2

def minimise [n] (f: [n]f64 -> f64) (start: [n]f64) (steps: i64) : [n]f64 =
  let identity : [n][n]f64 = for i j -> if i == j then 1 else 0
  let gradient x = vjp f x 1
  let improve (x: [n]f64, g: [n]f64, h: [n][n]f64) =
    let p = for i -> -(dot h[i] g)
    let t = line_search f x p (dot p g)
    let s = for i -> t * p[i]
    let new_x = for i -> x[i] + s[i]
    let new_g = gradient new_x
    let y = for i -> new_g[i] - g[i]
    let rho = 1 / dot y s
    let hy = for i -> dot h[i] y
    let scale = rho * (1 + rho * dot y hy)
    let new_h = for i j -> h[i,j] + scale * s[i] * s[j] - rho * (hy[i] * s[j] + s[i] * hy[j])
    in (new_x, new_g, new_h)
  let (x, _, _) = loop (x, g, h) = (start, gradient start, identity) for _k < steps do
                    if dot g g < 1e-20 then (x, g, h) else improve (x, g, h)
  in x

-- | The banana function, whose minimum at (1, 1, …) lies in a curved valley.
def rosenbrock [n] (x: [n]f64) : f64 =
  f64.sum (for i -> if i == n - 1 then 0 else 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2)

-- ==
-- entry: found
-- input { [-1.2, 1.0] } output { true }
-- input { [-1.2, 1.0, -1.2, 1.0] } output { true }
entry found [n] (start: [n]f64) : bool =
  let x = minimise rosenbrock start 100
  in and (for i -> f64.abs (x[i] - 1) < 1e-4)
