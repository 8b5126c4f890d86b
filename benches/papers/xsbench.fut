-- Lookups of cross sections, the inner kernel of a Monte Carlo simulation of neutrons, as in XSBench. A particle of some energy
-- is in a material, which is a mixture of nuclides. The five cross sections of a nuclide are known at the points of a grid of
-- energies of its own, and linear in between. All grids together, sorted, are the `union`; `indices` has the point of each
-- nuclide's grid that is below each energy of the union, so that one search serves all nuclides.
-- ==
-- entry: objective
-- input { [0.25f64, 0.6] [1i32, 0] [2i32, 1] [[0i32, 1], [1, 0]] [[0.5f64, 2], [3, 0]] [0f64, 0, 0.5, 0.5, 1, 1]
--   [[0i32, 0], [0, 0], [1, 0], [1, 1], [1, 1], [1, 1]] [[0f64, 0.5, 1], [0, 0.5, 1]]
--   [[[1f64, 2, 3, 4, 5], [2, 3, 4, 5, 6], [3, 4, 5, 6, 7]], [[2, 2, 2, 2, 2], [4, 4, 4, 4, 4], [6, 6, 6, 6, 6]]] }
-- output { 99.5f64 }

-- ==
-- entry: derivative
-- input { [0.25f64, 0.6] [1i32, 0] [2i32, 1] [[0i32, 1], [1, 0]] [[0.5f64, 2], [3, 0]] [0f64, 0, 0.5, 0.5, 1, 1]
--   [[0i32, 0], [0, 0], [1, 0], [1, 1], [1, 1], [1, 1]] [[0f64, 0.5, 1], [0, 0.5, 1]]
--   [[[1f64, 2, 3, 4, 5], [2, 3, 4, 5, 6], [3, 4, 5, 6, 7]], [[2, 2, 2, 2, 2], [4, 4, 4, 4, 4], [6, 6, 6, 6, 6]]] }
-- output { [[0f64, -4, -1], [-30, -62, -8]] [[[0f64, 0, 0, 0, 0], [0.4, 0.4, 0.4, 0.4, 0.4], [0.1, 0.1, 0.1, 0.1, 0.1]],
--   [[1.5, 1.5, 1.5, 1.5, 1.5], [3.1, 3.1, 3.1, 3.1, 3.1], [0.4, 0.4, 0.4, 0.4, 0.4]]] }

type materials [m][c] = {counts: [m]i32, nuclides: [m][c]i32, densities: [m][c]f64}
type grids [i][g] = {energies: [i][g]f64, sections: [i][g][5]f64}

-- The last point of a sorted grid that is not above an energy.
def search [n] (grid: [n]f64) (energy: f64) : i64 =
  let (low, _) =
    loop (low, high) = (0, n - 1) while high - low > 1 do
      let middle = low + (high - low) / 2
      in if grid[middle] > energy then (low, middle) else (middle, high)
  in low

-- The cross sections of a nuclide, between two points of its grid.
def microscopic [i][g] (grids: grids [i][g]) (nuclide: i64) (at: i64) (energy: f64) : [5]f64 =
  let (below, above) = (grids.energies[nuclide, at], grids.energies[nuclide, at + 1])
  let f = (above - energy) / (above - below)
  in map2 (\low high -> high - f * (high - low)) grids.sections[nuclide, at] grids.sections[nuclide, at + 1]

-- The cross sections of a material: those of its nuclides, by their densities.
def macroscopic [m][c][u][i][g] (materials: materials [m][c]) (union: [u]f64) (indices: [u][i]i32) (grids: grids [i][g])
                                (energy: f64) (material: i32) : [5]f64 =
  let row = search union energy
  in loop total = replicate 5 0 for j < materials.counts[material] do
       let nuclide = i64.i32 materials.nuclides[material, j]
       let at = i64.min (g - 2) (i64.i32 indices[row, nuclide])
       in map2 (\t x -> t + materials.densities[material, j] * x) total (microscopic grids nuclide at energy)

def total [l][m][c][u][i][g] (energies: [l]f64) (where: [l]i32) (materials: materials [m][c]) (union: [u]f64)
                             (indices: [u][i]i32) (grids: grids [i][g]) : f64 =
  f64.sum (map2 (\energy material -> f64.sum (macroscopic materials union indices grids energy material)) energies where)

entry objective [l][m][c][u][i][g] (energies: [l]f64) (where: [l]i32) (counts: [m]i32) (nuclides: [m][c]i32)
                                   (densities: [m][c]f64) (union: [u]f64) (indices: [u][i]i32)
                                   (grid: [i][g]f64) (sections: [i][g][5]f64) : f64 =
  total energies where {counts, nuclides, densities} union indices {energies = grid, sections}

entry derivative [l][m][c][u][i][g] (energies: [l]f64) (where: [l]i32) (counts: [m]i32) (nuclides: [m][c]i32)
                                    (densities: [m][c]f64) (union: [u]f64) (indices: [u][i]i32)
                                    (grid: [i][g]f64) (sections: [i][g][5]f64) : ([i][g]f64, [i][g][5]f64) =
  let grids = grad (total energies where {counts, nuclides, densities} union indices) {energies = grid, sections}
  in (grids.energies, grids.sections)
