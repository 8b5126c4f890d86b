"""Lattice Boltzmann in three dimensions with 19 velocities; in reverse, steps are computed again from every tenth or so."""

import math

import torch
from torch.utils.checkpoint import checkpoint

# x, y and z of the directions c, n, s, e, w, t, b, ne, nw, se, sw, nt, nb, st, sb, et, eb, wt, wb.
DIRECTIONS = [(0, 0, 0), (0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (1, 1, 0), (-1, 1, 0), (1, -1, 0),
              (-1, -1, 0), (0, 1, 1), (0, 1, -1), (0, -1, 1), (0, -1, -1), (1, 0, 1), (1, 0, -1), (-1, 0, 1), (-1, 0, -1)]
OPPOSITE = [0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15]
WEIGHTS = [1 / 3] + 6 * [1 / 18] + 12 * [1 / 36]


def stream(grid):
    rolled = torch.stack([torch.roll(f, (z, y, x), (0, 1, 2)) for f, (x, y, z) in zip(grid, DIRECTIONS)])
    inner = torch.zeros(grid.shape[1:], dtype=torch.bool)
    inner[1:-1, 1:-1, 1:-1] = True
    return torch.where(inner, rolled, grid)


def collide(flags, f):
    omega = 1.95
    shape = (19, 1, 1, 1)
    directions, weights = torch.tensor(DIRECTIONS, dtype=f.dtype), torch.tensor(WEIGHTS, dtype=f.dtype).reshape(shape)
    rho = f.sum(0)
    u = torch.tensordot(directions.T, f, 1) / rho
    driven = torch.tensor([0.005, 0.002, 0], dtype=f.dtype).reshape(3, 1, 1, 1)
    u = torch.where(flags == 2, driven, u)
    along = torch.tensordot(directions, u, 1)
    relaxed = (1 - omega) * f + omega * weights * rho * (1 - 1.5 * (u**2).sum(0) + along * (3 + 4.5 * along))
    return torch.where(flags == 1, f[OPPOSITE], relaxed)


def step(grid, flags):
    return collide(flags, stream(grid))


def many(grid, flags, count):
    # With gradients, a step keeps nothing but its input.
    for _ in range(count):
        grid = checkpoint(step, grid, flags, use_reentrant=False) if grid.requires_grad else step(grid, flags)
    return grid


def objective(steps, flags, start):
    return 0.5 * (many(start, flags, steps) ** 2).sum()


def derivative(steps, flags, start):
    start = start.detach().requires_grad_()
    block = math.isqrt(steps)
    grid = start
    for done in range(0, steps, block):
        grid = checkpoint(many, grid, flags, min(block, steps - done), use_reentrant=False)
    return torch.autograd.grad(0.5 * (grid**2).sum(), start)[0]
