-- How far vertices of a hand are from the points where they should be, and the Jacobian by the 26 numbers that say how the
-- hand is held, one row for each: HAND of ADBench, simple.

import "hand_model"

def distances [n] (is_mirrored: bool) (points: [n][3]f64) (pose: [6]f64) (vertices: [n][3]f64) : [n][3]f64 =
  map2 (map2 (-)) points (place is_mirrored pose vertices)

entry objective [bones][vertices][n] (parents: [bones]i32) (base_relatives: [bones][4][4]f64)
                                     (inverse_base_absolutes: [bones][4][4]f64) (weights: [bones][vertices]f64)
                                     (base_positions: [4][vertices]f64) (is_mirrored: bool)
                                     (correspondences: [n]i32) (points: [n][3]f64) (theta: [26]f64) : [n][3]f64 =
  let hand = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored}
  let vertices = follow hand (transforms hand theta)
  in distances is_mirrored points (take 6 theta) (map (\v -> vertices[v]) correspondences)

entry derivative [bones][vertices][n] (parents: [bones]i32) (base_relatives: [bones][4][4]f64)
                                      (inverse_base_absolutes: [bones][4][4]f64) (weights: [bones][vertices]f64)
                                      (base_positions: [4][vertices]f64) (is_mirrored: bool)
                                      (correspondences: [n]i32) (points: [n][3]f64) (theta: [26]f64) : [26][n][3]f64 =
  let hand = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored}
  let (vertices, moves) = bend (hand `with_vertices` correspondences) theta
  let by_pose = jmp (\pose -> distances is_mirrored points pose vertices) (take 6 theta) (identity 6)
  let by_joints = jmp (distances is_mirrored points (take 6 theta)) vertices moves
  in by_pose ++ by_joints :> [26][n][3]f64

-- ==
-- entry: objective
-- input { [-1, 0, 1] [[[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, 1.0]]] [[[1.0, 0.0, 0.0,
--         -0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, -0.5], [0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, -0.5], [0.0, 1.0, 0.0, -2.0], [0.0, 0.0, 1.0, -0.5], [0.0, 0.0, 0.0, 1.0]]] [[0.5, 0.0], [0.25,
--         0.25], [0.25, 0.75]] [[1.0, 0.5], [2.0, 3.0], [-1.0, 0.25], [1.0, 1.0]] true [1, 0] [[1.0, 2.0, 3.0], [0.5,
--         0.25, 0.0]] [0.1, -0.2, 0.3, 1.0, 0.5, -1.0, 0.4, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
--         0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] }
-- output { [[1.682281815114186, -1.0560352537158426, 3.4067231165649963], [0.9326547813967383, -2.078422911704438,
--          2.0214681859178265]] }
