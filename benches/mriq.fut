-- The matrix Q of a magnetic resonance reconstruction: a sum of waves at every point.
entry main [k] [n] (kxs: [k]f32) (kys: [k]f32) (kzs: [k]f32) (weights: [k]f32)
                   (xs: [n]f32) (ys: [n]f32) (zs: [n]f32): ([n]f32, [n]f32) =
  let waves = zip4 kxs kys kzs weights
  let at x y z =
    let term (kx, ky, kz, weight) =
      let angle = 6.2831853 * (kx * x + ky * y + kz * z)
      in (weight * f32.cos angle, weight * f32.sin angle)
    in reduce (\(a, b) (c, d) -> (a + c, b + d)) (0, 0) (map term waves)
  in unzip (map3 at xs ys zs)
