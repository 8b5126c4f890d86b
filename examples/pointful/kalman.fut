-- | A Kalman filter: the position and speed of something that is seen unclearly. The matrices are small, and every product
-- says by its indices what it is.

def mul [n][m][p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 = for i j -> f64.sum (for k -> a[i,k] * b[k,j])
def transposed [n][m] (a: [n][m]f64) : [m][n]f64 = for j i -> a[i,j]
def plus [n][m] (a: [n][m]f64) (b: [n][m]f64) : [n][m]f64 = for i j -> a[i,j] + b[i,j]

type filter = {mean: [2]f64, cov: [2][2]f64}

-- | Where it will be after `dt`, and how sure that is.
def predict (dt: f64) ({mean, cov}: filter) : filter =
  let move = [[1, dt], [0, 1]]
  let noise = [[dt ** 3 / 3, dt ** 2 / 2], [dt ** 2 / 2, dt]]
  in {mean = for i -> f64.sum (for k -> move[i,k] * mean[k]),
      cov = plus (mul (mul move cov) (transposed move)) (for i j -> 0.1 * noise[i,j])}

-- | What is known after the position was measured with a given variance.
def observe (variance: f64) ({mean, cov}: filter) (position: f64) : filter =
  let surprise = position - mean[0]
  let gain = for i -> cov[i,0] / (cov[0,0] + variance)
  in {mean = for i -> mean[i] + gain[i] * surprise,
      cov = for i j -> cov[i,j] - gain[i] * cov[0,j]}

def track [n] (dt: f64) (variance: f64) (seen: [n]f64) : [n]filter =
  let start = {mean = [0, 0], cov = [[100, 0], [0, 100]]}
  in (run_state start (\f -> for t -> (f := observe variance (predict dt (get f)) seen[t]; get f))).0

-- | Something that moves evenly: its speed is found.
-- ==
-- entry: speed
-- input { 3.0 } output { true }
-- input { -1.5 } output { true }
entry speed (v: f64) : bool =
  let seen : [200]f64 = for t -> v * f64.i64 t * 0.1 + 0.01 * f64.sin (f64.i64 (t * 37))
  let last = (track 0.1 0.01 seen)[199]
  in f64.abs (last.mean[1] - v) < 0.2
