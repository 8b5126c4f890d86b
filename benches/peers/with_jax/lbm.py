"""Lattice Boltzmann in three dimensions with 19 velocities; in reverse, steps are computed again from every tenth or so."""

import math

import jax
import jax.numpy as jnp
import numpy as np

STATIC = (0,)
# By rows: x, y and z of the directions c, n, s, e, w, t, b, ne, nw, se, sw, nt, nb, st, sb, et, eb, wt, wb.
DIRECTIONS = np.array([
    [0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1],
    [0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1]])
OPPOSITE = [0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15]
WEIGHTS = np.array([1 / 3] + 6 * [1 / 18] + 12 * [1 / 36])


# All directions at once, by small matrix products: written out one by one, XLA computes what they share in each of them.
def stream(grid):
    z, y, x = np.ogrid[tuple(slice(size) for size in grid.shape[1:])]
    l, m, n = grid.shape[1:]
    inner = (z > 0) & (z < l - 1) & (y > 0) & (y < m - 1) & (x > 0) & (x < n - 1)
    rolled = [jnp.roll(grid[q], (z, y, x), (0, 1, 2)) for q, (x, y, z) in enumerate(DIRECTIONS.T)]
    return jnp.where(inner, jnp.stack(rolled), grid)


def collide(flags, f):
    omega, directions = 1.95, DIRECTIONS.astype(f.dtype)
    weights, driven = WEIGHTS.astype(f.dtype).reshape(19, 1, 1, 1), np.array([0.005, 0.002, 0], f.dtype).reshape(3, 1, 1, 1)
    rho = jnp.sum(f, axis=0)
    u = jnp.where(flags == 2, driven, jnp.tensordot(directions, f, 1) / rho)
    along = jnp.tensordot(directions.T, u, 1)
    relaxed = (1 - omega) * f + omega * weights * rho * (1 - 1.5 * jnp.sum(u**2, axis=0) + along * (3 + 4.5 * along))
    return jnp.where(flags == 1, jnp.tensordot(np.eye(19, dtype=f.dtype)[OPPOSITE], f, 1), relaxed)


def total(start, steps, flags):
    step = lambda grid, _: (collide(flags, stream(grid)), None)
    many = lambda count: lambda grid, _: (jax.lax.scan(step, grid, None, count)[0], None)
    block = math.isqrt(steps)
    grid = jax.lax.scan(jax.checkpoint(many(block)), start, None, steps // block)[0]
    grid = jax.checkpoint(many(steps % block))(grid, None)[0] if steps % block else grid
    return 0.5 * jnp.sum(grid**2)


def objective(steps, flags, start):
    return total(start, steps, flags)


def derivative(steps, flags, start):
    return jax.grad(total)(start, steps, flags)
