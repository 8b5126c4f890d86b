-- The cheapest ways from the first row of a wall to the places of the last one, where a step goes to one of the three
-- neighbours in the next row. The objective is the sum of their costs; the gradient says how many of these ways use a place.
-- ==
-- entry: objective
-- input { [[1f32, 5, 2], [4, 3, 6], [7, 1, 2]] } output { 22f32 }

-- ==
-- entry: derivative
-- input { [[1f32, 5, 2], [4, 3, 6], [7, 1, 2]] } output { [[3f32, 0, 0], [0, 3, 0], [1, 1, 1]] }

def total [rows][n] (wall: [rows][n]f32) : f32 =
  let last =
    loop best = wall[0] for i in 1..<rows do
      tabulate n (\j ->
        let left = best[i64.max 0 (j - 1)]
        let right = best[i64.min (n - 1) (j + 1)]
        in wall[i, j] + f32.min best[j] (f32.min left right))
  in f32.sum last

entry objective [rows][n] (wall: [rows][n]f32) : f32 = total wall

entry derivative [rows][n] (wall: [rows][n]f32) : [rows][n]f32 = grad total wall
