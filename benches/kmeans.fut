-- One step of k-means: every point goes to its nearest centre, and every centre to the mean of its points.
def distance [d] (a: [d]f32) (b: [d]f32): f32 = f32.sum (map2 (\x y -> (x - y) * (x - y)) a b)

def nearest [k][d] (centres: [k][d]f32) (point: [d]f32): i64 =
  let closer (i, x) (j, y) = if x <= y then (i, x) else (j, y)
  let distances = map (distance point) centres
  in (reduce closer (0, f32.inf) (zip (iota k) distances)).0

entry main [n][k][d] (points: [n][d]f32) (centres: [k][d]f32): [k][d]f32 =
  let members = map (nearest centres) points
  let sums = hist (map2 (+)) (replicate d 0) k members points
  let counts = hist (+) 0 k members (replicate n 1)
  in map2 (\sum count -> map (/ f32.max 1 count) sum) sums counts
