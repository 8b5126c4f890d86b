-- A layer of long short-term memory over sequences in batches, with a linear layer that predicts the target from the hidden
-- state. The loss is the mean of squares; the gradient is by all weights.
-- ==
-- entry: objective
-- input { [[[1f32, 2]], [[0, 1]]] [[[1f32, 0]], [[2, 1]]] [[0.1f32, 0.2], [0.3, -0.1], [0.5, 0.4], [-0.2, 0.3]]
--   [[0.3f32], [0.1], [-0.4], [0.2]] [0f32, 0.1, 0.2, 0.3] [[0.5f32, -0.5]] [0.1f32, 0.2] }
-- output { 1.119828f32 }

-- ==
-- entry: derivative derivative_in_strips
-- input { [[[1f32, 2]], [[0, 1]]] [[[1f32, 0]], [[2, 1]]] [[0.1f32, 0.2], [0.3, -0.1], [0.5, 0.4], [-0.2, 0.3]]
--   [[0.3f32], [0.1], [-0.4], [0.2]] [0f32, 0.1, 0.2, 0.3] [[0.5f32, -0.5]] [0.1f32, 0.2] }
-- output { [[-0.02949204f32, -0.06930666], [0, -0.01373775], [-0.01559537, -0.07677232], [-0.02039807, -0.06208429]]
--   [[-0.0035212f32], [-0.00468617], [-0.0155486], [-0.00726173]] [-0.03981462f32, -0.01373775, -0.06117696, -0.04168623]
--   [[-0.40569234f32, -0.15062578]] [-1.2338085f32, -0.46619147] }

def sigmoid (x: f32) : f32 = 1 / (1 + f32.exp (-x))

def matmul [n][m][p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\row -> map (\column -> f32.sum (map2 (*) row column)) (transpose b)) a

type weights [d][h] =
  { input: [4 * h][d]f32, hidden: [4 * h][h]f32, bias: [4 * h]f32, output: [h][d]f32, output_bias: [d]f32 }

-- One step for a whole batch. The rows of weights are those of the input, forget, cell and output gates.
def step [b][d][h] (w: weights [d][h]) (input: [b][d]f32) (hidden: [b][h]f32, cell: [b][h]f32) : ([b][h]f32, [b][h]f32) =
  let products = map2 (map2 (+)) (matmul input (transpose w.input)) (matmul hidden (transpose w.hidden))
  let gate i j = products[i, j] + w.bias[j]
  in unzip (map unzip (tabulate_2d b h (\i j ->
       let c = sigmoid (gate i (h + j)) * cell[i, j] + sigmoid (gate i j) * f32.tanh (gate i (2 * h + j))
       in (sigmoid (gate i (3 * h + j)) * f32.tanh c, c))))

-- The state after one element of the sequences, and the squares of errors with those of its predictions.
def add_step [b][d][h] (w: weights [d][h]) (input: [b][d]f32) (target: [b][d]f32)
                       (hidden: [b][h]f32, cell: [b][h]f32, total: f32) : ([b][h]f32, [b][h]f32, f32) =
  let (hidden, cell) = step w input (hidden, cell)
  let predicted = matmul hidden w.output
  let error = f32.sum (flatten (tabulate_2d b d (\i j -> (predicted[i, j] + w.output_bias[j] - target[i, j]) ** 2)))
  in (hidden, cell, total + error)

def loss [n][b][d][h] (inputs: [n][b][d]f32) (targets: [n][b][d]f32) (w: weights [d][h]) : f32 =
  let zero = replicate b (replicate h 0)
  let (_, _, total) =
    loop state = (zero, zero, 0) for (input, target) in zip inputs targets do add_step w input target state
  in total / f32.i64 (n * b * d)

-- The same, whose derivative keeps few of the states.
def loss_in_strips [n][b][d][h] (inputs: [n][b][d]f32) (targets: [n][b][d]f32) (w: weights [d][h]) : f32 =
  let zero = replicate b (replicate h 0)
  let (_, _, total) =
    #[stripmine(1)] loop state = (zero, zero, 0) for (input, target) in zip inputs targets do add_step w input target state
  in total / f32.i64 (n * b * d)

entry objective [n][b][d][h] (inputs: [n][b][d]f32) (targets: [n][b][d]f32)
                             (input: [4 * h][d]f32) (hidden: [4 * h][h]f32) (bias: [4 * h]f32)
                             (output: [h][d]f32) (output_bias: [d]f32) : f32 =
  loss inputs targets {input, hidden, bias, output, output_bias}

entry derivative [n][b][d][h] (inputs: [n][b][d]f32) (targets: [n][b][d]f32)
                              (input: [4 * h][d]f32) (hidden: [4 * h][h]f32) (bias: [4 * h]f32)
                              (output: [h][d]f32) (output_bias: [d]f32)
  : ([4 * h][d]f32, [4 * h][h]f32, [4 * h]f32, [h][d]f32, [d]f32) =
  let w = grad (loss inputs targets) {input, hidden, bias, output, output_bias}
  in (w.input, w.hidden, w.bias, w.output, w.output_bias)

entry derivative_in_strips [n][b][d][h] (inputs: [n][b][d]f32) (targets: [n][b][d]f32)
                                        (input: [4 * h][d]f32) (hidden: [4 * h][h]f32) (bias: [4 * h]f32)
                                        (output: [h][d]f32) (output_bias: [d]f32)
  : ([4 * h][d]f32, [4 * h][h]f32, [4 * h]f32, [h][d]f32, [d]f32) =
  let w = grad (loss_in_strips inputs targets) {input, hidden, bias, output, output_bias}
  in (w.input, w.hidden, w.bias, w.output, w.output_bias)
