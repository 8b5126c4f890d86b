-- Functions that branches, arrays and records give.

-- A branch chooses a function.
-- ==
-- entry: chosen
-- input { true 3 } output { 6 }
-- input { false 3 } output { 13 }
entry chosen (b: bool) (x: i32) : i32 =
  let f = if b then (\y -> y * 2) else (\y -> y + x + 7)
  in f x

-- An array of functions is a table of what they captured.
-- ==
-- entry: applied
-- input { 3 } output { [4, 6, 9] }
entry applied (x: i32) : []i32 =
  map (\f -> f x) [(+ 1), (* 2), \y -> y * y]

-- The functions are made by a map, with a choice in each.
-- ==
-- entry: made
-- input { [1, 2] 5 } output { [10, 7] }
entry made (ks: [2]i32) (x: i32) : []i32 =
  let fs = map (\k -> if k == 1 then (* 2) else (+ k)) ks
  in map (\f -> f x) fs

-- Indexing a table of functions.
-- ==
-- entry: indexed
-- input { [1, 2, 3] 1i64 } output { 102 }
-- input { [1, 2, 3] 3i64 } error: out of bounds
entry indexed (ks: []i32) (i: i64) : i32 =
  let fs = map (\k x -> x + k) ks
  in fs[i] 100

-- Functions and tables of functions in a record, chosen by a match.
-- ==
-- entry: matched
-- input { 1 } output { 3 }
-- input { 5 } output { 6 }
entry matched (x: i32) : i32 =
  let fs = {inc = \y -> y + 1, table = [\y -> y * 3]}
  in match x
     case 1 -> fs.table[0] 1
     case _ -> fs.inc x

-- Functions in an array may have captured arrays, and others none.
-- ==
-- entry: captured
-- input { [5i64, 6i64, 7i64] 1i64 } output { [[5i64, 6i64, 7i64], [0i64, 2i64, 4i64], [11i64, 12i64, 10i64]] }
-- input { empty([0]i64) 1i64 } output { empty([3][0]i64) }
entry captured [n] (xs: [n]i64) (k: i64) : [3][n]i64 =
  let fs = [\i -> xs[i], \i -> i * 2, \i -> xs[(i + k) % n] + xs[0]]
  in map (\f -> map f (iota n)) fs

-- So may those that branches choose in a map, and that loops carry.
-- ==
-- entry: captured_by_some
-- input { [5i64, 6i64, 7i64] 1i64 } output { [[1i64, 1i64, 1i64], [5i64, 6i64, 7i64], [2i64, 3i64, 4i64]] [5i64, 6i64, 7i64] }
entry captured_by_some [n] (xs: [n]i64) (k: i64) : ([n][n]i64, [n]i64) =
  let of (j: i64) =
    if j == k then (\i -> xs[i])
    else if j > k then (\i -> i + j)
    else (\i -> let ys = map (* j) xs in ys[i] + k)
  let carried = loop f = (\i -> i) for j < 2 do if j == k then (\i -> xs[i]) else (\i -> i * 2)
  in (map (\f -> map f (iota n)) (map of (iota n)), map carried (iota n))

-- ==
-- entry: captured_gradient
-- input { [1.0, 2.0, 4.0] } output { [9.0, 2.0, 2.0] }
entry captured_gradient [n] (xs: [n]f64) : [n]f64 =
  let total (xs: [n]f64) =
    let fs = [\i -> xs[i] * xs[0], \i -> xs[i], \_ -> 1]
    in f64.sum (map (\f -> f64.sum (map f (iota n))) fs)
  in vjp total xs 1
