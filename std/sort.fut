-- | Sorting, and what sorted arrays are good for.
--
-- Numbers are sorted by their digits, in time proportional to how many there are: `sort_f64.sort xs`, with a module for every type of
-- numbers. Everything else is merged by a comparison: `merge_sort (<=) xs`. All sorts are stable: what compares as equal stays in order.
-- In a float's order a NaN comes last, and the two zeros are equal. The derivative of sorted floats is by their permutation: each element
-- hands its tangent on to its place.

-- How many elements one sequential loop handles in a pass; the loops of a pass are parallel.
local
def chunk_size : i64 = 4096

-- The place of every element after a stable pass by digits below `bins`. A chunk counts its digits; sums over smaller digits, and over
-- earlier chunks for the same digit, say where its first element of each digit goes; and then it hands out the places in order.
local
def places_by_digit [n] (bins: i64) (digits: [n]i64) : [n]i64 =
  let chunk = i64.max 1 (i64.min n chunk_size)
  let chunks = (n + chunk - 1) / chunk
  let count c : [bins]i64 =
    loop counts = replicate bins 0 for i in c * chunk..<i64.min n ((c + 1) * chunk) do
      let d = digits[i]
      in counts with [d] = counts[d] + 1
  let counts = tabulate chunks count
  let starts = unflatten (exscan (+) 0 (flatten (transpose counts))) |> transpose
  let hand_out c : [chunk]i64 =
    let first = c * chunk
    let (_, places) =
      loop (next, places) = (copy starts[c], replicate chunk 0) for i in first..<i64.min n (first + chunk) do
        let d = digits[i]
        let place = next[d]
        in (next with [d] = place + 1, places with [i - first] = place)
    in places
  in take n (flatten (tabulate chunks hand_out))

-- The keys in order, and where each was. Digits are wide only where there are enough keys to pay for their counts.
local
def radix_sort_bits [n] (bits: i32) (keys: [n]u64) : ([n]u64, [n]i64) =
  let width = if n < 1024 then 4i32 else 8
  let pass (keys: [n]u64) (order: [n]i64) (number: i32) : ([n]u64, [n]i64) =
    let digit key = i64.u64 ((key >> u64.i32 (number * width)) & u64.i32 ((1 << width) - 1))
    let places = places_by_digit (1 << i64.i32 width) (map digit keys)
    in (scatter (replicate n 0) places keys, scatter (replicate n 0) places order)
  in loop (keys, order) = (keys, iota n) for number < bits / width do pass keys order number

-- | How many elements of a sorted array come before `x` and are not equal to it: the first place at which it could be
-- put in. The comparison is the one that the array is sorted by.
--
-- > searchsorted_left (<=) [1, 3, 3, 5] 3
-- 1i64
def searchsorted_left [n] 'a (leq: a -> a -> bool) (sorted: [n]a) (x: a) : i64 =
  let (low, _) =
    loop (low, high) = (0, n) while low < high do
      let middle = low + (high - low) / 2
      in if leq x sorted[middle] then (low, middle) else (middle + 1, high)
  in low

-- | How many elements of a sorted array come before `x` or are equal to it: the last place at which it could be put in.
--
-- > searchsorted_right (<=) [1, 3, 3, 5] 3
-- 3i64
def searchsorted_right [n] 'a (leq: a -> a -> bool) (sorted: [n]a) (x: a) : i64 =
  let (low, _) =
    loop (low, high) = (0, n) while low < high do
      let middle = low + (high - low) / 2
      in if leq sorted[middle] x then (middle + 1, high) else (low, middle)
  in low

-- How many elements one sequential merge makes.
local
def merge_length : i64 = 64

-- Elements `from` up to `from + merge_length` of the merge of the sorted runs that start at `left` and `right`; the latter ends at `end`. What is
-- taken from the left run is found by bisection: as few elements as leave no smaller one behind.
local
def merge_piece [n] 'a (leq: a -> a -> bool) (xs: [n]a) (left: i64, right: i64, end: i64) (from: i64) : [merge_length]a =
  let skipped = from - left
  let (low, _) =
    loop (low, high) = (i64.max 0 (skipped - (end - right)), i64.min skipped (right - left)) while low < high do
      let taken = low + (high - low) / 2
      in if leq xs[left + taken] xs[right + skipped - taken - 1] then (taken + 1, high) else (low, taken)
  let (_, _, piece) =
    loop (i, j, piece) = (left + low, right + skipped - low, replicate merge_length xs[0])
    for k < i64.min merge_length (end - from) do
      if j >= end || (i < right && leq xs[i] xs[j])
      then (i + 1, j, piece with [k] = copy xs[i])
      else (i, j + 1, piece with [k] = copy xs[j])
  in piece

