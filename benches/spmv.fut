-- A sparse matrix (compressed rows) times a vector.
entry main [e][n][m] (starts: [n]i32) (columns: [e]i32) (values: [e]f64) (xs: [m]f64): [n - 1]f64 =
  tabulate (n - 1) (\i ->
    let (first, last) = (i64.i32 starts[i], i64.i32 starts[i + 1])
    in f64.sum (map (\j -> values[j] * xs[columns[j]]) (first..<last)))
