-- The Jacobians of HAND against those by each number by itself, for a hand of made-up numbers.

import "hand_model"
module simple = import "hand_simple"
module complicated = import "hand_complicated"

def number (i: i64) : f64 = f64.sin (f64.i64 (i * i % 101))

def made_up (vertices: i64) (is_mirrored: bool) : hand [21][vertices] =
  let matrix k = tabulate_2d 4 4 (\i j -> if i == 3 then f64.bool (j == 3) else number (16 * k + 4 * i + j))
  in { parents = map (\i -> i32.i64 (if i % 4 == 1 then 0 else i - 1)) (iota 21)
     , base_relatives = tabulate 21 matrix
     , inverse_base_absolutes = tabulate 21 (\k -> matrix (k + 21))
     , weights = tabulate_2d 21 vertices (\b v -> number (b + 7 * v) / 10)
     , base_positions = tabulate_2d 4 vertices (\i v -> number (3 * v + i))
     , is_mirrored
     }

def difference [k][n] (a: [k][n][3]f64) (b: [k][n][3]f64) : f64 =
  f64.maximum (map2 (\x y -> f64.abs (x - y)) (flatten_3d a) (flatten_3d b))

-- ==
-- entry: simple_is_right
-- input { 11i64 false } output { true }
-- input { 11i64 true } output { true }
-- input { 40i64 true } output { true }
entry simple_is_right (vertices: i64) (is_mirrored: bool) : bool =
  let h = made_up vertices is_mirrored
  let (at, points) = (map i32.i64 [3, 0, 5, 3], tabulate_2d 4 3 (\p i -> number (p + 5 * i)))
  let theta = tabulate 26 number
  let f theta = simple.objective h.parents h.base_relatives h.inverse_base_absolutes h.weights h.base_positions h.is_mirrored at points theta
  let jacobian =
    simple.derivative h.parents h.base_relatives h.inverse_base_absolutes h.weights h.base_positions h.is_mirrored at points theta
  in difference jacobian (jmp f theta (identity 26)) < 1e-9

-- ==
-- entry: complicated_is_right
-- input { 11i64 false } output { true }
-- input { 11i64 true } output { true }
-- input { 40i64 true } output { true }
entry complicated_is_right (vertices: i64) (is_mirrored: bool) : bool =
  let h = made_up vertices is_mirrored
  let triangles = tabulate_2d 6 3 (\t i -> i32.i64 ((4 * t + 3 * i) % vertices))
  let (at, points) = (map i32.i64 [3, 0, 5, 3], tabulate_2d 4 3 (\p i -> number (p + 5 * i)))
  let (theta, us) = (tabulate 26 number, tabulate_2d 4 2 (\p i -> number (p + i) / 2))
  let f theta us =
    complicated.objective h.parents h.base_relatives h.inverse_base_absolutes h.weights h.base_positions triangles h.is_mirrored at
                          points theta us
  let jacobian =
    complicated.derivative h.parents h.base_relatives h.inverse_base_absolutes h.weights h.base_positions triangles h.is_mirrored at
                           points theta us
  let by_u = jmp (f theta) us [replicate 4 [1, 0], replicate 4 [0, 1]]
  in difference jacobian (by_u ++ jmp (\theta -> f theta us) theta (identity 26) :> [2 + 26][4][3]f64) < 1e-9
