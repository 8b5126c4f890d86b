-- | The products of all pairs of vectors are symmetric, so half of them is enough: an array over the pairs (i, j) with
-- j ≤ i. The pairs are an index type of their own, which says how they are numbered.

index type lower [n] of (i64, i64) = {
  size = n * (n + 1) / 2,
  ordinal = \(i, j) -> i * (i + 1) / 2 + j,
  from_ordinal = \k ->
    let i = i64.f64 ((f64.sqrt (8 * f64.i64 k + 1) - 1) / 2)
    in (i, k - i * (i + 1) / 2) }

def gram [n][d] (xs: [n][d]f64) : [lower [n]]f64 =
  for (i, j) -> f64.sum (for k -> xs[i,k] * xs[j,k])

-- | The element at any two places.
def at [n] (g: [lower [n]]f64) (i: i64) (j: i64) : f64 =
  g[from_ordinal ((lower n).ordinal (if i >= j then (i, j) else (j, i)))]

-- ==
-- entry: main
-- input { [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] }
-- output { [5.0, 11.0, 25.0, 17.0, 39.0, 61.0] [[5.0, 11.0, 17.0], [11.0, 25.0, 39.0], [17.0, 39.0, 61.0]] }
entry main [n][d] (xs: [n][d]f64) : ([]f64, [n][n]f64) =
  let g = gram xs
  in (g :> [n * (n + 1) / 2]f64, for i j -> at g i j)
