-- The flow of a fluid by the lattice Boltzmann method, in three dimensions with 19 velocities (D3Q19): what moves in each of
-- these directions streams to the next cell, and then the particles of a cell collide. Cells are fluid (0), an obstacle (1),
-- from which particles bounce back, or driven with a velocity of their own (2). The outermost cells stay as they are. The
-- objective is half the sum of squares of all cells after some steps, and its gradient is by the cells at the start.
-- The tests are in `lbm_test.fut`.

-- What moves north (y grows), east (x grows), to the top (z grows), to their opposites, or nowhere.
type cell =
  { c: f32, n: f32, s: f32, e: f32, w: f32, t: f32, b: f32, ne: f32, nw: f32, se: f32, sw: f32, nt: f32, nb: f32
  , st: f32, sb: f32, et: f32, eb: f32, wt: f32, wb: f32 }

def bounce (f: cell) : cell =
  { c = f.c, n = f.s, s = f.n, e = f.w, w = f.e, t = f.b, b = f.t, ne = f.sw, nw = f.se, se = f.nw, sw = f.ne
  , nt = f.sb, nb = f.st, st = f.nb, sb = f.nt, et = f.wb, eb = f.wt, wt = f.eb, wb = f.et }

def density (f: cell) : f32 =
  f.c + f.n + f.s + f.e + f.w + f.t + f.b + f.ne + f.nw + f.se + f.sw + f.nt + f.nb + f.st + f.sb + f.et + f.eb + f.wt + f.wb

def velocity (f: cell) : (f32, f32, f32) =
  let rho = density f
  in ( (f.e - f.w + f.ne - f.nw + f.se - f.sw + f.et + f.eb - f.wt - f.wb) / rho
     , (f.n - f.s + f.ne + f.nw - f.se - f.sw + f.nt + f.nb - f.st - f.sb) / rho
     , (f.t - f.b + f.nt - f.nb + f.st - f.sb + f.et - f.eb + f.wt - f.wb) / rho )

-- Most of the way to the equilibrium of a velocity, and beyond.
def relax (f: cell) (x: f32, y: f32, z: f32) : cell =
  let omega = 1.95
  let rho = density f
  let rest = 1 - 1.5 * (x * x + y * y + z * z)
  let relaxed weight old along = (1 - omega) * old + omega * weight * rho * (rest + along * (3 + 4.5 * along))
  let straight = relaxed (1 / 18)
  let diagonal = relaxed (1 / 36)
  in { c = relaxed (1 / 3) f.c 0
     , n = straight f.n y, s = straight f.s (-y), e = straight f.e x, w = straight f.w (-x)
     , t = straight f.t z, b = straight f.b (-z)
     , ne = diagonal f.ne (x + y), nw = diagonal f.nw (y - x), se = diagonal f.se (x - y), sw = diagonal f.sw (-x - y)
     , nt = diagonal f.nt (y + z), nb = diagonal f.nb (y - z), st = diagonal f.st (z - y), sb = diagonal f.sb (-y - z)
     , et = diagonal f.et (x + z), eb = diagonal f.eb (x - z), wt = diagonal f.wt (z - x), wb = diagonal f.wb (-x - z) }

def collide (flag: i8) (f: cell) : cell =
  if flag == 1 then bounce f else relax f (if flag == 2 then (0.005, 0.002, 0) else velocity f)

def stream [l][m][n] (grid: [l][m][n]cell) : [l][m][n]cell =
  tabulate_3d l m n (\z y x ->
    let from dx dy dz = grid[z - dz, y - dy, x - dx]
    in if x == 0 || x == n - 1 || y == 0 || y == m - 1 || z == 0 || z == l - 1
       then grid[z, y, x]
       else { c = (from 0 0 0).c
            , n = (from 0 1 0).n, s = (from 0 (-1) 0).s, e = (from 1 0 0).e, w = (from (-1) 0 0).w
            , t = (from 0 0 1).t, b = (from 0 0 (-1)).b
            , ne = (from 1 1 0).ne, nw = (from (-1) 1 0).nw, se = (from 1 (-1) 0).se, sw = (from (-1) (-1) 0).sw
            , nt = (from 0 1 1).nt, nb = (from 0 1 (-1)).nb, st = (from 0 (-1) 1).st, sb = (from 0 (-1) (-1)).sb
            , et = (from 1 0 1).et, eb = (from 1 0 (-1)).eb, wt = (from (-1) 0 1).wt, wb = (from (-1) 0 (-1)).wb })

def unpack (f: [19]f32) : cell =
  { c = f[0], n = f[1], s = f[2], e = f[3], w = f[4], t = f[5], b = f[6], ne = f[7], nw = f[8], se = f[9], sw = f[10]
  , nt = f[11], nb = f[12], st = f[13], sb = f[14], et = f[15], eb = f[16], wt = f[17], wb = f[18] }

def squares (f: cell) : f32 =
  f.c ** 2 + f.n ** 2 + f.s ** 2 + f.e ** 2 + f.w ** 2 + f.t ** 2 + f.b ** 2 + f.ne ** 2 + f.nw ** 2 + f.se ** 2 + f.sw ** 2
  + f.nt ** 2 + f.nb ** 2 + f.st ** 2 + f.sb ** 2 + f.et ** 2 + f.eb ** 2 + f.wt ** 2 + f.wb ** 2

def cells [l][m][n] (numbers: [19][l][m][n]f32) : [l][m][n]cell =
  tabulate_3d l m n (\z y x -> unpack numbers[:, z, y, x])

def step [l][m][n] (flags: [l][m][n]i8) (grid: [l][m][n]cell) : [l][m][n]cell =
  map2 (map2 (map2 collide)) flags (stream grid)

def energy [l][m][n] (grid: [l][m][n]cell) : f32 = 0.5 * f32.sum (map squares (flatten_3d grid))

def total [l][m][n] (steps: i64) (flags: [l][m][n]i8) (start: [19][l][m][n]f32) : f32 =
  energy (loop grid = cells start for _i < steps do step flags grid)

-- The same, whose derivative keeps few of the grids.
def total_in_strips [l][m][n] (steps: i64) (flags: [l][m][n]i8) (start: [19][l][m][n]f32) : f32 =
  energy (#[stripmine(1)] loop grid = cells start for _i < steps do step flags grid)

entry objective [l][m][n] (steps: i64) (flags: [l][m][n]i8) (start: [19][l][m][n]f32) : f32 = total steps flags start

entry derivative [l][m][n] (steps: i64) (flags: [l][m][n]i8) (start: [19][l][m][n]f32) : [19][l][m][n]f32 =
  grad (total steps flags) start

entry derivative_in_strips [l][m][n] (steps: i64) (flags: [l][m][n]i8) (start: [19][l][m][n]f32) : [19][l][m][n]f32 =
  grad (total_in_strips steps flags) start
