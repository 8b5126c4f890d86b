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


def stream(grid):
    parts = []
    for q, (x, y, z) in enumerate(DIRECTIONS.T):
        l, m, n = grid.shape[1:]
        inner = grid[q, 1 - z:l - 1 - z, 1 - y:m - 1 - y, 1 - x:n - 1 - x]
        parts.append(grid[q].at[1:-1, 1:-1, 1:-1].set(inner))
    return jnp.stack(parts)


def collide(flags, f):
    omega = 1.95
    rho = jnp.sum(f, axis=0)
    moments = [sum(float(c) * f[q] for q, c in enumerate(axis) if c) / rho for axis in DIRECTIONS]
    u = [jnp.where(flags == 2, given, own) for given, own in zip((0.005, 0.002, 0), moments)]
    rest = 1 - 1.5 * (u[0] ** 2 + u[1] ** 2 + u[2] ** 2)
    relaxed = []
    for q in range(19):
        along = sum((float(DIRECTIONS[a, q]) * u[a] for a in range(3) if DIRECTIONS[a, q]), jnp.zeros_like(rho))
        relaxed.append((1 - omega) * f[q] + omega * WEIGHTS[q].item() * rho * (rest + along * (3 + 4.5 * along)))
    return jnp.stack([jnp.where(flags == 1, f[OPPOSITE[q]], relaxed[q]) for q in range(19)])


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
