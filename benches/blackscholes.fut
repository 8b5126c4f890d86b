-- The prices of European options: call and put.

-- The cumulative normal distribution, as a polynomial.
def normal (d: f32): f32 =
  let k = 1 / (1 + 0.2316419 * f32.abs d)
  let poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
  let tail = 0.39894228 * f32.exp (-0.5 * d * d) * poly
  in if d > 0 then 1 - tail else tail

def price (r: f32) (v: f32) (s: f32, x: f32, t: f32): (f32, f32) =
  let root = f32.sqrt t
  let d1 = (f32.log (s / x) + (r + 0.5 * v * v) * t) / (v * root)
  let d2 = d1 - v * root
  let (n1, n2) = (normal d1, normal d2)
  let discounted = x * f32.exp (-r * t)
  in (s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1))

entry main [n] (r: f32) (v: f32) (ss: [n]f32) (xs: [n]f32) (ts: [n]f32): ([n]f32, [n]f32) =
  unzip (map (price r v) (zip3 ss xs ts))
