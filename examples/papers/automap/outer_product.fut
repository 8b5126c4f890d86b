-- | How many maps can be left out of an outer product (001 4.8.2 and 4.9).

-- ==
-- entry: both inner_map outer_map
-- input { [1, 2] [10, 20, 30] } output { [[10, 20, 30], [20, 40, 60]] }
entry both [n] [m] (xs: [n]i32) (ys: [m]i32) : [n][m]i32 = map (\x -> map (* x) ys) xs

-- | The inner map can be left out of a section,
entry inner_map [n] [m] (xs: [n]i32) (ys: [m]i32) : [n][m]i32 = map (\x -> (* x) ys) xs

-- | or of an operator. That `x` is copied for every element of `ys` follows from the map and costs nothing, so that this
-- is shorter than to copy `xs`.
entry outer_map [n] [m] (xs: [n]i32) (ys: [m]i32) : [n][m]i32 = map (\x -> x * ys) xs

-- | Without any map it is the product of elements.
-- ==
-- entry: no_map
-- input { [1, 2] [10, 20] } output { [10, 40] }
entry no_map [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = (\x -> x * ys) xs
