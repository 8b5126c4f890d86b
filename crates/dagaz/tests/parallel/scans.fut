-- Scans whose results are used up at once, in order or from the last one on, next to each other or not.
def xs (n: i64) : [n]f64 = map (\i -> f64.i64 (i * 7919 % 1009 - 504) / 1009) (iota n)
def after (a: f64, b: f64) (c: f64, d: f64) : (f64, f64) = (a * c, b * c + d)

-- Products of matrices whose determinant is one.
type matrix = (f64, f64, f64, f64)
def times ((a, b, c, d): matrix) ((x, y, z, w): matrix) : matrix =
  (a * x + b * z, a * y + b * w, c * x + d * z, c * y + d * w)
def turns [n] (angles: [n]f64) : [n]matrix =
  scan times (1, 0, 0, 1) (map (\t -> let (c, s) = (f64.cos t, f64.sin t) in (c, -s, s, c)) angles)

entry total (n: i64) = let (_, x) = unzip (scan after (1, 0) (zip (xs n) (xs n))) in f64.sum (map (\v -> v * v) x)
entry total_and_rows (n: i64) =
  let (_, x) = unzip (scan after (1, 0) (zip (xs n) (xs n))) in (f64.maximum x, f64.sum x, map (+ 1) x, x)
entry sums (n: i64) = let x = scan (+) 0 (map (\i -> i % 7) (iota n)) in (i64.sum (map (% 5) x), map (* 2) x)
-- The operator of the reduction does not commute.
entry in_order (n: i64) =
  let (_, x) = unzip (scan after (1, 0) (zip (xs n) (xs n)))
  in reduce_comm (+) 0 x + (reduce after (1, 0) (map (\v -> (v * 0.5, v)) x)).1
entry from_the_last (n: i64) =
  let x = scan (+) 0 (xs n) let y = reverse x in (y, map2 (\i v -> if i > 0 then v * f64.i64 i else 3) (iota n) y)
entry both_ways (n: i64) = let x = scan (+) 0 (xs n) in (x, reverse x, map (* 2) (reverse x), f64.sum (map (* 3) x))
entry matrices (n: i64) =
  let x = turns (xs n) in f64.sum (map (\(a, b, c, d) -> a + 2 * b + 3 * c + 4 * d) x)
entry borders (n: i64) =
  let x = turns (xs n)
  let (a, b, c, d) = (map (.0) x, map (.1) x, map (.2) x, map (.3) x)
  in map (\i -> if i > 1 && i < n - 1 then a[i - 2] + b[i] * c[i + 1] - d[i] else 7) (iota n)
entry gradient (n: i64) =
  vjp (\x -> f64.sum (map (\(a, b, c, d) -> a * a + 2 * b + c * d) (turns x))) (map (* 0.001) (xs n)) 1
entry gradient_recurrence (n: i64) =
  let x = xs n
  in vjp (\(a, b) -> let (_, y) = unzip (scan after (1, 0) (zip a b)) in f64.sum (map (\v -> v * v) y)) (x, x) 1
