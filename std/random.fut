-- | Random numbers as functions of a key.
--
-- There is no hidden state: the same key gives the same numbers, on every engine and for any number of threads. To draw again,
-- make further keys of the one that is there with `random.split`, and use every key for one purpose only.
--
-- The generator is Philox 4x32-10, a cipher that is applied to a counter. A key has 128 bits: the key of the cipher, and the upper half
-- of the counter. The lower half counts the draws, of which a key has 2^48; its topmost bit marks the blocks that new keys
-- are made of. Functions in the singular give one number, those in the plural an array of independent ones.
--
-- > let (a, b) = random.split2 (random.key 1) in (random.integer (0, 100) a, random.integer (0, 100) b)
-- 67i64
-- 95i64

import "sort"
import "special"

-- | Keys, bits, integers, and choices among elements.
module random = {
  -- | What random numbers are made of.
  type key = (u64, u64)

  -- | A key made of a number. All other keys come from such a one.
  def key (seed: i64) : key = (u64.i64 seed, 0)

  -- One round: two products, whose upper halves are mixed with the other words and the key.
  local
  def philox_round (c0: u32, c1: u32, c2: u32, c3: u32) (k0: u32, k1: u32) : (u32, u32, u32, u32) =
    let a = 0xD2511F53u32
    let b = 0xCD9E8D57u32
    in (u32.mul_hi b c2 ^ c1 ^ k0, b * c2, u32.mul_hi a c0 ^ c3 ^ k1, a * c0)

  -- | The cipher itself: ten rounds of Philox 4x32 applied to a counter.
  --
  -- > random.philox (0, 0, 0, 0) (0, 0)
  -- 1713891541u32
  -- 3781805453u32
  -- 3159862348u32
  -- 2600524760u32
  def philox (counter: (u32, u32, u32, u32)) (cipher_key: (u32, u32)) : (u32, u32, u32, u32) =
    let (words, _) =
      #[unroll]
      loop (words, (k0, k1)) = (counter, cipher_key) for _i < 10i32 do
        (philox_round words (k0, k1), (k0 + 0x9E3779B9, k1 + 0xBB67AE85))
    in words

  local
  def block_at ((cipher_key, stream): key) (counter: u64) : (u32, u32, u32, u32) =
    philox (u32.u64 counter, u32.u64 (counter >> 32), u32.u64 stream, u32.u64 (stream >> 32))
           (u32.u64 cipher_key, u32.u64 (cipher_key >> 32))

  local
  def pair_of (a: u32, b: u32, c: u32, d: u32) : (u64, u64) =
    (u64.u32 a | (u64.u32 b << 32), u64.u32 c | (u64.u32 d << 32))

  -- | The block of 128 random bits for number `i` of an array, in attempt `attempt` where numbers may be rejected. For making distributions
  -- that are not here: `i` is below 2^48, `attempt` below 2^15.
  def block (k: key) (i: i64) (attempt: i64) : (u32, u32, u32, u32) =
    block_at k (u64.i64 i | (u64.i64 attempt << 48))

  -- | As `block`, as two numbers of 64 bits.
  def block64 (k: key) (i: i64) (attempt: i64) : (u64, u64) = pair_of (block k i attempt)

  -- | The key number `i` of those that `split` makes.
  def child (k: key) (i: i64) : key = pair_of (block_at k (u64.i64 i | (1 << 63)))

  -- | Independent keys. The key that is given should not be used for anything else.
  def split (n: i64) (k: key) : [n]key = tabulate n (child k)

  -- | Two independent keys.
  def split2 (k: key) : (key, key) = (child k 0, child k 1)

  -- | Three independent keys.
  def split3 (k: key) : (key, key, key) = (child k 0, child k 1, child k 2)

  -- | Random bits in words of 32.
  def words (n: i64) (k: key) : [n]u32 =
    let row i = let (a, b, c, d) = block k i 0 in [a, b, c, d]
    in take n (flatten (tabulate ((n + 3) / 4) row))

  -- | Random bits in words of 64.
  def words64 (n: i64) (k: key) : [n]u64 =
    let row i = let (a, b) = block64 k i 0 in [a, b]
    in take n (flatten (tabulate ((n + 1) / 2) row))

