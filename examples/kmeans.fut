-- | k-means: sort points into k groups, so that every point is nearest to the mean of its own group.
--
-- Try it:
--
--     dagaz run examples/kmeans.fut --arg 2 --arg 10 --arg '[[0,0], [10,10], [0,1], [11,10]]'

def distance_squared [d] (p: [d]f64) (q: [d]f64) : f64 =
  map2 (-) p q |> map (\x -> x * x) |> f64.sum

-- | Which of the centres is nearest; the first one if there are several.
def nearest [k] [d] (centres: [k][d]f64) (p: [d]f64) : i64 =
  let closer (i, d_i) (j, d_j) = if d_j < d_i || (d_j == d_i && j < i) then (j, d_j) else (i, d_i)
  in (reduce_comm closer (i64.highest, f64.inf) (zip (indices centres) (map (distance_squared p) centres))).0

-- | The mean of every group. A group without points keeps its centre.
def means [n] [k] [d] (centres: [k][d]f64) (points: [n][d]f64) (groups: [n]i64) : [k][d]f64 =
  let sums = hist (map2 (+)) (replicate d 0) k groups points
  let counts = hist (+) 0 k groups (replicate n 1f64)
  in map3 (\old sum count -> if count == 0 then old else map (/ count) sum) centres sums counts

-- | The centres after so many rounds, and the group of every point. The first k points are the first centres.
-- ==
-- input { 2i64 10 [[0.0, 0.0], [10.0, 10.0], [0.0, 1.0], [11.0, 10.0]] }
-- output { [[0.0, 0.5], [10.5, 10.0]] [0i64, 1i64, 0i64, 1i64] }
-- input { 3i64 20 [[1.0, 2.0], [8.0, 2.0], [5.0, 8.0], [8.0, 8.0], [1.0, 0.6], [9.0, 11.0], [1.5, 1.8], [10.0, 2.0], [9.0, 3.0]] }
-- output { [[1.1666666666666667, 1.4666666666666668], [9.0, 2.3333333333333335], [7.333333333333333, 9.0]]
--          [0i64, 1i64, 2i64, 2i64, 0i64, 2i64, 0i64, 1i64, 1i64] }
-- input { 3i64 1 [[1.0], [2.0]] } error:
entry main [n] [d] (k: i64) (rounds: i32) (points: [n][d]f64) : ([k][d]f64, [n]i64) =
  let centres =
    loop centres = take k points for _i < rounds do
      means centres points (map (nearest centres) points)
  in (centres, map (nearest centres) points)
