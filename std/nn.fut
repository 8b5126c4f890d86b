-- | Functions for learning, for `f32` and `f64`: `nn_f64.softmax x`.
--
-- Values, and first and second derivatives, are finite wherever they should be: for numbers of any size, all of them equal, or some of them
-- infinite, as masks are. Everything here is about one row; it is mapped over batches.

-- | What there is for a type of floating-point numbers.
module type nn = {
  -- | The type of the numbers.
  type t

  -- | `log (exp x + exp y)`.
  --
  -- > nn_f64.logaddexp 1000 1000
  -- 1000.6931471805599f64
  val logaddexp : t -> t -> t
  -- | The logarithm of the sum of all exponentials; negative infinity if there are none.
  --
  -- > nn_f64.logsumexp [-1000, -1001]
  -- -999.6867383124818f64
  val logsumexp [n] : [n]t -> t
  -- | Exponentials in proportion, which sum to one; equal parts of the largest ones if these are infinite.
  --
  -- > nn_f64.softmax [1, 2, -f64.inf]
  -- [0.2689414213699951f64, 0.7310585786300049f64, 0.0f64]
  val softmax [n] : [n]t -> [n]t
  -- | The logarithms of `softmax`.
  val log_softmax [n] : [n]t -> [n]t

  -- | `1 / (1 + exp (-x))`.
  val sigmoid : t -> t
  -- | The logarithm of `sigmoid`.
  val log_sigmoid : t -> t
  -- | `log (1 + exp x)`.
  --
  -- > grad nn_f64.softplus (-50)
  -- 1.9287498479639178e-22f64
  val softplus : t -> t
  -- | A number, or zero if it is negative.
  val relu : t -> t
  -- | As `relu`, with a slope for negative numbers.
  val leaky_relu : (slope: t) -> t -> t
  -- | A number, or `exp x - 1` if it is negative.
  val elu : t -> t
  -- | A number times the probability that a standard normal number is below it.
  val gelu : t -> t
  -- | A number times its `sigmoid`.
  val silu : t -> t

  -- | Numbers less their mean and divided by their standard deviation; `epsilon`, which must be positive, is added to the variance.
  --
  -- > nn_f64.layer_norm 1e-5 [3, 3, 3]
  -- [0.0f64, 0.0f64, 0.0f64]
  val layer_norm [n] : (epsilon: t) -> [n]t -> [n]t
  -- | Numbers divided by the root of their mean square, to which `epsilon` is added.
  val rms_norm [n] : (epsilon: t) -> [n]t -> [n]t

  -- | `x log y`, which is zero for an `x` of zero.
  val xlogy : t -> t -> t
  -- | A one among zeros.
  val one_hot : (n: i64) -> i64 -> [n]t
  -- | The mean of squared differences.
  val mean_squared_error [n] : [n]t -> [n]t -> t
  -- | The mean of absolute differences.
  val mean_absolute_error [n] : [n]t -> [n]t -> t
  -- | The mean of half the squared differences, which go on linearly beyond `delta`.
  val huber [n] : (delta: t) -> [n]t -> [n]t -> t
  -- | `cross_entropy logits p`: of probabilities and the `softmax` of some numbers.
  val cross_entropy [n] : (logits: [n]t) -> (p: [n]t) -> t
  -- | As `cross_entropy`, where one position has all the probability.
  --
  -- > grad (\x -> nn_f64.cross_entropy_at x 1) [0, 0]
  -- [0.5f64, -0.5f64]
  val cross_entropy_at [n] : (logits: [n]t) -> i64 -> t
  -- | `binary_cross_entropy x p`: of a probability and the `sigmoid` of a number.
  val binary_cross_entropy : (logit: t) -> (p: t) -> t
  -- | The sum of `p log (p / q)`.
  val kl_divergence [n] : (p: [n]t) -> (q: [n]t) -> t
  -- | Minus the sum of `p log p`.
  val entropy [n] : [n]t -> t
}

-- | `nn` for a type of floating-point numbers.
module mk_nn (R: real) : nn with t = R.t = {
  type t = R.t

  local def zero : t = R.i64 0
  local def one : t = R.i64 1
  local def mean [n] (x: [n]t) : t = R.(sum x / i64 n)

