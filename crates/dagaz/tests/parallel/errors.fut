-- Loops with many iterations that fail: the first one in order is the error.
def numbers (n: i64) : [n]i64 = map (\i -> i * 7919 % 100003) (iota n)

entry index (n: i64) = let xs = numbers n in map (\i -> if i % 5000 == 4321 then xs[i + n] else xs[i]) (iota n)
entry division (n: i64) = map (\i -> 1000 / ((i + 777) % 30000)) (iota n)
entry in_rows (n: i64) = map (\i -> i64.sum (map (\j -> 100 / (i * 10 + j - 70000)) (iota 10))) (iota (n / 10))
entry uneven (n: i64) =
  map (\i -> loop s = 0 for j < i % 50 do s + assert (i % 3001 != 2999 || j < 40) j) (iota n)
entry early_in_another_part (n: i64) =
  map (\i -> loop s = 0 for j < (if i < n / 2 then 100 else 1) do s + assert (i != n / 2 - 1 && i != n / 2) j) (iota n)
entry within_sum (n: i64) = let xs = numbers n in i64.sum (map (\i -> xs[i * 2]) (iota n))
entry within_scan (n: i64) = scan (+) 0 (map (\i -> i % (i - 70001)) (iota n))
entry within_bins (n: i64) = hist (+) 0 16 (map (\i -> i % 16) (iota n)) (map (\i -> 5 / (i - 90000) + 5 / (i - 90001)) (iota n))
entry within_scatter (n: i64) = scatter (replicate n 0) (iota n) (map (\i -> 5 / (60000 - i)) (iota n))
entry borders (n: i64) =
  let xs = numbers n
  in map (\i -> if i == 0 then xs[-1] else if i == n - 1 then xs[n] else xs[i - 1] + 1 / (i - 5)) (iota n)
entry middle (n: i64) =
  let xs = numbers n
  in map (\i -> xs[i64.max 0 (i - 1)] + xs[i64.min (n - 1) (i + 1)] + (if i == n - 1 then xs[n] else 1 / (i - 50000))) (iota n)
entry columns (n: i64) =
  let m = n / 100 let rows = unflatten (numbers (m * 100) :> [m * 100]i64)
  in map (\j -> i64.sum (map (\i -> if i >= m - 3 then rows[i, j] / (j - 50) else rows[i, j]) (iota m))) (iota 100)
def checked (i: i64) : i64 = assert (i < 65000) (i + 1)
#[noinline]
def indirectly (k: i64) (i: i64) : i64 = if k == 0 then checked i else indirectly (k - 1) i
entry in_function (n: i64) = map (indirectly 3) (iota n)
entry memory (n: i64) = map (\i -> i64.sum (if i < n - 10 then iota 3 else iota (n - 20 - i))) (iota n)
entry within_gradient (n: i64) =
  let m = n + 70000
  let f x i = loop s = 0f64 for j < 1 + i % 9 do f64.sin (s + x[(i * 31 + j * 7919) % m] * f64.i64 (5 / (90001 - i)))
  in vjp (\x -> f64.sum (map (f x) (iota n))) (map f64.i64 (numbers m)) 1
entry within_large_gather (n: i64) =
  let places = scatter (replicate n 0) (iota n) (map (\i -> if i % 90001 == 90000 then i + 140000 else i % 140000) (iota n))
  let f (x: []f64) = f64.sum (map f64.sin (hist (+) 0 16 (map (% 16) (iota n)) (map (\k -> x[k] * x[k]) places)))
  in vjp f (map f64.i64 (iota 140000)) 1
