-- | Derivatives of functions.
--
-- For a function `f` and a point `x`, let `J` be the matrix of all partial derivatives of `f` at `x`: a row for
-- every number in the result and a column for every number in `x`. These functions multiply it from either side
-- without ever forming it. Integers and booleans have no derivative; their tangents are zero.

import "soacs"
import "array"
import "math"

-- | The value `f x` together with `J` times the tangent `x'` (forward mode).
#[data]
def jvp2 'a 'b (f: a -> b) (x: a) (x': a) : (b, b) =
  intrinsics.jvp2 f x x'

-- | The value `f x` together with the cotangent `y'` times `J` (reverse mode).
#[data]
def vjp2 'a 'b (f: a -> b) (x: a) (y': b) : (b, a) =
  intrinsics.vjp2 f x y'

-- | As `jvp2`, for many tangents at once.
#[data]
def jmp2 'a 'b [n] (f: a -> b) (x: a) (x': [n]a) : (b, [n]b) =
  intrinsics.jmp2 f x x'

-- | As `vjp2`, for many cotangents at once.
#[data]
def mjp2 'a 'b [n] (f: a -> b) (x: a) (y': [n]b) : (b, [n]a) =
  intrinsics.mjp2 f x y'

-- | `J` times the tangent `x'`: how the result changes when `x` moves in that direction. Its cost does not depend
-- on the size of `x`, but a whole gradient needs one call per number in `x`.
#[data]
def jvp 'a 'b (f: a -> b) (x: a) (x': a) : b =
  (jvp2 f x x').1

-- | The cotangent `y'` times `J`. For a function with a single number as its result, `vjp f x 1` is the gradient.
#[data]
def vjp 'a 'b (f: a -> b) (x: a) (y': b) : a =
  (vjp2 f x y').1

-- | As `jvp`, for many tangents at once.
#[data]
def jmp 'a 'b [n] (f: a -> b) (x: a) (x': [n]a) : [n]b =
  (jmp2 f x x').1

-- | As `vjp`, for many cotangents at once.
#[data]
def mjp 'a 'b [n] (f: a -> b) (x: a) (y': [n]b) : [n]a =
  (mjp2 f x y').1

-- | `f x`, with a reverse derivative of your own: `f'` is given the result and its cotangent, and must return the
-- cotangent of `x`. That it is right is up to you.
#[data]
def with_vjp 'a 'b (f: a -> b) (f': (res: b) -> (b_adj: b) -> a) (x: a) : b =
  intrinsics.with_vjp f f' x

-- | `f x`, with a reverse derivative of your own: `f'` is given `x` and the cotangent of the result, and must return the
-- cotangent of `x`.
#[data]
def vjp_by 'a 'b (f: a -> b) (f': (x: a) -> (b_adj: b) -> a) (x: a) : b =
  (with_vjp (\x -> (x, f x)) (\(x, _) (_, y_adj) -> f' x y_adj) x).1

-- | As `with_vjp`, where `f` also returns what its derivative `f'` wants to remember.
#[data]
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (f': (c, b) -> a) (x: a) : b =
  (with_vjp f (\(tape, _) (_, y_adj) -> f' (tape, y_adj)) x).1

-- | The value and the gradient of a function whose result is one number.
#[data]
def value_and_grad 'a 'b (f: a -> b) (x: a) : (b, a) =
  vjp2 f x (intrinsics.unit_seed true)

-- | The gradient of a function whose result is one number: a partial derivative for every number in `x`.
#[data]
def grad 'a 'b (f: a -> b) (x: a) : a =
  (value_and_grad f x).1

-- | The matrix `J` of a function between arrays, from its columns: good for few numbers in `x` and many in the result.
#[data]
def jacfwd 't [n] [m] (f: [n]t -> [m]t) (x: [n]t) : [m][n]t =
  let unit (i: i64) : [n]t = map (\j -> intrinsics.unit_seed (i == j)) (iota n)
  in transpose (jmp f x (map unit (iota n)))

-- | The matrix `J` of a function between arrays, from its rows: good for many numbers in `x` and few in the result.
#[data]
def jacrev 't [n] [m] (f: [n]t -> [m]t) (x: [n]t) : [m][n]t =
  let unit (i: i64) : [m]t = map (\j -> intrinsics.unit_seed (i == j)) (iota m)
  in mjp f x (map unit (iota m))

-- | All second derivatives of a function of an array, whose result is one number.
#[data]
def hessian 't [n] (f: [n]t -> t) (x: [n]t) : [n][n]t =
  jacfwd (grad f) x

-- | The matrix of second derivatives times `v`, at the cost of a few gradients, since the matrix is never formed.
#[data]
def hvp 'a 'b (f: a -> b) (x: a) (v: a) : a =
  jvp (grad f) x v

-- | `f x`, and the derivative of `f` at `x` as a linear function of tangents. What the derivative needs of `f x` is
-- computed once, however often the linear function is applied.
#[data]
def linearize 'a 'b (f: a -> b) (x: a) : (b, a -> b) =
  intrinsics.linearize f x

-- | The transpose of a linear function. That `f` is linear must show in its structure: sums, products with what does
-- not depend on its argument, and moves of elements.
#[data]
def linear_transpose 'a 'b (f: a -> b) (y': b) : a =
  intrinsics.linear_transpose f y'

-- | `x` itself, which counts as a constant in derivatives.
def stop_gradient 't (x: t) : t =
  intrinsics.stop_gradient x