  def logaddexp (x: t) (y: t) : t =
    -- The difference of two infinities of the same sign is none.
    if R.isinf x && x R.== y then x
    else if x R.>= y
    then R.(x + log1p (exp (y - x)))
    else R.(y + log1p (exp (x - y)))

  def logsumexp [n] (x: [n]t) : t =
    -- That this number is subtracted changes nothing, and so it has no derivative.
    let top = stop_gradient (R.maximum x)
    in if R.isinf top
       then R.maximum x
       else R.(top + log (sum (map (\x -> exp (x - top)) x)))

  def softmax [n] (x: [n]t) : [n]t =
    let top = stop_gradient (R.maximum x)
    let weight x = if R.isinf top then R.bool (x R.== top) else R.(exp (x - top))
    let weights = map weight x
    let total = R.sum weights
    in map (\w -> R.(w / total)) weights

  def log_softmax [n] (x: [n]t) : [n]t =
    let top = stop_gradient (R.maximum x)
    let total = R.(log (sum (map (\x -> exp (x - top)) x)))
    in if R.isinf top
       then map R.log (softmax x)
       else map (\x -> R.(x - top - total)) x

  def sigmoid (x: t) : t =
    if x R.>= zero
    then R.(recip (one + exp (neg x)))
    else let power = R.exp x in R.(power / (one + power))
  def softplus (x: t) : t =
    if x R.>= zero then R.(x + log1p (exp (neg x))) else R.(log1p (exp x))
  def log_sigmoid (x: t) : t = R.(neg (softplus (neg x)))
  def relu (x: t) : t = if x R.> zero then x else R.(zero * x)
  def leaky_relu (slope: t) (x: t) : t = if x R.> zero then x else R.(slope * x)
  def elu (x: t) : t = if x R.> zero then x
    else if x R.< R.i64 (-1) then R.(exp x - one)
    else R.(i64 2 * sinh (x / i64 2) * exp (x / i64 2))
  def gelu (x: t) : t =
    R.(x * erfc (neg x / sqrt (i64 2)) / i64 2)
  def silu (x: t) : t = R.(x * sigmoid x)

  def layer_norm [n] (epsilon: t) (x: [n]t) : [n]t =
    let centre = mean x
    let x = map (\x -> R.(x - centre)) x
    let scale = R.(rsqrt (mean (map (\x -> x * x) x) + epsilon))
    in map (\x -> R.(x * scale)) x
  def rms_norm [n] (epsilon: t) (x: [n]t) : [n]t =
    let scale = R.(rsqrt (mean (map (\x -> x * x) x) + epsilon))
    in map (\x -> R.(x * scale)) x

  def xlogy (x: t) (y: t) : t = if x R.== zero then zero else R.(x * log y)
  def one_hot (n: i64) (k: i64) : [n]t = tabulate n (\i -> R.bool (i == k))

  def mean_squared_error [n] (x: [n]t) (y: [n]t) : t =
    mean (map2 (\x y -> let d = R.(x - y) in R.(d * d)) x y)
  def mean_absolute_error [n] (x: [n]t) (y: [n]t) : t =
    mean (map2 (\x y -> R.(abs (x - y))) x y)
  def huber [n] (delta: t) (x: [n]t) (y: [n]t) : t =
    let half = R.from_fraction 1 2
    let loss x y =
      let d = R.(x - y)
      in if R.abs d R.<= delta then R.(half * d * d) else R.(delta * (abs d - half * delta))
    in mean (map2 loss x y)
  def cross_entropy [n] (logits: [n]t) (p: [n]t) : t =
    -- What has no probability does not count, even if its logarithm is infinite.
    R.(sum (map2 (\x p -> if p == zero then zero else neg p * x) (log_softmax logits) p))
  def cross_entropy_at [n] (logits: [n]t) (k: i64) : t = R.(logsumexp logits - logits[k])
  def binary_cross_entropy (logit: t) (p: t) : t = R.(softplus logit - p * logit)
  def kl_divergence [n] (p: [n]t) (q: [n]t) : t =
    R.sum (map2 (\p q -> xlogy p (p R./ q)) p q)
  def entropy [n] (p: [n]t) : t = R.(neg (sum (map (\p -> xlogy p p) p)))
}

-- | Functions for learning in single precision.
module nn_f32 : nn with t = f32 = mk_nn f32

-- | Functions for learning in double precision.
module nn_f64 : nn with t = f64 = mk_nn f64