  -- A number below `range`, without bias: the upper half of a product is uniform if those lower halves are rejected that
  -- would occur once too often. A range of zero stands for 2^64.
  local
  def below (range: u64) (k: key) (i: i64) : u64 =
    let surplus = if range == 0 then 0 else (0 - range) % range
    let attempt a =
      let (x, y) = block64 k i a
      in if x * range >= surplus then (x, true) else (y, y * range >= surplus)
    let (x, _, _) =
      loop (x, accepted, a) = (0, false, 0) while !accepted do
        let (x, accepted) = attempt a
        in (x, accepted, a + 1)
    in if range == 0 then x else u64.mul_hi x range

  local
  def in_range (from: i64, to: i64) (k: key) (i: i64) : i64 =
    assert (from < to) (from + i64.u64 (below (u64.i64 (to - from)) k i))

  -- | An integer from the first number up to, and without, the second one. All are equally likely.
  def integer (range: (i64, i64)) (k: key) : i64 = in_range range k 0

  -- | Independent integers, as `integer` gives one.
  --
  -- > random.integers 6 (1, 7) (random.key 42)
  -- [3i64, 2i64, 4i64, 5i64, 6i64, 2i64]
  def integers (n: i64) (range: (i64, i64)) (k: key) : [n]i64 = tabulate n (in_range range k)

  -- | True or false, equally likely.
  def coin (k: key) : bool = (block k 0 0).0 & 1 == 1

  -- | Independent throws of a coin.
  def coins (n: i64) (k: key) : [n]bool = map (\w -> w & 1 == 1) (words n k)

  -- | The numbers below `n` in random order. Two equal ones among `n` random words of 64 bits, which are sorted for this, are in order.
  --
  -- > random.permutation 5 (random.key 7)
  -- [4i64, 1i64, 0i64, 2i64, 3i64]
  def permutation (n: i64) (k: key) : [n]i64 = argsort_u64 (words64 n k)

  -- | The elements in random order.
  def shuffle [n] 'a (k: key) (xs: [n]a) : [n]a = map (\i -> xs[i]) (permutation n k)

  -- | `m` elements drawn with replacement.
  def choices [n] 'a (m: i64) (k: key) (xs: [n]a) : [m]a = map (\i -> xs[i]) (integers m (0, n) k)

  -- | `m` different elements in random order, drawn without replacement; there must be so many.
  def sample [n] 'a (m: i64) (k: key) (xs: [n]a) : [m]a = map (\i -> xs[i]) (take m (permutation n k))

  -- | A sample of the same size, drawn with replacement.
  def bootstrap [n] 'a (k: key) (xs: [n]a) : [n]a = choices n k xs

  -- | `m` bootstrap samples, with what is computed of each.
  --
  -- > random.bootstraps 3 f64.sum (random.key 1) [1, 2, 3]
  -- [5.0f64, 9.0f64, 5.0f64]
  def bootstraps [n] 'a 'b (m: i64) (statistic: [n]a -> b) (k: key) (xs: [n]a) : [m]b =
    map (\own -> statistic (bootstrap own xs)) (split m k)
}

-- | Distributions over floating-point numbers: what `random_f32` and `random_f64` hold. A function has derivatives in its parameters
-- where it says so: for a key that stays the same, its result is a differentiable function of them.
module type random_real = {
  -- | The floating-point type.
  type t

  -- | A number between two others; derivatives in both.
  val uniform : (t, t) -> random.key -> t
  -- | Independent numbers, as `uniform` gives one.
  --
  -- > random_f64.uniforms 3 (0, 1) (random.key 5)
  -- [0.06970701105100618f64, 0.965726999795003f64, 0.15616417172067354f64]
  val uniforms : (n: i64) -> (t, t) -> random.key -> [n]t

  -- | A normal number with a mean and a standard deviation; derivatives in both.
  val normal : (t, t) -> random.key -> t
  -- | Independent numbers, as `normal` gives one.
  --
  -- > grad (\s -> f64.sum (random_f64.normals 3 (0, s) (random.key 5))) 1
  -- 0.7163121111262081f64
  val normals : (n: i64) -> (t, t) -> random.key -> [n]t

  -- | An exponentially distributed number with a rate; derivatives in it.
  val exponential : t -> random.key -> t
  -- | Independent numbers, as `exponential` gives one.
  val exponentials : (n: i64) -> t -> random.key -> [n]t

