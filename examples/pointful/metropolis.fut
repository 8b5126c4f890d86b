-- | Markov chain Monte Carlo: many chains walk at once, each in order, and the average over all of them is an integral.

def noise (seed: i64) : f64 =
  let a = (u64.i64 seed * 6364136223846793005 + 1442695040888963407)
  let b = (a ^ (a >> 33)) * 0xff51afd7ed558ccd
  let c = (b ^ (b >> 33)) * 0xc4ceb9fe1a85ec53
  in f64.u64 ((c ^ (c >> 33)) >> 11) / 9007199254740992

-- | The logarithm of a density, up to a constant: two hills.
def log_density (x: f64) : f64 =
  f64.log (f64.exp (-((x - 2) ** 2) / 2) + f64.exp (-((x + 2) ** 2) / 2))

-- | Run something with a position and a counter of random numbers.
def from_seed 'a (seed: i64) (walk: (state f64, state i64) -> a) : a =
  (run_state (seed * 1_000_003) (\counter -> (run_state 0 (\x -> walk (x, counter))).0)).0

-- | The positions of one chain.
def chain (steps: i64) (seed: i64) : [steps]f64 =
  let draw counter = (counter := get counter + 1; noise (get counter))
  let walk (x, counter) =
    for _t < steps ->
      let proposed = get x + 3 * (draw counter - 0.5)
      let accepted = f64.log (draw counter) < log_density proposed - log_density (get x)
      in ((if accepted then x := proposed else ()); get x)
  in from_seed seed walk

-- | The mean of the square, which is 5, and of the position, which is 0.
entry moments (chains: i64) (steps: i64) : (f64, f64) =
  let all = for c < chains -> chain steps c
  let mean f = f64.sum (for c -> f64.sum (for t -> f all[c,t])) / f64.i64 (chains * steps)
  in (mean (\x -> x), mean (\x -> x * x))

-- ==
-- entry: right
-- input { 200i64 500i64 } output { true }
entry right (chains: i64) (steps: i64) : bool =
  let (mean, square) = moments chains steps
  in f64.abs mean < 0.25 && f64.abs (square - 5) < 0.4
