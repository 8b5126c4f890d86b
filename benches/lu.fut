-- The LU decomposition of a matrix, without pivoting, in one matrix.
entry main [n] (a: [n][n]f64): [n][n]f64 =
  loop a = copy a for k < n do
    let m = n - k - 1
    let factors = map (/ a[k, k]) (a[k + 1:, k] :> [m]f64)
    let row = a[k, k + 1:] :> [m]f64
    let rest = map2 (\old f -> map2 (\x r -> x - f * r) old row) (a[k + 1:, k + 1:] :> [m][m]f64) factors
    let a = a with [k + 1:, k] = factors
    in a with [k + 1:, k + 1:] = rest
