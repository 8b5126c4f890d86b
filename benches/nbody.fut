-- One step of bodies that attract each other.
def pull (x: f32, y: f32, z: f32) (px: f32, py: f32, pz: f32, m: f32): (f32, f32, f32) =
  let (dx, dy, dz) = (px - x, py - y, pz - z)
  let square = dx * dx + dy * dy + dz * dz + 0.0001
  let inverse = 1 / f32.sqrt square
  let s = m * inverse * inverse * inverse
  in (s * dx, s * dy, s * dz)

def add (ax: f32, ay: f32, az: f32) (bx: f32, by: f32, bz: f32): (f32, f32, f32) = (ax + bx, ay + by, az + bz)

entry main [n] (dt: f32) (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (ms: [n]f32)
               (us: [n]f32) (vs: [n]f32) (ws: [n]f32)
  : ([n]f32, [n]f32, [n]f32, [n]f32, [n]f32, [n]f32) =
  let bodies = zip4 xs ys zs ms
  let move (x, y, z) (u, v, w) =
    let (ax, ay, az) = reduce add (0, 0, 0) (map (pull (x, y, z)) bodies)
    let (u, v, w) = (u + dt * ax, v + dt * ay, w + dt * az)
    in (x + dt * u, y + dt * v, z + dt * w, u, v, w)
  let moved = map2 move (zip3 xs ys zs) (zip3 us vs ws)
  in (map (.0) moved, map (.1) moved, map (.2) moved, map (.3) moved, map (.4) moved, map (.5) moved)
