-- Laws of functions between matrices, for the tests of std/linalg.

import "std/linalg"

module l = linalg_f64

def close (x: f64) (y: f64) : bool = f64.abs (x - y) <= 1e-6 * (1 + f64.abs x + f64.abs y)
def noise (i: i64) : f64 = f64.sin (f64.i64 (i * i + 3 * i) * 1.7 + 0.3)
def sample (n: i64) (m: i64) (seed: i64) : [n][m]f64 = tabulate_2d n m (\i j -> noise (31 * i + j + 977 * seed))
def definite (n: i64) (seed: i64) : [n][n]f64 =
  let a = sample n n seed
  in map2 (map2 (+)) (l.matmul a (transpose a)) (l.identity n)

def inner [n] [m] (x: [n][m]f64) (y: [n][m]f64) : f64 = f64.sum (map f64.sum (map2 (map2 (*)) x y))
def moved [n] [m] (a: [n][m]f64) (v: [n][m]f64) (h: f64) : [n][m]f64 = map2 (map2 (\a v -> a + h * v)) a v
def step : f64 = 1e-5

-- For a function between matrices, at a point and in two directions: is the forward derivative the limit of differences, and the
-- reverse one its transpose?
def first_laws [n] [m] [p] [q] (f: [n][m]f64 -> [p][q]f64) (a: [n][m]f64) (seed: i64) : [2]bool =
  let v = sample n m (seed + 1)
  let w = sample p q (seed + 2)
  let forward = inner w (jvp f a v)
  let value h = inner w (f (moved a v h))
  in [close forward ((value step - value (-step)) / (2 * step)), close (inner (vjp f a w) v) forward]

-- And is the second derivative the limit of differences of the reverse one?
def laws [n] [m] [p] [q] (f: [n][m]f64 -> [p][q]f64) (a: [n][m]f64) (seed: i64) : [3]bool =
  let v = sample n m (seed + 1)
  let w = sample p q (seed + 2)
  let back a = inner (vjp f a w) v
  let difference = (back (moved a v step) - back (moved a v (-step))) / (2 * step)
  in first_laws f a seed ++ [close (jvp back a v) difference] :> [3]bool

def one_row (x: f64) : [1][1]f64 = [[x]]
def row [n] (x: [n]f64) : [1][n]f64 = [x]
