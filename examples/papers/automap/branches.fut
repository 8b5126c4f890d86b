-- | Maps and reps are put in where something is applied and nowhere else. Where branches differ in rank, the identity
-- function gives a place for them (001 4.3).
-- ==
-- input { true [1, 2, 3] } output { [1, 2, 3] }
-- input { false [1, 2, 3] } output { [0, 0, 0] }
entry main [n] (keep: bool) (xs: [n]i32) : [n]i32 = if keep then xs else id 0
