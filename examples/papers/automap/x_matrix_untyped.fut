-- | Without a type for `a`, the last function of the X-matrix example could be read for a number and for a vector (001
-- 4.2.2). For a number, nothing says how many copies of it there are, so it is read for a vector: each row of the pattern is
-- compared with it. Neither is the matrix that is meant; it takes a type to say so.

def each_with_all f xs ys = map (\x -> f x ys) xs

def diagonals a = each_with_all (==) (indices a) (indices a)

def pattern a = diagonals a || reverse (diagonals a)

def is_x_matrix a = pattern a == (a != 0) |> flatten |> and

-- ==
-- entry: of_vector
-- input { [5] } output { true }
-- input { [1, 0, 1] } output { false }
entry of_vector (a: []i32) = is_x_matrix a
