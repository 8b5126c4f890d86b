-- | Arrays of functions and the fusion of loops, after sections 4 and 6.2 of the paper on Dex.

-- | A table of functions: what is expensive about each of them is computed once.
-- ==
-- entry: table
-- input { [1.0, 2.0] [10.0, 20.0, 30.0] } output { [[13.0, 23.0, 33.0], [16.0, 26.0, 36.0]] }
entry table [n][m] (xs: [n]f64) (zs: [m]f64) : [n][m]f64 =
  let functions = for i ->
    let y1 = xs[i]
    let y2 = 2 * y1
    in \z -> y1 + y2 + z
  in for i j -> (functions[i]) zs[j]

-- | A sum on the side of one map, whose result another map uses: one loop.
-- ==
-- entry: fused
-- input { [1.0, 2.0, 3.0] } output { [3.0, 5.0, 7.0] 14.0 }
entry fused [n] (xs: [n]f64) : ([n]f64, f64) =
  run_accum (\acc ->
    let y = for i -> (acc += xs[i] * xs[i]; 2 * xs[i])
    in for j -> y[j] + 1)
