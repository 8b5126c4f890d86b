-- Arrays by their indices, over all kinds of index sets.
type colour = #red | #green | #blue

-- ==
-- entry: taken_and_given
-- input { [1.0, 2.0, 3.0] } output { [2.0, 3.0, 4.0] }
-- input { [1.0, 2.0] } error: size
entry taken_and_given (x: [colour]f64) : [colour]f64 = map (+ 1) x

-- ==
-- entry: own_indices
-- input { [5.0, 5.0, 5.0] } output { [0i64, 1i64, 2i64] }
entry own_indices [n] (x: [n]f64) : [n](idx [n]) = indices_of x

-- ==
-- entry: sets_in_sets
-- input { [[1.0, 2.0], [3.0, 4.0]] } output { [0.0, 0.0, 1.0, 2.0, 2.0, 4.0, 0.0, 0.0, 3.0, 4.0, 6.0, 8.0] }
entry sets_in_sets [n] (x: [n][2]f64) : [((n, colour), 2)]f64 =
  for ((i, c), j) -> x[i, j] * f64.i64 (ordinal c)

-- ==
-- entry: nothing
-- input { } output { empty([0]i64) }
entry nothing : [(0, 3)]i64 = for (i, j) -> i + j

module doubled = {
  index type twice [n] of i64 = {size = 2 * n, ordinal = \i -> i, from_ordinal = \k -> k}
  def make [n] (x: [n]f64) : [twice [n]]f64 = for i -> x[i % n]
}

-- ==
-- entry: declared_in_a_module
-- input { [1.0, 2.0, 3.0] } output { [1.0, 2.0, 3.0, 1.0, 2.0, 3.0] 15.0 }
entry declared_in_a_module [n] (x: [n]f64) : ([]f64, f64) =
  let y : [doubled.twice [n]]f64 = for i -> f64.i64 i
  in (doubled.make x :> [2 * n]f64, f64.sum y)

-- ==
-- entry: in_order
-- input { [[1i64, 2i64], [3i64, 4i64]] } output { 1234i64 }
entry in_order [n][k] (x: [n][k]i64) : i64 =
  (run_state 0 (\s -> for (i, j) -> (s := get s * 10 + x[i,j]; get s))).1

-- ==
-- entry: gradient
-- input { [1.0, 2.0, 3.0] } output { [3.0, 4.0, 6.0] }
entry gradient (x: [colour]f64) : [colour]f64 = vjp (\x -> f64.sum (for c -> x[c] ** 2) + x[#red]) x 1

-- ==
-- entry: counted_by_pairs
-- input { [0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64] } output { [2i64, 1i64, 1i64, 1i64, 1i64, 1i64] }
entry counted_by_pairs [n] (xs: [n]i64) : [(2, colour)]i64 =
  yield_accum (\h -> for i -> h[(from_ordinal (xs[i] % 2), from_ordinal (xs[i] % 3))] += 1)

-- ==
-- entry: numbered_badly
-- input { [3i64] } error: is not that of an index
entry numbered_badly [n] (xs: [n]i64) : [n]i64 = for i -> ordinal (from_ordinal xs[i] : colour)

def compose 'k 'a 'b (f: a -> b) (x: [k]a) : [k]b = for i -> f x[i]

-- ==
-- entry: any_set
-- input { [1.0, 2.0, 3.0] } output { [2.0, 4.0, 6.0] [1.0, 2.0] }
entry any_set (x: [colour]f64) : ([colour]f64, [2]f64) = (compose (* 2) x, compose f64.sqrt [1, 4])

-- ==
-- entry: updated
-- input { [[1.0, 2.0], [3.0, 4.0]] } output { [1.0, 2.0, 3.0, 7.0] }
entry updated (x: [2][2]f64) : [4]f64 =
  let set [n] (y: *[(n, n)]f64) (i: idx [n]) : *[(n, n)]f64 = y with [(i, i)] = 7
  in set (for (i, j) -> x[i,j]) (from_ordinal 1) :> [4]f64

-- ==
-- entry: in_loops
-- input { [1.0, 2.0] } output { [1.0, 5.0] [1.0, 2.0] }
entry in_loops [n] (x: [n]f64) : ([n]f64, [n]f64) =
  (loop a = x for k < 3 do for i -> a[i] + f64.i64 (k * i), for i -> match i case 0 -> 1.0 case _ -> x[i])

type place [n] = #inside (idx [n]) (idx [2]) | #border

-- ==
-- entry: sums_with_payloads
-- input { [5.0, 6.0] } output { [5.0, 6.0, 6.0, 7.0, -1.0] [0i64, 1i64, 2i64, 3i64, 4i64] }
entry sums_with_payloads [n] (x: [n]f64) : ([]f64, []i64) =
  let y : [place [n]]f64 = for p -> match p case #inside i j -> x[i] + f64.i64 j case #border -> -1
  in (y :> [2 * n + 1]f64, (for p -> let _ = y[p] in ordinal p) :> [2 * n + 1]i64)

index type below [n] of (i64, i64) = {
  size = n * (n - 1) / 2,
  ordinal = \(i, j) -> i * (i - 1) / 2 + j,
  from_ordinal = \k ->
    let i = loop i = 1 while (i + 1) * i / 2 <= k do i + 1
    in (i, k - i * (i - 1) / 2) }

-- The type of a name says what its array is indexed by.
-- ==
-- entry: named_with_type
-- input { [1.0, 2.0, 4.0] } output { [1.0, 3.0, 2.0] [1.0, 9.0, 4.0] }
entry named_with_type [n] (x: [n]f64) : ([]f64, []f64) =
  let distances : [below [n]]f64 = for (i, j) -> f64.abs (x[i] - x[j])
  let squares = (for (i, j) -> (x[i] - x[j]) ** 2) : [below [n]]f64
  in (distances :> [n * (n - 1) / 2]f64, squares :> [n * (n - 1) / 2]f64)
