-- Laws of std/random: ranges, moments, independence of keys, and derivatives.

import "std/random"
import "std/sort"
import "std/special"

-- All numbers of a range occur, about equally often: chi-squared with six degrees of freedom is below 22.5 in 999 of 1000 cases.
-- ==
-- entry: dice
-- input { 4000i64 1i64 } output { true true }
-- input { 4000i64 2i64 } output { true true }
entry dice (n: i64) (seed: i64) =
  let xs = random.integers n (-3, 4) (random.key seed)
  let counts = hist (+) 0f64 7 (map (+ 3) xs) (replicate n 1)
  let expected = f64.i64 n / 7
  in (all (\x -> x >= -3 && x < 4) xs, f64.sum (map (\c -> (c - expected) ** 2 / expected) counts) < 22.5)

-- Ranges that most words of 64 bits, or all of them, are good for.
-- ==
-- entry: wide
-- input { 1i64 } output { true true }
entry wide (seed: i64) =
  let half = 1i64 << 62
  let xs = random.integers 200 (-half, half + half / 2) (random.key seed)
  in (all (\x -> x >= -half && x < half + half / 2) xs, any (> half) xs)

-- ==
-- entry: empty_range
-- input { 3i64 } error: Assertion
entry empty_range (n: i64) = random.integer (n, n) (random.key 1)

-- ==
-- entry: permuted
-- input { 1000i64 1i64 } output { true true true }
-- input { 1i64 1i64 } output { true true true }
entry permuted (n: i64) (seed: i64) =
  let k = random.key seed
  let order = random.permutation n k
  let is_permutation = and (map2 (==) (inverse_permutation (inverse_permutation order)) order)
  let shuffled = random.shuffle k (iota n)
  in ( is_permutation && sort_i64.sort order == iota n
     , shuffled == order
     , random.sample (n / 2) k (iota n) == take (n / 2) order )

-- Nothing is lost where there is nothing.
-- ==
-- entry: none
-- input { 0i64 } output { 0i64 }
entry none (n: i64) =
  let k = random.key 1
  in length (random.words n k) + length (random.permutation n k) + length (random_f64.normals n (0, 1) k)
     + length (random.split n k) + length (random_f32.normals n (0, 1) k)

-- Keys made of keys are different, and so are their numbers.
-- ==
-- entry: different
-- input { 300i64 } output { true }
entry different (n: i64) =
  let ks = random.split n (random.key 1)
  let deeper = map (\k -> random.child k 0) ks
  let words = map (\k -> (random.words64 1 k)[0]) (ks ++ deeper)
  in length (sort_u64.unique words).0 == 2 * n

-- The mean and the variance of many, and of their fourth powers, in standard errors.
local
def near [n] (mean: f64) (variance: f64) (xs: [n]f64) : bool =
  f64.abs (f64.sum xs / f64.i64 n - mean) < 4 * f64.sqrt (variance / f64.i64 n)

-- ==
-- entry: moments
-- input { 3000i64 } output { [true, true, true, true, true, true, true, true, true] }
entry moments (n: i64) =
  let (k0, k1, k2) = random.split3 (random.key 9)
  let (k3, k4) = random.split2 (random.child (random.key 9) 3)
  let us = random_f64.uniforms n (2, 4) k0
  let zs = random_f64.normals n (1, 2) k1
  let es = random_f64.exponentials n 4 k2
  let ps = map f64.i64 (random_f64.poissons n 2.5 k3)
  let qs = map f64.i64 (random_f64.poissons n 40 k4)
  let squared mean = map (\x -> (x - mean) ** 2)
  in [ near 3 (1 / 3) us, near (1 / 3) (4 / 45) (squared 3 us)
     , near 1 4 zs, near 4 32 (squared 1 zs), near 0 (15 * 64) (map (\z -> (z - 1) ** 3) zs)
     , near 0.25 0.0625 es
     , near 2.5 2.5 ps, near 40 40 qs, near 40 (40 + 2 * 1600) (squared 40 qs) ]

-- ==
-- entry: single_moments
-- input { 6000i64 } output { [true, true, true] }
entry single_moments (n: i64) =
  let zs = map f64.f32 (random_f32.normals n (0, 1) (random.key 4))
  let qs = map f64.i64 (random_f32.poissons n 12 (random.key 5))
  in [near 0 1 zs, near 1 2 (map (** 2) zs), near 12 12 qs]

-- No events where none are expected; categories without weight do not occur.
-- ==
-- entry: edges
-- input { 500i64 } output { true true true }
entry edges (n: i64) =
  let k = random.key 3
  let cs = random_f64.categoricals n [0, 2, 0, 6, 0] k
  let share = f64.i64 (i64.sum (map (\c -> if c == 3 then 1 else 0) cs)) / f64.i64 n
  in ( all (== 0) (random_f64.poissons n 0 k)
     , all (\c -> c == 1 || c == 3) cs && random_f64.categorical [0, 0, 1] k == 2
     , f64.abs (share - 0.75) < 0.08 )

