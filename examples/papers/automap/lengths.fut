-- | What the program of 001 4.6.4 means, written out.

-- ==
-- entry: of_rows
-- input { [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] } output { 6i64 }
entry of_rows (xss: [][]f64) : i64 = i64.sum (map length xss)

-- | Of all rows at once, a sum is the sum of each.
-- ==
-- entry: sums
-- input { [[1.0, 2.0], [3.0, 4.0]] } output { [3.0, 7.0] }
entry sums (xss: [][]f64) = f64.sum xss
