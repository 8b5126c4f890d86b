-- Where cameras must have stood and points must lie, so that they are seen where they were seen: bundle adjustment, BA of
-- ADBench. The objective is the error of every observation, and the derivative its Jacobian, a sparse matrix in compressed
-- rows: observation i depends on one camera, one point and its own weight, and on nothing else.
--
-- A camera has a rotation (axis times angle), a centre, a focal length, a principal point and two numbers for radial distortion.

type vec2 = {x: f64, y: f64}
type vec3 = {x: f64, y: f64, z: f64}
type camera = {rotation: vec3, centre: vec3, focal: f64, principal: vec2, radial: vec2}

def scale3 (s: f64) (a: vec3) : vec3 = {x = s * a.x, y = s * a.y, z = s * a.z}
def add3 (a: vec3) (b: vec3) : vec3 = {x = a.x + b.x, y = a.y + b.y, z = a.z + b.z}
def dot3 (a: vec3) (b: vec3) : f64 = a.x * b.x + a.y * b.y + a.z * b.z
def cross (a: vec3) (b: vec3) : vec3 =
  {x = a.y * b.z - a.z * b.y, y = a.z * b.x - a.x * b.z, z = a.x * b.y - a.y * b.x}

-- The formula of Rodrigues.
def rotate_by (rotation: vec3) (point: vec3) : vec3 =
  let squared = dot3 rotation rotation
  in if squared == 0
     then point `add3` cross rotation point
     else let angle = f64.sqrt squared
          let axis = scale3 (1 / angle) rotation
          let (cosine, sine) = (f64.cos angle, f64.sin angle)
          in scale3 cosine point `add3` scale3 sine (cross axis point) `add3` scale3 (dot3 axis point * (1 - cosine)) axis

def project (camera: camera) (point: vec3) : vec2 =
  let seen = rotate_by camera.rotation (point `add3` scale3 (-1) camera.centre)
  let (x, y) = (seen.x / seen.z, seen.y / seen.z)
  let squared = x * x + y * y
  let distortion = camera.focal * (1 + camera.radial.x * squared + camera.radial.y * squared * squared)
  in {x = camera.principal.x + distortion * x, y = camera.principal.y + distortion * y}

def residual (feature: vec2) (camera: camera, point: vec3, weight: f64) : (f64, f64) =
  let seen = project camera point
  in (weight * (seen.x - feature.x), weight * (seen.y - feature.y))

-- Weights are to be one.
def weight_error (weight: f64) : f64 = 1 - weight * weight

def unpack_camera (c: [11]f64) : camera =
  { rotation = {x = c[0], y = c[1], z = c[2]}
  , centre = {x = c[3], y = c[4], z = c[5]}
  , focal = c[6]
  , principal = {x = c[7], y = c[8]}
  , radial = {x = c[9], y = c[10]}
  }

def observed [n][m] (cameras: [n][11]f64) (points: [m][3]f64) (weight: f64) (observation: [2]i32) (feature: [2]f64)
  : (vec2, (camera, vec3, f64)) =
  let (c, p) = (observation[0], observation[1])
  in ({x = feature[0], y = feature[1]}, (unpack_camera cameras[c], {x = points[p, 0], y = points[p, 1], z = points[p, 2]}, weight))

-- The row of the Jacobian that a derivative of one error is.
def row (camera: camera, point: vec3, weight: f64) : [15]f64 =
  [ camera.rotation.x, camera.rotation.y, camera.rotation.z, camera.centre.x, camera.centre.y, camera.centre.z, camera.focal
  , camera.principal.x, camera.principal.y, camera.radial.x, camera.radial.y, point.x, point.y, point.z, weight ]

entry objective [n][m][p] (cameras: [n][11]f64) (points: [m][3]f64) (weights: [p]f64) (observations: [p][2]i32)
                          (features: [p][2]f64) : ([p][2]f64, [p]f64) =
  let errors weight observation feature =
    let (feature, parameters) = observed cameras points weight observation feature
    let (x, y) = residual feature parameters
    in [x, y]
  in (map3 errors weights observations features, map weight_error weights)

