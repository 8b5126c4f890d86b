-- | An X-matrix has zeros everywhere but on its two diagonals, where it has none (001 4.2.2). Once with all maps, once
-- with only the one that cannot be left out.

def each_with f xs ys = map (\x -> map (f x) ys) xs

def diagonals a = each_with (==) (indices a) (indices a)

def pattern a = map2 (map2 (||)) (diagonals a) (reverse (diagonals a))

-- ==
-- entry: explicit
-- input { [[1, 0, 2], [0, 3, 0], [4, 0, 5]] } output { true }
-- input { [[1, 0, 2], [0, 0, 0], [4, 0, 5]] } output { false }
-- input { [[1, 1, 2], [0, 3, 0], [4, 0, 5]] } output { false }
entry explicit [n] (a: [n][n]i32) : bool =
  map2 (map2 (==)) (pattern a) (map (map (!= 0)) a) |> flatten |> and

def each_with_all f xs ys = map (\x -> f x ys) xs

def diagonals' a = each_with_all (==) (indices a) (indices a)

def pattern' a = diagonals' a || reverse (diagonals' a)

-- The type of `a` is needed: a vector or a number would do with as few maps.
-- ==
-- entry: implicit
-- input { [[1, 0, 2], [0, 3, 0], [4, 0, 5]] } output { true }
-- input { [[1, 0, 2], [0, 0, 0], [4, 0, 5]] } output { false }
-- input { [[1, 1, 2], [0, 3, 0], [4, 0, 5]] } output { false }
entry implicit [n] (a: [n][n]i32) : bool =
  pattern' a == (a != 0) |> flatten |> and
