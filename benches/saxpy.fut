-- a * x + y for vectors x and y.
entry main [n] (a: f32) (xs: [n]f32) (ys: [n]f32): [n]f32 = map2 (\x y -> a * x + y) xs ys
