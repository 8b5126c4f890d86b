-- The gradient of the dot product by both vectors.
def dot [n] (xs: [n]f32, ys: [n]f32): f32 = f32.sum (map2 (*) xs ys)

entry main [n] (xs: [n]f32) (ys: [n]f32): ([n]f32, [n]f32) = vjp dot (xs, ys) 1
