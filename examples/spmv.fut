-- | A sparse matrix times a vector. Rows differ in length, so the parallelism is over all entries at once and
-- a segmented scan adds up the rows.
--
-- Try it:
--
--     dagaz run examples/spmv.fut --arg '[0,2,2,3]' --arg '[0,2,1]' --arg '[1,2,3]' --arg '[10,20,30]'

-- | Sums of segments that start where a flag is set: a scan with an operator that forgets what is left of a flag.
def segmented_scan [n] 't (op: t -> t -> t) (ne: t) (flags: [n]bool) (xs: [n]t) : [n]t =
  let op' (flag_x, x) (flag_y, y) = (flag_x || flag_y, if flag_y then y else op x y)
  in (unzip (scan op' (false, ne) (zip flags xs))).1

-- | Compressed rows: the entries of row `i` are those from `starts[i]` up to `starts[i + 1]`, and each has a
-- column and a value. The type keeps the number of rows and of entries.
type matrix [rows] [entries] = {starts: [rows + 1]i64, columns: [entries]i64, values: [entries]f64}

def multiply [rows] [entries] [cols] (a: matrix [rows] [entries]) (x: [cols]f64) : [rows]f64 =
  let products = map2 (\column value -> value * x[column]) a.columns a.values
  let flags = spread entries false a.starts (replicate (rows + 1) true)
  let sums = segmented_scan (+) 0 flags products
  in tabulate rows (\i -> if a.starts[i] == a.starts[i + 1] then 0 else sums[a.starts[i + 1] - 1])

-- The second row is empty.
-- ==
-- input { [0i64, 2i64, 2i64, 3i64] [0i64, 2i64, 1i64] [1.0, 2.0, 3.0] [10.0, 20.0, 30.0] }
-- output { [70.0, 0.0, 60.0] }
-- input { [0i64, 1i64] [7i64] [1.0] [10.0] } error: out of bounds
entry main [n] [entries] [cols] (starts: [n]i64) (columns: [entries]i64) (values: [entries]f64) (x: [cols]f64) : []f64 =
  let rows = n - 1
  in multiply {starts = starts :> [rows + 1]i64, columns, values} x

-- | The matrix with 2 on the diagonal and -1 beside it, times the squares of 0, 1, 2, ….
-- Second differences of squares are -2, except at the edges.
-- ==
-- entry: laplace
-- input { 5i64 } output { [-1.0, -2.0, -2.0, -2.0, 23.0] }
entry laplace (n: i64) : [n]f64 =
  let row (i: i64) = filter (\(j, _) -> 0 <= j && j < n) [(i - 1, -1f64), (i, 2), (i + 1, -1)]
  let lengths = tabulate n (\i -> length (row i))
  let starts = [0] ++ scan (+) 0 lengths
  let (columns, values) = unzip (loop entries = [] for i < n do entries ++ row i)
  in multiply {starts = sized (n + 1) starts, columns, values} (tabulate n (\i -> f64.i64 (i * i)))
