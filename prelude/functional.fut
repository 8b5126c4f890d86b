-- | Functions about functions.

-- | Hand a value to a function, for reading a chain of steps from left to right.
def (|>) '^a '^b (x: a) (f: a -> b) : b = f x

-- | Application with the lowest precedence: the last argument needs no parentheses.
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x

-- | Composition from left to right: `(f >-> g) x` is `g (f x)`.
def (>->) '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)

-- | Composition from right to left: `(g <-< f) x` is `g (f x)`.
def (<-<) '^a '^b '^c (g: b -> c) (f: a -> b) (x: a) : c = g (f x)

-- | A function that takes its two arguments in the other order.
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y

-- | Turn a function of a pair into a function of two arguments.
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)

-- | Turn a function of two arguments into a function of a pair.
def uncurry '^a '^b '^c (f: a -> b -> c) (x: a, y: b) : c = f x y

-- | Keep the first argument and forget the second.
def const '^a '^b (x: a) (_: b) : a = x

-- | The function that changes nothing.
def id '^a (x: a) = x

-- | Apply a function `n` times over.
def iterate 'a (n: i32) (f: a -> a) (x: a) : a =
  loop y = x for _i < n do f y

-- | Apply a function until the predicate holds of the value.
def iterate_until 'a (p: a -> bool) (f: a -> a) (x: a) : a =
  loop y = x while !(p y) do f y

-- | Apply a function for as long as the predicate holds of the value.
def iterate_while 'a (p: a -> bool) (f: a -> a) (x: a) : a =
  loop y = x while p y do f y
