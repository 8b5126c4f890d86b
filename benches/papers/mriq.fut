-- The matrix Q of a magnetic resonance reconstruction, a sum of waves at every point. The objective is half the sum of squares
-- of its real and imaginary parts; the gradient is by the waves.
-- ==
-- entry: objective
-- input { [0.1f32, 0.2] [0.3f32, -0.1] [0f32, 0.2] [1f32, 2] [0.5f32, 0.2, 0.1] [0f32, 0.1, 0.7] [0.3f32, 0.3, 0.6] }
-- output { 12.15376f32 }

-- ==
-- entry: derivative
-- input { [0.1f32, 0.2] [0.3f32, -0.1] [0f32, 0.2] [1f32, 2] [0.5f32, 0.2, 0.1] [0f32, 0.1, 0.7] [0.3f32, 0.3, 0.6] }
-- output { [3.613438f32, -3.613439] [-6.803973f32, 6.803972] [-2.759275f32, 2.759273] [7.653763f32, 8.326881] }

type waves [k] = {x: [k]f32, y: [k]f32, z: [k]f32, weight: [k]f32}

def energy [k][n] (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (waves: waves [k]) : f32 =
  let at x y z =
    let angles = map3 (\kx ky kz -> 2 * f32.pi * (kx * x + ky * y + kz * z)) waves.x waves.y waves.z
    let real = f32.sum (map2 (\angle weight -> weight * f32.cos angle) angles waves.weight)
    let imaginary = f32.sum (map2 (\angle weight -> weight * f32.sin angle) angles waves.weight)
    in real * real + imaginary * imaginary
  in 0.5 * f32.sum (map3 at xs ys zs)

entry objective [k][n] (kxs: [k]f32) (kys: [k]f32) (kzs: [k]f32) (weights: [k]f32)
                       (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) : f32 =
  energy xs ys zs {x = kxs, y = kys, z = kzs, weight = weights}

entry derivative [k][n] (kxs: [k]f32) (kys: [k]f32) (kzs: [k]f32) (weights: [k]f32)
                        (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) : ([k]f32, [k]f32, [k]f32, [k]f32) =
  let waves = grad (energy xs ys zs) {x = kxs, y = kys, z = kzs, weight = weights}
  in (waves.x, waves.y, waves.z, waves.weight)
