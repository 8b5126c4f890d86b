-- | Newton's method for the minimum of a function of several numbers: each step solves a linear system made of the gradient
-- and of all second derivatives.

-- | Rosenbrock's function, a curved valley whose lowest point is (1, 1, …).
def valley [n] (xs: [n]f64) : f64 =
  let part i = (1 - xs[i]) ** 2 + 100 * (xs[i + 1] - xs[i] * xs[i]) ** 2
  in f64.sum (map part (iota (n - 1)))

-- | The solution of `a x = b` by elimination, where the diagonal is never zero.
def solve [n] (a: [n][n]f64) (b: [n]f64) : [n]f64 =
  let (a, b) =
    loop (a, b) = (a, b) for k < n do
      let scale i = if i == k then 0 else a[i, k] / a[k, k]
      in ( tabulate_2d n n (\i j -> a[i, j] - scale i * a[k, j])
         , tabulate n (\i -> b[i] - scale i * b[k])
         )
  in tabulate n (\i -> b[i] / a[i, i])

-- | Where the steps end, rounded to six digits.
-- ==
-- input { [-1.2, 1.0] 10i64 } output { [1.0, 1.0] }
-- input { [0.5, 0.5, 0.5] 20i64 } output { [1.0, 1.0, 1.0] }
entry main [n] (start: [n]f64) (steps: i64) : [n]f64 =
  let step xs = map2 (-) xs (solve (hessian valley xs) (grad valley xs))
  let end = loop xs = start for _i < steps do step xs
  in map (\x -> f64.round (x * 1e6) / 1e6) end
