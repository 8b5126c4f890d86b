-- Differences are not associative.

entry main (xs: []i32) : i32 = reduce (-) 0 xs
