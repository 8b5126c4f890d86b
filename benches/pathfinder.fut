-- The cheapest way from the first row of a wall to every place of the last one.
entry main [rows][n] (wall: [rows][n]i32): [n]i32 =
  loop best = wall[0] for i in 1..<rows do
    map2 (\w j ->
            let left = best[i64.max 0 (j - 1)]
            let right = best[i64.min (n - 1) (j + 1)]
            in w + i32.min best[j] (i32.min left right))
         wall[i]
         (iota n)
