-- What `#[blank]` stands before is not computed, and so cannot fail; where its sizes have to be known, it is.
-- ==
-- entry: first
-- input { [7i64, 8] } output { 7i64 }
-- input { empty([0]i64) } output { -1i64 }

-- ==
-- entry: sizes
-- input { [1i64, 5, 6] } output { [0i64, 0] }

-- ==
-- entry: filled
-- input { [2i64, 0, 1] [1.0, 2.0, 3.0] } output { [2.0, 3.0, 1.0] }

entry first (xs: []i64) : i64 =
  let (x, offset) = if null xs then (#[blank] xs[0], -1) else (xs[0], 0)
  in x + offset

entry sizes (xs: []i64) : []i64 = #[blank] filter (> 3) xs

entry filled [n] (is: [n]i64) (xs: [n]f64) : [n]f64 =
  scatter (#[scratch] map (/ xs[0]) xs) is xs
