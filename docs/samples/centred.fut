-- | Points relative to their centre.
def centred [n] [d] (points: [n][d]f64) : [n][d]f64 =
  let centre = f64.sum (transpose points) / f64.i64 n -- the mean
  in points - centre
