-- | Special functions of real numbers, for `f32` and `f64`: `special_f64.digamma x`.
--
-- All have derivatives in every argument that is a float, in both modes. Those that are found by solving an equation (inverse functions) have derivatives up to the
-- third, all others of any order. Single precision computes in double precision.

-- | What there is for a type of floating-point numbers.
module type special = {
  -- | The type of the numbers.
  type t

  -- | The logarithm of the absolute value of the gamma function.
  val log_gamma : t -> t
  -- | The derivative of `log_gamma`.
  --
  -- > special_f64.digamma 1
  -- -0.5772156649015329f64
  val digamma : t -> t
  -- | The derivative of `digamma`.
  --
  -- > special_f64.trigamma 1
  -- 1.6449340668482264f64
  val trigamma : t -> t
  -- | The logarithm of the beta function of two positive numbers, accurate also where one of them is large.
  --
  -- > special_f64.log_beta 2 3
  -- -2.4849066497880004f64
  val log_beta : t -> t -> t
  -- | The beta function of two positive numbers.
  val beta : t -> t -> t

  -- | `gamma_p a x`: the integral of `t^(a-1) exp(-t)` from 0 to `x`, as a part of that to infinity; for positive `a`.
  --
  -- > special_f64.gamma_p 2 1
  -- 0.2642411176571152f64
  val gamma_p : t -> t -> t
  -- | `1 - gamma_p a x`, accurate where that is small.
  val gamma_q : t -> t -> t
  -- | The derivative of `gamma_p a x` in `x`: the density of the gamma distribution of shape `a`.
  val gamma_density : t -> t -> t
  -- | `beta_p a b x`: the integral of `t^(a-1) (1-t)^(b-1)` from 0 to `x`, as a part of that to 1; for positive `a` and `b`.
  --
  -- > special_f64.beta_p 2 3 0.5
  -- 0.6875f64
  val beta_p : t -> t -> t -> t

  -- | The number whose `erf` is given; infinite at -1 and 1.
  --
  -- > special_f64.erf_inverse 0.5
  -- 0.4769362762044699f64
  val erf_inverse : t -> t
  -- | The number whose `erfc` is given, accurate also where that is small.
  val erfc_inverse : t -> t
  -- | The probability that a standard normal number is below `x`.
  val normal_cdf : t -> t
  -- | The number below which a standard normal number is with a given probability.
  --
  -- > special_f64.normal_quantile 0.975
  -- 1.959963984540054f64
  val normal_quantile : t -> t

  -- | The Bessel function of the first kind of order 0.
  --
  -- > special_f64.bessel_j0 1
  -- 0.7651976865579665f64
  val bessel_j0 : t -> t
  -- | The Bessel function of the first kind of order 1.
  val bessel_j1 : t -> t
  -- | The Bessel function of the second kind of order 0, of positive numbers.
  val bessel_y0 : t -> t
  -- | The Bessel function of the second kind of order 1, of positive numbers.
  val bessel_y1 : t -> t
  -- | The modified Bessel function of the first kind of order 0.
  val bessel_i0 : t -> t
  -- | The modified Bessel function of the first kind of order 1.
  val bessel_i1 : t -> t
  -- | The modified Bessel function of the second kind of order 0, of positive numbers.
  val bessel_k0 : t -> t
  -- | The modified Bessel function of the second kind of order 1, of positive numbers.
  val bessel_k1 : t -> t

  -- | The zeta function of Riemann.
  --
  -- > special_f64.zeta 2
  -- 1.6449340668482264f64
  val zeta : t -> t
}

local def euler_gamma : f64 = 0.5772156649015328606
local def root_of_pi : f64 = 1.7724538509055160273

-- What the formula of Stirling leaves of the logarithm of the gamma function, from 10 on.
local
def stirling_rest (x: f64) : f64 =
  let y = 1 / (x * x)
  in (1 / 12 + y * (-1 / 360 + y * (1 / 1260 + y * (-1 / 1680 + y * (1 / 1188 + y * (-691 / 360360 + y / 156)))))) / x

