-- An accumulator whose size is an expression, handed through a function: it keeps the size that it has, as nothing can reshape it.
-- ==
-- input { 2i64 3i64 [10f64, 20, 30, 40, 50, 60] [[1f64, 2, 3], [4, 5, 6]] }
-- output { [1f64, 4, 2, 5, 3, 6] }

type~ acc 't = intrinsics.acc t

def write_column [n] (rows: i64) (width: i64) (into: *acc ([rows * width]f64)) (j: i64, column: [n]f64) : *acc ([rows * width]f64) =
  loop into for i < n do intrinsics.acc_write into (i * rows + j) column[i]

entry main (rows: i64) (width: i64) (into: *[rows * width]f64) (columns: [rows][width]f64) : *[rows * width]f64 =
  intrinsics.scatter_stream into (write_column rows width) (zip (iota rows) columns) :> *[rows * width]f64
