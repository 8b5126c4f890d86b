-- | The price of a European call option, by simulation and by formula.
--
-- Try it:
--
--     dagaz run examples/option_pricing.fut --entry simulated --arg 10000

-- | A small linear congruential generator. It can jump ahead, so that every path of the simulation has its own part
-- of one and the same sequence of numbers and the result does not depend on the order of the work.
module lcg = {
  type state = u64

  def multiplier : u64 = 6364136223846793005
  def increment : u64 = 1442695040888963407

  def next (s: state) : state = s * multiplier + increment

  -- | `n` steps at once: a step is an affine function, and these are composed by repeated squaring.
  def jump (n: u64) (s: state) : state =
    let (a, c, _, _, _) =
      loop (a, c, a_step, c_step, n) = (1, 0, multiplier, increment, n) while n > 0 do
        let (a, c) = if n % 2 == 1 then (a * a_step, c * a_step + c_step) else (a, c)
        in (a, c, a_step * a_step, c_step * (a_step + 1), n / 2)
    in a * s + c

  -- | A number between 0 and 1, neither of them included.
  def uniform (s: state) : f64 = (f64.u64 (s >> 11) + 0.5) / 9007199254740992
}

-- | A normally distributed number from two uniform ones (Box and Muller).
def normal (u: f64) (v: f64) : f64 = f64.sqrt (-2 * f64.log u) * f64.cos (2 * f64.pi * v)

type option = {spot: f64, strike: f64, rate: f64, volatility: f64, years: f64}

-- | What the option pays in one possible future, in the money of today.
def payoff (o: option) (z: f64) : f64 =
  let drift = (o.rate - o.volatility * o.volatility / 2) * o.years
  let price = o.spot * f64.exp (drift + o.volatility * f64.sqrt o.years * z)
  in f64.max 0 (price - o.strike) * f64.exp (-o.rate * o.years)

-- | The mean of many futures, and its standard error.
def simulate (paths: i64) (o: option) : {mean: f64, error: f64} =
  let path (i: i64) =
    let first = lcg.next (lcg.jump (2 * u64.i64 i) 42)
    in payoff o (normal (lcg.uniform first) (lcg.uniform (lcg.next first)))
  let xs = tabulate paths path
  let n = f64.i64 paths
  let mean = f64.sum xs / n
  let variance = f64.sum (map (\x -> (x - mean) ** 2) xs) / (n - 1)
  in {mean, error = f64.sqrt (variance / n)}

-- | The formula of Black and Scholes.
def black_scholes (o: option) : f64 =
  let cumulative x = (1 + f64.erf (x / f64.sqrt 2)) / 2
  let spread = o.volatility * f64.sqrt o.years
  let d1 = (f64.log (o.spot / o.strike) + (o.rate + o.volatility ** 2 / 2) * o.years) / spread
  in o.spot * cumulative d1 - o.strike * f64.exp (-o.rate * o.years) * cumulative (d1 - spread)

def example : option = {spot = 100, strike = 105, rate = 0.05, volatility = 0.2, years = 1}

-- Jumping is the same as stepping.
-- ==
-- entry: jumped stepped
-- input { 0 } output { 42u64 }
-- input { 1000 } output { 3780446852550674546u64 }
entry jumped (n: i32) : u64 = lcg.jump (u64.i32 n) 42
entry stepped (n: i32) : u64 = iterate n lcg.next 42

-- ==
-- entry: exact
-- input { } output { 8.021352235143176 }
entry exact : f64 = black_scholes example

-- ==
-- entry: simulated
-- input { 1000i64 } output { 8.269222434614733 0.42641237533059223 }
entry simulated (paths: i64) : (f64, f64) =
  let {mean, error} = simulate paths example
  in (mean, error)

-- | Formula and simulation agree within three standard errors.
-- ==
-- entry: agree
-- input { 2000i64 } output { true }
entry agree (paths: i64) : bool =
  let {mean, error} = simulate paths example
  in f64.abs (mean - exact) < 3 * error
