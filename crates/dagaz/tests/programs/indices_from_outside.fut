-- Indices whose type alone says that they are some: arguments, coercions, declared index types.

-- ==
-- entry: argument
-- input { [1.0, 2.0, 3.0] 2i64 } output { 3.0 }
-- input { [1.0, 2.0, 3.0] 3i64 } error: The number 3 is not an index: there are 3
-- input { [1.0, 2.0, 3.0] 70000000000i64 } error: The number 70000000000 is not an index: there are 3
-- input { [1.0, 2.0, 3.0] -1i64 } error: The number -1 is not an index: there are 3
entry argument [n] (x: [n]f64) (i: idx [n]) : f64 = x[i]

-- ==
-- entry: written
-- input { [1.0, 2.0, 3.0] 1i64 } output { [1.0, 9.0, 3.0] }
-- input { [1.0, 2.0, 3.0] 3i64 } error: The number 3 is not an index: there are 3
entry written [n] (x: [n]f64) (i: idx [n]) : [n]f64 = (copy x) with [i] = 9

-- ==
-- entry: arguments
-- input { [1.0, 2.0, 3.0] 1i64 [0i64, 2i64] [1i64, 1i64] } output { 10.0 }
-- input { [1.0, 2.0, 3.0] 1i64 [0i64, 2i64] [1i64, 3i64] } error: The number 3 is not an index: there are 3
-- input { [1.0, 2.0, 3.0] 1i64 [-2i64, 2i64] [1i64, 1i64] } error: The number -2 is not an index: there are 3
entry arguments (x: [3]f64) (p: (idx [3], {a: [2](idx [3]), b: [](idx [3])})) : f64 =
  x[p.0] + f64.sum (map (\i -> x[i]) p.1.a) + f64.sum (for j -> x[p.1.b[j]])

-- ==
-- entry: coerced
-- input { [1.0, 2.0, 3.0] [0i64, 2i64] } output { [1.0, 3.0] }
-- input { [1.0, 2.0, 3.0] [0i64, 5i64] } error: The number 5 is not an index: there are 3
-- input { [1.0, 2.0, 3.0] empty([0]i64) } output { empty([0]f64) }
entry coerced [n] [m] (x: [n]f64) (ks: [m]i64) : [m]f64 =
  let is = ks :> [m](idx [n])
  in map (\i -> x[i]) is

-- ==
-- entry: coerced_rows
-- input { [[0i64, 1i64], [1i64, 2i64]] } error: The number 2 is not an index: there are 2
-- input { [[0i64, 1i64], [1i64, 0i64]] } output { 21.0 }
entry coerced_rows (ks: [2][2]i64) : f64 =
  let x = [5.0, 6.0]
  let is = ks :> [2][2](idx [2])
  in f64.sum (map (\row -> f64.sum (map (\i -> x[i]) row)) is) - 1

type event = #at (idx [3]) | #never

-- A payload that is not there does not matter.
-- ==
-- entry: coerced_sum
-- input { true 1i64 } output { 2.0 }
-- input { true 4i64 } error: The number 4 is not an index: there are 3
-- input { false 4i64 } output { 0.0 }
entry coerced_sum (b: bool) (k: i64) : f64 =
  let e : #at i64 | #never = if b then #at k else #never
  let e = e :> event
  in match e case #at i -> [1.0, 2.0, 3.0][i] case #never -> 0

index type lower [n] of (i64, i64) = {
  size = n * (n + 1) / 2,
  ordinal = \(i, j) -> i * (i + 1) / 2 + j,
  from_ordinal = \k ->
    let i = i64.f64 ((f64.sqrt (8 * f64.i64 k + 1) - 1) / 2)
    in (i, k - i * (i + 1) / 2) }

-- A pair may have the number of an index without being one.
-- ==
-- entry: coerced_declared
-- input { 2i64 1i64 } output { 2.0 }
-- input { 1i64 2i64 } error: The value with the number 3 is not an index: there are 6
-- input { 3i64 0i64 } error: The value with the number 6 is not an index: there are 6
entry coerced_declared (i: i64) (j: i64) : f64 =
  let t : [lower [3]]f64 = for (i, j) -> f64.i64 (i * j)
  in t[((i, j) :> lower [3])]

-- ==
-- entry: declared_argument
-- input { 2i64 1i64 } output { 2.0 }
-- input { 0i64 1i64 } error: The value with the number 1 is not an index: there are 6
entry declared_argument (p: lower [3]) : f64 =
  let t : [lower [3]]f64 = for (i, j) -> f64.i64 (i * j)
  in t[p]

-- Right for the sizes that are tried out at its declaration.
index type wrong [n] of i64 = {
  size = n,
  ordinal = \i -> if i > 50 then i + 100000000 else i,
  from_ordinal = \k -> k }

-- ==
-- entry: wrong_ordinal
-- input { 40i64 } output { 780.0 }
-- input { 60i64 } error: out of bounds
entry wrong_ordinal (n: i64) : f64 =
  let x : [wrong [n]]f64 = for i -> f64.i64 i
  in f64.sum (map (\i -> x[i]) (for (i: wrong [n]) -> i))

-- ==
-- entry: wrong_ordinal_of_pair
-- input { 40i64 } output { 1560.0 }
-- input { 60i64 } error: The ordinal 100000051 of this index is not below the size 60 of its type
entry wrong_ordinal_of_pair (n: i64) : f64 =
  let x : [(wrong [n], bool)]f64 = for (i, b) -> f64.i64 i
  in f64.sum (map (\i -> x[(i, true)] + x[(i, false)]) (for (i: wrong [n]) -> i))

-- ==
-- entry: truth
-- input { [true, false, true] } output { [1i64, 2i64] }
entry truth (cs: []bool) : [2]i64 =
  let counts : [bool]i64 = yield_accum (\h -> for i -> h[cs[i]] += 1)
  in counts :> [2]i64

-- ==
-- entry: pairs_with_truth
-- input { [5.0, 6.0] } output { [0.0, 0.0, 5.0, 6.0] }
entry pairs_with_truth (x: [2]f64) : [4]f64 =
  let y : [(bool, 2)]f64 = for (b, i) -> if b then x[i] else 0
  in y :> [4]f64

-- ==
-- entry: of_nothing
-- input { } output { 7i64 [7i64] }
entry of_nothing : (i64, [1]i64) =
  let x : [()]i64 = for _u -> 7
  in (x[()], copy x :> [1]i64)

-- What is read in front of an accumulation stays behind the check of its index.
-- ==
-- entry: read_behind_its_check
-- input { [1.0, 2.0, 3.0] 1i64 } output { 1.0 }
-- input { [1.0, 2.0, 3.0] 70000000000i64 } error: The number 70000000000 is not that of an index: there are 3
entry read_behind_its_check [n] (x: [n]f64) (k: i64) : f64 =
  f64.sum (yield_accum (\h -> h[head (filter (\p -> x[p] > 0) (replicate 2 (from_ordinal k)))] += 1) : [n]f64)
