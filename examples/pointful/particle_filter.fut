-- | A particle filter with systematic resampling: many guesses of where a walker is, of which the likely ones multiply.

-- | A number between 0 and 1 from a counter; good enough for an example, and the same every time.
def noise (seed: i64) : f64 =
  let a = (u64.i64 seed * 6364136223846793005 + 1442695040888963407)
  let b = (a ^ (a >> 33)) * 0xff51afd7ed558ccd
  let c = (b ^ (b >> 33)) * 0xc4ceb9fe1a85ec53
  in f64.u64 ((c ^ (c >> 33)) >> 11) / 9007199254740992

def gauss (seed: i64) : f64 =
  f64.sqrt (-2 * f64.log (noise (2 * seed) + 1e-12)) * f64.cos (2 * f64.pi * noise (2 * seed + 1))

-- | As many particles as there were, each in proportion to its weight.
def resample [n] (particles: [n]f64) (weights: [n]f64) (offset: f64) : [n]f64 =
  let total = f64.sum weights
  let ends = scan (+) 0 weights
  in for i ->
       let wanted = (f64.i64 i + offset) / f64.i64 n * total
       let (low, _) = loop (low, high) = (0, n - 1) while low < high do
                        let middle = (low + high) / 2
                        in if ends[middle] < wanted then (middle + 1, high) else (low, middle)
       in particles[low]

def step [n] (particles: [n]f64) (t: i64) (seen: f64) : [n]f64 =
  let moved = for i -> particles[i] + 1 + 0.3 * gauss (t * n + i)
  let weights = for i -> f64.exp (-((moved[i] - seen) ** 2) / 0.5)
  in resample moved weights (noise (-t))

-- | The mean of the particles at each time.
entry track [steps] (n: i64) (seen: [steps]f64) : [steps]f64 =
  let start = for i < n -> 4 * gauss (-1 - i)
  let follow p = for t -> (p := step (get p) t seen[t]; f64.sum (get p) / f64.i64 n)
  in (run_state start follow).0

-- | A walker that takes steps of 1 is found, although it is seen unclearly.
-- ==
-- entry: found
-- input { 500i64 } output { true }
entry found (n: i64) : bool =
  let seen : [30]f64 = for t -> f64.i64 t + 0.3 * f64.sin (f64.i64 (7 * t))
  let means = track n seen
  in f64.abs (means[29] - 29) < 0.6
