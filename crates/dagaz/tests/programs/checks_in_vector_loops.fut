-- Loops for vector units go on after a check has failed, and fail when they are done; nothing is read there that is not there.

-- ==
-- entry: elements
-- input { [[1.0, 2.0], [3.0, 4.0]] [0i64, 1i64, 0i64, 1i64, 0i64, 1i64, 0i64, 1i64, 1i64, 0i64] }
-- output { [3.0, 7.0, 3.0, 7.0, 3.0, 7.0, 3.0, 7.0, 7.0, 3.0] }
-- input { [[1.0, 2.0], [3.0, 4.0]] [0i64, 1i64, 0i64, 1i64, 100000000000i64, 1i64, 0i64, 1i64, 1i64, 0i64] }
-- error: Index \[100000000000, 0\] out of bounds for array of shape \[2\]\[2\]
-- input { empty([0][2]f64) [0i64, 1i64, 0i64, 1i64, 100000000000i64, 1i64, 0i64, 1i64, 1i64, 0i64] }
-- error: Index \[0, 0\] out of bounds for array of shape \[0\]\[2\]
entry elements [n][k] (xs: [n][2]f64) (is: [k]i64) : [k]f64 = map (\i -> xs[i, 0] + xs[i, 1]) is

-- ==
-- entry: rows
-- input { [[1.0, 2.0], [3.0, 4.0]] [0i64, 1i64, 0i64, 1i64, 0i64, 1i64, 0i64, 1i64, 1i64, 0i64] }
-- output { [[3.0, 2.0], [7.0, 4.0], [3.0, 2.0], [7.0, 4.0], [3.0, 2.0], [7.0, 4.0], [3.0, 2.0], [7.0, 4.0], [7.0, 4.0], [3.0, 2.0]] }
-- input { [[1.0, 2.0], [3.0, 4.0]] [0i64, 1i64, 0i64, 1i64, 100000000000i64, 1i64, 0i64, 1i64, 1i64, 0i64] }
-- error: Index \[100000000000\] out of bounds for array of shape \[2\]\[2\]
-- input { empty([0][2]f64) [0i64, 1i64, 0i64, 1i64, 100000000000i64, 1i64, 0i64, 1i64, 1i64, 0i64] }
-- error: Index \[0\] out of bounds for array of shape \[0\]\[2\]
entry rows [n][k] (xs: [n][2]f64) (is: [k]i64) : [k][2]f64 = map (\i -> let r = xs[i] in [r[0] + r[1], r[1]]) is