-- ==
-- entry: directions
-- tolerance: 1e-12
-- input { 5i64 } output { 1.0 }
entry directions (d: i64) = f64.sum (map (** 2) (random_f64.direction d (random.key 8)))

-- The points of a sequence fill every eighth of the cube: the largest difference between a share and its volume.
-- ==
-- entry: even
-- input { 512i64 } output { true true }
entry even (n: i64) =
  let unevenness (points: [n][2]f64) =
    let cells = map (\p -> 4 * i64.f64 (4 * p[0]) + i64.f64 (4 * p[1])) points
    in f64.maximum (map (\c -> f64.abs (c / f64.i64 n - 1 / 16)) (hist (+) 0 16 cells (replicate n 1)))
  in (unevenness (random_f64.additive_points 0 n 2) < 0.01, unevenness (random_f64.halton_points 0 n 2) < 0.01)

-- Sampling is differentiable in the parameters: jvp against central differences, and vjp against jvp.
-- ==
-- entry: derivatives
-- input { 1.3 0.7 } output { true true }
entry derivatives (a: f64) (b: f64) =
  let f (a: f64, b: f64) =
    let (k0, k1, k2) = random.split3 (random.key 6)
    in f64.sum (map f64.sin (random_f64.normals 5 (a, b) k0))
       + f64.sum (map f64.exp (random_f64.uniforms 5 (a, a + b) k1))
       + random_f64.exponential b k2 * random_f64.normal (0, a) k2
  let h = 1e-5
  let forward = jvp f (a, b) (0.3, -0.8)
  let difference = (f (a + 0.3 * h, b - 0.8 * h) - f (a - 0.3 * h, b + 0.8 * h)) / (2 * h)
  let (a_adj, b_adj) = vjp f (a, b) 1
  in ( f64.abs (forward - difference) < 1e-7 * (1 + f64.abs forward)
     , f64.abs (0.3 * a_adj - 0.8 * b_adj - forward) < 1e-12 * (1 + f64.abs forward) )

-- ==
-- entry: gamma_moments
-- input { 300i64 } output { [true, true, true, true, true, true, true, true] }
entry gamma_moments (n: i64) =
  let (k0, k1, k2) = random.split3 (random.key 21)
  let (k3, k4) = random.split2 (random.child (random.key 21) 3)
  let xs = random_f64.gammas n (3.5, 2) k0
  let ys = random_f64.gammas n (0.4, 1) k1
  let zs = random_f64.betas n (2, 3) k2
  let ts = random_f64.betas n (1e-4, 3e-4) k3
  let fs = map f64.f32 (random_f32.gammas n (2, 1) k4)
  in [ near 7 14 xs, near (14 + 49) (2 * 14 ** 2 * 4) (map (** 2) xs), all (> 0) xs
     , near 0.4 0.4 ys, near 0.56 2.0 (map (** 2) ys)
     , near 0.4 0.04 zs, near 0.25 0.19 ts, near 2 2 fs ]

-- By how much a number of the gamma distribution moves with its shape: as little as its probability changes, and as far as its density
-- takes it back. In both modes, and the second derivative as the limit of differences of the first, along the solution.
-- ==
-- entry: gamma_derivatives
-- input { [0.3, 2.5, 30.0] } output { true true true }
entry gamma_derivatives (shapes: []f64) =
  let close x y = f64.abs (x - y) < 1e-5 * (1 + f64.abs x)
  let solved (shape: f64) (x: f64) (goal: f64) =
    loop x for _i < 20i32 do x - (special_f64.gamma_p shape x - goal) / special_f64.gamma_density shape x
  let right shape seed =
    let f shape = random_f64.gamma (shape, 1) (random.key seed)
    let x = f shape
    let h = 1e-4 * shape
    let goal = special_f64.gamma_p shape x
    let (above, below) = (solved (shape + h) x goal, solved (shape - h) x goal)
    in ( close (grad f shape) ((above - below) / (2 * h)), close (jvp f shape 1) (grad f shape)
       , close (jvp (grad f) shape 1) ((above - 2 * x + below) / (h * h)) )
  let (a, b, c) = unzip3 (flatten (map (\shape -> map (right shape) [1, 2, 3]) shapes))
  in (and a, and b, and c)

-- The derivative of a mean is the mean of derivatives: of the mean of a beta distribution, and of the mean square.
-- ==
-- entry: beta_derivative
-- input { 300i64 } output { true true }
entry beta_derivative (n: i64) =
  let keys = random.split n (random.key 5)
  let slopes f = map (\k -> grad (\a -> f (random_f64.beta (a, 3) k)) 2) keys
  in (near (3 / 25) 0.01 (slopes id), near (84 / 900) 0.02 (slopes (\x -> x * x)))
