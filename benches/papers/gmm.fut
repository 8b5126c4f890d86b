-- How likely points are under a mixture of normal distributions, and its gradient: GMM of ADBench.
--
-- Component k has the weight `softmax alphas`, the mean `means[k]`, and the inverse covariance Qᵀ Q, where Q is a lower
-- triangle with a positive diagonal: `icf[k]` has the logarithms of the diagonal first, then the columns below it. A Wishart
-- prior keeps covariances from shrinking to nothing.
-- ==
-- entry: objective
-- input { [0.5, -0.25] [[0.0, 1.0], [1.0, -1.0]] [[0.1, 0.2, 0.3], [-0.1, 0.0, 0.5]]
--         [[0.5, 0.5], [1.0, 0.0], [-1.0, 2.0]] 1.0 0i64 }
-- output { 0.006651082043767964 }
--
-- ==
-- entry: derivative
-- input { [0.5, -0.25] [[0.0, 1.0], [1.0, -1.0]] [[0.1, 0.2, 0.3], [-0.1, 0.0, 0.5]]
--         [[0.5, 0.5], [1.0, 0.0], [-1.0, 2.0]] 1.0 0i64 }
-- output { [0.4436267215011038, -0.4436267215011037]
--          [[0.09401572899608177, -0.11196580784512365], [0.19212259868085108, 0.5780004945805189]]
--          [[1.455339288744869, 1.902387016287515, 1.9952643070006133],
--           [1.2328172274304048, 0.758538658183968, 0.6822980282082303]] }

def square (x: f64) = x * x
def sum_of 'a [n] (f: a -> f64) (xs: [n]a) : f64 = f64.sum (map f xs)
def dot [n] (xs: [n]f64) (ys: [n]f64) : f64 = f64.sum (map2 (*) xs ys)

def logsumexp [n] (xs: [n]f64) : f64 =
  let most = f64.maximum xs
  in most + f64.log (sum_of (\x -> f64.exp (x - most)) xs)

def triangle [d][l] (icf: [l]f64) : [d][d]f64 =
  tabulate_2d d d (\i j ->
    if i < j then 0
    else if i == j then f64.exp icf[i]
    else icf[d + d * j - j * (j + 1) / 2 + i - j - 1])

def log_gamma_distribution (a: f64) (p: i64) : f64 =
  0.25 * f64.i64 (p * (p - 1)) * f64.log f64.pi + sum_of (\j -> f64.lgamma (a - 0.5 * f64.i64 j)) (iota p)

def log_wishart_prior [k][d] (gamma: f64) (m: i64) (qs: [k][d][d]f64) (log_determinants: [k]f64) : f64 =
  let n = d + m + 1
  let constant = f64.i64 (n * d) * (f64.log gamma - 0.5 * f64.log 2) - log_gamma_distribution (0.5 * f64.i64 n) d
  in 0.5 * square gamma * sum_of (sum_of (sum_of square)) qs
     - f64.i64 m * f64.sum log_determinants - f64.i64 k * constant

def log_likelihood [n][d][k][l] (x: [n][d]f64) (gamma: f64) (m: i64)
                                (alphas: [k]f64, means: [k][d]f64, icf: [k][l]f64) : f64 =
  let qs = map triangle icf
  let log_determinants = map (\c -> f64.sum (take d c)) icf
  -- Q (x - mean) = Q x - Q mean, and Q x for all points and components is one matrix product.
  let centres = map2 (\q mean -> map (dot mean) q) qs means
  let term point q centre alpha log_determinant =
    alpha + log_determinant - 0.5 * sum_of square (map2 (\row c -> dot row point - c) q centre)
  let at point = logsumexp (map4 (term point) qs centres alphas log_determinants)
  in sum_of at x - f64.i64 n * (0.5 * f64.i64 d * f64.log (2 * f64.pi) + logsumexp alphas)
     + log_wishart_prior gamma m qs log_determinants

entry objective [n][d][k][l] (alphas: [k]f64) (means: [k][d]f64) (icf: [k][l]f64)
                             (x: [n][d]f64) (gamma: f64) (m: i64) : f64 =
  log_likelihood x gamma m (alphas, means, icf)

entry derivative [n][d][k][l] (alphas: [k]f64) (means: [k][d]f64) (icf: [k][l]f64)
                              (x: [n][d]f64) (gamma: f64) (m: i64) : ([k]f64, [k][d]f64, [k][l]f64) =
  grad (log_likelihood x gamma m) (alphas, means, icf)
