-- | Logistic regression by gradient descent: the gradient is that of the loss as it is written.

def sigmoid (x: f64) : f64 = 1 / (1 + f64.exp (-x))

-- | How badly the weights explain the labels, which are 0 or 1.
def loss [n] [d] (points: [n][d]f64) (labels: [n]f64) (weights: [d]f64) : f64 =
  let probability point = sigmoid (f64.sum (map2 (*) point weights))
  let cost p label = -(label * f64.log p + (1 - label) * f64.log (1 - p))
  in f64.sum (map2 cost (map probability points) labels) / f64.i64 n

-- | The weights after some steps, and the loss before and after.
--
-- Two clouds of points that the first coordinate tells apart; the last coordinate is 1, for an offset.
-- ==
-- input { [[-2.0, 0.5, 1.0], [-1.0, -0.5, 1.0], [1.5, 0.25, 1.0], [2.0, -1.0, 1.0]] [0.0, 0.0, 1.0, 1.0] 100i64 1.0 }
-- output { true true }
entry main [n] [d] (points: [n][d]f64) (labels: [n]f64) (steps: i64) (rate: f64) : (bool, bool) =
  let start = replicate d 0.0
  let trained =
    loop weights = start for _i < steps do
      map2 (\w g -> w - rate * g) weights (grad (loss points labels) weights)
  let predicted = map (\point -> sigmoid (f64.sum (map2 (*) point trained)) > 0.5) points
  in (loss points labels trained < loss points labels start / 10, map (== 1) labels == predicted)