  -- | A number of the gamma distribution of a shape and a scale, both positive; derivatives in both, up to the third. That in the shape moves the
  -- number so that the probability of a smaller one stays what it is.
  --
  -- > grad (\shape -> random_f64.gamma (shape, 1) (random.key 5)) 2
  -- 1.1373487594146399f64
  val gamma : (t, t) -> random.key -> t
  -- | Independent numbers, as `gamma` gives one.
  val gammas : (n: i64) -> (t, t) -> random.key -> [n]t

  -- | A number of the beta distribution of two positive parameters; derivatives in both, as for `gamma`.
  val beta : (t, t) -> random.key -> t
  -- | Independent numbers, as `beta` gives one.
  val betas : (n: i64) -> (t, t) -> random.key -> [n]t

  -- | How many events there are where so many are expected.
  val poisson : t -> random.key -> i64
  -- | Independent numbers, as `poisson` gives one.
  val poissons : (n: i64) -> t -> random.key -> [n]i64

  -- | A position in an array of weights, which need not sum to one; how likely it is is in proportion to its weight.
  val categorical [c] : [c]t -> random.key -> i64
  -- | Independent positions, as `categorical` gives one.
  --
  -- > random_f64.categoricals 8 [1, 0, 3] (random.key 2)
  -- [2i64, 2i64, 0i64, 2i64, 2i64, 2i64, 2i64, 2i64]
  val categoricals [c] : (n: i64) -> [c]t -> random.key -> [n]i64

  -- | A point on the unit sphere in `d` dimensions, all directions being equally likely.
  val direction : (d: i64) -> random.key -> [d]t

  -- | `n` points in the unit cube of `d` dimensions that fill it evenly: the additive sequence of the powers of the number with
  -- `x^(d+1) = x + 1`. The first argument is how many points of the sequence to skip.
  --
  -- > random_f64.additive_points 0 3 2
  -- [[0.2548776662466927f64, 0.06984029099805322f64], [0.009755332493385449f64, 0.6396805819961064f64], [0.7646329987400782f64, 0.20952087299415967f64]]
  val additive_points : (skip: i64) -> (n: i64) -> (d: i64) -> [n][d]t

  -- | As `additive_points`, from the sequence of Halton, whose dimensions have the first primes as their bases. For up to 20 dimensions.
  --
  -- > random_f64.halton_points 0 3 2
  -- [[0.5f64, 0.3333333333333333f64], [0.25f64, 0.6666666666666666f64], [0.75f64, 0.1111111111111111f64]]
  val halton_points : (skip: i64) -> (n: i64) -> (d: i64) -> [n][d]t
}

-- What `random_f32` and `random_f64` differ in: how bits become numbers.
local
module type random_bits = {
  type t
  -- The fraction that the bits are of 2^64, rounded down so that it is below one.
  val fraction : u64 -> t
  -- Two uniform numbers at or above 0 and below 1, the first ones of those that `uniforms` gives.
  val uniform2 : random.key -> (t, t)
  val uniforms : (n: i64) -> random.key -> [n]t
}

-- Two uniform numbers for number `i` of an array and one of its attempts.
local
def uniform_pair (k: random.key) (i: i64) (attempt: i64) : (f64, f64) =
  let (a, b) = random.block64 k i attempt
  in (f64.ldexp (f64.u64 (a >> 11)) (-53), f64.ldexp (f64.u64 (b >> 11)) (-53))

-- Inversion, term by term, for a small mean: how often a uniform number can be reduced by the next probability.
local
def poisson_by_inversion (mean: f64) (k: random.key) (i: i64) : i64 =
  let (u, _) = uniform_pair k i 0
  let (count, _, _) =
    loop (count, rest, p) = (0, u, f64.exp (-mean)) while rest >= p && p > 0 do
      (count + 1, rest - p, p * mean / f64.i64 (count + 1))
  in count

