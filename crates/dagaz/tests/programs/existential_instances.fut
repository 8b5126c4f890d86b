-- A lifted type parameter may stand for arrays that differ in size, where functions give them.
-- ==
-- entry: grow
-- input { 0i64 [1i64, 2i64] } output { [1i64, 2i64] }
-- input { 3i64 [1i64] } output { [1i64, 1i64, 1i64, 1i64, 1i64, 1i64, 1i64, 1i64] }
-- input { 2i64 empty([0]i64) } output { empty([0]i64) }
-- ==
-- entry: choose
-- input { true [1.0, 2.0] } output { [1.0, 2.0] 2i64 }
-- input { false [1.0, 2.0] } output { [1.0] 1i64 }
-- ==
-- entry: through_type_parameters
-- input { 3i64 } output { 6.0 [1i64, 1i64, 1i64] }

def iterate '~a (n: i64) (f: (() -> a) -> a) (x: () -> a) = loop x = x () for _i < n do f (\() -> x)

entry grow (n: i64) (xs: []i64) = iterate n (\(p: () -> []i64) -> p () ++ p ()) (\() -> xs)

def pick '~a (b: bool) (x: () -> a) (y: () -> a) : a = if b then x () else y ()

entry choose [n] (b: bool) (xs: [n]f64) : ([]f64, i64) =
  let ys = pick b (\() -> xs) (\() -> take 1 xs)
  in (ys, length ys)

type^ sums = {of: (k: i64) -> [k]f64 -> f64}

def make (_: bool) : (sums, i32) = ({of = \(k: i64) (xs: [k]f64) -> f64.sum xs}, 0)

def identity '^a (x: a) : a = x

entry through_type_parameters (n: i64) =
  let s = make true |> (.0)
  in (s.of n (map f64.i64 (1..2...n)), identity (\(k: i64) -> replicate k 1i64) n)
