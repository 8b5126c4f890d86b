-- | How many letters have to be changed, added or left out to make one word of another. The table is filled by
-- diagonals: what lies on one depends on the two before it alone, so all of it is computed at once.

def distance [n][m] (a: [n]u8) (b: [m]u8) : i64 =
  -- Place `i` of diagonal `d` is the distance of the first `i` letters of `a` and the first `d - i` of `b`.
  let diagonal (d: i64) (before: [n + 1]i64) (last: [n + 1]i64) : [n + 1]i64 =
    for i ->
      let j = d - i
      in if j < 0 || j > m then i64.highest
         else if i == 0 then j
         else if j == 0 then i
         else let change = before[i - 1] + (if a[i - 1] == b[j - 1] then 0 else 1)
              in i64.min change (1 + i64.min last[i - 1] last[i])
  let (_, last) = loop (before, last) = (replicate (n + 1) 0, diagonal 0 (replicate (n + 1) 0) (replicate (n + 1) 0))
                  for d in 1...n + m do (last, diagonal d before last)
  in last[n]

-- ==
-- entry: main
-- input { "kitten" "sitting" } output { 3i64 }
-- input { "flaw" "lawn" } output { 2i64 }
-- input { "" "abc" } output { 3i64 }
-- input { "same" "same" } output { 0i64 }
entry main [n][m] (a: [n]u8) (b: [m]u8) : i64 = distance a b
