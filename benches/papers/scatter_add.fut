-- Adding values into bins, as in a message-passing network: every edge of a graph sends the number of its source, times its
-- weight, to its target, which sums what it gets. The objective is half the sum of squares after the nodes' activation; the
-- gradient is by nodes and weights.
-- ==
-- entry: objective
-- input { [1f64, 2, 3] [0.5f64, 1, -1, 2] [0i32, 1, 2, 2] [1i32, 0, 1, 1] }
-- output { 0.9628541f64 }

-- ==
-- entry: derivative
-- input { [1f64, 2, 3] [0.5f64, 1, -1, 2] [0i32, 1, 2, 2] [1i32, 0, 1, 1] }
-- output { [0.001817125f64, 0.06810934, 0.003634251] [0.003634251f64, 0.1362187, 0.01090275, 0.01090275] }

def energy [n][m] (sources: [m]i32) (targets: [m]i32) (nodes: [n]f64, weights: [m]f64) : f64 =
  let messages = map2 (\source weight -> weight * nodes[source]) sources weights
  let sums = hist (+) 0 n (map i64.i32 targets) messages
  in 0.5 * f64.sum (map (\x -> f64.tanh x ** 2) sums)

entry objective [n][m] (nodes: [n]f64) (weights: [m]f64) (sources: [m]i32) (targets: [m]i32) : f64 =
  energy sources targets (nodes, weights)

entry derivative [n][m] (nodes: [n]f64) (weights: [m]f64) (sources: [m]i32) (targets: [m]i32) : ([n]f64, [m]f64) =
  grad (energy sources targets) (nodes, weights)
