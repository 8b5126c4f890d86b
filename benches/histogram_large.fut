-- The sums of the values that go into each bin.
entry main [n] (bins: i64) (is: [n]i32) (vs: [n]f32): [bins]f32 = hist (+) 0 bins (map i64.i32 is) vs
