-- | How important the pages of a small web are: every page passes its rank on along its links. What arrives where is only
-- known when the program runs, so the ranks are accumulated.

def step [pages][links] (from: [links]i64) (to: [links]i64) (rank: [pages]f64) : [pages]f64 =
  let out : [pages]f64 = yield_accum (\h -> for l -> h[from[l]] += 1)
  let passed : [pages]f64 = yield_accum (\h -> for l -> h[to[l]] += rank[from[l]] / out[from[l]])
  in for p -> 0.15 / f64.i64 pages + 0.85 * passed[p]

def page_rank [links] (pages: i64) (steps: i64) (from: [links]i64) (to: [links]i64) : [pages]f64 =
  loop rank = (for p -> 1 / f64.i64 pages) for _k < steps do step from to rank

-- | In a ring all pages are equal; and in a star, the middle wins.
-- ==
-- entry: ring
-- input { 5i64 } output { true }
entry ring (n: i64) : bool =
  let rank = page_rank n 50 (iota n) (map (\i -> (i + 1) % n) (iota n))
  in and (for p -> f64.abs (rank[p] - 1 / f64.i64 n) < 1e-9)

-- ==
-- entry: star
-- input { 6i64 } output { true }
entry star (n: i64) : bool =
  let rays = map (+ 1) (iota (n - 1))
  let zeros = map (const 0) rays
  let rank = page_rank n 100 (rays ++ zeros) (zeros ++ rays)
  in and (for p -> p == 0 || rank[0] > 2 * rank[p])
