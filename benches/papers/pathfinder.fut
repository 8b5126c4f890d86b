-- The cheapest ways from the first row of a wall to the places of the last one, where a step goes to one of the three
-- neighbours in the next row. The objective is the sum of their costs; the gradient says how many of these ways use a place.
-- ==
-- entry: objective
-- input { [[1f64, 5, 2], [4, 3, 6], [7, 1, 2]] } output { 22f64 }

-- ==
-- entry: derivative derivative_in_strips
-- input { [[1f64, 5, 2], [4, 3, 6], [7, 1, 2]] } output { [[3f64, 0, 0], [0, 3, 0], [1, 1, 1]] }

-- The cheapest ways to the places of row i, given those to the row before.
def next [rows][n] (wall: [rows][n]f64) (best: [n]f64) (i: i64) : [n]f64 =
  tabulate n (\j ->
    let left = best[i64.max 0 (j - 1)]
    let right = best[i64.min (n - 1) (j + 1)]
    in wall[i, j] + f64.min best[j] (f64.min left right))

def total [rows][n] (wall: [rows][n]f64) : f64 =
  f64.sum (loop best = wall[0] for i in 1..<rows do next wall best i)

-- The same, whose derivative keeps few of the rows.
def total_in_strips [rows][n] (wall: [rows][n]f64) : f64 =
  f64.sum (#[stripmine(1)] loop best = wall[0] for i in 1..<rows do next wall best i)

entry objective [rows][n] (wall: [rows][n]f64) : f64 = total wall

entry derivative [rows][n] (wall: [rows][n]f64) : [rows][n]f64 = grad total wall

entry derivative_in_strips [rows][n] (wall: [rows][n]f64) : [rows][n]f64 = grad total_in_strips wall
