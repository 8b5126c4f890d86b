-- | Small functions on arrays.

import "math"
import "soacs"
import "functional"
open import "zip"

-- | The number of elements.
def length [n] 't (_: [n]t) : i64 = n

-- | Is the array empty?
def null [n] 't (_: [n]t) : bool = n == 0

-- | The first element; there must be one.
#[inline]
def head [n] 't (x: [n]t) : t = x[0]

-- | The last element; there must be one.
#[inline]
def last [n] 't (x: [n]t) : t = x[n - 1]

-- | All elements but the first; there must be one.
#[inline]
def tail [n] 't (x: [n]t) : [n - 1]t = x[1:]

-- | All elements but the last; there must be one.
#[inline]
def init [n] 't (x: [n]t) : [n - 1]t = x[0:n - 1]

-- | The first `i` elements; there must be that many.
#[inline]
def take [n] 't (i: i64) (x: [n]t) : [i]t = x[0:i]

-- | All elements but the first `i`; there must be that many.
#[inline]
def drop [n] 't (i: i64) (x: [n]t) : [n - i]t = x[i:]

-- | The same array with its size known to be `n`, which is checked when the program runs.
#[inline]
def sized [m] 't (n: i64) (xs: [m]t) : [n]t = xs :> [n]t

-- | Divide an array in two, at the place that the sizes of the result say.
#[inline]
def split [n] [m] 't (xs: [n + m]t) : ([n]t, [m]t) =
  (xs[0:n], xs[n:n + m] :> [m]t)

-- | The elements in opposite order.
#[inline]
def reverse [n] 't (x: [n]t) : [n]t = x[::-1]

-- | The elements of one array after those of the other.
#[inline]
def (++) [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

-- | `++` as a name.
#[inline]
def concat [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

-- | The numbers from 0 up to but without `n`.
#[inline]
def iota (n: i64) : *[n]i64 = 0..1..<n

-- | The positions of an array: `iota` of its length.
#[inline]
def indices [n] 't (_: [n]t) : *[n]i64 = 0..1..<n

-- | Move every element `r` places towards the front, and those that fall off to the end. `r` may be negative.
#[inline]
def rotate [n] 't (r: i64) (a: [n]t) : *[n]t =
  map (\i -> #[unsafe] a[(i + r) % n]) (iota n)

-- | `n` times the same value.
#[inline]
def replicate 't (n: i64) (x: t) : *[n]t = intrinsics.replicate n x

-- | The same value, as often as the size of the result says.
#[inline]
def rep 't [n] (x: t) : *[n]t = intrinsics.replicate n x

-- | A value that shares nothing with the one given, and so may be consumed.
#[inline]
def copy 't (a: t) : *t = intrinsics.manifest a

-- | As `copy`, but with a promise that the elements are laid out in order in memory.
#[inline]
def manifest 't (a: t) : *t = intrinsics.manifest a

-- | The rows of a matrix one after another.
#[inline]
def flatten [n] [m] 't (xs: [n][m]t) : [n * m]t =
  intrinsics.flatten xs

-- | As `flatten`, of three dimensions.
#[inline]
def flatten_3d [n] [m] [l] 't (xs: [n][m][l]t) : [n * m * l]t =
  flatten (flatten xs)

-- | As `flatten`, of four dimensions.
#[inline]
def flatten_4d [n] [m] [l] [k] 't (xs: [n][m][l][k]t) : [n * m * l * k]t =
  flatten (flatten_3d xs)

-- | The inverse of `flatten`: cut an array into rows.
#[inline]
def unflatten 't [n] [m] (xs: [n * m]t) : [n][m]t =
  intrinsics.unflatten n m xs

-- | The inverse of `flatten_3d`.
#[inline]
def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t =
  unflatten (unflatten xs)

-- | The inverse of `flatten_4d`.
#[inline]
def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t =
  unflatten (unflatten_3d xs)

-- | Swap rows and columns.
#[inline]
def transpose [n] [m] 't (a: [n][m]t) : [m][n]t =
  intrinsics.transpose a

-- | Are all elements true? True if there are none.
def and [n] (xs: [n]bool) : bool = all id xs

-- | Is some element true? False if there are none.
def or [n] (xs: [n]bool) : bool = any id xs

-- | Combine the elements one by one from the first to the last, in sequence.
def foldl [n] 'a 'b (f: a -> b -> a) (acc: a) (bs: [n]b) : a =
  loop a = acc for b in bs do f a b

-- | Combine the elements one by one from the last to the first, in sequence.
def foldr [n] 'a 'b (f: b -> a -> a) (acc: a) (bs: [n]b) : a =
  loop a = acc for b in reverse bs do f b a

-- | The array of size `n` whose element `i` is `f i`.
def tabulate 'a (n: i64) (f: i64 -> a) : *[n]a =
  map f (iota n)

-- | The matrix whose element `[i, j]` is `f i j`.
def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a =
  map (\i -> tabulate m (f i)) (iota n)

-- | As `tabulate_2d`, for three dimensions.
def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a =
  map (\i -> tabulate_2d m o (f i)) (iota n)

-- | The number of an index in its set, counted from 0.
def ordinal 'k (i: k) : i64 = intrinsics.ordinal i

-- | The index with a number, which must be below the size of the set.
def from_ordinal 'k (number: i64) : k = intrinsics.from_ordinal number

-- | The indices of an array, in order.
def indices_of 'k 'a (_: [k]a) : [k]k = for i -> i

-- | The first number whose index has another number, and that number; or -1 and the size of the set. No more than a
-- thousand indices are looked at.
def index_fault 'i (set: {size: i64, ordinal: i -> i64, from_ordinal: i64 -> i}) : (i64, i64) =
  let n = i64.min set.size 1000
  let fault = loop k = 0 while k < n && set.ordinal (set.from_ordinal k) == k do k + 1
  in if set.size < 0 then (0, set.size) else if fault < n then (fault, set.ordinal (set.from_ordinal fault)) else (-1, set.size)
