-- Values and derivatives at edges, and derivatives by their laws.

import "std/nn"

module m = nn_f64

local def close (x: f64) (y: f64) : bool = f64.abs (x - y) <= 1e-6 * (1 + f64.abs x)

-- Is the gradient the limit of differences and in agreement with forward mode, and the second derivative that of the gradient?
local
def laws [n] (f: [n]f64 -> f64) (x: [n]f64) : bool =
  let v = map (\i -> f64.cos (f64.i64 i)) (iota n)
  let moved h = map2 (\x v -> x + h * v) x v
  let h = 1e-5
  let along g = f64.sum (map2 (*) g v)
  let slope x = along (grad f x)
  in close (slope x) ((f (moved h) - f (moved (-h))) / (2 * h))
     && close (slope x) (jvp f x v)
     && close (jvp slope x v) ((slope (moved h) - slope (moved (-h))) / (2 * h))

-- ==
-- entry: of_rows
-- input { [1.0, -2.0, 0.5] } output { [true, true, true, true, true, true, true, true] }
-- input { [0.0, 0.0, 0.0] } output { [true, true, true, true, true, true, true, true] }
-- input { [60.0, -70.0, 59.0] } output { [true, true, true, true, true, true, true, true] }
entry of_rows (x: [3]f64) =
  let p = [0.2, 0.3, 0.5]
  in [ laws m.logsumexp x, laws (\x -> (m.softmax x)[1]) x, laws (\x -> (m.log_softmax x)[1]) x
     , laws (\x -> m.cross_entropy x p) x, laws (\x -> m.cross_entropy_at x 1) x
     , laws (\x -> f64.sum (map2 (*) p (m.layer_norm 0.1 x))) x
     , laws (\x -> f64.sum (map2 (*) p (m.rms_norm 0.1 x))) x
     , laws (\x -> m.logaddexp x[0] x[1]) x ]

-- ==
-- entry: of_numbers
-- input { [-3.0, 0.7, 2.0] } output { [true, true, true, true, true, true, true] }
-- input { [-300.0, 300.0, 0.0] } output { [true, true, true, true, true, true, true] }
entry of_numbers (x: [3]f64) =
  map (\f -> laws (\x -> f64.sum (map f x)) x)
      [m.sigmoid, m.softplus, m.log_sigmoid, m.silu, m.gelu, \x -> m.binary_cross_entropy x 0.3, \x -> m.logaddexp x 0]

-- The Hessian of `logsumexp` is that of a distribution: where all is equal, where one is far above, and where some are masked.
-- ==
-- entry: hessians
-- tolerance: 1e-12
-- input { [0.0, 0.0] } output { 0.6931471805599453 [0.5, 0.5] [[0.25, -0.25], [-0.25, 0.25]] }
-- input { [1000.0, -1000.0] } output { 1000.0 [1.0, 0.0] [[0.0, 0.0], [0.0, 0.0]] }
-- input { [5.0, -f64.inf] } output { 5.0 [1.0, 0.0] [[0.0, 0.0], [0.0, 0.0]] }
entry hessians (x: [2]f64) = (m.logsumexp x, grad m.logsumexp x, hessian m.logsumexp x)

-- ==
-- entry: masked
-- input { [-f64.inf, -f64.inf] } output { -f64.inf [0.5, 0.5] -f64.inf [[0.0, 0.0], [0.0, 0.0]] }
-- input { [f64.inf, 1.0] } output { f64.inf [1.0, 0.0] f64.inf [[0.0, 0.0], [0.0, 0.0]] }
entry masked (x: [2]f64) = (m.logsumexp x, m.softmax x, m.logaddexp x[0] x[1], jacrev m.softmax x)

-- ==
-- entry: nothing
-- input { empty([0]f64) } output { -f64.inf empty([0]f64) }
entry nothing (x: []f64) = (m.logsumexp x, m.softmax x)

-- Values, slopes and curvatures of functions of one number, far out.
-- ==
-- entry: far
-- tolerance: 1e-12
-- input { 800.0 } output { [[1.0, 0.0, 0.0], [800.0, 1.0, 0.0], [0.0, 0.0, 0.0]] }
-- input { -800.0 } output { [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-800.0, 1.0, 0.0]] }
-- input { f64.inf } output { [[1.0, 0.0, 0.0], [f64.inf, 1.0, 0.0], [0.0, 0.0, 0.0]] }
-- input { -f64.inf } output { [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-f64.inf, 1.0, 0.0]] }
-- input { 0.0 } output { [[0.5, 0.25, 0.0], [0.6931471805599453, 0.5, 0.25], [-0.6931471805599453, 0.5, -0.25]] }
entry far (x: f64) =
  map (\f -> [f x, grad f x, grad (grad f) x]) [m.sigmoid, m.softplus, m.log_sigmoid]

-- ==
-- entry: losses_at_edges
-- input { [2.0, -f64.inf] } output { [0.0, 0.0, 0.0, 0.0] [0.0, 0.0] }
entry losses_at_edges (x: [2]f64) =
  ( [m.cross_entropy x [1, 0], m.cross_entropy_at x 0, m.kl_divergence [1, 0] [1, 0.5], m.entropy [1, 0]]
  , grad (\x -> m.cross_entropy x [1, 0]) x )

-- ==
-- entry: pieces
-- input { [-2.0, 0.0, 3.0] } output { [0.0, 0.0, 3.0] [-0.2, 0.0, 3.0] [0.0, 0.0, 1.0] [0.0, 1.0, 0.0] }
entry pieces (x: [3]f64) =
  (map m.relu x, map (m.leaky_relu 0.1) x, grad (\x -> f64.sum (map m.relu x)) x, m.one_hot 3 1)

-- ==
-- entry: single
-- tolerance: 1e-6
-- input { [100.0f32, 101.0f32] } output { 101.313262f32 [0.26894143f32, 0.73105854f32] [0.0f32, 0.0f32] }
entry single (x: []f32) = (nn_f32.logsumexp x, nn_f32.softmax x, nn_f32.layer_norm 1e-5 (map (const 7) x))
