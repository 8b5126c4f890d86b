-- QR, eigenvalues, singular values and exponentials: derivatives by their laws.

import "std/linalg"
import "matrix_laws"

-- ==
-- entry: qr_laws
-- input { 4i64 1i64 } output { [true, true] [true, true] }
-- input { 4i64 3i64 } output { [true, true] [true, true] }
entry qr_laws (m: i64) (n: i64) =
  let a = sample m n 8
  in (first_laws (\a -> let {q, r} = l.qr a in q ++ r) a 9, first_laws (\a -> row (l.lstsq a (map noise (iota m)))) a 9)

-- ==
-- entry: eigen_laws
-- input { 1i64 } output { [true, true] }
-- input { 4i64 } output { [true, true] }
entry eigen_laws (n: i64) =
  first_laws (\a -> let {values, vectors} = l.eigh a in vectors ++ [values]) (definite n 3) 10

-- Where eigenvalues are the same, sums of functions of all of them are still differentiable.
-- ==
-- entry: degenerate
-- tolerance: 1e-9
-- input { 3i64 } output { [[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]] [2.0, 2.0, 2.0] }
entry degenerate (n: i64) =
  let a = map (map (2 *)) (l.identity n)
  in (vjp (\a -> f64.sum (map (** 2) (l.eigh a).values)) a 1, (l.eigh a).values)

-- The exponential of a symmetric matrix by its eigenvalues, and a third derivative through them.
-- ==
-- entry: third
-- input { 3i64 } output { true }
entry third (n: i64) =
  let a = definite n 3
  let v = sample n n 4
  let f t = f64.sum (map (** 4) (l.eigh (map2 (map2 (\a v -> a + t * v)) a v)).values)
  let s = map2 (map2 (\x y -> (x + y) / 2)) v (transpose v)
  let g t = let b = map2 (map2 (\a v -> a + t * v)) a s in l.trace (l.matmul (l.matmul b b) (l.matmul b b))
  let d3 f = jvp (\t -> jvp (\t -> jvp f t 1) t 1) 0f64 1
  in close (d3 f) (d3 g)

-- ==
-- entry: singular_laws
-- input { 4i64 1i64 } output { [true, true] }
-- input { 4i64 3i64 } output { [true, true] }
-- input { 2i64 3i64 } output { [true, true] }
entry singular_laws (m: i64) (n: i64) =
  let values [m] [n] (a: [m][n]f64) =
    let {u, s, v} = l.svd a
    in row (flatten (transpose u) ++ flatten (transpose v) ++ s)
  let k = i64.min m n
  in first_laws (\a -> values a :> [1][k * m + k * n + k]f64) (sample m n 11) 12

-- ==
-- entry: exponential_laws
-- input { 1i64 1.0 } output { [true, true] }
-- input { 3i64 0.5 } output { [true, true] }
-- input { 3i64 12.0 } output { [true, true] }
entry exponential_laws (n: i64) (size: f64) =
  first_laws (\a -> map (map (/ f64.exp size)) (l.expm (map (map (size *)) a))) (sample n n 13) 14
