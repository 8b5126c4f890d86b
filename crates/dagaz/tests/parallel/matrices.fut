-- Many matrices, which maps make and take, and products.
def number (h: i64) (i: i64) (j: i64) : f64 = f64.i64 ((h * 31 + i * 17 + j * 7) % 101) / 50 - 1
def product [n][m][p] (a: [n][m]f64) (b: [m][p]f64) : [n][p]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose b)) a
def total [n][m] (a: [n][m]f64) : f64 = f64.sum (map f64.sum a)

-- What the sums of products differ by from products of sums.
entry by_pairs (n: i64) =
  let numbers = tabulate_3d n 64 64 number
  let squares = map (map (map (\x -> x * x))) numbers
  let products = map2 product squares numbers
  let expected = map2 (\a b -> f64.sum (map2 (*) (map f64.sum (transpose a)) (map f64.sum b))) squares numbers
  in (map total products, f64.maximum (map f64.abs (map2 (-) (map total products) expected)) < 1e-6)

-- A mixture of distributions whose triangles are built of all their numbers.
entry by_triangles (n: i64) =
  let points = tabulate_2d 100 40 (number 3)
  let triangle (c: [820]f64) : [40][40]f64 =
    tabulate_2d 40 40 (\i j -> if i < j then 0 else c[i * (i + 1) / 2 + j])
  let f (cs: [n][820]f64) : f64 =
    let qs = map triangle cs
    let at point = f64.log (f64.sum (map (\q -> f64.exp (-0.01 * f64.sum (map (\row -> f64.sum (map2 (*) row point) ** 2) q))) qs))
    in f64.sum (map at points)
  let cs = tabulate_2d n 820 (number 5)
  let gradient = vjp f cs 1
  let step = 1e-4
  let along s = f (map2 (map2 (\c g -> c + s * g)) cs gradient)
  let slope = (along step - along (-step)) / (2 * step)
  let squares = f64.sum (map (\g -> f64.sum (map (** 2) g)) gradient)
  in (map f64.sum gradient, f64.abs (slope - squares) < 1e-4 * (1 + squares))
