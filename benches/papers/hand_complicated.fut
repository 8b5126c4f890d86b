-- How far places on the skin of a hand are from the points where they should be: HAND of ADBench, complicated. Each point
-- belongs to a triangle of vertices, and two more numbers say where in it. The Jacobian has a row for each of the two, for
-- all points at once because a point depends on its own alone, and 26 rows for how the hand is held.

import "hand_model"

-- The corners of the triangle that each point belongs to.
def corners [sides][n] (triangles: [sides][3]i32) (correspondences: [n]i32) : [n * 3]i32 =
  flatten (map (\c -> triangles[c]) correspondences)

-- A place on the skin is a mean of three corners.
def between [n] (us: [n][2]f64) (corners: [n * 3][3]f64) : [n][3]f64 =
  let mean (u: [2]f64) (c: [3][3]f64) = tabulate 3 (\i -> u[0] * c[0, i] + u[1] * c[1, i] + (1 - u[0] - u[1]) * c[2, i])
  in map2 mean us (unflatten corners)

def distances [n] (is_mirrored: bool) (points: [n][3]f64) (pose: [6]f64) (us: [n][2]f64) (corners: [n * 3][3]f64) : [n][3]f64 =
  map2 (map2 (-)) points (place is_mirrored pose (between us corners))

entry objective [bones][vertices][sides][n]
    (parents: [bones]i32) (base_relatives: [bones][4][4]f64) (inverse_base_absolutes: [bones][4][4]f64)
    (weights: [bones][vertices]f64) (base_positions: [4][vertices]f64) (triangles: [sides][3]i32) (is_mirrored: bool)
    (correspondences: [n]i32) (points: [n][3]f64) (theta: [26]f64) (us: [n][2]f64) : [n][3]f64 =
  let hand = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored}
  let vertices = follow hand (transforms hand theta)
  in distances is_mirrored points (take 6 theta) us (map (\v -> vertices[v]) (corners triangles correspondences))

entry derivative [bones][vertices][sides][n]
    (parents: [bones]i32) (base_relatives: [bones][4][4]f64) (inverse_base_absolutes: [bones][4][4]f64)
    (weights: [bones][vertices]f64) (base_positions: [4][vertices]f64) (triangles: [sides][3]i32) (is_mirrored: bool)
    (correspondences: [n]i32) (points: [n][3]f64) (theta: [26]f64) (us: [n][2]f64) : [2 + 26][n][3]f64 =
  let hand = {parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored}
  let (corners, moves) = bend (hand `with_vertices` corners triangles correspondences) theta
  let pose = take 6 theta
  let by_u = jmp (\us -> distances is_mirrored points pose us corners) us [replicate n [1, 0], replicate n [0, 1]]
  let by_pose = jmp (\pose -> distances is_mirrored points pose us corners) pose (identity 6)
  let by_joints = jmp (distances is_mirrored points pose us) corners moves
  in by_u ++ by_pose ++ by_joints :> [2 + 26][n][3]f64

-- ==
-- entry: objective
-- input { [-1, 0, 1] [[[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, 1.0]]] [[[1.0, 0.0, 0.0,
--         -0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, -0.5], [0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
--         [[1.0, 0.0, 0.0, -0.5], [0.0, 1.0, 0.0, -2.0], [0.0, 0.0, 1.0, -0.5], [0.0, 0.0, 0.0, 1.0]]] [[0.5, 0.0], [0.25,
--         0.25], [0.25, 0.75]] [[1.0, 0.5], [2.0, 3.0], [-1.0, 0.25], [1.0, 1.0]] [[0, 1, 1], [1, 0, 0]] true [1, 0]
--         [[1.0, 2.0, 3.0], [0.5, 0.25, 0.0]] [0.1, -0.2, 0.3, 1.0, 0.5, -1.0, 0.4, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
--         0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] [[0.25, 0.5], [0.1, 0.2]] }
-- output { [[1.4950615398261002, -0.5103259972072891, 4.6177819185796185], [1.1573191117424413, -2.7332740195147016,
--          0.5681976235002792]] }