-- A sum or fraction ends when nothing changes any more, even in derivatives, whose terms are somewhat larger.
local def most_terms : i64 = 100000

-- A fraction may end early, by a coefficient of zero, where its derivatives do not. How far these go grows with the root of the parameters.
local def least_terms (parameter: f64) : i64 = i64.f64 (40 + 4 * f64.sqrt parameter)

-- `x^a exp(-x) / gamma(a + 1)`. For a large `a`, with the powers taken together before they cancel.
local
def gamma_term (a: f64) (x: f64) : f64 =
  if a < 10
  then f64.exp (a * f64.log x - x - f64.lgamma (a + 1))
  else
    let excess = (x - a) / a
    in f64.exp (a * (f64.log1p excess - excess) - stirling_rest a) / f64.sqrt (2 * f64.pi * a)

-- By the power series, for an `x` that is not much above `a`.
local
def gamma_series (a: f64) (x: f64) : f64 =
  let (sum, _, _) =
    loop (sum, term, k) = (1, 1, 1) while term > 1e-19 * sum && k < most_terms do
      let term = term * x / (a + f64.i64 k)
      in (sum + term, term, k + 1)
  in gamma_term a x * sum

-- By the continued fraction, for an `x` above `a`; evaluated from its front, as Lentz does.
local
def gamma_fraction (a: f64) (x: f64) : f64 =
  let b0 = x + 1 - a
  let least = least_terms a
  let (h, _, _, _, _) =
    loop (h, c, d, factor, k) = (1 / b0, 1e300, 1 / b0, 0, 1)
    while (k <= least || f64.abs (factor - 1) > 1e-16) && k < most_terms do
      let an = f64.i64 k * (a - f64.i64 k)
      let b = b0 + 2 * f64.i64 k
      let d = 1 / (an * d + b)
      let c = b + an / c
      in (h * c * d, c, d, c * d, k + 1)
  in a * gamma_term a x * h

local
def gamma_parts (a: f64) (x: f64) : (f64, f64) =
  if f64.isnan a || f64.isnan x || a <= 0 || x < 0 then (f64.nan, f64.nan)
  else if x == 0 then (0, 1)
  else if f64.isinf x then (1, 0)
  else if x < a + 1
  then let p = gamma_series a x in (p, 1 - p)
  else let q = gamma_fraction a x in (1 - q, q)

local
def log_beta_f64 (a: f64) (b: f64) : f64 =
  let (small, large) = if a < b then (a, b) else (b, a)
  -- The logarithm of gamma(large) / gamma(small + large).
  let quotient =
    stirling_rest large - stirling_rest (small + large) + small - small * f64.log (small + large)
    - (large - 0.5) * f64.log1p (small / large)
  in if large < 10
     then f64.lgamma small + f64.lgamma large - f64.lgamma (small + large)
     else if small < 10
     then f64.lgamma small + quotient
     else
       stirling_rest small + (small - 0.5) * f64.log small - small + 0.5 * f64.log (2 * f64.pi) + quotient

