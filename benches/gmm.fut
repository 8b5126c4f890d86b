-- The gradient of the likelihood of points under a mixture of normal distributions, each with a deviation per axis.
def logsumexp [n] (xs: [n]f64): f64 =
  let most = f64.maximum xs
  in most + f64.log (f64.sum (map (\x -> f64.exp (x - most)) xs))

def likelihood [n][d][k] (points: [n][d]f64) (weights: [k]f64, means: [k][d]f64, scales: [k][d]f64): f64 =
  let term point (weight, mean, scale) =
    let deviations = map3 (\x m s -> (x - m) * f64.exp s) point mean scale
    in weight + f64.sum scale - 0.5 * f64.sum (map (\x -> x * x) deviations)
  let at point = logsumexp (map (term point) (zip3 weights means scales))
  in f64.sum (map at points) - f64.i64 n * logsumexp weights

entry main [n][d][k] (points: [n][d]f64) (weights: [k]f64) (means: [k][d]f64) (scales: [k][d]f64)
  : ([k]f64, [k][d]f64, [k][d]f64) = vjp (likelihood points) (weights, means, scales) 1
