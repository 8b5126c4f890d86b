-- Segments of any sizes, empty ones among them, against the same by a loop over segments.

import "std/segmented"

-- ==
-- entry: numbering
-- input { [2i64, 0i64, 3i64, 0i64] }
-- output { [0i64, 2i64, 2i64, 5i64] [0i64, 0i64, 2i64, 2i64, 2i64] [0i64, 1i64, 0i64, 1i64, 2i64] [true, false, true, false, false] }
-- input { [0i64, 0i64] } output { [0i64, 0i64] empty([0]i64) empty([0]i64) empty([0]bool) }
-- input { empty([0]i64) } output { empty([0]i64) empty([0]i64) empty([0]i64) empty([0]bool) }
-- input { [0i64, 1i64] } output { [0i64, 0i64] [1i64] [0i64] [true] }
entry numbering (sizes: []i64) =
  (segment_starts sizes, segment_indices sizes, segment_iota sizes, flags_of_sizes sizes)

-- ==
-- entry: folds
-- input { [false, true, false, false, true] [1, 2, 3, 4, 5] }
-- output { [1, 2, 5, 9, 5] [0, 0, 2, 5, 0] [1, 9, 5] [1i64, 3i64, 1i64] }
-- input { empty([0]bool) empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) empty([0]i64) }
entry folds [n] (flags: [n]bool) (xs: [n]i32) =
  (segmented_scan (+) 0 flags xs, segmented_exscan (+) 0 flags xs, segmented_reduce (+) 0 flags xs, sizes_of_flags flags)

-- With an operator that does not commute: composition of the functions a x + b.
-- ==
-- property: as_by_a_loop

#[prop(gen(segments))]
entry as_by_a_loop [s] [n] (sizes: [s]i64, xs: [n](i64, i64)) =
  let op (a, b) (c, d) = (a * c, b * c + d)
  let fast = segmented_reduce_sizes op (1, 0) sizes xs
  let slow = map2 (\start size -> foldl op (1, 0) xs[start:start + size]) (segment_starts sizes) sizes
  in fast == slow

entry segments (size: i64) (seed: u64) : ([]i64, [](i64, i64)) =
  let noise i = i64.u64 (((seed + u64.i64 i) * 6364136223846793005) >> 33)
  let sizes = tabulate size (\i -> if noise i % 3 == 0 then 0 else noise (i + 1) % 4)
  in (sizes, tabulate (i64.sum sizes) (\i -> (noise i % 5 - 2, noise (i + 7) % 9)))

-- ==
-- entry: expanded
-- input { [2i64, 0i64, 3i64] } output { [20i64, 21i64, 30i64, 31i64, 32i64] [1i64, 0i64, 3i64] [2i64, 2i64, 3i64, 3i64, 3i64] }
entry expanded (xs: []i64) =
  ( expand id (\x i -> 10 * x + i) xs
  , expand_reduce id (\_ i -> i) (+) 0 xs
  , segmented_replicate xs xs )

-- ==
-- entry: wrong_sizes
-- input { [2i64] [1, 2, 3] } error: .
entry wrong_sizes (sizes: []i64) (xs: []i32) = segmented_reduce_sizes (+) 0 sizes xs

-- Products of segments: each element's derivative is the product of the others.
-- ==
-- entry: derivative
-- input { [2i64, 0i64, 3i64] [2.0, 3.0, 4.0, 5.0, 0.0] [1.0, 7.0, 10.0] } output { [3.0, 2.0, 0.0, 0.0, 200.0] [3.0, 0.0, 200.0] }
entry derivative [s] [n] (sizes: [s]i64) (xs: [n]f64) (weights: [s]f64) =
  let f = segmented_reduce_sizes (*) 1 sizes
  in (vjp f xs weights, map2 (*) weights (jvp f xs (tabulate n (\i -> f64.bool (i == 0 || i == 4)))))
