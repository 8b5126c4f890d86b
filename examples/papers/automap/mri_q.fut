-- | The Q matrix of magnetic resonance imaging (001 figure 4.17): for each point in space the sum of phases over all
-- points of the sampled frequencies, with all maps and with none.

def phase (kx: f32) (ky: f32) (kz: f32) (x: f32) (y: f32) (z: f32) =
  2 * f32.pi * (kx * x + ky * y + kz * z)

-- ==
-- entry: explicit implicit
-- input { [0.0f32, 0.25f32] [0.0f32, 0.0f32] [0.0f32, 0.0f32]
--         [0.0f32, 1.0f32, 2.0f32] [0.0f32, 0.0f32, 0.0f32] [0.0f32, 0.0f32, 0.0f32]
--         [1.0f32, 2.0f32] [0.0f32, 0.0f32] }
-- output { [5.0f32, 1.0f32, -3.0f32] [0.0f32, 4.0f32, 0.0f32] }
entry explicit [k] [n]
               (kx: [k]f32) (ky: [k]f32) (kz: [k]f32)
               (x: [n]f32) (y: [n]f32) (z: [n]f32)
               (re: [k]f32) (im: [k]f32) : ([n]f32, [n]f32) =
  let magnitude = map2 (\r i -> r * r + i * i) re im
  let phases =
    map3 (\x y z -> map3 (\kx ky kz -> phase kx ky kz x y z) kx ky kz) x y z
  let real = map (\p -> f32.sum (map2 (*) magnitude (map f32.cos p))) phases
  let imaginary = map (\p -> f32.sum (map2 (*) magnitude (map f32.sin p))) phases
  in (real, imaginary)

entry implicit [k] [n]
               (kx: [k]f32) (ky: [k]f32) (kz: [k]f32)
               (x: [n]f32) (y: [n]f32) (z: [n]f32)
               (re: [k]f32) (im: [k]f32) : ([n]f32, [n]f32) =
  let magnitude = re * re + im * im
  let phases =
    2 * f32.pi
    * (kx * transpose (rep x)
       + ky * transpose (rep y)
       + kz * transpose (rep z))
  let real = f32.sum (f32.cos phases * magnitude)
  let imaginary = f32.sum (f32.sin phases * magnitude)
  in (real, imaginary)
