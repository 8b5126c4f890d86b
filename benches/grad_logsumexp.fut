-- The gradient of the logarithm of a sum of exponentials.
def logsumexp [n] (xs: [n]f64): f64 =
  let most = f64.maximum xs
  in most + f64.log (f64.sum (map (\x -> f64.exp (x - most)) xs))

entry main [n] (xs: [n]f64): [n]f64 = vjp logsumexp xs 1
