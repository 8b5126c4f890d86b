-- | Without a type for `a`, the last function of the X-matrix example can be read in two ways, for a number and for a
-- vector. Neither is the matrix that is meant, and the program is rejected (001 4.2.2).
-- ==
-- error: (?s)several ways.*map2 \(map2 \(==\)\) \(pattern \(rep a\)\) \(rep \(rep \(a != 0\)\)\).*map2 \(map2 \(==\)\) \(pattern a\) \(rep \(map2 \(!=\) a \(rep 0\)\)\)

def each_with_all f xs ys = map (\x -> f x ys) xs

def diagonals a = each_with_all (==) (indices a) (indices a)

def pattern a = diagonals a || reverse (diagonals a)

def is_x_matrix a = pattern a == (a != 0) |> flatten |> and
