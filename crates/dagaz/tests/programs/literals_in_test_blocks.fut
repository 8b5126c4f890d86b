-- Values in test blocks are literals of the language.

type shape = #circle f32 | #box {width: f32, height: f32} | #none

-- ==
-- entry: areas
-- input { [#circle 1, #none, #box {width = 2, height = 3}] } output { [3, 0, 6] }
-- input { [] } output { [] }
entry areas (xs: []shape) : []f32 =
  map (\x -> match x case #circle r -> 3 * r * r case #box b -> b.width * b.height case #none -> 0) xs

-- ==
-- entry: swapped
-- input { [(1, "a}"), (2, "\"{")] } output { [("a}", 1), ("\"{", 2)] }
entry swapped [n][k] (xs: [n](i32, [k]u8)) : [n]([k]u8, i32) = map (\(x, s) -> (s, x)) xs

-- ==
-- entry: thirds
-- tolerance: 1e-12
-- input { [1, 2] } output { [0.333333333333333, 0.666666666666667] }
-- input { [nan, inf] } output { [nan, inf] }
entry thirds (xs: []f64) : []f64 = map (/ 3) xs