-- Transformed rejection (Hörmann 1993, PTRS) for a mean of 10 or more: its constants make a hat over the probabilities of all
-- such means, which accepts most attempts without a logarithm.
local
def poisson_by_rejection (mean: f64) (k: random.key) (i: i64) : i64 =
  let b = 0.931 + 2.53 * f64.sqrt mean
  let a = -0.059 + 0.02483 * b
  let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
  let squeeze = 0.9277 - 3.6224 / (b - 2)
  let attempt number =
    let (u, v) = uniform_pair k i number
    let u = u - 0.5
    let v = 1 - v
    let s = 0.5 - f64.abs u
    let count = f64.floor ((2 * a / s + b) * u + mean + 0.43)
    let height = f64.log (v * inverse_alpha / (a / (s * s) + b))
    let accepted =
      (s >= 0.07 && v <= squeeze)
      || (count >= 0 && !(s < 0.013 && v > s) && height <= count * f64.log mean - mean - f64.lgamma (count + 1))
    in (i64.f64 count, accepted)
  let (count, _, _) =
    loop (_count, accepted, number) = (0, false, 0) while !accepted do
      let (count, accepted) = attempt number
      in (count, accepted, number + 1)
  in count

local
def poisson_number (mean: f64) (k: random.key) (i: i64) : i64 =
  assert (mean >= 0) (if mean < 10 then poisson_by_inversion mean k i else poisson_by_rejection mean k i)

-- A number of the gamma distribution of scale one by rejection (Marsaglia and Tsang 2000): the cube of a normal number that is
-- moved a little. For a shape below one, that of the next shape times a power of a uniform number.
local
def gamma_by_rejection (shape: f64) (k: random.key) (i: i64) : f64 =
  let d = (if shape < 1 then shape + 1 else shape) - 1 / 3
  let c = 1 / f64.sqrt (9 * d)
  let attempt number =
    let (u, v) = uniform_pair k i (2 * number)
    let (w, power) = uniform_pair k i (2 * number + 1)
    let z = f64.sqrt (-2 * f64.log1p (-u)) * f64.cospi (2 * v)
    let cube = (1 + c * z) ** 3
    let accepted = cube > 0 && f64.log1p (-w) < z * z / 2 + d - d * cube + d * f64.log cube
    in (d * cube, 1 - power, accepted)
  let (x, power, _, _) =
    loop (_x, _power, accepted, number) = (0, 1, false, 0) while !accepted do
      let (x, power, accepted) = attempt number
      in (x, power, accepted, number + 1)
  in if shape < 1 then x * power ** (1 / shape) else x

-- The number above, as a function of the shape: where the probability of a smaller (or a larger) number is what it is there. Two steps of
-- Newton from the solution do not change it, and have its derivatives up to the third.
local
def gamma_number (shape: f64) (k: random.key) (i: i64) : f64 =
  let x = assert (shape > 0) (stop_gradient (gamma_by_rejection shape k i))
  let is_low = x < shape
  let probability y = if is_low then special_f64.gamma_p shape y else -(special_f64.gamma_q shape y)
  let goal = stop_gradient (probability x)
  let step y = y - (probability y - goal) / special_f64.gamma_density shape y
  in if x == 0 then 0 else step (step x)

local
def beta_number (a: f64) (b: f64) (k: random.key) (i: i64) : f64 =
  let x = gamma_number a (random.child k 0) i
  let y = gamma_number b (random.child k 1) i
  -- Both are too small for a float where the distribution is nearly one of zeros and ones.
  in if x + y > 0 then x / (x + y)
     else f64.bool ((uniform_pair (random.child k 2) i 0).0 * (a + b) < a)

local
def halton_bases : [20]i64 = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71]

local
module mk_random (R: float) (B: random_bits with t = R.t) : random_real with t = R.t = {
  type t = R.t

  def uniform (from: t, to: t) (k: random.key) : t =
    R.(from + (B.uniform2 k).0 * (to - from))
  def uniforms (n: i64) (from: t, to: t) (k: random.key) : [n]t =
    map (\u -> R.(from + u * (to - from))) (B.uniforms n k)

  -- Two normal numbers of two uniform ones. The first is taken from one, so that its logarithm is finite.
  local
  def box_muller (u: t) (v: t) : (t, t) =
    let r = R.(sqrt (i64 (-2) * log1p (neg u)))
    let half_turns = R.(i64 2 * v)
    in R.((r * cospi half_turns, r * sinpi half_turns))

  def normal (mean: t, deviation: t) (k: random.key) : t =
    let (u, v) = B.uniform2 k
    in R.(mean + deviation * (box_muller u v).0)
  def normals (n: i64) (mean: t, deviation: t) (k: random.key) : [n]t =
    let pairs = (n + 1) / 2
    let us = unflatten (B.uniforms (pairs * 2) k)
    let row (u: [2]t) = let (a, b) = box_muller u[0] u[1] in [a, b]
    in map (\z -> R.(mean + deviation * z)) (take n (flatten (map row us)))

