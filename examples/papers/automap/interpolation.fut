-- | Linear interpolation is a function of numbers. That it works on vectors, with any of its arguments fixed, is left to
-- the compiler (001 4.2.2).

def between v w t : f64 = v + (w - v) * t

-- `map2 (\x y -> between x y t) vs ws`
-- ==
-- entry: same_time
-- input { [0.0, 10.0] [1.0, 20.0] 0.5 } output { [0.5, 15.0] }
entry same_time [n] (vs: [n]f64) (ws: [n]f64) (t: f64) = between vs ws t

-- `map3 between vs ws ts`
-- ==
-- entry: all_vary
-- input { [0.0, 10.0] [1.0, 20.0] [0.5, 0.1] } output { [0.5, 11.0] }
entry all_vary [n] (vs: [n]f64) (ws: [n]f64) (ts: [n]f64) = between vs ws ts

-- `map (between v w) ts`
-- ==
-- entry: many_times
-- input { 0.0 2.0 [0.0, 0.5, 1.0] } output { [0.0, 1.0, 2.0] }
entry many_times (v: f64) (w: f64) (ts: []f64) = between v w ts
