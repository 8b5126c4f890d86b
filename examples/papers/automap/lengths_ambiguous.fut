-- | The length of the whole, or of each row: both take two maps. (In `i64.sum (length xss)` of 001 4.6.4 one of the two ways
-- makes copies, and nothing says how many, so only the other one is left.)
-- ==
-- error: (?s)several ways.*\(\\x -> map2 \(map2 \(\*\)\) \(rep \(rep \(length x\)\)\) x\) xss.*map \(\\x -> map2 \(\*\) \(rep \(length x\)\) x\) xss

def scaled [n] [m] (xss: [n][m]i64) = (\x -> length x * x) xss
