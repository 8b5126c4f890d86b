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
