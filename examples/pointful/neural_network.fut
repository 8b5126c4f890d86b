-- | A small neural network, trained by gradient descent: which of two spirals is a point on?
--
-- Try it:
--
--     dagaz run examples/pointful/neural_network.fut --entry learning_curve --arg 2000 --picture loss.svg

type network [h] = {w1: [h][2]f64, b1: [h]f64, w2: [h]f64, b2: f64}

def predict [h] (net: network [h]) (x: [2]f64) : f64 =
  let hidden = for k -> f64.tanh (net.b1[k] + f64.sum (for j -> net.w1[k,j] * x[j]))
  let score = net.b2 + f64.sum (for k -> net.w2[k] * hidden[k])
  in 1 / (1 + f64.exp (-score))

def loss [h][n] (xs: [n][2]f64) (ys: [n]f64) (net: network [h]) : f64 =
  let one p y = -(y * f64.log p + (1 - y) * f64.log (1 - p))
  in f64.sum (for i -> one (predict net xs[i]) ys[i]) / f64.i64 n

def descend [h] (rate: f64) (net: network [h]) (slope: network [h]) : network [h] =
  {w1 = for k j -> net.w1[k,j] - rate * slope.w1[k,j],
   b1 = for k -> net.b1[k] - rate * slope.b1[k],
   w2 = for k -> net.w2[k] - rate * slope.w2[k],
   b2 = net.b2 - rate * slope.b2}

def spirals (n: i64) : ([n][2]f64, [n]f64) =
  let point (i: i64) =
    let t = f64.i64 (i / 2) / f64.i64 n * 8
    let turn = t + (if i % 2 == 0 then 0 else f64.pi)
    in [t / 4 * f64.cos turn, t / 4 * f64.sin turn]
  in (for i < n -> point i, for i < n -> if i % 2 == 0 then 0 else 1)

def start (h: i64) : network [h] =
  {w1 = for k j -> 2 * f64.sin (f64.i64 (3 * k + 5 * j + 1)),
   b1 = for k -> f64.cos (f64.i64 (7 * k)),
   w2 = for k -> 0.3 * f64.sin (f64.i64 (11 * k + 2)),
   b2 = 0}

-- | The loss before each step.
entry learning_curve (steps: i64) : [steps]f64 =
  let (xs, ys) = spirals 60
  let learn net = for _t < steps ->
    (let slope = vjp (loss xs ys) (get net) 1
     let before = loss xs ys (get net)
     in (net := descend 0.5 (get net) slope; before))
  in (run_state (start 16) learn).0

-- ==
-- entry: learns
-- input { 400i64 } output { true }
entry learns (steps: i64) : bool =
  let curve = learning_curve steps
  in curve[steps - 1] < 0.7 * curve[0]
