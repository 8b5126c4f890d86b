-- All products of the first i matrices of a sequence, which are two by two: a scan with an operator that is associative and
-- nothing more. The objective is half the sum of squares of all of them.
-- ==
-- entry: objective
-- input { [[1f64, 2, 0, 1], [0.5, 1, -1, 0], [1, 1, 1, 2]] }
-- output { 6.375f64 }

-- ==
-- entry: derivative
-- input { [[1f64, 2, 0, 1], [0.5, 1, -1, 0], [1, 1, 1, 2]] }
-- output { [[1.75f64, 3.5, -4.5, 4], [-1.5, 1.5, -6, 0], [1.75, 0.25, -0.5, 0.5]] }

type matrix = {a: f64, b: f64, c: f64, d: f64}

def times (x: matrix) (y: matrix) : matrix =
  { a = x.a * y.a + x.b * y.c, b = x.a * y.b + x.b * y.d
  , c = x.c * y.a + x.d * y.c, d = x.c * y.b + x.d * y.d }

def energy [n] (matrices: [n][4]f64) : f64 =
  map (\x -> {a = x[0], b = x[1], c = x[2], d = x[3]}) matrices
  |> scan times {a = 1, b = 0, c = 0, d = 1}
  |> map (\x -> 0.5 * (x.a * x.a + x.b * x.b + x.c * x.c + x.d * x.d))
  |> f64.sum

entry objective [n] (matrices: [n][4]f64) : f64 = energy matrices

entry derivative [n] (matrices: [n][4]f64) : [n][4]f64 = grad energy matrices