-- Runs of `merge_length` elements, each sorted by counting for each element how many of its run come before it.
local
def sorted_runs [n] 'a (leq: a -> a -> bool) (xs: [n]a) : [n]a =
  let place i =
    let first = i - i % merge_length
    let before j = if j < i then leq xs[j] xs[i] else !(leq xs[i] xs[j])
    in loop place = first for j in first..<i64.min n (first + merge_length) do
         if j != i && before j then place + 1 else place
  in scatter (copy xs) (tabulate n place) xs

local
def merge_sorted [n] 'a (leq: a -> a -> bool) (xs: [n]a) : [n]a =
  let pieces = (n + merge_length - 1) / merge_length
  let merged (xs: [n]a) (width: i64) : [n]a =
    let piece p =
      let from = p * merge_length
      let left = from - from % (2 * width)
      let right = i64.min n (left + width)
      in merge_piece leq xs (left, right, i64.min n (right + width)) from
    in take n (flatten (tabulate pieces piece))
  let (sorted, _) =
    loop (xs, width) = (sorted_runs leq xs, merge_length) while width < n do (merged xs width, 2 * width)
  in sorted

-- | The positions of an array in the order of their elements: position `k` is that of the element that is number `k` when sorted.
-- The comparison says whether its first argument may come before the second.
--
-- > argsort_by (<=) [30, 10, 20]
-- [1i64, 2i64, 0i64]
def argsort_by [n] 'a (leq: a -> a -> bool) (xs: [n]a) : [n]i64 =
  let positioned = zip (stop_gradient xs) (iota n)
  in map (.1) (merge_sorted (\(x, _) (y, _) -> leq x y) positioned)

-- | The elements in order, by a comparison that says whether its first argument may come before the second.
--
-- > merge_sort (\(a, _) (b, _) -> a >= b) [(1, 'a'), (3, 'b'), (1, 'c')]
-- [(3i32, 98i32), (1i32, 97i32), (1i32, 99i32)]
def merge_sort [n] 'a (leq: a -> a -> bool) (xs: [n]a) : [n]a =
  map (\i -> xs[i]) (argsort_by leq xs)

-- | The elements in the order of what a function gives for them.
--
-- > merge_sort_by_key (\x -> x % 10) (<=) [19, 25, 31]
-- [31i32, 25i32, 19i32]
def merge_sort_by_key [n] 'a 'k (key: a -> k) (leq: k -> k -> bool) (xs: [n]a) : [n]a =
  map (\i -> xs[i]) (argsort_by leq (map key xs))

-- | Is no element followed by one that should come before it?
def is_sorted [n] 'a (leq: a -> a -> bool) (xs: [n]a) : bool =
  and (tabulate n (\i -> i + 1 >= n || leq xs[i] xs[i + 1]))

-- | The permutation that undoes another one: where every position is.
--
-- > inverse_permutation [2, 0, 1]
-- [1i64, 2i64, 0i64]
def inverse_permutation [n] (order: [n]i64) : [n]i64 =
  scatter (replicate n 0) order (iota n)

-- | The positions of words of 64 bits in their order.
def argsort_u64 [n] (xs: [n]u64) : [n]i64 = (radix_sort_bits 64 xs).1

-- | What there is for every type of numbers.
module type sort = {
  -- | The type of the numbers.
  type t

  -- | The numbers in order.
  --
  -- > sort_f64.sort [2.5, -1, 0]
  -- [-1.0f64, 0.0f64, 2.5f64]
  val sort [n] : [n]t -> [n]t

  -- | The numbers in order, the largest first.
  val sort_descending [n] : [n]t -> [n]t

  -- | The positions of the numbers in their order.
  --
  -- > sort_i32.argsort [30, 10, 20]
  -- [1i64, 2i64, 0i64]
  val argsort [n] : [n]t -> [n]i64

  -- | The elements in the order of a number that is computed of each.
  --
  -- > sort_i64.sort_by_key (\x -> -x) [3, 1, 2]
  -- [3i64, 2i64, 1i64]
  val sort_by_key [n] 'a : (a -> t) -> [n]a -> [n]a

  -- | The `k` largest numbers, the largest first, and where they are; of equal ones, the first. There must be as many.
  --
  -- > sort_f64.top_k 2 [3, 9, 4]
  -- [9.0f64, 4.0f64]
  -- [1i64, 2i64]
  val top_k [n] : (k: i64) -> [n]t -> ([k]t, [k]i64)

  -- | The place of every number among all of them in order, counted from 0; equal ones are counted in order.
  --
  -- > sort_i32.rank [30, 10, 20]
  -- [2i64, 0i64, 1i64]
  val rank [n] : [n]t -> [n]i64

  -- | The different numbers in order, and how often each occurs.
  --
  -- > sort_i32.unique [3, 1, 3, 2, 3]
  -- [1i32, 2i32, 3i32]
  -- [1i64, 1i64, 3i64]
  val unique [n] : [n]t -> ?[m].([m]t, [m]i64)

