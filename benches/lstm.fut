-- The gradient of a loss of an LSTM layer by its weights, over a sequence of batches.
def sigmoid (x: f32): f32 = 1 / (1 + f32.exp (-x))

def matmul [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 =
  map (\row -> map (\column -> f32.sum (map2 (*) row column)) (transpose b)) a

def loss [t][b][d][h] (inputs: [t][b][d]f32)
                      (wi: [d][4 * h]f32, wh: [h][4 * h]f32, bias: [4 * h]f32): f32 =
  let (_, _, total) =
    loop (hidden, cell, total) = (replicate b (replicate h 0), replicate b (replicate h 0), 0)
    for input in inputs do
      let gates = map2 (map2 (+)) (matmul input wi) (map (map2 (+) bias) (matmul hidden wh))
      let new =
        tabulate_2d b h (\i j ->
          let c = sigmoid gates[i, h + j] * cell[i, j] + sigmoid gates[i, j] * f32.tanh gates[i, 2 * h + j]
          in (sigmoid gates[i, 3 * h + j] * f32.tanh c, c))
      let hidden = map (map (.0)) new
      let squares = f32.sum (map (\x -> x * x) (flatten hidden))
      in (hidden, map (map (.1)) new, total + squares)
  in total

entry main [t][b][d][h] (inputs: [t][b][d]f32) (wi: [d][4 * h]f32) (wh: [h][4 * h]f32) (bias: [4 * h]f32)
  : ([d][4 * h]f32, [h][4 * h]f32, [4 * h]f32) = vjp (loss inputs) (wi, wh, bias) 1
