-- Functions about functions.
-- ==
-- entry: pipes
-- input { 5 } output { 12 12 12 12 }
entry pipes (x: i32) = (x |> (+ 1) |> (* 2), (* 2) <| (+ 1) <| x, ((+ 1) >-> (* 2)) x, ((* 2) <-< (+ 1)) x)

-- ==
-- entry: arguments
-- input { 7 2 } output { -5 9 9 7 7 }
entry arguments (x: i32) (y: i32) = (flip (-) x y, curry (\(a, b) -> a + b) x y, uncurry (+) (x, y), const x y, id x)

-- ==
-- entry: iterations
-- input { 1 } output { 1024 128 128 }
entry iterations (x: i32) =
  (iterate 10 (* 2) x, iterate_until (> 100) (* 2) x, iterate_while (<= 100) (* 2) x)

-- No iteration changes nothing.
-- ==
-- entry: no_iterations
-- input { 3 } output { 3 3 3 }
entry no_iterations (x: i32) =
  (iterate 0 (* 2) x, iterate_until (const true) (* 2) x, iterate_while (const false) (* 2) x)
