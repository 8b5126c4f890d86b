-- | The sum of the lengths of the rows, or of copies of the number of rows: both take one operation (001 4.6.4).
-- ==
-- error: (?s)several ways.*i64.sum \(map length xss\).*i64.sum \(rep \(length xss\)\)

def total [n] [m] (xss: [n][m]f64) = i64.sum (length xss)
