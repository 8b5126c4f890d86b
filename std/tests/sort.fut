-- Sorts put elements in order, keep equal ones in theirs, and have the derivative of a permutation.

import "std/sort"

-- ==
-- entry: integers
-- input { [3, -1, 2147483647, 0, -2147483648, 3] }
-- output { [-2147483648, -1, 0, 3, 3, 2147483647] [2147483647, 3, 3, 0, -1, -2147483648] [4i64, 1i64, 3i64, 0i64, 5i64, 2i64] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i64) }
entry integers (xs: []i32) = (sort_i32.sort xs, sort_i32.sort_descending xs, sort_i32.argsort xs)

-- ==
-- entry: floats
-- input { [2.5, f64.nan, -0.0, f64.inf, 0.0, -f64.inf, -3.0] }
-- output { [-f64.inf, -3.0, 0.0, 0.0, 2.5, f64.inf, f64.nan] [5i64, 6i64, 2i64, 4i64, 0i64, 3i64, 1i64] }
entry floats (xs: []f64) = (sort_f64.sort xs, sort_f64.argsort xs)

-- ==
-- entry: single
-- input { [2.5f32, f32.nan, 0.0f32, f32.inf, -f32.inf, -3.0f32] } output { [-f32.inf, -3.0f32, 0.0f32, 2.5f32, f32.inf, f32.nan] }
entry single (xs: []f32) = sort_f32.sort xs

-- Every type, against a sort by comparison.
-- ==
-- property: as_i8 as_i16 as_i64 as_u8 as_u16 as_u32 as_u64

#[prop] entry as_i8 (xs: []i8) = sort_i8.sort xs == merge_sort (<=) xs
#[prop] entry as_i16 (xs: []i16) = sort_i16.sort xs == merge_sort (<=) xs
#[prop] entry as_i64 (xs: []i64) = sort_i64.sort xs == merge_sort (<=) xs
#[prop] entry as_u8 (xs: []u8) = sort_u8.sort xs == merge_sort (<=) xs
#[prop] entry as_u16 (xs: []u16) = sort_u16.sort xs == merge_sort (<=) xs
#[prop] entry as_u32 (xs: []u32) = sort_u32.sort xs == merge_sort (<=) xs
#[prop] entry as_u64 (xs: []u64) = sort_u64.sort xs == merge_sort (<=) xs

-- Numbers with many equal ones among them, of all lengths around those of runs and chunks.
local
def scrambled (n: i64) (range: i64) : [n]i64 = tabulate n (\i -> (i * 7919 + i * i * 31) % range)

-- A sort is stable if positions are in order where values are equal.
local
def is_stable [n] (xs: [n]i64) (order: [n]i64) : bool =
  and (tabulate n (\i -> i == 0 || xs[order[i - 1]] < xs[order[i]]
                         || (xs[order[i - 1]] == xs[order[i]] && order[i - 1] < order[i])))

-- ==
-- entry: sizes
-- input { [0i64, 1i64, 2i64, 63i64, 64i64, 65i64, 128i64, 129i64, 200i64, 1023i64, 1025i64] } output { true }
-- input { [5000i64, 8193i64] } output { true }
entry sizes (ns: []i64) =
  let right (n: i64) =
    let xs = scrambled n 97
    in is_stable xs (sort_i64.argsort xs) && is_stable xs (argsort_by (<=) xs)
  in loop good = true for n in ns do good && right n

-- ==
-- entry: pairs
-- input { [2, 1, 2, 1] } output { [1, 1, 2, 2] [1i64, 3i64, 0i64, 2i64] }
entry pairs [n] (xs: [n]i32) =
  unzip (merge_sort (\(a, _) (b, _) -> a <= b) (zip xs (iota n)))

-- ==
-- entry: by_key
-- input { [31, 12, 22, 41] } output { [31, 41, 12, 22] [41, 31, 22, 12] }
entry by_key (xs: []i32) =
  (merge_sort_by_key (\x -> x % 10) (<=) xs, sort_i32.sort_by_key (\x -> -x) xs)

-- ==
-- entry: top
-- input { 3i64 [4.0, 9.0, 1.0, 9.0, 7.0] } output { [9.0, 9.0, 7.0] [1i64, 3i64, 4i64] }
-- input { 0i64 [4.0] } output { empty([0]f64) empty([0]i64) }
-- input { 2i64 [4.0] } error: out of bounds
entry top (k: i64) (xs: []f64) = sort_f64.top_k k xs

-- ==
-- entry: distinct
-- input { [3, 1, 3, 2, 3] } output { [1, 2, 3] [1i64, 1i64, 3i64] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i64) }
entry distinct (xs: []i32) = sort_i32.unique xs

-- ==
-- entry: ranks
-- input { [30, 10, 20, 10] } output { [3i64, 0i64, 2i64, 1i64] }
entry ranks (xs: []i32) = sort_i32.rank xs

-- ==
-- entry: searched
-- input { [1, 3, 3, 5] [0, 1, 3, 4, 9] } output { [0i64, 0i64, 1i64, 3i64, 4i64] [0i64, 1i64, 3i64, 3i64, 4i64] }
-- input { empty([0]i32) [1] } output { [0i64] [0i64] }
entry searched (xs: []i32) (ys: []i32) =
  (map (searchsorted_left (<=) xs) ys, map (searchsorted_right (<=) xs) ys)

-- ==
-- entry: derivative
-- input { [3.0, -1.0, 2.0] [10.0, 20.0, 30.0] }
-- output { [30.0, 10.0, 20.0] [20.0, 30.0, 10.0] [30.0, 10.0, 20.0] [0.0, 0.0, 1.0] [0.0, 0.0, 20.0] }
entry derivative [n] (xs: [n]f64) (weights: [n]f64) =
  ( vjp sort_f64.sort xs weights
  , jvp sort_f64.sort xs weights
  , vjp (merge_sort (<=)) xs weights
  , grad sort_f64.lower_median xs
  , vjp (\xs -> (sort_f64.top_k 2 xs).0) xs (copy (take 2 weights) with [0] = 0) )

-- The sum of sorted squares times their places, differentiated twice: a diagonal.
-- ==
-- entry: second
-- input { [3.0, -1.0, 2.0] } output { [[4.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]] }
entry second [n] (xs: [n]f64) =
  hessian (\xs -> f64.sum (map2 (\x i -> x * x * f64.i64 i) (sort_f64.sort xs) (iota n))) xs
