-- The tools' guide shows what comes of a test with a wrong expectation.

-- ==
-- input { 2 } output { 5 }
-- input { 3 } output { 9 }
entry main (x: i32) : i32 = x * x