-- The continued fraction for an `x` below the mean.
local
def beta_fraction (a: f64) (b: f64) (x: f64) : f64 =
  let step (h, c, d) (coefficient: f64) =
    let d = 1 / (1 + coefficient * d)
    let c = 1 + coefficient / c
    in (h * c * d, c, d)
  let start = 1 / (1 - (a + b) * x / (a + 1))
  let least = least_terms (f64.max a b) / 2
  let (h, _, _, _, _) =
    loop (h, c, d, factor, k) = (start, 1, start, 0, 1)
    while (k <= least || f64.abs (factor - 1) > 1e-16) && k < most_terms do
      let m = f64.i64 k
      let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
      let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
      let (h', c, d) = step (step (h, c, d) even) odd
      in (h', c, d, h' / h, k + 1)
  in h * f64.exp (a * f64.log x + b * f64.log1p (-x) - log_beta_f64 a b) / a

local
def beta_p_f64 (a: f64) (b: f64) (x: f64) : f64 =
  if f64.isnan a || f64.isnan b || !(x >= 0 && x <= 1) || a <= 0 || b <= 0 then f64.nan
  else if x == 0 then 0
  else if x == 1 then 1
  else if x <= (a + 1) / (a + b + 2)
  then beta_fraction a b x
  else 1 - beta_fraction b a (1 - x)

-- Two steps of Newton, the first from a constant, have the derivatives of the solution up to the third.
local
def polished (f: f64 -> f64) (slope: f64 -> f64) (root: f64) : f64 =
  let step y = y - f y / slope y
  in step (step (stop_gradient root))

local def erf_slope (y: f64) : f64 = 2 / root_of_pi * f64.exp (-(y * y))

-- A rational guess, and steps of Halley; for numbers up to 1.
local
def erfc_inverse_small (p: f64) : f64 =
  let solve p =
    let t = f64.sqrt (-2 * f64.log (p / 2))
    let guess = (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t))) / f64.sqrt 2
    in loop y = guess for _i < 4i32 do
         let excess = f64.erfc y - p
         in y + excess / (erf_slope y - y * excess)
  in polished (\y -> f64.erfc y - p) (\y -> -(erf_slope y)) (solve (stop_gradient p))

local
def erfc_inverse_f64 (p: f64) : f64 =
  if f64.isnan p || p < 0 || p > 2 then f64.nan
  else if p == 0 then 1 / p
  else if p == 2 then -1 / (2 - p)
  else if p <= 1 then erfc_inverse_small p
  else -(erfc_inverse_small (2 - p))

local
def erf_inverse_f64 (x: f64) : f64 =
  if f64.abs x < 0.5
  then
    let solve x =
      loop y = x * root_of_pi / 2 for _i < 4i32 do
        let excess = f64.erf y - x
        in y - excess / (erf_slope y + y * excess)
    in polished (\y -> f64.erf y - x) erf_slope (solve (stop_gradient x))
  else if x > 0 then erfc_inverse_f64 (1 - x) else -(erfc_inverse_f64 (1 + x))

-- Bessel functions are means over angles, which the midpoint rule gives to the last digit for arguments up to 25, and all their
-- derivatives with them; from there on, their asymptotic series do.

local def far : f64 = 25
local def angles : i64 = 40
local def sines : [angles]f64 = tabulate angles (\j -> f64.sinpi ((f64.i64 j + 0.5) / (2 * f64.i64 angles)))
local def mean_of (f: f64 -> f64) : f64 = f64.sum (map f sines) / f64.i64 angles

-- Weights with which the mean of cosines is the sum of all Bessel functions of even order `2 k`, each times `(-1)^k / k`.
local
def neumann_weights : [angles]f64 =
  let weight j =
    let angle = (f64.i64 j + 0.5) / (2 * f64.i64 angles)
    in f64.sum (tabulate 32 (\i ->
         let k = f64.i64 (i + 1)
         in (if i % 2 == 0 then -1 else 1) * f64.cospi (2 * k * angle) / k))
  in tabulate angles weight
local
def weighted_mean_of (f: f64 -> f64) : f64 = f64.sum (map2 (\w s -> w * f s) neumann_weights sines) / f64.i64 angles

-- The asymptotic series for an order whose square is a quarter of `mu`, with the signs of its terms: those with even and with odd powers.
local
def hankel (mu: f64) (sign: i64 -> f64) (x: f64) : (f64, f64) =
  let (even, odd, _) =
    loop (even, odd, term) = (0, 0, 1) for k < 24 do
      let signed = sign k * term
      let next = term * (mu - (2 * f64.i64 k + 1) ** 2) / (8 * f64.i64 (k + 1) * x)
      in if k % 2 == 0 then (even + signed, odd, next) else (even, odd + signed, next)
  in (even, odd)

