-- | What every program has in scope.

open import "soacs"
open import "array"
open import "math"
open import "functional"
open import "ad"

-- | From `i32` to `f32`.
def r32 (x: i32) : f32 = f32.i32 x

-- | From `f32` to `i32`, rounding towards zero.
def t32 (x: f32) : i32 = i32.f32 x

-- | From `i32` to `f64`.
def r64 (x: i32) : f64 = f64.i32 x

-- | From `f64` to `i32`, rounding towards zero.
def t64 (x: f64) : i32 = i32.f64 x

-- | Logical negation; `!` as a name.
def not (x: bool) : bool = !x

-- | The value itself, hidden from the optimiser.
def opaque 't (x: t) : t = #[opaque] x

-- | The value itself, printed when the program runs under the interpreter.
def trace 't (x: t) : t = #[trace(trace)] x

-- | The value itself; an interactive interpreter stops here.
def break 't (x: t) : t = #[break] x
