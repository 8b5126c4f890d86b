-- The sum of an array.
entry main [n] (xs: [n]f32): f32 = f32.sum xs