  -- | The number in the middle when sorted; the lower one of two.
  --
  -- > sort_f64.lower_median [5, 1, 3, 2]
  -- 2.0f64
  val lower_median [n] : [n]t -> t
}

-- Numbers as words of bits in the same order.
local
module type sort_key = {
  type t
  val bits : i32
  val key : t -> u64
}

local
module mk_sort (K: sort_key) : sort with t = K.t = {
  type t = K.t

  local def ordered [n] (xs: [n]t) : ([n]u64, [n]i64) = radix_sort_bits K.bits (map K.key (stop_gradient xs))
  local def by [n] [m] 'a (order: [m]i64) (xs: [n]a) : [m]a = map (\i -> xs[i]) order

  def argsort [n] (xs: [n]t) : [n]i64 = (ordered xs).1
  def sort [n] (xs: [n]t) : [n]t = by (argsort xs) xs
  -- With the bits of keys turned over, so that equal numbers stay in order.
  local
  def argsort_descending [n] (xs: [n]t) : [n]i64 =
    (radix_sort_bits K.bits (map (\x -> u64.not (K.key x)) (stop_gradient xs))).1
  def sort_descending [n] (xs: [n]t) : [n]t = by (argsort_descending xs) xs
  def sort_by_key [n] 'a (key: a -> t) (xs: [n]a) : [n]a = by (argsort (map key xs)) xs
  def top_k [n] (k: i64) (xs: [n]t) : ([k]t, [k]i64) =
    let first = take k (argsort_descending xs)
    in (by first xs, first)
  def rank [n] (xs: [n]t) : [n]i64 = inverse_permutation (argsort xs)
  def unique [n] (xs: [n]t) : ?[m].([m]t, [m]i64) =
    let (keys, order) = ordered xs
    let starts = filter (\i -> i == 0 || keys[i - 1] != keys[i]) (iota n)
    let m = length starts
    let count j = (if j + 1 < m then starts[j + 1] else n) - starts[j]
    in (map (\i -> xs[order[i]]) starts :> [m]t, tabulate m count)
  def lower_median [n] (xs: [n]t) : t = xs[(argsort xs)[(n - 1) / 2]]
}

-- | Sorting of `i8`.
module sort_i8 : sort with t = i8 = mk_sort {
  type t = i8
  def bits = 8i32
  def key (x: i8) : u64 = u64.u8 (u8.i8 x ^ (1 << 7))
}

-- | Sorting of `i16`.
module sort_i16 : sort with t = i16 = mk_sort {
  type t = i16
  def bits = 16i32
  def key (x: i16) : u64 = u64.u16 (u16.i16 x ^ (1 << 15))
}

-- | Sorting of `i32`.
module sort_i32 : sort with t = i32 = mk_sort {
  type t = i32
  def bits = 32i32
  def key (x: i32) : u64 = u64.u32 (u32.i32 x ^ (1 << 31))
}

-- | Sorting of `i64`.
module sort_i64 : sort with t = i64 = mk_sort {
  type t = i64
  def bits = 64i32
  def key (x: i64) : u64 = u64.i64 x ^ (1 << 63)
}

-- | Sorting of `u8`.
module sort_u8 : sort with t = u8 = mk_sort {
  type t = u8
  def bits = 8i32
  def key (x: u8) : u64 = u64.u8 x
}

-- | Sorting of `u16`.
module sort_u16 : sort with t = u16 = mk_sort {
  type t = u16
  def bits = 16i32
  def key (x: u16) : u64 = u64.u16 x
}

-- | Sorting of `u32`.
module sort_u32 : sort with t = u32 = mk_sort {
  type t = u32
  def bits = 32i32
  def key (x: u32) : u64 = u64.u32 x
}

-- | Sorting of `u64`.
module sort_u64 : sort with t = u64 = mk_sort {
  type t = u64
  def bits = 64i32
  def key (x: u64) : u64 = x
}

-- | Sorting of `f32`.
module sort_f32 : sort with t = f32 = mk_sort {
  type t = f32
  def bits = 32i32
  -- A negative number is the further down the larger its bits are; zeros are one number, and so are all NaNs.
  def key (x: f32) : u64 =
    let word = f32.to_bits (if x == 0 then 0 else x)
    let ordered = if word >> 31 == 1 then u32.not word else word | (1 << 31)
    in u64.u32 (if f32.isnan x then u32.highest else ordered)
}

-- | Sorting of `f64`.
module sort_f64 : sort with t = f64 = mk_sort {
  type t = f64
  def bits = 64i32
  -- As for `f32`.
  def key (x: f64) : u64 =
    let word = f64.to_bits (if x == 0 then 0 else x)
    let ordered = if word >> 63 == 1 then u64.not word else word | (1 << 63)
    in if f64.isnan x then u64.highest else ordered
}
