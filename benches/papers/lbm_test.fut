-- The flow of `lbm.fut` in a small channel with an obstacle, driven at one end, for four steps.
-- ==
-- entry: energy
-- input { 4i64 5i64 6i64 } output { 3.6992774f32 }

-- ==
-- entry: slope
-- input { 4i64 5i64 6i64 } output { 7.398555f32 }

import "lbm"

def flags (l: i64) (m: i64) (n: i64) : [l][m][n]i8 =
  tabulate_3d l m n (\z y x -> if z == 2 && y == 2 && x == 3 then 1 else if x == 1 then 2 else 0)

def start (l: i64) (m: i64) (n: i64) : [19][l][m][n]f32 =
  tabulate 19 (\q -> tabulate_3d l m n (\z y x -> 0.05 + 0.001 * f32.i64 ((7 * q + 5 * z + 3 * y + x) % 11)))

entry energy (l: i64) (m: i64) (n: i64) : f32 = objective 4 (flags l m n) (start l m n)

-- How the energy changes when all cells grow by the same factor: twice the energy, for a step grows with them.
entry slope (l: i64) (m: i64) (n: i64) : f32 =
  let gradient = derivative 4 (flags l m n) (start l m n)
  in f32.sum (flatten (map2 (map2 (*)) (map flatten_3d (start l m n)) (map flatten_3d gradient)))
