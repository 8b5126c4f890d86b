-- Systems, determinants and Cholesky: derivatives by their laws, and values at edges.

import "std/linalg"
import "matrix_laws"

-- ==
-- entry: triangular_laws
-- input { 1i64 } output { [true, true, true] [true, true, true] }
-- input { 4i64 } output { [true, true, true] [true, true, true] }
entry triangular_laws (n: i64) =
  let a = definite n 1
  in ( laws (\a -> l.solve_lower_many a (map (map f64.sin) a)) a 3
     , laws (\a -> row (l.solve_upper a (map f64.cos a[0]))) a 4 )

-- ==
-- entry: system_laws
-- input { 1i64 } output { [true, true, true] [true, true] [true, true] [true, true, true] }
-- input { 4i64 } output { [true, true, true] [true, true] [true, true] [true, true, true] }
entry system_laws (n: i64) =
  let a = map2 (map2 (+)) (sample n n 5) (l.identity n)
  in ( laws (\a -> l.solve_many a (map (map f64.sin) a)) a 3
     , first_laws l.inverse a 4
     , first_laws (\a -> one_row (l.det a)) a 5
     , laws (\a -> one_row (l.logdet a)) a 6 )

-- ==
-- entry: cholesky_laws
-- input { 1i64 } output { [true, true, true] true }
-- input { 4i64 } output { [true, true, true] true }
entry cholesky_laws (n: i64) =
  let a = definite n 2
  let x = l.cholesky_solve (l.cholesky a) (l.matvec a (map noise (iota n)))
  in (laws l.cholesky a 7, and (map2 close x (map noise (iota n))))

-- Over a batch: a map of what there is for one.
-- ==
-- entry: batch
-- tolerance: 1e-12
-- input { [[[2.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]]] [[2.0, 2.0], [3.0, 1.0]] } output { [[1.0, 0.5], [2.0, 1.0]] [8.0, 1.0] }
entry batch [b] [n] (as: [b][n][n]f64) (bs: [b][n]f64) = (map2 l.solve as bs, map l.det as)

-- Nothing at all, norms at zero and of large numbers, and singular matrices.
-- ==
-- entry: nothing
-- input { 0i64 } output { 0i64 1.0 0.0 0i64 }
entry nothing (n: i64) =
  let a = l.identity n
  in (length (l.solve a (replicate n 0)), l.det a, l.logdet a, length (l.eigh a).values)

-- ==
-- entry: norms
-- input { [0.0, 0.0] } output { 0.0 [0.0, 0.0] }
-- input { [3e200, -4e200] } output { 5e200 [0.6, -0.8] }
-- input { [3e-200, 4e-200] } output { 5e-200 [0.6, 0.8] }
-- input { [f64.inf, 1.0] } output { f64.inf [1.0, 0.0] }
-- input { [f64.nan, 1.0] } output { f64.nan [f64.nan, f64.nan] }
entry norms (x: []f64) = (l.norm x, grad l.norm x)

-- ==
-- entry: singular
-- input { [[1.0, 2.0], [2.0, 4.0]] } output { 0.0 -f64.inf [5.0, 0.0] }
-- input { [[0.0, 0.0], [0.0, 0.0]] } output { 0.0 -f64.inf [0.0, 0.0] }
entry singular (a: [][]f64) = (l.det a, l.logdet a, (l.svd a).s)

-- ==
-- entry: wide
-- input { [[1.0, 2.0]] } error: Assertion
entry wide (a: [][]f64) = (l.qr a).r
