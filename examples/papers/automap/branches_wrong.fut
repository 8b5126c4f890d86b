-- | Nothing is applied in the second branch, so nothing is put in there.
-- ==
-- error: does not have the type of the branches before it

def keep_or_not [n] (keep: bool) (xs: [n]i32) : [n]i32 = if keep then xs else 0
