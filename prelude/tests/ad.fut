-- Derivatives in both modes, of one seed and of many, and with a rule of one's own.
-- ==
-- entry: slope
-- input { 3.0 } output { 6.0 }
entry slope (x: f64) = vjp (\y -> y * y) x 1

-- ==
-- entry: both
-- input { 2.0 3.0 } output { 8.0 12.0 4.0 28.0 }
entry both (x: f64) (y: f64) =
  let f (x, y) = x ** y
  let g (x, y) = x * x * y
  let (value, _) = jvp2 f (x, y) (1, 0)
  in (value, jvp g (x, y) (1, 0), (vjp g (x, y) 1).1, jvp (\x -> vjp (\x -> x * x * x) x 2 + x * x) x 1)

-- ==
-- entry: many
-- input { [1.0, 2.0] } output { [[2.0, 0.0], [0.0, 4.0]] [[2.0, 0.0], [0.0, 4.0]] }
entry many [n] (xs: [n]f64) =
  let f (xs: [n]f64) = map (\x -> x * x) xs
  let seeds = tabulate n (\i -> replicate n 0 with [i] = 1)
  in (jmp f xs seeds, mjp f xs seeds)

-- ==
-- entry: own_rule
-- input { 2.0 } output { 100.0 }
entry own_rule (x: f64) =
  vjp (\x -> with_vjp (\x -> x * 5) (\y y_adj -> y * y * y_adj) x) x 1
