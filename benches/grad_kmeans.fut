-- The gradient of the cost of k-means by the centres.
def distance [d] (a: [d]f32) (b: [d]f32): f32 = f32.sum (map2 (\x y -> (x - y) * (x - y)) a b)

def cost [n][k][d] (points: [n][d]f32) (centres: [k][d]f32): f32 =
  f32.sum (map (\point -> f32.minimum (map (distance point) centres)) points)

entry main [n][k][d] (points: [n][d]f32) (centres: [k][d]f32): [k][d]f32 = vjp (cost points) centres 1
