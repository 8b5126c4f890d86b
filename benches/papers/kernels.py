"""The problems of the thesis's tables beside ADBench, and simulations with their gradients."""

import numpy as np

from .problem import Problem, like

f32, f64, i8, i32, i64 = np.float32, np.float64, np.int8, np.int32, np.int64


def scalar(kind):
    return lambda inputs: [(kind, ())]


def uniform(rng, shape, kind=f32, low=0.0, high=1.0):
    return rng.random(shape, kind) * kind(high - low) + kind(low)


def clusters(size, rng):
    """Points around as many places as there are centres, and centres near these places."""
    n, d, k = size
    places = uniform(rng, (k, d))
    points = places[rng.integers(0, k, n)] + f32(0.05) * rng.standard_normal((n, d), f32)
    return [points, places + f32(0.02) * rng.standard_normal((k, d), f32)]


def sparse_clusters(size, rng):
    """Sparse rows with most of their entries in the columns of one of the clusters, and centres that are large there."""
    rows, columns, per_row, k = size
    counts = rng.integers(per_row // 2, per_row + per_row // 2 + 1, rows)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(i32)
    firsts = columns * np.arange(k) // k
    first = np.repeat(firsts[rng.integers(0, k, rows)], counts)
    where = (first + columns * uniform(rng, int(starts[-1])) ** 2).astype(i64) % columns
    distance = (np.arange(columns) - firsts[:, None]) % columns / columns
    centres = 0.1 / (1 + 8 * distance) + 0.01 * rng.random((k, columns))
    return [uniform(rng, where.size, low=0.5, high=2.0), where.astype(i32), starts, centres.astype(f32)]


def means_check(points_of, where):
    """The step of Newton's method for k-means takes a centre to the mean of its points, which needs no derivatives."""
    def check(inputs, objective, results):
        centres = np.asarray(inputs[where], f64)
        sums, counts = np.zeros_like(centres), np.zeros(len(centres))
        for block in points_of(inputs):
            product = np.asarray(block @ centres.T)
            nearest = np.argmin(np.sum(centres**2, axis=1) - 2 * product, axis=1)
            members = np.zeros((len(nearest), len(centres)))
            members[np.arange(len(nearest)), nearest] = 1
            sums += np.asarray((block.T @ members).T)
            counts += members.sum(axis=0)
        step = np.where(counts[:, None] == 0, 0, centres - sums / np.maximum(counts, 1)[:, None])
        error = np.max(np.abs(step - results[0])) / np.max(np.abs(step))
        return None if error < 2e-3 else f"the step is not the one to the means: {error:.1e}"
    return check


def dense_blocks(inputs):
    return (inputs[0][i:i + 10000].astype(f64) for i in range(0, len(inputs[0]), 10000))


def sparse_blocks(inputs):
    from scipy.sparse import csr_matrix
    values, columns, starts, centres = inputs
    matrix = csr_matrix((values.astype(f64), columns, starts), (len(starts) - 1, centres.shape[1]))
    return (matrix[i:i + 10000] for i in range(0, matrix.shape[0], 10000))


def lstm(size, rng):
    batch, n, d, h = size
    edge = 1 / np.sqrt(h)
    weights = [(4 * h, d), (4 * h, h), (4 * h,), (h, d), (d,)]
    return [uniform(rng, (n, batch, d), low=-1), uniform(rng, (n, batch, d), low=-1),
            *(uniform(rng, shape, low=-edge, high=edge) for shape in weights)]


# How many nuclides the materials of a reactor have in the small problems of XSBench and RSBench, and how often particles are in
# each of them.
NUCLIDES = [34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9]
SHARES = [0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013]


def particles_and_materials(lookups, isotopes, rng):
    """Energies of particles, in which material each is, and how many and which nuclides each material has, with densities."""
    counts = np.minimum(NUCLIDES, isotopes).astype(i32)
    nuclides = np.array([rng.permutation(isotopes)[:max(counts)] for _ in counts], i32)
    shares = np.array(SHARES) / np.sum(SHARES)
    return [rng.random(lookups), rng.choice(len(counts), lookups, p=shares).astype(i32), counts, nuclides,
            rng.random(nuclides.shape)]


def xsbench(size, rng):
    lookups, isotopes, points = size
    grids = (np.arange(points) + rng.uniform(0.1, 0.9, (isotopes, points))) / points
    union = np.sort(grids.ravel())
    indices = np.stack([np.clip(np.searchsorted(grid, union, "right") - 1, 0, points - 1) for grid in grids], axis=1)
    return [*particles_and_materials(lookups, isotopes, rng), union, indices.astype(i32), grids,
            rng.random((isotopes, points, 5))]


def rsbench(size, rng):
    lookups, isotopes, windows, poles = size
    shape = (isotopes, windows, poles)
    # About as many poles in a window as RSBench has by default, of 1000 in 100 windows.
    lengths = rng.integers(poles // 4, poles + 1, shape[:2])
    return [*particles_and_materials(lookups, isotopes, rng), lengths.astype(i32), rng.random((*shape[:2], 3)),
            rng.random((isotopes, 4)), rng.integers(0, 4, shape, dtype=i32), rng.random((*shape, 2)), rng.random((*shape, 3, 2))]


def lbm(size, rng):
    """A box with a wall all around just inside of its outermost cells, some obstacles, and a lid that moves."""
    l, m, n, steps = size
    flags = (rng.random((l, m, n)) < 0.01).astype(i8)
    flags[1:2] = flags[-2:-1] = flags[:, 1:2] = flags[:, -2:-1] = flags[:, :, 1:2] = flags[:, :, -2:-1] = 1
    flags[2:3, 2:-2, 2:-2] = 2
    weights = np.array([1 / 3] + 6 * [1 / 18] + 12 * [1 / 36], f32).reshape(19, 1, 1, 1)
    return [i64(steps), flags, weights * uniform(rng, (19, l, m, n), low=0.9, high=1.1)]


def chip(size, rng):
    n, m, steps = size
    return [i64(steps), uniform(rng, (n, m), low=60, high=100), uniform(rng, (n, m))]


def waves(size, rng):
    n, k = size
    return [*(uniform(rng, k, low=-0.5, high=0.5) for _ in range(3)), uniform(rng, k), *(uniform(rng, n, low=-1) for _ in range(3))]


def lstm_sizes(inputs):
    n, batch, d = inputs[0].shape
    return [n, batch, d, inputs[3].shape[1]]


PROBLEMS = {problem.name: problem for problem in [
    Problem(
        "kmeans", "k-means",
        {"KDD cup: 494019 × 35, k = 5": (494019, 35, 5), "10000 × 256, k = 1024": (10000, 256, 1024),
         "2000000 × 10, k = 1024": (2000000, 10, 1024)},
        clusters, scalar("f32"), derivative_outputs=lambda inputs: like(inputs, [1]), check=means_check(dense_blocks, 1),
        sizes=lambda x: [*x[0].shape, x[1].shape[0]], tolerance=1e-3,
        part=0.05, growth=[(5000 * 3**i, 35, 5) for i in range(5)],
        note="The derivative is a step of Newton's method, by one forward derivative of the gradient.",
    ),
    Problem(
        "kmeans_sparse", "Sparse k-means",
        {"as MovieLens: 139000 × 131000, 20 M": (139000, 131000, 144, 10),
         "as NYTimes: 300000 × 102000, 70 M": (300000, 102000, 235, 10),
         "as scRNA: 66000 × 27000, 128 M": (66000, 27000, 1943, 10)},
        sparse_clusters, scalar("f32"), derivative_outputs=lambda inputs: like(inputs, [3]), check=means_check(sparse_blocks, 3),
        sizes=lambda x: [x[0].shape[0], x[2].shape[0], *x[3].shape], tolerance=2e-3,
        part=0.02, growth=[(500 * 3**i, 20000, 150, 10) for i in range(5)],
        note="Random matrices with the shapes and densities of the published ones.",
    ),
    Problem(
        "lstm", "LSTM in batches",
        {"batch 1024, length 20, d = 300, h = 192": (1024, 20, 300, 192),
         "batch 1024, length 300, d = 80, h = 256": (1024, 300, 80, 256)},
        lstm, scalar("f32"), differentiated=[2, 3, 4, 5, 6], sizes=lstm_sizes, tolerance=2e-3,
        finite_tolerance=2e-2, finite_step=1e-2, part=0.1, growth=[(4 * 3**i, 20, 300, 192) for i in range(5)], strips=True,
    ),
    Problem(
        "xsbench", "XSBench",
        {"small, 17 M lookups": (17000000, 68, 11303)},
        xsbench, differentiated=[7, 8],
        sizes=lambda x: [x[0].shape[0], *x[3].shape, x[5].shape[0], *x[7].shape],
        finite_step=1e-9, finite_tolerance=1e-4, part=0.004, growth=[(20000 * 3**i, 68, 1000) for i in range(5)],
        note="The unionised grid; the gradient is by energies and cross sections of the grids.",
    ),
    Problem(
        "rsbench", "RSBench",
        {"small, 10.2 M lookups": (10200000, 68, 100, 16)},
        rsbench, differentiated=[6, 9, 10],
        sizes=lambda x: [x[0].shape[0], *x[3].shape, *x[8].shape],
        finite_tolerance=1e-4, part=0.001, growth=[(2000 * 3**i, 68, 100, 16) for i in range(5)],
        note="With Doppler broadening; the gradient is by poles, residues and background.",
    ),
    Problem(
        "lbm", "Lattice Boltzmann",
        {"150 × 120 × 120, 100 steps": (150, 120, 120, 100)},
        lbm, scalar("f32"), differentiated=[2], sizes=lambda x: list(x[1].shape), tolerance=2e-3,
        finite_tolerance=2e-2, finite_step=1e-2, sides=3, part=0.125, growth=[(8 * 2**i, 40, 40, 20) for i in range(4)],
        strips=True, note="An eighth of the box, as smaller parts fit into caches. JAX and PyTorch compute steps again from a few that "
        "are kept, as Dagaz does in strips.",
    ),
    Problem(
        "hotspot", "Hotspot",
        {"1024 × 1024, 360 steps": (1024, 1024, 360)},
        chip, scalar("f32"), differentiated=[1, 2], sizes=lambda x: list(x[1].shape), tolerance=1e-3,
        finite_tolerance=2e-2, finite_step=1e-2, part=0.1, growth=[(64 * 3**i, 512, 20) for i in range(4)],
    ),
    Problem(
        "pathfinder", "Pathfinder",
        {"100 rows of 1000000": (1000000, 100)},
        lambda size, rng: [uniform(rng, size[::-1], f64, high=10)], differentiated=[0],
        sizes=lambda x: list(x[0].shape), finite_step=1e-8, finite_tolerance=1e-4,
        part=0.1, growth=[(3000 * 3**i, 100) for i in range(5)], strips=True,
        note="Numbers are f64, for among so many f32 there are equal ones, where systems differ in the derivative of a minimum.",
    ),
    Problem(
        "mriq", "MRI-Q",
        {"2048 waves at 32768 points": (32768, 2048)},
        waves, scalar("f32"), differentiated=[0, 1, 2, 3], sizes=lambda x: [x[0].size, x[4].size], tolerance=2e-3,
        finite_tolerance=2e-2, finite_step=1e-2, part=0.1, growth=[(100 * 3**i, 2048) for i in range(4)],
    ),
    Problem(
        "stencil", "Stencil in three dimensions",
        {"512 × 512 × 64, 100 steps": (512, 512, 64, 100)},
        lambda size, rng: [i64(size[3]), uniform(rng, size[:3])], scalar("f32"), differentiated=[1],
        sizes=lambda x: list(x[1].shape), tolerance=1e-3, finite_tolerance=2e-2, finite_step=1e-2,
        part=0.1, growth=[(16 * 3**i, 128, 64, 10) for i in range(4)],
    ),
]}
