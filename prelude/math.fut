-- | Numbers: the module types that describe them, and a module for every primitive type.

open import "numeric"
open import "integers"
open import "floats"
