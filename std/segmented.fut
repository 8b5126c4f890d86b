-- | Operations on arrays that are cut into segments of varying sizes.
--
-- Segments are told by their sizes (`[s]i64`, with a zero for an empty segment) or by flags (`[n]bool`, true where a segment starts; an
-- empty segment has no flag). The element before the first flag belongs to a segment of its own.

-- | Where every segment starts: the sum of the sizes before it.
--
-- > segment_starts [2, 0, 3]
-- [0i64, 2i64, 2i64]
def segment_starts [s] (sizes: [s]i64) : [s]i64 = exscan (+) 0 sizes

-- | The number of the segment of every element.
--
-- > segment_indices [2, 0, 3]
-- [0i64, 0i64, 2i64, 2i64, 2i64]
def segment_indices [s] (sizes: [s]i64) : ?[n].[n]i64 =
  let n = i64.sum sizes
  -- Several segments may start at one place, if all but the last are empty.
  let first = hist i64.max 0 n (map2 (\start size -> if size > 0 then start else -1) (segment_starts sizes) sizes) (iota s)
  in scan i64.max 0 first

-- | For every element, how many of its segment are before it.
--
-- > segment_iota [2, 0, 3]
-- [0i64, 1i64, 0i64, 1i64, 2i64]
def segment_iota [s] (sizes: [s]i64) : ?[n].[n]i64 =
  let starts = segment_starts sizes
  let segments = segment_indices sizes
  in map2 (\i segment -> i - starts[segment]) (indices segments) segments

-- | Flags of segments by their sizes.
--
-- > flags_of_sizes [2, 0, 3]
-- [true, false, true, false, false]
def flags_of_sizes [s] (sizes: [s]i64) : ?[n].[n]bool =
  map (== 0) (segment_iota sizes)

-- | Sizes of segments by their flags; none of them is empty.
--
-- > sizes_of_flags [true, false, true, false, false]
-- [2i64, 3i64]
def sizes_of_flags [n] (flags: [n]bool) : ?[s].[s]i64 =
  let starts = filter (\i -> i == 0 || flags[i]) (iota n)
  let s = length starts
  in tabulate s (\j -> (if j + 1 < s then starts[j + 1] else n) - starts[j])

-- | As `scan`, beginning anew at every flag.
--
-- > segmented_scan (+) 0 [true, false, true, false] [1, 2, 3, 4]
-- [1i32, 3i32, 3i32, 7i32]
def segmented_scan [n] 'a (op: a -> a -> a) (ne: a) (flags: [n]bool) (xs: [n]a) : [n]a =
  -- What is on the left of a flag is dropped: an associative operator, if `op` is one.
  let combine (x, x_flag) (y, y_flag) = (if y_flag then y else op x y, x_flag || y_flag)
  in map (.0) (scan combine (ne, false) (zip xs flags))

-- | As `segmented_scan`, without the element itself: the first of a segment is the neutral element.
--
-- > segmented_exscan (+) 0 [true, false, true, false] [1, 2, 3, 4]
-- [0i32, 1i32, 0i32, 3i32]
def segmented_exscan [n] 'a (op: a -> a -> a) (ne: a) (flags: [n]bool) (xs: [n]a) : [n]a =
  let sums = segmented_scan op ne flags xs
  in tabulate n (\i -> if i == 0 || flags[i] then ne else sums[i - 1])

-- | What an associative operator makes of every segment, by flags.
--
-- > segmented_reduce (+) 0 [true, false, true, false] [1, 2, 3, 4]
-- [3i32, 7i32]
def segmented_reduce [n] 'a (op: a -> a -> a) (ne: a) (flags: [n]bool) (xs: [n]a) : ?[s].[s]a =
  let sums = segmented_scan op ne flags xs
  let ends = filter (\i -> i + 1 == n || flags[i + 1]) (iota n)
  in map (\i -> sums[i]) ends

-- | What an associative operator makes of every segment, by sizes that sum to the size of the array; the neutral element
-- for an empty one.
--
-- > segmented_reduce_sizes (+) 0 [2, 0, 3] [1, 2, 3, 4, 5]
-- [3i32, 0i32, 12i32]
def segmented_reduce_sizes [n] [s] 'a (op: a -> a -> a) (ne: a) (sizes: [s]i64) (xs: [n]a) : [s]a =
  let flags = flags_of_sizes sizes :> [n]bool
  let sums = segmented_scan op ne flags xs
  in map2 (\start size -> if size > 0 then sums[start + size - 1] else ne) (segment_starts sizes) sizes

-- | Every element as often as is said beside it.
--
-- > segmented_replicate [2, 0, 3] ['a', 'b', 'c']
-- [97i32, 97i32, 99i32, 99i32, 99i32]
def segmented_replicate [s] 'a (counts: [s]i64) (xs: [s]a) : ?[n].[n]a =
  map (\segment -> xs[segment]) (segment_indices counts)

-- | For every element `x` as many elements `get x 0`, `get x 1`, … as `size x` says, all in a row: nested parallelism of irregular
-- sizes, made flat.
--
-- > expand (\x -> x) (\x i -> 10 * x + i) [2, 0, 3]
-- [20i64, 21i64, 30i64, 31i64, 32i64]
def expand [s] 'a 'b (size: a -> i64) (get: a -> i64 -> b) (xs: [s]a) : ?[n].[n]b =
  let sizes = map size xs
  let segments = segment_indices sizes
  let [n] (inner: [n]i64) = segment_iota sizes
  in map2 (\segment i -> get xs[segment] i) (segments :> [n]i64) inner

-- | As `expand`, with what an associative operator makes of the elements of each.
--
-- > expand_reduce (\x -> x) (\x i -> x + i) (+) 0 [2, 0, 3]
-- [5i64, 0i64, 12i64]
def expand_reduce [s] 'a 'b (size: a -> i64) (get: a -> i64 -> b) (op: b -> b -> b) (ne: b) (xs: [s]a) : [s]b =
  segmented_reduce_sizes op ne (map size xs) (expand size get xs)
