-- The size of an array changes from one iteration to the next, within a map.
-- ==
-- input { [0i64, 1i64, 6i64, 10i64] }
-- output { [0i64, 1i64, 63i64, 1023i64] }
entry main (ns: []i64) =
  map (\n ->
         let (total, _) =
           loop (total, xs) = (0, [1]) for i < n do
             (total + i64.sum xs, concat xs (map (+ 0) xs))
         in total)
      ns
-- ==
-- entry: halves
-- input { [[9i64, 4i64, 7i64, 2i64], [1i64, 1i64, 1i64, 1i64]] }
-- output { [3i64, 1i64] }
entry halves (rows: [][]i64) =
  map (\row ->
         let (steps, _) =
           loop (steps, row) = (0, copy row) while length row > 0 do
             let least = i64.minimum row
             in (steps + 1, filter (> least + steps) row)
         in steps)
      rows
