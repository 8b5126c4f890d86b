-- | The parallel operations on arrays.
--
-- In what follows, an operator given together with a neutral element must be associative, and the neutral
-- element must be neutral for it; otherwise the result may depend on how the work was divided.

import "zip"

-- | Apply a function to every element.
def map 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x =
  intrinsics.map f as

-- | Another name for `map`.
def map1 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x =
  intrinsics.map f as

-- | As `map`, over two arrays of the same size at once.
def map2 'a 'b [n] 'x (f: a -> b -> x) (as: [n]a) (bs: [n]b) : *[n]x =
  intrinsics.map (\(a, b) -> f a b) (zip2 as bs)

-- | As `map2`, over three arrays.
def map3 'a 'b 'c [n] 'x (f: a -> b -> c -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n]x =
  intrinsics.map (\(a, b, c) -> f a b c) (zip3 as bs cs)

-- | As `map2`, over four arrays.
def map4 'a 'b 'c 'd [n] 'x (f: a -> b -> c -> d -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n]x =
  intrinsics.map (\(a, b, c, d) -> f a b c d) (zip4 as bs cs ds)

-- | As `map2`, over five arrays.
def map5 'a 'b 'c 'd 'e [n] 'x (f: a -> b -> c -> d -> e -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n]x =
  intrinsics.map (\(a, b, c, d, e) -> f a b c d e) (zip5 as bs cs ds es)

-- | Combine all elements with an associative operator; the neutral element if there are none.
def reduce [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a =
  intrinsics.reduce op ne as

-- | As `reduce`, with an operator that is commutative as well, which leaves more freedom in dividing the work.
def reduce_comm [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a =
  intrinsics.reduce_comm op ne as

-- | Gather values into `k` bins: bin `j` combines all `as[i]` for which `is[i]` is `j`, and an empty bin holds
-- the neutral element. Positions out of bounds are ignored. The operator must be commutative as well.
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (as: [n]a) : *[k]a =
  intrinsics.hist_1d 1 (intrinsics.replicate k ne) op ne is as

-- | As `hist`, but add to the bins that are there already.
def reduce_by_index 'a [k] [n] (dest: *[k]a) (f: a -> a -> a) (ne: a) (is: [n]i64) (as: [n]a) : *[k]a =
  intrinsics.hist_1d 1 dest f ne is as

-- | As `reduce_by_index`, with bins in a matrix.
def reduce_by_index_2d 'a [k] [n] [m] (dest: *[k][m]a) (f: a -> a -> a) (ne: a) (is: [n](i64, i64)) (as: [n]a) : *[k][m]a =
  intrinsics.hist_2d 1 dest f ne is as

-- | As `reduce_by_index`, with bins in three dimensions.
def reduce_by_index_3d 'a [k] [n] [m] [l] (dest: *[k][m][l]a) (f: a -> a -> a) (ne: a) (is: [n](i64, i64, i64)) (as: [n]a) : *[k][m][l]a =
  intrinsics.hist_3d 1 dest f ne is as

-- | All partial results of a `reduce`: element `i` combines `as[0]` up to and with `as[i]`.
def scan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  intrinsics.scan op ne as

-- | Does the predicate hold of every element? True if there are none.
def all [n] 'a (f: a -> bool) (as: [n]a) : bool =
  intrinsics.reduce (\x y -> x && y) true (map f as)

-- | Does the predicate hold of some element? False if there are none.
def any [n] 'a (f: a -> bool) (as: [n]a) : bool =
  intrinsics.reduce (\x y -> x || y) false (map f as)

-- | An array of `k` times `x`, but with `vs[i]` at position `is[i]`. Positions out of bounds are ignored; where
-- different values are sent to one position, any one of them is kept.
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t =
  intrinsics.scatter (intrinsics.replicate k x) is vs

-- | As `spread`, but write into the array that is given.
def scatter 't [k] [n] (dest: *[k]t) (is: [n]i64) (vs: [n]t) : *[k]t =
  intrinsics.scatter dest is vs

-- | As `scan`, but element `i` leaves out `as[i]` itself; the first one is the neutral element.
def exscan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  intrinsics.scatter (intrinsics.replicate n ne)
                     (map (\i -> i intrinsics.+ 1) (0..1..<n))
                     (scan op ne as)

-- | As `scatter`, into a matrix.
def scatter_2d 't [k] [n] [l] (dest: *[k][n]t) (is: [l](i64, i64)) (vs: [l]t) : *[k][n]t =
  intrinsics.scatter_2d dest is vs

-- | As `scatter`, into three dimensions.
def scatter_3d 't [k] [n] [o] [l] (dest: *[k][n][o]t) (is: [l](i64, i64, i64)) (vs: [l]t) : *[k][n][o]t =
  intrinsics.scatter_3d dest is vs

-- One for an element that is to be counted, zero otherwise.
local
def count_if (flag: bool) : i64 = if flag then 1 else 0

-- | The elements of which the predicate holds, in order.
def filter [n] 'a (p: a -> bool) (as: [n]a) : *[]a =
  let flags = map p as
  let places = scan (+) 0 (map count_if flags)
  let kept = reduce_comm (+) 0 (map count_if flags)
  let targets = map2 (\flag place -> if flag then place - 1 else -1) flags places
  let packed = scatter (intrinsics.manifest as) targets as
  in packed[:kept]

-- | The elements of which the predicate holds, and the others, each in order.
def partition [n] 'a (p: a -> bool) (as: [n]a) : ?[k].([k]a, [n - k]a) =
  let flags = map p as
  let places = scan (+) 0 (map count_if flags)
  let k = reduce_comm (+) 0 (map count_if flags)
  -- Before element `i` there are `i - place` others, which come after all `k` elements that are kept.
  let target i flag place = if flag then place - 1 else k + i - place
  let packed = scatter (intrinsics.manifest as) (map3 target (0..1..<n) flags places) as
  in (packed[0:k], packed[k:n])

-- | The elements of which the first predicate holds, those of which only the second one does, and the others,
-- each in order.
def partition2 [n] 'a (p1: a -> bool) (p2: a -> bool) (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let first = map p1 as
  let second = map2 (\in_first a -> !in_first && p2 a) first as
  let add (a, b) (c, d) = (a + c, b + d)
  let counts = map2 (\f s -> (count_if f, count_if s)) first second
  let places = scan add (0, 0) counts
  let (k, l) = reduce_comm add (0, 0) counts
  let target i f s (in_first, in_second) =
    if f
    then in_first - 1
    else if s
    then k + in_second - 1
    else k + l + i - in_first - in_second
  let packed = scatter (intrinsics.manifest as) (map4 target (0..1..<n) first second places) as
  in ( packed[0:k]
     , packed[k:k + l] :> [l]a
     , packed[k + l:n] :> [n - k - l]a
     )

-- | Apply a function whose result varies in size to every element. The results are, in order: the size of every
-- segment, a flag at the start of each segment, the offset of every segment, all segments one after another, and
-- the second parts of the function's results.
def flatmap [n] 'a 'b 'c (f: a -> ?[k].([k]b, c)) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c) =
  intrinsics.flatmap f as

-- | As `flatmap`, for a function that gives an array alone.
def flatmap' [n] 'a 'b (f: a -> ?[k].[k]b) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (sizes, flags, offsets, elements, _) = flatmap (\x -> (f x, ())) as
  in (sizes, flags, offsets, elements)
