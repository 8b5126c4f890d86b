-- Effects as in "Getting to the Point" (Paszke et al., 2021): sections 2.3 and 6.1.3.

-- | Section 2.3.1: a sum as state, one element after the other.
-- ==
-- entry: sum_as_state
-- input { [1.0, 2.0, 3.5] } output { 6.5 }
-- input { empty([0]f64) } output { 0.0 }
entry sum_as_state [n] (x: [n]f64) : f64 =
  let (_, total) = run_state 0 (\ref -> for i -> ref := get ref + x[i])
  in total

-- | Section 2.3.2: a sum as accumulation, in parallel.
-- ==
-- entry: sum_as_accumulation
-- input { [1.0, 2.0, 3.5] } output { 6.5 }
-- input { empty([0]f64) } output { 0.0 }
entry sum_as_accumulation [n] (x: [n]f64) : f64 =
  (run_accum (\total -> for i -> total += x[i])).1

-- | Section 2.3.2: accumulation in any vector space; here, pairs of a number and a vector.
-- ==
-- entry: vector_space
-- input { [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] } output { 21.0 [9.0, 12.0] }
entry vector_space [n][m] (x: [n][m]f64) : (f64, [m]f64) =
  yield_accum (\h -> for i -> (h.1 += x[i]; h.0 += f64.sum x[i]))

-- | Section 2.3.2: accumulation with a monoid of one's own, here the largest element and where it is.
-- ==
-- entry: user_monoid
-- input { [3.0, 7.0, 1.0, 7.0] } output { 7.0 1i64 }
entry user_monoid [n] (x: [n]f64) : (f64, i64) =
  let first_of_largest (a, i) (b, j) : (f64, i64) = if a > b || (a == b && i < j) then (a, i) else (b, j)
  in yield_accum_with first_of_largest (-f64.inf, i64.highest) (\best -> for i -> best += (x[i], i))

-- | Section 2.3.3: an element of what a reference refers to. Bins are an index set, so no index is checked.
-- ==
-- entry: count_colours
-- input { [0i64, 2i64, 2i64, 1i64, 2i64] } output { [1i64, 1i64, 3i64] }
type colour = #cyan | #magenta | #yellow

def histogram [n] (x: [n]colour) : [colour]i64 =
  (run_accum (\hist -> for i -> hist[x[i]] += 1)).1

entry count_colours [n] (numbers: [n]i64) : [3]i64 =
  histogram (for i -> from_ordinal numbers[i]) :> [3]i64

-- | Section 2.3.3: slices of slices take nested arrays apart: Gaussian elimination, row by row, in place.
-- ==
-- entry: determinant
-- input { [[2.0, 1.0], [4.0, 5.0]] } output { 6.0 }
-- input { [[1.0, 2.0, 3.0], [2.0, 5.0, 7.0], [3.0, 5.0, 6.0]] } output { -2.0 }
def subtract_row [n][m] (a: state ([n][m]f64)) (from: i64) (pivot: i64) : () =
  let factor = get a[from][pivot] / get a[pivot][pivot]
  in loop () for j < m do (a[from][j] := get a[from][j] - factor * get a[pivot][j])

entry determinant [n] (x: [n][n]f64) : f64 =
  let upper = yield_state x (\a ->
    loop () for pivot < n do
      loop () for k < n - pivot - 1 do subtract_row a (pivot + 1 + k) pivot)
  in f64.product (for i -> upper[i][i])

-- | Section 6.1.3: a complete reduction, where the accumulator is never indexed.
-- ==
-- entry: complete_reduction
-- input { [1.0, 2.0, 3.0] } output { 6.0 }
entry complete_reduction [n] (values: [n]f64) : f64 =
  yield_accum (\acc -> for i -> acc += values[i])

-- | Section 6.1.3: a regular segmented reduction, where it is indexed by some of the loops' indices.
-- ==
-- entry: segmented_reduction
-- input { [[1.0, 2.0], [3.0, 4.0]] } output { [3.0, 7.0] }
entry segmented_reduction [n][m] (values: [n][m]f64) : [n]f64 =
  yield_accum (\acc -> for i j -> acc[i] += values[i, j])

-- | Section 6.1.3: an irregular segmented reduction, where the indices come from data.
-- ==
-- entry: irregular_reduction
-- input { [1i64, 0i64, 1i64, 3i64] } output { [1i64, 2i64, 0i64, 1i64] }
-- input { [4i64] } error: out of bounds
entry irregular_reduction [n] (classes: [n]i64) : [4]i64 =
  yield_accum (\hist -> for i -> hist[classes[i]] += 1)

-- | Section 5: all of these have derivatives that are as parallel as they are.
-- ==
-- entry: gradients
-- input { [1.0, 2.0, 3.0] } output { [1.0, 1.0, 1.0] [1.0, 1.0, 1.0] [2.0, 4.0, 6.0] }
entry gradients [n] (x: [n]f64) : ([n]f64, [n]f64, [n]f64) =
  let squares (x: [n]f64) : f64 = yield_accum (\acc -> for i -> acc += x[i] * x[i])
  in (grad sum_as_state x, grad sum_as_accumulation x, grad squares x)
