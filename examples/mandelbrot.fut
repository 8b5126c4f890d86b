-- | The Mandelbrot set: for every point of the plane, how many steps of `z -> z² + c` it takes to leave the circle of
-- radius two.
--
-- Try it:
--
--     dagaz run examples/mandelbrot.fut --entry picture --arg 40 --arg 16 --arg 50

-- | Complex numbers, as a module that could be replaced by another one.
module complex = {
  type t = {re: f64, im: f64}

  def (+) (a: t) (b: t) : t = {re = a.re f64.+ b.re, im = a.im f64.+ b.im}

  def square (a: t) : t = {re = a.re * a.re - a.im * a.im, im = 2 * a.re * a.im}

  def norm_squared (a: t) : f64 = a.re * a.re f64.+ a.im * a.im
}

-- | The number of steps until the point escapes, and `limit` if it does not.
def escape_time (limit: i32) (c: complex.t) : i32 =
  let (_, steps) =
    loop (z, steps) = ({re = 0, im = 0}, 0)
    while steps < limit && complex.norm_squared z <= 4 do
      (complex.(square z + c), steps + 1)
  in steps

-- | The part of the plane from -2 - i to 1 + i, as so many columns and rows.
def grid (width: i64) (height: i64) : [height][width]complex.t =
  let at (i: i64) (n: i64) = (f64.i64 i + 0.5) / f64.i64 n
  in tabulate_2d height width (\y x -> {re = 3 * at x width - 2, im = 2 * at y height - 1})

-- Zero never escapes, and one does so in three steps: 0, 1, 2, 5.
-- ==
-- input { 100 [0.0, 1.0, -1.0] [0.0, 0.0, 0.0] } output { [100, 3, 100] }
entry main [n] (limit: i32) (re: [n]f64) (im: [n]f64) : [n]i32 =
  map2 (\re im -> escape_time limit {re, im}) re im

-- | A picture in characters: the darker, the longer it takes.
-- ==
-- entry: picture
-- input { 4i64 1i64 20 } output { [[64u8, 64u8, 64u8, 58u8]] }
entry picture (width: i64) (height: i64) (limit: i32) : [height][width]u8 =
  let shade (steps: i32) : u8 = if steps == limit then '@' else if steps > 2 then ':' else '.'
  in map (map (escape_time limit >-> shade)) (grid width height)
