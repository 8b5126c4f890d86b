-- | Statistics of samples, for `f32` and `f64`: `stats_f64.mean xs`.
--
-- A sample is an array of numbers, or of rows with one number for each variable. Everything has derivatives; those of quantiles are by
-- the elements that they lie between. Of an empty sample, NaN comes out; in the order of quantiles a NaN is the largest number.

import "sort"

-- | What there is for a type of floating-point numbers.
module type stats = {
  -- | The type of the numbers.
  type t

  -- | The sum divided by the size.
  val mean [n] : [n]t -> t
  -- | The mean with a weight for every number; the weights need not sum to one.
  --
  -- > stats_f64.weighted_mean [1, 3] [2, 10]
  -- 8.0f64
  val weighted_mean [n] : (weights: [n]t) -> [n]t -> t
  -- | The sum of squared differences from the mean, divided by the size less `freedom`: 0 for all there is, 1 for a sample of it.
  --
  -- > stats_f64.variance 1 [1, 2, 3, 4]
  -- 1.6666666666666667f64
  val variance [n] : (freedom: i64) -> [n]t -> t
  -- | The root of `variance`; its derivative where all numbers are equal is infinite or NaN.
  val deviation [n] : (freedom: i64) -> [n]t -> t
  -- | The third moment of the differences from the mean, in units of the deviation.
  val skewness [n] : [n]t -> t
  -- | The fourth moment in the same way, less the 3 of a normal distribution.
  val excess_kurtosis [n] : [n]t -> t
  -- | Numbers less their mean, in units of their deviation.
  val standardised [n] : [n]t -> [n]t

  -- | The covariances of all pairs of variables, in rows of a sample.
  val covariance [n] [d] : (freedom: i64) -> [n][d]t -> [d][d]t
  -- | The correlation of two variables.
  --
  -- > stats_f64.correlation [1, 2, 3] [2, 4, 7]
  -- 0.9933992677987828f64
  val correlation [n] : [n]t -> [n]t -> t

  -- | For each of some parts `q` between 0 and 1, the number below which so many are: on the straight line between the two numbers that are nearest
  -- when sorted.
  --
  -- > stats_f64.quantiles [0, 0.5, 0.9] [3, 1, 2, 4]
  -- [1.0f64, 2.5f64, 3.7f64]
  val quantiles [n] [m] : (q: [m]t) -> [n]t -> [m]t
  -- | The number in the middle, or the mean of the two there.
  val median [n] : [n]t -> t
  -- | How many numbers are in each of `bins` equal parts of a range; the upper end belongs to the last.
  --
  -- > stats_f64.histogram 2 (0, 1) [0.1, 0.4, 0.5, 1]
  -- [2i64, 2i64]
  val histogram [n] : (bins: i64) -> (range: (t, t)) -> [n]t -> [bins]i64

  -- | The straight line that is nearest to points in squared vertical distance.
  --
  -- > stats_f64.linear_fit [0, 1, 2] [1, 3, 5]
  -- {offset = 1.0f64, slope = 2.0f64}
  val linear_fit [n] : (x: [n]t) -> (y: [n]t) -> {slope: t, offset: t}
}

-- | `stats` for a type of floating-point numbers. The second module says how these are sorted.
module mk_stats (R: real) (S: sort with t = R.t) : stats with t = R.t = {
  type t = R.t

  def mean [n] (x: [n]t) : t = R.(sum x / i64 n)
  def weighted_mean [n] (weights: [n]t) (x: [n]t) : t = R.(sum (map2 (*) weights x) / sum weights)

  local
  def centred [n] (x: [n]t) : [n]t =
    let centre = mean x
    in map (\x -> R.(x - centre)) x
  local def dot [n] (x: [n]t) (y: [n]t) : t = R.sum (map2 (R.*) x y)

  def variance [n] (freedom: i64) (x: [n]t) : t =
    let x = centred x
    in dot x x R./ R.i64 (n - freedom)
  def deviation [n] (freedom: i64) (x: [n]t) : t = R.sqrt (variance freedom x)
  def standardised [n] (x: [n]t) : [n]t =
    let unit = deviation 0 x
    in map (\x -> R.(x / unit)) (centred x)
  def skewness [n] (x: [n]t) : t = mean (map (\z -> R.(z * z * z)) (standardised x))
  def excess_kurtosis [n] (x: [n]t) : t = mean (map (\z -> R.(z * z * z * z)) (standardised x)) R.- R.i64 3

  def covariance [n] [d] (freedom: i64) (x: [n][d]t) : [d][d]t =
    let columns = map centred (transpose x)
    in map (\a -> map (\b -> dot a b R./ R.i64 (n - freedom)) columns) columns
  def correlation [n] (x: [n]t) (y: [n]t) : t =
    let (x, y) = (centred x, centred y)
    in dot x y R./ R.sqrt (dot x x R.* dot y y)

  def quantiles [n] [m] (q: [m]t) (x: [n]t) : [m]t =
    let x = S.sort x
    let quantile q =
      let at = q R.* R.i64 (n - 1)
      let i = i64.max 0 (i64.min (n - 1) (R.to_i64 at))
      let part = at R.- R.i64 i
      in R.lerp x[i] x[i64.min (n - 1) (i + 1)] part
    in if n == 0 then replicate m R.nan else map quantile q
  def median [n] (x: [n]t) : t = (quantiles [R.from_fraction 1 2] x)[0]

  def histogram [n] (bins: i64) (from: t, to: t) (x: [n]t) : [bins]i64 =
    let bin x =
      if x R.< from || x R.> to || R.isnan x then -1
      else i64.min (bins - 1) (R.to_i64 R.((x - from) / (to - from) * i64 bins))
    in hist (+) 0 bins (map bin x) (replicate n 1)

  def linear_fit [n] (x: [n]t) (y: [n]t) : {slope: t, offset: t} =
    let from_mean = centred x
    let slope = dot from_mean y R./ dot from_mean from_mean
    in {slope, offset = mean y R.- slope R.* mean x}
}

-- | Statistics in single precision.
module stats_f32 : stats with t = f32 = mk_stats f32 sort_f32

-- | Statistics in double precision.
module stats_f64 : stats with t = f64 = mk_stats f64 sort_f64
