-- A hand: bones in a tree, a skin whose vertices follow the bones, and 26 numbers that say how it is held. `hand_simple.fut`
-- and `hand_complicated.fut` fit it to points.

def matmul [n][m][p] (a: [n][m]f64) (b: [m][p]f64) : *[n][p]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose b)) a

def identity n : [n][n]f64 = tabulate_2d n n (\i j -> f64.bool (i == j))

type hand [bones][vertices] =
  { -- The bone that each bone hangs on, which comes before it; -1 for none.
    parents: [bones]i32
  , -- Where a bone is relative to its parent at rest, and the way back from where it is at rest.
    base_relatives: [bones][4][4]f64
  , inverse_base_absolutes: [bones][4][4]f64
  , -- How much each vertex follows each bone, and where it is at rest.
    weights: [bones][vertices]f64
  , base_positions: [4][vertices]f64
  , is_mirrored: bool
  }

-- The rotation about an axis by its length.
def axis_rotation (axis: [3]f64) : [3][3]f64 =
  let angle = f64.sqrt (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
  in if angle < 0.0001 then [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
     else let (x, y, z) = (axis[0] / angle, axis[1] / angle, axis[2] / angle)
          let (s, c) = (f64.sin angle, f64.cos angle)
          in [ [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s]
             , [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s]
             , [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c] ]

def joint_rotation (x: f64) (y: f64) (z: f64) : [4][4]f64 =
  let (cx, sx, cy, sy, cz, sz) = (f64.cos x, f64.sin x, f64.cos y, f64.sin y, f64.cos z, f64.sin z)
  in [ [cy * cz, sx * sy * cz - cx * sz, sx * sz + cx * sy * cz, 0]
     , [cy * sz, cx * cz + sx * sy * sz, cx * sy * sz - sx * cz, 0]
     , [-sy, sx * cy, cx * cy, 0]
     , [0, 0, 0, 1] ]

-- How a bone turns. Bone 0 is the wrist, then come four bones for each of five fingers: the first does not turn, the second
-- turns about two axes, the others about one. theta[0:6] are the rotation and the place of the whole hand.
def joint (theta: [26]f64) (bone: i64) : [4][4]f64 =
  if bone < 1 || bone > 20 || bone % 4 == 1 then joint_rotation 0 0 0
  else if bone % 4 == 2 then joint_rotation theta[bone + 4] 0 theta[bone + 5]
  else joint_rotation theta[bone + 5] 0 0

-- From a bone at rest to where it is, as the first three rows of a matrix.
def transforms [bones][vertices] (hand: hand [bones][vertices]) (theta: [26]f64) : [bones][3][4]f64 =
  let relatives = map2 (\base bone -> matmul base (joint theta bone)) hand.base_relatives (iota bones)
  let absolutes =
    loop absolutes = replicate bones (identity 4) for i < bones do
      let parent = hand.parents[i]
      in absolutes with [i] = if parent == -1 then relatives[i] else matmul absolutes[parent] relatives[i]
  in map2 (\absolute inverse -> take 3 (matmul absolute inverse)) absolutes hand.inverse_base_absolutes

-- A vertex moves with the mean of the transforms of its bones.
def mean [bones] (transforms: [bones][3][4]f64) (weights: [bones]f64) : [3][4]f64 =
  tabulate_2d 3 4 (\i j -> f64.sum (map2 (\t w -> t[i, j] * w) transforms weights))

def apply (transform: [3][4]f64) (p: [4]f64) : [3]f64 = map (\row -> f64.sum (map2 (*) row p)) transform

-- Where vertices are before the hand as a whole is turned. All means are one matrix product.
def follow [bones][n] (hand: hand [bones][n]) (transforms: [bones][3][4]f64) : [n][3]f64 =
  let means = unflatten (matmul (transpose (map flatten transforms)) hand.weights) :> [3][4][n]f64
  let moved mean = map2 (\m p -> f64.sum (map2 (*) m p)) (transpose mean) (transpose hand.base_positions)
  in transpose (map moved means)

-- Where vertices are before the hand as a whole is turned, and how they move with each of the 20 numbers of fingers. Four
-- numbers turn the joints of a finger, which move the last three of its bones and no others: one seed turns the same joint of all
-- fingers.
def bend [bones][n] (hand: hand [bones][n]) (theta: [26]f64) : ([n][3]f64, [20][n][3]f64) =
  let joints = tabulate_2d 4 26 (\number i -> f64.bool (i >= 6 && (i - 6) % 4 == number))
  let (transforms, turns) = jmp2 (transforms hand) theta joints
  let by_joint i =
    let first = 2 + i / 4 * 4
    let turn = turns[i % 4, first:first + 3] :> [3][3][4]f64
    let weights = hand.weights[first:first + 3] :> [3][n]f64
    in map2 (\w p -> apply (mean turn w) p) (transpose weights) (transpose hand.base_positions)
  in (follow hand transforms, tabulate 20 by_joint)

-- Turns and moves the whole hand.
def place [n] (is_mirrored: bool) (pose: [6]f64) (vertices: [n][3]f64) : [n][3]f64 =
  let side : f64 = if is_mirrored then -1 else 1
  let (rotation, offset) = (axis_rotation (take 3 pose), take 3 (drop 3 pose))
  in map (\p -> map2 (\row o -> row[0] * (side * p[0]) + row[1] * p[1] + row[2] * p[2] + o) rotation offset) vertices

-- The hand with some of its vertices alone.
def with_vertices [bones][vertices][n] (hand: hand [bones][vertices]) (at: [n]i32) : hand [bones][n] =
  let chosen (row: [vertices]f64) = map (\v -> row[v]) at
  in hand with weights = map chosen hand.weights with base_positions = map chosen hand.base_positions
