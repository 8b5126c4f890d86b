-- | The dot product of two vectors, and what it is good for.
--
-- Try it:
--
--     dagaz run examples/dotprod.fut --arg '[1, 2, 3]' --arg '[4, 5, 6]'

-- | Multiply element by element and add everything up. Both vectors have the size `n`, which the compiler checks
-- wherever this is called.
def dotprod [n] (xs: [n]f64) (ys: [n]f64) : f64 =
  reduce (+) 0 (map2 (*) xs ys)

-- Orthogonal vectors have the product zero.
-- ==
-- input { [1.0, 2.0, 3.0] [4.0, 5.0, 6.0] } output { 32.0 }
-- input { [1.0, 0.0] [0.0, 1.0] } output { 0.0 }
-- input { empty([0]f64) empty([0]f64) } output { 0.0 }
-- input { [1.0] [1.0, 2.0] } error: must have size
entry main [n] (xs: [n]f64) (ys: [n]f64) : f64 = dotprod xs ys

-- | The length of a vector.
-- ==
-- entry: norm
-- input { [3.0, 4.0] } output { 5.0 }
entry norm (xs: []f64) : f64 = f64.sqrt (dotprod xs xs)

-- | A matrix times a vector: the dot product with every row.
-- ==
-- entry: matvec
-- input { [[1.0, 2.0], [3.0, 4.0]] [10.0, 1.0] } output { [12.0, 34.0] }
entry matvec [n] [m] (a: [n][m]f64) (x: [m]f64) : [n]f64 = map (dotprod x) a
