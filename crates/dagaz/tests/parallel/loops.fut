-- Loops that are really split: everything depends on n.
def xs (n: i64) : [n]f64 = map (\i -> f64.sin (f64.i64 (i * 7919 % 100003)) * 1e3) (iota n)
def ks (n: i64) (m: i64) : [n]i64 = map (\i -> (i * 1103515245 + 12345) % 2147483648 / 65536 % m) (iota n)

entry sums (n: i64) = let x = xs n in (f64.sum x, f64.product (map (\v -> 1 + v * 1e-9) x), f32.sum (map f32.f64 x))
entry extremes (n: i64) = let x = xs n in (f64.maximum x, f64.minimum x, i64.sum (ks n 1000), i64.maximum (ks n 100000))
entry argmin (n: i64) =
  reduce_comm (\(a, i) (b, j) -> if a < b || (a == b && i < j) then (a, i) else (b, j)) (f64.inf, n)
    (zip (xs n) (iota n))
entry affine (n: i64) =
  reduce (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip (map (\v -> 1 + v * 1e-6) (xs n)) (xs n))
entry prefix (n: i64) = (scan (+) 0 (xs n), scan f64.max (-f64.inf) (xs n), scan (+) 0i32 (map i32.i64 (ks n 7)))
entry prefix_affine (n: i64) =
  unzip (scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip (map (\v -> 1 + v * 1e-6) (xs n)) (xs n)))
entry segments (n: i64) =
  scan (\(f, v) (g, w) -> (f || g, if g then w else v + w)) (false, 0) (zip (map (\k -> k % 97 == 0) (ks n 10007)) (xs n)) |> unzip
entry few_bins (n: i64) = (hist (+) 0 16 (ks n 16) (xs n), hist i64.max 0 5 (ks n 7) (iota n), hist (*) 1 3 (ks n 3) (map (\v -> 1 + v * 1e-9) (xs n)))
entry many_bins (n: i64) = hist (+) 0 (n / 3 + 1) (ks n (n / 3 + 2)) (xs n)
entry bins_of_pairs (n: i64) = hist (\(a, b) (c, d) -> (a + c, f64.max b d)) (0, -f64.inf) 37 (ks n 37) (zip (xs n) (xs n)) |> unzip
entry bins_2d (n: i64) = reduce_by_index_2d (replicate 5 (replicate 6 0)) (+) 0 (zip (ks n 5) (ks n 6)) (xs n)
entry vector_bins (n: i64) = hist (map2 (+)) (replicate 3 0) 10 (ks n 10) (map (\v -> [v, v * v, 1]) (xs n))
entry uneven (n: i64) = map (\k -> loop s = 0f64 for i < k * k / 50 do s + 1 / (1 + f64.i64 (i + k))) (ks n 200)
entry uneven_rows (n: i64) = map (\k -> f64.sum (map (\i -> f64.sqrt (f64.i64 (i + k))) (iota (k % 131)))) (ks n 100003)
entry nested (n: i64) =
  let m = 1 + n / 100 let rows = unflatten (xs (100 * m) :> [100 * m]f64) |> map (\r -> scan (+) 0 r)
  in (map f64.sum rows, map f64.sum (transpose rows), reduce (map2 (+)) (replicate m 0) rows)
entry wide (n: i64) =
  let m = 1 + n / 100 let rows = unflatten (xs (m * 100) :> [m * 100]f64)
  in (map f64.sum rows, map f64.sum (transpose rows), reduce (map2 (+)) (replicate 100 0) rows,
      reduce (map2 f64.max) (replicate 100 (-f64.inf)) rows, scan (map2 (+)) (replicate 100 0) rows |> last)