-- Cosine and sine of the phase, of `x - pi / 4` for order 0, and amplitudes; of a positive number.
local
def waves (order: i64) (x: f64) : (f64, f64) =
  let (p, q) = hankel (4 * f64.i64 order) (\k -> if k / 2 % 2 == 0 then 1 else -1) x
  let (c, s) = (f64.cos x + f64.sin x, f64.sin x - f64.cos x)
  let (c, s) = if order == 0 then (c, s) else (s, -c)
  let size = 1 / f64.sqrt (f64.pi * x)
  in (size * (c * p - s * q), size * (s * p + c * q))

local
def j (order: i64) (x: f64) : f64 =
  if f64.isnan x then x
  else if f64.isinf x then 0
  else if f64.abs x <= far
  then if order == 0 then mean_of (\s -> f64.cos (x * s)) else mean_of (\s -> s * f64.sin (x * s))
  else
    let y = (waves order (f64.abs x)).0
    in if order == 0 then y else f64.copysign 1 x * y

local
def y (order: i64) (x: f64) : f64 =
  if f64.isnan x || x < 0 then f64.nan
  else if x == 0 then -f64.inf
  else if f64.isinf x then 0
  else if x > far then (waves order x).1
  else
    let logarithm = f64.log (x / 2) + euler_gamma
    in if order == 0
       then 2 / f64.pi * (logarithm * j 0 x - 2 * weighted_mean_of (\s -> f64.cos (x * s)))
       else 2 / f64.pi * (logarithm * j 1 x - j 0 x / x - 2 * weighted_mean_of (\s -> s * f64.sin (x * s)))

