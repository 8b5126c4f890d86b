-- A convolution of a signal with several kernels; by indices and by combinators.
-- ==
-- entry: pointful combinators
-- random input { [16][9]f32 [65536]f32 }

-- ==
-- entry: gradient_pointful gradient_combinators
-- random input { [16][9]f32 [65536]f32 [16][65536]f32 }

def by_indices [c][w][n] (kernels: [c][w]f32) (signal: [n]f32) : [c][n]f32 =
  for o i -> f32.sum (for k -> kernels[o,k] * signal[(i + k) % n])

def by_combinators [c][w][n] (kernels: [c][w]f32) (signal: [n]f32) : [c][n]f32 =
  map (\kernel -> map (\i -> f32.sum (map2 (\k j -> k * signal[(i + j) % n]) kernel (iota w))) (iota n)) kernels

entry pointful [c][w][n] (kernels: [c][w]f32) (signal: [n]f32) = by_indices kernels signal
entry combinators [c][w][n] (kernels: [c][w]f32) (signal: [n]f32) = by_combinators kernels signal
entry gradient_pointful [c][w][n] (kernels: [c][w]f32) (signal: [n]f32) (seed: [c][n]f32) =
  vjp (\kernels -> by_indices kernels signal) kernels seed
entry gradient_combinators [c][w][n] (kernels: [c][w]f32) (signal: [n]f32) (seed: [c][n]f32) =
  vjp (\kernels -> by_combinators kernels signal) kernels seed
