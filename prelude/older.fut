-- | Functions of older versions of the language, for programs that were written for them. Unlike the rest of the prelude, plain
-- Futhark does not have these names any more.

import "array"

-- | As `flatten`, with the number of elements, which must be right.
#[inline]
def flatten_to [n] [m] 't (l: i64) (xs: [n][m]t) : [l]t =
  flatten xs :> [l]t

-- | As `unflatten`, with the numbers of rows and columns, which must be right. `unflatten n m xs` is this function, too.
#[inline]
def unflatten_to [l] 't (n: i64) (m: i64) (xs: [l]t) : [n][m]t =
  unflatten (xs :> [n * m]t)

-- | As `++`, with the number of elements, which must be right.
#[inline]
def concat_to [n] [m] 't (k: i64) (xs: [n]t) (ys: [m]t) : *[k]t =
  (xs ++ ys) :> [k]t
