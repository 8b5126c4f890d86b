-- Linear functions, the derivatives at a point, go wherever other functions go: each is a function and a table of residuals.

-- In an array.
-- ==
-- entry: in_array
-- input { [1.0, 2.0] } output { [3.0, 12.0] }
entry in_array (xs: [2]f64) : [2]f64 =
  let ls = for i -> (linearize (\x -> x * x * x) xs[i]).1
  in for i -> (ls[i]) 1

-- ==
-- entry: by_map
-- input { [1.0, 2.0, 3.0] 2.0 } output { [6.0, 24.0, 54.0] }
entry by_map [n] (xs: [n]f64) (t: f64) : [n]f64 =
  let ls = map (\x -> (linearize (\y -> y * y * y) x).1) xs
  in map (\l -> l t) ls

-- With residuals that are arrays, chosen by an index that only data know.
-- ==
-- entry: chosen_row
-- input { [[1.0, 2.0], [3.0, 4.0]] 1i64 [1.0, 10.0] } output { 43.0 [4.0, 3.0] }
entry chosen_row [n] (xss: [n][2]f64) (k: i64) (t: [2]f64) : (f64, [2]f64) =
  let ls = map (\xs -> (linearize f64.product xs).1) xss
  in ((ls[k]) t + 9, linear_transpose (ls[k]) 1)

-- Of an `if`: the same function at two points, two functions, and beside a function of another kind.
-- ==
-- entry: chosen
-- input { true 2.0 } output { 12.0 12.0 2.0 }
-- input { false 2.0 } output { 27.0 3.0 3.0 }
entry chosen (b: bool) (x: f64) : (f64, f64, f64) =
  let same = if b then (linearize (\y -> y * y * y) x).1 else (linearize (\y -> y * y * y) (x + 1)).1
  let other = if b then (linearize (\y -> y * y * y) x).1 else (linearize (\y -> 3 * y) x).1
  let another = if b then (\t -> t * x) else (linearize (\y -> 3 * y) x).1
  in (same 1, other 1, another 1)

-- Through functions that are not inlined: as an argument, and as a result.
#[noinline]
def twice (f: f64 -> f64) (t: f64) = f (f t)

#[noinline]
def slope_at (x: f64) : f64 -> f64 = (linearize (\y -> y * y) x).1

-- ==
-- entry: passed
-- input { 3.0 } output { 72.0 12.0 }
entry passed (x: f64) : (f64, f64) = (twice (slope_at x) 2, (slope_at x) 2)

-- ==
-- entry: passed_in_map
-- input { [1.0, 2.0] } output { [4.0, 16.0] }
entry passed_in_map [n] (xs: [n]f64) : [n]f64 = map (\x -> twice (slope_at x) 1) xs

-- Made in a loop, and applied in one.
-- ==
-- entry: in_loops
-- input { 3i64 2.0 } output { 64.0 }
entry in_loops (n: i64) (x: f64) : f64 =
  loop t = 1 for i < n do
    let l = (linearize (\y -> y * y) (x + f64.i64 (i - i))).1
    in l t

-- ==
-- entry: table_in_loop
-- input { [1.0, 2.0, 3.0] } output { 48.0 }
entry table_in_loop [n] (xs: [n]f64) : f64 =
  let ls = map (\x -> (linearize (\y -> y * y) x).1) xs
  in loop t = 1 for i < n do (ls[i]) t

-- Nested: the tangent of a function that applies a linear function, and a table of such.
-- ==
-- entry: nested
-- input { [1.0, 2.0] } output { [6.0, 12.0] }
entry nested [n] (xs: [n]f64) : [n]f64 =
  let ls = map (\x -> (linearize (\y -> (linearize (\z -> z * z * z) y).1 1) x).1) xs
  in map (\l -> l 1) ls

-- Derivatives by hand of what uses tables: a gradient through a table of linear functions, which depend on the argument.
-- ==
-- entry: differentiated
-- input { [1.0, 2.0] } output { [6.0, 12.0] [6.0, 12.0] }
entry differentiated [n] (xs: [n]f64) : ([n]f64, [n]f64) =
  let f [m] (ys: [m]f64) : f64 =
    let ls = map (\y -> (linearize (\z -> z * z * z) y).1) ys
    in f64.sum (map (\l -> l 1) ls)
  in (vjp f xs 1, map (\i -> jvp f xs (map (\j -> f64.bool (i == j)) (iota n))) (iota n))

-- Of records, sums, and functions made by `vjp` and by transposing.
type shape = #circle f64 | #box f64 f64

def area (s: shape) : f64 = match s case #circle r -> 3 * r * r case #box a b -> a * b

-- ==
-- entry: of_sums
-- input { [1.0, 2.0] } output { [6.0, 2.0] }
entry of_sums [n] (xs: [n]f64) : [n]f64 =
  let shapes = map (\x -> if x < 1.5 then #circle x else #box x x : shape) xs
  let ls = map (\s -> (linearize area s).1) shapes
  in map2 (\l s -> l (match s case #circle _ -> #circle 1 case #box _ _ -> #box 1 0)) ls shapes

-- ==
-- entry: transposed
-- input { [1.0, 2.0] } output { [[2.0, 3.0], [4.0, 3.0]] [[2.0, 3.0], [4.0, 3.0]] }
entry transposed [n] (xs: [n]f64) : ([n][2]f64, [n][2]f64) =
  let f a (p: {x: f64, y: f64}) = a * p.x * p.x + 3 * p.y
  let at = {x = 1, y = 1}
  let pullbacks = map (\x -> linear_transpose (linearize (f x) at).1) xs
  let others = map (\x -> vjp (f x) at) xs
  let show p = [p.x, p.y]
  in (map (\g -> show (g 1)) pullbacks, map (\g -> show (g 1)) others)

-- One that has captured arrays whose size only it knows.
-- ==
-- entry: own_sizes
-- input { true [1.0, -2.0, 3.0] } output { 8.0 }
-- input { false [1.0, -2.0, 3.0] } output { 4.0 }
entry own_sizes [n] (b: bool) (xs: [n]f64) : f64 =
  let positive = filter (> 0) xs
  let l = if b then (linearize (\a -> f64.sum (map (\x -> a * a * x) positive)) 1).1
          else (linearize (\a -> f64.sum (map (\x -> a * x) positive)) 1).1
  in l 1

-- With a derivative inside that is zero.
-- ==
-- entry: zero_inside
-- input { [1.0, 2.0] } output { [3.0, 3.0] [1.0, 2.0] }
entry zero_inside (xs: [2]f64) : ([2]f64, [2]f64) =
  let f (ys: [2]f64) =
    let t = jvp (\(_: f64) -> replicate 2 0.5) ys[0] ys[1]
    in map (\y -> 3 * (y + t[0])) ys
  let (ys, l) = linearize f xs
  in (l [1, 1], map (/ 3) ys)
