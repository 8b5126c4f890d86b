-- All prefix sums.
entry main [n] (xs: [n]f32): [n]f32 = scan (+) 0 xs
