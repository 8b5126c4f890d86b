-- The cheapest ways from the first row of a wall to the places of the last one, where a step goes to one of the three
-- neighbours in the next row. The objective is the sum of their costs; the gradient says how many of these ways use a place.
-- ==
-- entry: objective
-- input { [[1f64, 5, 2], [4, 3, 6], [7, 1, 2]] } output { 22f64 }

-- ==
-- entry: derivative
-- input { [[1f64, 5, 2], [4, 3, 6], [7, 1, 2]] } output { [[3f64, 0, 0], [0, 3, 0], [1, 1, 1]] }

def total [rows][n] (wall: [rows][n]f64) : f64 =
  let last =
    loop best = wall[0] for i in 1..<rows do
      tabulate n (\j ->
        let left = best[i64.max 0 (j - 1)]
        let right = best[i64.min (n - 1) (j + 1)]
        in wall[i, j] + f64.min best[j] (f64.min left right))
  in f64.sum last

entry objective [rows][n] (wall: [rows][n]f64) : f64 = total wall

entry derivative [rows][n] (wall: [rows][n]f64) : [rows][n]f64 = grad total wall
