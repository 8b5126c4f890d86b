-- How well an LSTM without matrices predicts the next element of a sequence, and the gradient: D-LSTM of ADBench.
--
-- Layer l has weights `main[l, 0]` and biases `main[l, 1]`, each for the forget, input, output and change gates. What comes
-- in is scaled by `extra[0]`; what comes out is scaled by `extra[1]`, and `extra[2]` is added.
-- ==
-- entry: objective
-- input { [[[[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6], [0.7, -0.8]], [[0.2, 0.1], [-0.3, 0.5], [0.4, -0.6], [0.1, 0.2]]]]
--         [[0.5, -0.5], [1.0, 0.8], [0.1, -0.1]] [[[0.1, 0.2], [-0.1, 0.3]]]
--         [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] }
-- output { 1.047716133201995 }
--
-- ==
-- entry: derivative derivative_in_strips
-- input { [[[[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6], [0.7, -0.8]], [[0.2, 0.1], [-0.3, 0.5], [0.4, -0.6], [0.1, 0.2]]]]
--         [[0.5, -0.5], [1.0, 0.8], [0.1, -0.1]] [[[0.1, 0.2], [-0.1, 0.3]]]
--         [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] }
-- output { [[[[0.00012439276676128657, 0.0006781851831742791], [-5.706544966765165e-5, -0.0001840023881010734],
--             [0.00010071423198044532, 0.0021093794138533225], [-0.0006739170802386393, -0.00937884346563677]],
--             [[-2.30821390879019e-5, -0.0061477153988206265], [-0.0021232748232152153, -0.0016203095225276964],
--             [-0.0012365688774384172, -0.00997226309849594], [-0.032010533701020916, -0.05938852144809439]]]]
--          [[-7.583567862818801e-5, -0.002259981223354275], [-0.0029690706507631134, -0.01970386094034686],
--             [-0.041807654112043, -0.3257710881586631]] }

def sigmoid (x: f64) : f64 = 1 / (1 + f64.exp (-x))

-- The hidden state and the cell of one unit after one step.
def unit (weight: i64 -> f64) (bias: i64 -> f64) (input: f64) (hidden: f64) (cell: f64) : (f64, f64) =
  let forget = sigmoid (input * weight 0 + bias 0)
  let ingate = sigmoid (hidden * weight 1 + bias 1)
  let outgate = sigmoid (input * weight 2 + bias 2)
  let change = f64.tanh (hidden * weight 3 + bias 3)
  let cell = cell * forget + ingate * change
  in (outgate * f64.tanh cell, cell)

-- The prediction for the next element, and the state of all layers after this one.
def predict [l][d] (main: [l][2][4][d]f64) (extra: [3][d]f64) (state: *[l][2][d]f64) (input: [d]f64)
  : ([d]f64, *[l][2][d]f64) =
  let (output, state) =
    loop (x, state) = (map2 (*) input extra[0], state) for i < l do
      let (hidden, cell) =
        unzip (tabulate d (\j -> unit (\g -> main[i, 0, g, j]) (\g -> main[i, 1, g, j]) x[j] state[i, 0, j] state[i, 1, j]))
      in (hidden, state with [i] = [hidden, cell])
  in (map3 (\x scale offset -> x * scale + offset) output extra[1] extra[2], state)

-- The state after element i, and the total with what the prediction of the next one adds to it.
def step [l][d][t] (main: [l][2][4][d]f64) (extra: [3][d]f64) (sequence: [t][d]f64) (i: i64) (state: *[l][2][d]f64, total: f64)
  : (*[l][2][d]f64, f64) =
  let (prediction, state) = predict main extra state sequence[i]
  let normaliser = f64.log (2 + f64.sum (map f64.exp prediction))
  in (state, total + f64.sum (map2 (\y p -> y * (p - normaliser)) sequence[i + 1] prediction))

def loss [l][d][t] (state: [l][2][d]f64) (sequence: [t][d]f64) (main: [l][2][4][d]f64, extra: [3][d]f64) : f64 =
  let (_, total) = loop now = (copy state, 0) for i < t - 1 do step main extra sequence i now
  in -total / f64.i64 (d * (t - 1))

-- The same, whose derivative keeps few of the states.
def loss_in_strips [l][d][t] (state: [l][2][d]f64) (sequence: [t][d]f64) (main: [l][2][4][d]f64, extra: [3][d]f64) : f64 =
  let (_, total) = #[stripmine(1)] loop now = (copy state, 0) for i < t - 1 do step main extra sequence i now
  in -total / f64.i64 (d * (t - 1))

entry objective [l][d][t] (main: [l][2][4][d]f64) (extra: [3][d]f64) (state: [l][2][d]f64) (sequence: [t][d]f64) : f64 =
  loss state sequence (main, extra)

entry derivative [l][d][t] (main: [l][2][4][d]f64) (extra: [3][d]f64) (state: [l][2][d]f64) (sequence: [t][d]f64)
  : ([l][2][4][d]f64, [3][d]f64) =
  grad (loss state sequence) (main, extra)

entry derivative_in_strips [l][d][t] (main: [l][2][4][d]f64) (extra: [3][d]f64) (state: [l][2][d]f64) (sequence: [t][d]f64)
  : ([l][2][4][d]f64, [3][d]f64) =
  grad (loss_in_strips state sequence) (main, extra)
