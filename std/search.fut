-- | Finding elements, and where they are.
--
-- Places are counted from 0. Of several that would do, the first one is taken.

-- The first of two places by what is there: the one whose element is before the other in the order, or is not a number.
local
def better 't (lt: t -> t -> bool) (x: t, i: i64) (y: t, j: i64) : (t, i64) =
  if j < 0 then (x, i)
  else if i < 0 then (y, j)
  else if lt y x || (!(lt x y) && j < i) then (y, j) else (x, i)

-- | Where the least element is, by a comparison that says whether its first argument is less than the second; -1 in an empty array.
--
-- > argmin_by (<) [3, 1, 2, 1]
-- 1i64
def argmin_by [n] 'a (lt: a -> a -> bool) (xs: [n]a) : i64 =
  if n == 0 then -1 else (reduce (better lt) (stop_gradient xs[0], -1) (zip (stop_gradient xs) (iota n))).1

-- | Where the greatest element is, by the same kind of comparison; -1 in an empty array.
--
-- > argmax_by (<) [3, 1, 3, 2]
-- 0i64
def argmax_by [n] 'a (lt: a -> a -> bool) (xs: [n]a) : i64 = argmin_by (\x y -> lt y x) xs

-- | The least element by a number that is computed of each; the array must not be empty.
--
-- > minimum_by_key (\x -> f64.abs (x - 5)) [1, 4, 7]
-- 4.0f64
def minimum_by_key [n] 'a (key: a -> f64) (xs: [n]a) : a = xs[argmin_by (<) (map key xs)]

-- | The greatest element by a number that is computed of each; the array must not be empty.
def maximum_by_key [n] 'a (key: a -> f64) (xs: [n]a) : a = xs[argmax_by (<) (map key xs)]

-- | The places at which a flag is true, in order.
--
-- > nonzero [false, true, true]
-- [1i64, 2i64]
def nonzero [n] (flags: [n]bool) : ?[m].[m]i64 = filter (\i -> flags[i]) (iota n)

-- | The places of the elements of which the predicate holds, in order.
--
-- > find_indices (> 1) [3, 1, 2]
-- [0i64, 2i64]
def find_indices [n] 'a (p: a -> bool) (xs: [n]a) : ?[m].[m]i64 = nonzero (map p xs)

-- | The place of the first element of which the predicate holds; -1 if there is none.
--
-- > find_index (> 1) [0, 5, 7]
-- 1i64
def find_index [n] 'a (p: a -> bool) (xs: [n]a) : i64 =
  let first = reduce i64.min i64.highest (map2 (\x i -> if p x then i else i64.highest) xs (iota n))
  in if first == i64.highest then -1 else first

-- | The place of the last element of which the predicate holds; -1 if there is none.
--
-- > find_last_index (> 1) [0, 5, 7]
-- 2i64
def find_last_index [n] 'a (p: a -> bool) (xs: [n]a) : i64 =
  reduce i64.max (-1) (map2 (\x i -> if p x then i else -1) xs (iota n))

-- | The first element of which the predicate holds, if there is one.
--
-- > find (> 1) [0, 5, 7]
-- #some 5i32
def find [n] 'a (p: a -> bool) (xs: [n]a) : #some a | #none =
  let i = find_index p xs
  in if i < 0 then #none else #some xs[i]

-- | Of how many elements the predicate holds.
--
-- > count (> 1) [3, 1, 2]
-- 2i64
def count [n] 'a (p: a -> bool) (xs: [n]a) : i64 = i64.sum (map (\x -> i64.bool (p x)) xs)

-- | Does the predicate hold of no element?
def none [n] 'a (p: a -> bool) (xs: [n]a) : bool = all (\x -> !(p x)) xs

-- | Is there such an element?
--
-- > contains (==) 3 [1, 3]
-- true
def contains [n] 'a (eq: a -> a -> bool) (x: a) (xs: [n]a) : bool = any (eq x) xs

-- | From one array where the flag is true, and from the other one elsewhere.
--
-- > select [true, false] [1, 2] [10, 20]
-- [1i32, 20i32]
def select [n] 'a (flags: [n]bool) (xs: [n]a) (ys: [n]a) : [n]a =
  map3 (\flag x y -> if flag then x else y) flags xs ys

-- | The element at every one of some places.
--
-- > gather [2, 0, 0] ['a', 'b', 'c']
-- [99i32, 97i32, 97i32]
def gather [n] [m] 'a (places: [m]i64) (xs: [n]a) : [m]a = map (\i -> xs[i]) places

-- | Places of the least and the greatest of numbers.
module type search = {
  -- | The type of the numbers.
  type t

  -- | Where the least number is; -1 in an empty array. A NaN counts only if there is nothing else.
  --
  -- > search_f64.argmin [3, f64.nan, 1, 1]
  -- 2i64
  val argmin [n] : [n]t -> i64

  -- | Where the greatest number is, in the same way.
  --
  -- > search_f64.argmax [3, f64.nan, 1, 3]
  -- 0i64
  val argmax [n] : [n]t -> i64
}

local
module mk_search (N: { type t val (<): t -> t -> bool val is_number: t -> bool }) : search with t = N.t = {
  type t = N.t

  -- A number is before what is not one.
  local
  def before (lt: t -> t -> bool) (x: t) (y: t) : bool =
    N.is_number x && (!(N.is_number y) || lt x y)

  def argmin [n] (xs: [n]t) : i64 = argmin_by (before (N.<)) xs
  def argmax [n] (xs: [n]t) : i64 = argmin_by (before (\x y -> y N.< x)) xs
}

-- | Places among `f32`.
module search_f32 : search with t = f32 = mk_search { type t = f32 def (<) (x: f32) (y: f32) = f32.(x < y) def is_number (x: f32) = !(f32.isnan x) }

-- | Places among `f64`.
module search_f64 : search with t = f64 = mk_search { type t = f64 def (<) (x: f64) (y: f64) = f64.(x < y) def is_number (x: f64) = !(f64.isnan x) }

-- | Places among `i32`.
module search_i32 : search with t = i32 = mk_search { type t = i32 def (<) (x: i32) (y: i32) = i32.(x < y) def is_number (_: i32) = true }

-- | Places among `i64`.
module search_i64 : search with t = i64 = mk_search { type t = i64 def (<) (x: i64) (y: i64) = i64.(x < y) def is_number (_: i64) = true }
