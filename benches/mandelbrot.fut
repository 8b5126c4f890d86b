-- How many steps every point of a part of the complex plane takes to escape.
def steps (limit: i32) (cr: f32, ci: f32): i32 =
  let (_, _, i) =
    loop (zr, zi, i) = (0, 0, 0)
    while i < limit && zr * zr + zi * zi <= 4 do
      (zr * zr - zi * zi + cr, 2 * zr * zi + ci, i + 1)
  in i

entry main (height: i64) (width: i64) (limit: i32): [height][width]i32 =
  tabulate_2d height width (\y x ->
    steps limit (-2 + 3 * f32.i64 x / f32.i64 width, -1.5 + 3 * f32.i64 y / f32.i64 height))
