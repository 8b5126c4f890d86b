-- | Kernel ridge regression: a curve through points, as smooth as a kernel, found with conjugate gradients. How good it is
-- on other points says, by its derivative, which width of the kernel is best.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (for i -> a[i] * b[i])

def kernel (width: f64) (x: f64) (y: f64) : f64 = f64.exp (-((x - y) ** 2) / (2 * width ** 2))

-- | The solution of `a x = b`, for a positive symmetric matrix.
def solve [n] (a: [n][n]f64) (b: [n]f64) : [n]f64 =
  let zero : [n]f64 = for _i -> 0
  let (x, _, _) =
    loop (x, r, p) = (zero, b, b) for _k < n do
      let ap = for i -> dot a[i] p
      let rr = dot r r
      let alpha = if rr < 1e-28 then 0 else rr / dot p ap
      let new_r = for i -> r[i] - alpha * ap[i]
      let beta = if rr < 1e-28 then 0 else dot new_r new_r / rr
      in (for i -> x[i] + alpha * p[i], new_r, for i -> new_r[i] + beta * p[i])
  in x

def fit [n] (width: f64) (xs: [n]f64) (ys: [n]f64) : f64 -> f64 =
  let weights = solve (for i j -> kernel width xs[i] xs[j] + (if i == j then 0.01 else 0)) ys
  in \x -> f64.sum (for i -> weights[i] * kernel width xs[i] x)

def loss [n][m] (xs: [n]f64) (ys: [n]f64) (us: [m]f64) (vs: [m]f64) (width: f64) : f64 =
  let curve = fit width xs ys
  in f64.sum (for i -> (curve us[i] - vs[i]) ** 2)

-- | The sine is found again between the points where it was measured.
-- ==
-- entry: error improves
-- input { } output { true }
entry error : bool =
  let xs : [20]f64 = for i -> f64.i64 i * 0.3
  let curve = fit 0.7 xs (map f64.sin xs)
  in and (for i < 19 -> let x = f64.i64 i * 0.3 + 0.15 in f64.abs (curve x - f64.sin x) < 0.05)

-- | A step against the derivative makes the loss smaller.
entry improves : bool =
  let xs : [12]f64 = for i -> f64.i64 i * 0.5
  let us : [11]f64 = for i -> f64.i64 i * 0.5 + 0.25
  let on_width = loss xs (map f64.sin xs) us (map f64.sin us)
  let slope = vjp on_width 0.3 1
  in on_width (0.3 - 1e-3 * f64.sgn slope) < on_width 0.3