local
def i (order: i64) (x: f64) : f64 =
  if f64.isnan x then x
  else if f64.abs x <= far
  then if order == 0 then mean_of (\s -> f64.cosh (x * s)) else mean_of (\s -> s * f64.sinh (x * s))
  else
    let x' = f64.abs x
    let (even, odd) = hankel (4 * f64.i64 order) (\k -> if k % 2 == 0 then 1 else -1) x'
    -- In two factors, of which neither overflows before the product does.
    let root = f64.exp (x' / 2)
    let y = root * (even + odd) / f64.sqrt (2 * f64.pi * x') * root
    in if order == 0 then y else f64.copysign 1 x * y

-- Near zero by a power series; then by the integral of `exp(-x cosh t)` (times `cosh t` for order 1) in steps of a tenth.
local
def k (order: i64) (x: f64) : f64 =
  if f64.isnan x || x < 0 then f64.nan
  else if x == 0 then f64.inf
  else if f64.isinf x then 0
  else if x > far
  then
    let (even, odd) = hankel (4 * f64.i64 order) (const 1) x
    in f64.sqrt (f64.pi / (2 * x)) * f64.exp (-x) * (even + odd)
  else if x >= 1
  then
    let at n =
      let t = f64.i64 n / 10
      let value = f64.exp (-x * f64.cosh t) * (if order == 0 then 1 else f64.cosh t)
      in if n == 0 then value / 2 else value
    in f64.sum (tabulate 76 at) / 10
  else
    let z = x * x / 4
    let (sum, _, _) =
      loop (sum, term, harmonic) = (0, 1, 0) for n < 14 do
        let m = f64.i64 (n + 1)
        let part = if order == 0 then harmonic else 2 * harmonic + 1 / m
        let next = if order == 0 then term * z / (m * m) else term * z / (m * (m + 1))
        in (sum + part * term, next, harmonic + 1 / m)
    let logarithm = f64.log (x / 2) + euler_gamma
    in if order == 0 then sum - logarithm * i 0 x else 1 / x + logarithm * i 1 x - x / 4 * sum

-- By the formula of Euler and Maclaurin, from the tenth term on.
local
def zeta_sum (s: f64) : f64 =
  let n = 12f64
  let head = f64.sum (tabulate 11 (\k -> f64.i64 (k + 1) ** -s))
  let bernoulli = [ 1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000
                  , 1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000 ]
  let (tail, _) =
    loop (tail, factor) = (0, s / n) for j < 9 do
      let m = f64.i64 (2 * j)
      in (tail + bernoulli[j] * factor, factor * (s + m + 1) * (s + m + 2) / (n * n))
  in head + n ** -s * (n / (s - 1) + 0.5 + tail)

local
def zeta_f64 (s: f64) : f64 =
  if s >= 0
  then if s > 60 then 1 + f64.exp (-s * f64.log 2) else zeta_sum s
  else if s > -0.5
  then zeta_sum s
  else
    let r = 1 - s
    in 2 * (2 * f64.pi) ** -r * f64.sinpi (s / 2) * f64.gamma r * zeta_sum r

-- | Special functions in double precision.
module special_f64 : special with t = f64 = {
  type t = f64
  def log_gamma (x: f64) : f64 = f64.lgamma x
  def digamma (x: f64) : f64 = jvp f64.lgamma x 1
  def trigamma (x: f64) : f64 = jvp digamma x 1
  def log_beta = log_beta_f64
  def beta (a: f64) (b: f64) : f64 = f64.exp (log_beta_f64 a b)
  def gamma_p (a: f64) (x: f64) : f64 = (gamma_parts a x).0
  def gamma_q (a: f64) (x: f64) : f64 = (gamma_parts a x).1
  def gamma_density (a: f64) (x: f64) : f64 = a * gamma_term a x / x
  def beta_p = beta_p_f64
  def erf_inverse = erf_inverse_f64
  def erfc_inverse = erfc_inverse_f64
  def normal_cdf (x: f64) : f64 = f64.erfc (-x / f64.sqrt 2) / 2
  def normal_quantile (p: f64) : f64 = -(f64.sqrt 2) * erfc_inverse_f64 (2 * p)
  def bessel_j0 = j 0
  def bessel_j1 = j 1
  def bessel_y0 = y 0
  def bessel_y1 = y 1
  def bessel_i0 = i 0
  def bessel_i1 = i 1
  def bessel_k0 = k 0
  def bessel_k1 = k 1
  def zeta = zeta_f64
}

-- | Special functions in single precision.
module special_f32 : special with t = f32 = {
  type t = f32
  local def by (f: f64 -> f64) (x: f32) : f32 = f32.f64 (f (f64.f32 x))
  local def by2 (f: f64 -> f64 -> f64) (x: f32) (y: f32) : f32 = f32.f64 (f (f64.f32 x) (f64.f32 y))
  def log_gamma = by special_f64.log_gamma
  def digamma = by special_f64.digamma
  def trigamma = by special_f64.trigamma
  def log_beta = by2 special_f64.log_beta
  def beta = by2 special_f64.beta
  def gamma_p = by2 special_f64.gamma_p
  def gamma_q = by2 special_f64.gamma_q
  def gamma_density = by2 special_f64.gamma_density
  def beta_p (a: f32) (b: f32) (x: f32) : f32 = f32.f64 (special_f64.beta_p (f64.f32 a) (f64.f32 b) (f64.f32 x))
  def erf_inverse = by special_f64.erf_inverse
  def erfc_inverse = by special_f64.erfc_inverse
  def normal_cdf = by special_f64.normal_cdf
  def normal_quantile = by special_f64.normal_quantile
  def bessel_j0 = by special_f64.bessel_j0
  def bessel_j1 = by special_f64.bessel_j1
  def bessel_y0 = by special_f64.bessel_y0
  def bessel_y1 = by special_f64.bessel_y1
  def bessel_i0 = by special_f64.bessel_i0
  def bessel_i1 = by special_f64.bessel_i1
  def bessel_k0 = by special_f64.bessel_k0
  def bessel_k1 = by special_f64.bessel_k1
  def zeta = by special_f64.zeta
}
