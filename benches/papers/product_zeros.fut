-- Products of rows, some of which have one zero and some more: a gradient that divides the product by the element is not a number
-- there, and the right one is the product of all others.
-- ==
-- entry: objective
-- input { [[2f64, 3, 4], [0, 3, 4], [0, 0, 4]] } output { 24f64 }

-- ==
-- entry: derivative
-- input { [[2f64, 3, 4], [0, 3, 4], [0, 0, 4]] } output { [[12f64, 8, 6], [12, 0, 0], [0, 0, 0]] }

def total [n][m] (rows: [n][m]f64) : f64 = f64.sum (map f64.product rows)

entry objective [n][m] (rows: [n][m]f64) : f64 = total rows

entry derivative [n][m] (rows: [n][m]f64) : [n][m]f64 = grad total rows
