-- Lookups of cross sections in the multipole representation, as in RSBench: instead of the large tables of `xsbench.fut`, a
-- nuclide has windows of energy with a few poles each, from which its cross sections at a temperature above zero are computed
-- with the Faddeeva function. The gradient is by the poles, their residues and the background of the windows.
-- ==
-- entry: objective
-- input { [0.3f64, 0.8] [0i32, 1] [2i32, 1] [[0i32, 1], [1, 0]] [[0.5f64, 2], [1, 0]] [[1i32, 2], [2, 1]]
--   [[[1f64, 2, 3], [3, 2, 1]], [[1, 1, 1], [2, 2, 2]]] [[0.1f64, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
--   [[[0i32, 0], [1, 2]], [[3, 0], [1, 0]]]
--   [[[[0.1f64, 0.2], [0, 0]], [[0.5, 0.4], [0.9, 0.3]]], [[[0.2, 0.1], [0.6, 0.5]], [[13, 0.2], [0, 0]]]]
--   [[[[[1f64, 2], [0.5, 0.5], [0.1, 0.2]], [[0, 0], [0, 0], [0, 0]]],
--     [[[2, 1], [0.3, 0.5], [0.3, 0.2]], [[1, 1], [0.5, 0.2], [0.1, 0.1]]]],
--    [[[[1, 0], [0.2, 0.5], [0.4, 0.2]], [[2, 2], [0.1, 0.5], [0.1, 0.7]]],
--     [[[1, 3], [0.5, 0.6], [0.8, 0.1]], [[0, 0], [0, 0], [0, 0]]]]] }
-- output { 20.66107f64 }

-- ==
-- entry: derivative
-- input { [0.3f64, 0.8] [0i32, 1] [2i32, 1] [[0i32, 1], [1, 0]] [[0.5f64, 2], [1, 0]] [[1i32, 2], [2, 1]]
--   [[[1f64, 2, 3], [3, 2, 1]], [[1, 1, 1], [2, 2, 2]]] [[0.1f64, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]
--   [[[0i32, 0], [1, 2]], [[3, 0], [1, 0]]]
--   [[[[0.1f64, 0.2], [0, 0]], [[0.5, 0.4], [0.9, 0.3]]], [[[0.2, 0.1], [0.6, 0.5]], [[13, 0.2], [0, 0]]]]
--   [[[[[1f64, 2], [0.5, 0.5], [0.1, 0.2]], [[0, 0], [0, 0], [0, 0]]],
--     [[[2, 1], [0.3, 0.5], [0.3, 0.2]], [[1, 1], [0.5, 0.2], [0.1, 0.1]]]],
--    [[[[1, 0], [0.2, 0.5], [0.4, 0.2]], [[2, 2], [0.1, 0.5], [0.1, 0.7]]],
--     [[[1, 3], [0.5, 0.6], [0.8, 0.1]], [[0, 0], [0, 0], [0, 0]]]]] }
-- output { [[[0.15f64, 0.15, 0.15], [0, 0, 0]], [[0.6, 0.6, 0.6], [0.8, 0.8, 0.8]]] [[[[0.9662718f64, 0.4392674], [0, 0]],
--   [[0, 0], [0, 0]]], [[[1.038367, 1.886311], [2.180083, 6.026697]], [[-0.02850661, -0.01946595], [0, 0]]]]
--   [[[[[0.5595735f64, -0.006026149], [0.5555606, -0.06716571], [0.5555606, -0.06716571]], [[0, 0], [0, 0], [0, 0]]],
--   [[[0, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]], [[[[2.112437, -0.1232149], [2.112437, -0.1232149], [2.112437,
--   -0.1232149]], [[2.161917, 1.600798], [2.636876, 0.5322838], [2.636876, 0.5322838]]], [[[-0.002739237, 0.09373287],
--   [-0.001581414, 0.09375956], [-0.001581414, 0.09375956]], [[0, 0], [0, 0], [0, 0]]]]] }

type complex = {re: f64, im: f64}

def complex (z: [2]f64) : complex = {re = z[0], im = z[1]}
def real (x: f64) : complex = {re = x, im = 0}
def add (a: complex) (b: complex) : complex = {re = a.re + b.re, im = a.im + b.im}
def sub (a: complex) (b: complex) : complex = {re = a.re - b.re, im = a.im - b.im}
def mul (a: complex) (b: complex) : complex = {re = a.re * b.re - a.im * b.im, im = a.re * b.im + a.im * b.re}
def scale (s: f64) (a: complex) : complex = {re = s * a.re, im = s * a.im}
def times_i (a: complex) : complex = {re = -a.im, im = a.re}
def div (a: complex) (b: complex) : complex = scale (1 / (b.re * b.re + b.im * b.im)) (mul a {re = b.re, im = -b.im})
def exp (a: complex) : complex = scale (f64.exp a.re) {re = f64.cos a.im, im = f64.sin a.im}

-- The coefficients of a Fourier series of the Faddeeva function, and the squares of n π.
def terms : [10](f64, f64) =
  tabulate 10 (\i ->
    let n = f64.i64 (i + 1)
    in (f64.sqrt f64.pi / 6 * f64.exp (-((n * f64.pi / 12) ** 2)), (n * f64.pi) ** 2))

-- The Faddeeva function: near zero by the series, and far from it by a rational approximation.
def faddeeva (z: complex) : complex =
  if z.re * z.re + z.im * z.im < 36
  then let wave = exp (scale 12 (times_i z))
       let square = scale 144 (mul z z)
       let (sum, _) =
         loop (sum, sign) = (real 0, -1) for (coefficient, pole) in terms do
           (add sum (scale coefficient (div (sub (scale sign wave) (real 1)) (sub (real pole) square))), -sign)
       in times_i (add (div (sub (real 1) wave) (scale 12 z)) (scale (144 / f64.sqrt f64.pi) (mul z sum)))
  else let square = mul z z
       let pole weight at = div (real weight) (sub square (real at))
       in times_i (mul z (add (pole 0.5124242247547685 0.2752551286084110) (pole 0.0517653587929878 2.7247448713915890)))

type materials [m][c] = {counts: [m]i32, nuclides: [m][c]i32, densities: [m][c]f64}
type windows [i][w][p] = {background: [i][w][3]f64, positions: [i][w][p][2]f64, residues: [i][w][p][3][2]f64}
-- How many poles each window has, and their angular momenta.
type quanta [i][w][p] = {lengths: [i][w]i32, momenta: [i][w][p]i32}

-- The phase shift of the scattered wave, by its angular momentum.
def phase (momentum: i32) (x: f64) : complex =
  let shift =
    if momentum == 0 then x
    else if momentum == 1 then x - f64.atan x
    else if momentum == 2 then x - f64.atan (3 * x / (3 - x * x))
    else x - f64.atan (x * (15 - x * x) / (15 - 6 * x * x))
  in {re = f64.cos (2 * shift), im = -f64.sin (2 * shift)}

-- The total, absorption and fission cross section of a nuclide.
def microscopic [i][w][p] (quanta: quanta [i][w][p]) (radii: [i][4]f64) (windows: windows [i][w][p])
                          (nuclide: i32) (energy: f64) : (f64, f64, f64) =
  let window = i64.min (w - 1) (i64.f64 (energy * f64.i64 w))
  let phases = tabulate 4 (\l -> phase (i32.i64 l) (radii[nuclide, l] * f64.sqrt energy))
  let background = windows.background[nuclide, window]
  in loop (total, absorption, fission) = (energy * background[0], energy * background[1], energy * background[2])
     for j < quanta.lengths[nuclide, window] do
       let broadened = faddeeva (scale 0.5 (sub (real energy) (complex windows.positions[nuclide, window, j])))
       let part r factor = (mul (complex windows.residues[nuclide, window, j, r]) factor).re
       in ( total + part 0 (mul broadened phases[quanta.momenta[nuclide, window, j]])
          , absorption + part 1 broadened
          , fission + part 2 broadened )

def macroscopic [m][c][i][w][p] (materials: materials [m][c]) (quanta: quanta [i][w][p]) (radii: [i][4]f64)
                                (windows: windows [i][w][p]) (energy: f64) (material: i32) : (f64, f64, f64) =
  loop (total, absorption, fission) = (0, 0, 0) for j < materials.counts[material] do
    let density = materials.densities[material, j]
    let (t, a, f) = microscopic quanta radii windows materials.nuclides[material, j] energy
    in (total + density * t, absorption + density * a, fission + density * f)

def total [l][m][c][i][w][p] (energies: [l]f64) (where: [l]i32) (materials: materials [m][c]) (quanta: quanta [i][w][p])
                             (radii: [i][4]f64) (windows: windows [i][w][p]) : f64 =
  f64.sum (map2 (\energy material ->
                   let (t, a, f) = macroscopic materials quanta radii windows energy material
                   in t + a + f)
                energies
                where)

entry objective [l][m][c][i][w][p] (energies: [l]f64) (where: [l]i32) (counts: [m]i32) (nuclides: [m][c]i32)
                                   (densities: [m][c]f64) (lengths: [i][w]i32) (background: [i][w][3]f64)
                                   (radii: [i][4]f64) (momenta: [i][w][p]i32) (positions: [i][w][p][2]f64)
                                   (residues: [i][w][p][3][2]f64) : f64 =
  total energies where {counts, nuclides, densities} {lengths, momenta} radii {background, positions, residues}

entry derivative [l][m][c][i][w][p] (energies: [l]f64) (where: [l]i32) (counts: [m]i32) (nuclides: [m][c]i32)
                                    (densities: [m][c]f64) (lengths: [i][w]i32) (background: [i][w][3]f64)
                                    (radii: [i][4]f64) (momenta: [i][w][p]i32) (positions: [i][w][p][2]f64)
                                    (residues: [i][w][p][3][2]f64)
  : ([i][w][3]f64, [i][w][p][2]f64, [i][w][p][3][2]f64) =
  let windows = grad (total energies where {counts, nuclides, densities} {lengths, momenta} radii)
                     {background, positions, residues}
  in (windows.background, windows.positions, windows.residues)