  def exponential (rate: t) (k: random.key) : t = R.(neg (log1p (neg (B.uniform2 k).0)) / rate)
  def exponentials (n: i64) (rate: t) (k: random.key) : [n]t =
    map (\u -> R.(neg (log1p (neg u)) / rate)) (B.uniforms n k)

  def gamma (shape: t, scale: t) (k: random.key) : t =
    scale R.* R.f64 (gamma_number (R.to_f64 shape) k 0)
  def gammas (n: i64) (shape: t, scale: t) (k: random.key) : [n]t =
    tabulate n (\i -> scale R.* R.f64 (gamma_number (R.to_f64 shape) k i))

  def beta (a: t, b: t) (k: random.key) : t = R.f64 (beta_number (R.to_f64 a) (R.to_f64 b) k 0)
  def betas (n: i64) (a: t, b: t) (k: random.key) : [n]t =
    tabulate n (\i -> R.f64 (beta_number (R.to_f64 a) (R.to_f64 b) k i))

  def poisson (mean: t) (k: random.key) : i64 = poisson_number (R.to_f64 mean) k 0
  def poissons (n: i64) (mean: t) (k: random.key) : [n]i64 = tabulate n (poisson_number (R.to_f64 mean) k)

  -- The first position at which the sum of weights so far is above a share of them all.
  local
  def position [c] (sums: [c]t) (share: t) : i64 =
    assert (c > 0) (i64.min (c - 1) (searchsorted_right (R.<=) sums R.(share * last sums)))

  def categorical [c] (weights: [c]t) (k: random.key) : i64 =
    position (scan (R.+) (R.i64 0) weights) (B.uniform2 k).0
  def categoricals [c] (n: i64) (weights: [c]t) (k: random.key) : [n]i64 =
    let sums = scan (R.+) (R.i64 0) weights
    in map (position sums) (B.uniforms n k)

  def direction (d: i64) (k: random.key) : [d]t =
    let z = normals d (R.i64 0, R.i64 1) k
    let length = R.(sqrt (sum (map (\x -> x * x) z)))
    in map (\x -> R.(x / length)) z

  def additive_points (skip: i64) (n: i64) (d: i64) : [n][d]t =
    let root = loop x = 1.5f64 for _i < 64i32 do (1 + x) ** (1 / f64.i64 (d + 1))
    let steps = tabulate d (\j -> u64.f64 (f64.ldexp (root ** f64.i64 (-1 - j)) 64))
    in tabulate_2d n d (\i j -> B.fraction ((1 << 63) + u64.i64 (skip + i + 1) * steps[j]))

  def halton_points (skip: i64) (n: i64) (d: i64) : [n][d]t =
    let digits (base: i64) (i: i64) : t =
      let (fraction, _, _) =
        loop (total, weight, rest) = (R.i64 0, R.from_fraction 1 base, i) while rest > 0 do
          let digit = R.i64 (rest % base)
          in (R.(total + weight * digit), R.(weight / i64 base), rest / base)
      in fraction
    in tabulate_2d n d (\i j -> digits halton_bases[j] (skip + i + 1))
}

-- | Distributions in double precision.
module random_f64 : random_real with t = f64 = mk_random f64 {
  type t = f64
  def fraction (x: u64) : f64 = f64.ldexp (f64.u64 (x >> 11)) (-53)
  def uniform2 (k: random.key) : (f64, f64) =
    let (a, b) = random.block64 k 0 0
    in (fraction a, fraction b)
  def uniforms (n: i64) (k: random.key) : [n]f64 = map fraction (random.words64 n k)
}

-- | Distributions in single precision. Its numbers have 24 random bits; they are others than those of `random_f64`.
module random_f32 : random_real with t = f32 = mk_random f32 {
  type t = f32
  def of_word (x: u32) : f32 = f32.ldexp (f32.u32 (x >> 8)) (-24)
  def fraction (x: u64) : f32 = of_word (u32.u64 (x >> 32))
  def uniform2 (k: random.key) : (f32, f32) =
    let (a, b, _, _) = random.block k 0 0
    in (of_word a, of_word b)
  def uniforms (n: i64) (k: random.key) : [n]f32 = map of_word (random.words n k)
}
