-- Sorting by one byte after the other. Every block of keys counts its bytes by itself; sums of the counts then say where
-- each key goes.
def block: i64 = 65536

def digit (shift: u32) (key: u32): i64 = i64.u32 ((key >> shift) & 255)

def pass [b] (keys: [b][block]u32) (shift: u32): [b][block]u32 =
  let counts = map (\row -> hist (+) 0 256 (map (digit shift) row) (replicate block 1i64)) keys
  let ends = scan (+) 0 (flatten (transpose counts))
  let starts = transpose (unflatten (map2 (-) ends (flatten (transpose counts))))
  let targets =
    map2 (\row start ->
            let (targets, _) =
              loop (targets, next) = (replicate block 0i64, copy start)
              for i < block do
                let d = digit shift row[i]
                let at = next[d]
                in (targets with [i] = at, next with [d] = at + 1)
            in targets)
         keys
         starts
  in unflatten (scatter (replicate (b * block) 0) (flatten targets) (flatten keys))

entry main [n] (keys: [n]u32): [n]u32 =
  let b = (n + block - 1) / block
  let padded = tabulate (b * block) (\i -> if i < n then keys[i] else u32.highest)
  let sorted = loop rows = unflatten padded for i < 4 do pass rows (8 * u32.i64 i)
  in take n (flatten sorted)
