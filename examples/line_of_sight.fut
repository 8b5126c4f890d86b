-- | What a running maximum is good for: which points of a landscape can be seen, how much rain stays in it, and which
-- brackets match.
--
-- Try it:
--
--     dagaz run examples/line_of_sight.fut --arg '[0, 3, 1, 4, 13, 2]'

-- | Which points can be seen from the first one? Those whose angle is larger than that of all before them. A scan with
-- `max` finds the largest angle so far, for all points in parallel.
-- ==
-- input { [0.0, 3.0, 1.0, 4.0, 13.0, 2.0] } output { [true, true, false, false, true, false] }
-- input { [5.0] } output { [true] }
-- input { [9.0, 0.0, 4.0, 1.0] } output { [true, true, true, false] }
entry main [n] (heights: [n]f64) : [n]bool =
  let slope (i: i64) (h: f64) = if i == 0 then -f64.inf else (h - heights[0]) / f64.i64 i
  let slopes = map2 slope (iota n) heights
  let before = exscan f64.max (-f64.inf) slopes
  in map3 (\i s b -> i == 0 || s > b) (iota n) slopes before

-- | How much water stays above every point after rain: up to the lower one of the highest points on both sides.
-- ==
-- entry: water
-- input { [0, 1, 0, 2, 1, 0, 1, 3, 2, 1, 2, 1] } output { [0, 0, 1, 0, 1, 2, 1, 0, 0, 1, 0, 0] }
entry water [n] (heights: [n]i32) : [n]i32 =
  let from_left = scan i32.max i32.lowest heights
  let from_right = heights |> reverse |> scan i32.max i32.lowest |> reverse
  in map3 (\l r h -> i32.min l r - h) from_left from_right heights

-- | The depth of nesting at every character, by a prefix sum, and whether all brackets match.
-- ==
-- entry: depths
-- input { "(a(b)c)" } output { [1, 1, 2, 2, 1, 1, 0] true }
-- input { ")(" } output { [-1, 0] false }
-- input { "((" } output { [1, 2] false }
entry depths [n] (text: [n]u8) : ([n]i32, bool) =
  let weight (c: u8) : i32 = if c == '(' then 1 else if c == ')' then -1 else 0
  let sums = scan (+) 0 (map weight text)
  in (sums, all (>= 0) sums && (n == 0 || last sums == 0))