entry derivative [n][m][p] (cameras: [n][11]f64) (points: [m][3]f64) (weights: [p]f64) (observations: [p][2]i32)
                           (features: [p][2]f64) : ([]i32, []i32, []f64) =
  let block weight observation feature : [2][15]f64 =
    let (feature, parameters) = observed cameras points weight observation feature
    in map row (mjp (residual feature) parameters [(1, 0), (0, 1)])
  let values = flatten_3d (map3 block weights observations features) ++ map (grad weight_error) weights
  let column i (o: [2]i32) (j: i64) : i32 =
    i32.i64 (if j < 11 then 11 * i64.i32 o[0] + j
             else if j < 14 then 11 * n + 3 * i64.i32 o[1] + j - 11
             else 11 * n + 3 * m + i)
  let columns =
    flatten_3d (map2 (\i o -> replicate 2 (tabulate 15 (column i o))) (iota p) observations)
    ++ map (\i -> i32.i64 (11 * n + 3 * m + i)) (iota p)
  let starts = tabulate (3 * p + 1) (\r -> i32.i64 (if r <= 2 * p then 15 * r else 28 * p + r))
  in (starts, columns, values)

-- ==
-- entry: objective
-- input { [[0.1, -0.2, 0.3, 0.5, -0.5, 1.0, 2.0, 0.1, 0.2, 0.01, -0.02]] [[1.0, 2.0, 5.0], [-1.0, 0.5, 4.0]]
--         [0.5, 0.8] [[0, 1], [0, 0]] [[0.3, -0.4], [0.6, 0.7]] }
-- output { [[-0.9368473093931177, 0.3535379794048255], [-0.7880327543681322, 0.37049072512921666]]
--          [0.75, 0.3599999999999999] }
--
-- ==
-- entry: derivative
-- input { [[0.1, -0.2, 0.3, 0.5, -0.5, 1.0, 2.0, 0.1, 0.2, 0.01, -0.02]] [[1.0, 2.0, 5.0], [-1.0, 0.5, 4.0]]
--         [0.5, 0.8] [[0, 1], [0, 0]] [[0.3, -0.4], [0.6, 0.7]] }
-- output { [0, 15, 30, 45, 60, 61, 62]
--          [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 0, 1, 2,
--          3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 18, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 18, 17, 18]
--          [0.27560878545255996, 1.6195422146877554, -0.15529852690057983, -0.4034524233692567, 0.08855897693676246,
--          -0.23124587066354912, -0.41842365469655884, 0.5, 0.0, -0.5936621836950677, -0.4199106999774865,
--          0.4034524233692567, -0.08855897693676246, 0.23124587066354912, -1.8736946187862353, -1.071224580003808,
--          0.07706298497567957, -0.7335711547550453, -0.10187591347950689, -0.3522885189402781, 0.06649154957367258,
--          0.02676898970241274, 0.0, 0.5, 0.03798001547873728, 0.026864124619775477, 0.10187591347950689,
--          0.3522885189402781, -0.06649154957367258, 0.707075958809651, 0.3476510686732163, 1.6088936245917804,
--          -0.8821927831369234, -0.3784190121860215, 0.10972554171596839, -0.021276087049227566, -0.19401637718406617,
--          0.8, 0.0, -0.1123949922714117, -0.032595239884769506, 0.3784190121860215, -0.10972554171596839,
--          0.021276087049227566, -0.9850409429601653, -1.9958168564932337, 0.10063177724256196, -0.1887654614949113,
--          -0.06992684578804881, -0.35176910735276024, 0.22859654781898125, 0.38524536256460834, 0.0, 0.8,
--          0.22317522972283593, 0.06472219092811554, 0.06992684578804881, 0.35176910735276024, -0.22859654781898125,
--          0.46311340641152077, -1.0, -1.6] }