entry permute (n: i64) = let m = n | 1 in scatter (replicate m 0) (map (\i -> i * 2 % m) (iota m)) (xs m)
entry partly (n: i64) = scatter (replicate n 0) (map (\i -> if i % 3 == 0 then -1 else i) (iota n)) (xs n)
entry chosen (n: i64) = let x = xs n in (filter (> 500) x, partition (> 0) x)
entry stencil (n: i64) =
  let x = xs n in map (\i -> x[i64.max 0 (i - 1)] + 2 * x[i] + x[i64.min (n - 1) (i + 1)]) (iota n)
entry gather (n: i64) = let x = xs n in map (\k -> x[k]) (ks n n)
entry matrix (n: i64) =
  let m = i64.f64 (f64.sqrt (f64.i64 n)) let a = unflatten (xs (m * m)) let b = transpose a
  in map (\r -> map (\c -> f64.sum (map2 (*) r c)) (transpose b)) a[:32] |> map f64.sum
entry gradient (n: i64) =
  let x = xs n
  in (vjp (\x -> f64.sum (map f64.exp (map (/ 1000) x))) x 1, vjp (\x -> f64.maximum x) x 1, vjp (\x -> last (scan (+) 0 (map (\v -> v * v) x))) x 1)
entry gradient_bins (n: i64) = let k = ks n 11 in vjp (\x -> f64.sum (map f64.sin (hist (+) 0 11 k x))) (xs n) 1
entry gradient_gather (n: i64) = let k = ks n 100 in vjp (\x -> f64.sum (map (\i -> x[i] * x[(i + 1) % 100]) k)) (xs 100) 1
-- Adds to many places, with much to do in between: the additions of a piece wait for those of the pieces before it.
entry gradient_many_places (n: i64) =
  let m = n + 70000
  let f x = map (\k -> loop s = 0f64 for j < k % 9 do f64.sin (s + 1 / (2 + f64.cos (s + x[(k * 31 + j * 7919) % m])))) (ks n 100003)
  in vjp (\x -> f64.sum (f x)) (xs m) 1
-- Elements of a large array that both sweeps gather, and rows of a large matrix that are added up and added to.
entry gradient_large_gather (n: i64) =
  let places = scatter (replicate n 0) (iota n) (ks n 30011)
  let f (x: []f64, w: []f64) = f64.sum (map f64.sin (hist (+) 0 (n / 2 + 1) (ks n (n / 2 + 1)) (map2 (\k v -> x[k] * v) places w)))
  in vjp f (xs 140000, xs n) 1
entry gradient_large_rows (n: i64) =
  let places = unflatten (scatter (replicate (n / 50 * 50) 0) (iota (n / 50 * 50)) (ks (n / 50 * 50) 3001))
  let f (xss: [3001][50]f64) = f64.sum (map (\row -> f64.sin (f64.sum (reduce (map2 (+)) (replicate 50 0) (map (\k -> xss[k]) row)))) places)
  in vjp f (unflatten (xs (3001 * 50))) 1
-- As much work as for sixteen pieces, and so few iterations that some of the pieces have none.
entry gradient_few_rows (n: i64) =
  let k = ks n 100
  in vjp (\x -> f64.sum (map (\r -> f64.sum (map (\i -> x[(i + r) % 100] * x[i]) k)) (iota 21))) (xs 100) 1
-- What a fold begins with counts once, even if it is not neutral.
entry started (n: i64) =
  let x = map (% 10) (iota n) let rows = map (\i -> [i, i * i, 7]) x
  in (reduce (+) 5 x, reduce (*) 2f64 (map (\v -> 1 + f64.i64 v * 1e-9) x), scan (+) 5 x, reduce i64.max 77 x,
      reduce (map2 (+)) [1, 2, 3] rows, hist (+) 3 2 (map (% 2) x) x, scan (|) 1024i64 x, reduce (&) 6i64 x)
entry products_of_rows (n: i64) =
  map (\i -> f64.product (map (\j -> 1 + f64.i64 ((i * j) % 7 - 3) / 50) (iota (i % 45)))) (iota (n / 50))
