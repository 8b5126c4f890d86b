-- | The complete program of section 2.2 of the paper on Dex: how long each point of a part of the plane stays near zero,
-- with state that two references share out.

type complex = {re: f64, im: f64}

def update (c: complex) (z: complex) : complex =
  {re = c.re + z.re * z.re - z.im * z.im, im = c.im + 2 * z.re * z.im}

def in_bounds (z: complex) : bool = f64.sqrt (z.re * z.re + z.im * z.im) < 2

def escape_time (c: complex) : i64 =
  (yield_state (0, {re = 0, im = 0}) (\s ->
    for (_step: idx [100]) ->
      (s.1 := update c (get s.1);
       s.0 := get s.0 + (if in_bounds (get s.1) then 1 else 0)))).0

def linspace (n: i64) (low: f64) (high: f64) : [n]f64 =
  for i -> low + (high - low) * f64.i64 i / f64.i64 (n - 1)

-- ==
-- entry: main
-- input { 4i64 3i64 } output { [[0i64, 2i64, 100i64, 1i64], [0i64, 100i64, 100i64, 1i64], [0i64, 2i64, 100i64, 1i64]] }
entry main (columns: i64) (rows: i64) : [rows][columns]i64 =
  let xs = linspace columns (-2) 1
  let ys = linspace rows (-1) 1
  in for j i -> escape_time {re = xs[i], im = ys[j]}
