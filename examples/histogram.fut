-- | Count how often values occur, in parallel.
--
-- Try it:
--
--     dagaz run examples/histogram.fut --arg 4 --arg '[0, 1, 1, 3, 3, 3]'

-- | How often each of the numbers `0 … bins - 1` occurs; all others are left out.
--
-- `hist` divides the work as it likes, which is right because addition is associative and commutative.
-- ==
-- input { 4i64 [0i64, 1i64, 1i64, 3i64, 3i64, 3i64] } output { [1, 2, 0, 3] }
-- input { 2i64 [5i64, -1i64] } output { [0, 0] }
entry main (bins: i64) (xs: []i64) : [bins]i32 =
  hist (+) 0 bins xs (map (const 1) xs)

-- | The mean of the values in every bin.
-- ==
-- entry: means
-- input { [0i64, 1i64, 1i64] [4.0, 1.0, 2.0] } output { [4.0, 1.5] }
entry means [n] (is: [n]i64) (xs: [n]f64) : [2]f64 =
  let add (s1: f64, n1: f64) (s2, n2) = (s1 + s2, n1 + n2)
  in hist add (0, 0) 2 is (map (\x -> (x, 1)) xs)
     |> map (\(total, count) -> total / count)

-- | The most frequent of the numbers from 0 to 9; the smallest one if there are several.
-- ==
-- entry: mode
-- input { [3i64, 1i64, 3i64, 1i64, 9i64] } output { 1i64 }
entry mode (xs: []i64) : i64 =
  let better (i, count_i) (j, count_j) = if count_j > count_i || (count_j == count_i && j < i) then (j, count_j) else (i, count_i)
  let counts = main 10 xs
  in (reduce_comm better (10, i32.lowest) (zip (iota 10) counts)).0
