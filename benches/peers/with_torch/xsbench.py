"""Lookups of cross sections: material by material, all its particles and nuclides at once, in pieces that fit in memory."""

import torch


def pieces(energies, where, counts, nuclides, densities, union, indices):
    rows = torch.clamp(torch.searchsorted(union, energies, right=True) - 1, 0, len(union) - 2)
    for material, count in enumerate(counts.tolist()):
        members = (where == material).nonzero()[:, 0]
        own, density = nuclides[material, :count].long(), densities[material, :count]
        for piece in members.split(20_000):
            yield energies[piece], own, density, indices[rows[piece]][:, own].long()


def total(energies, own, density, at, grid, sections):
    at = torch.clamp(at, max=grid.shape[1] - 2)
    below, above = grid[own, at], grid[own, at + 1]
    f = ((above - energies[:, None]) / (above - below))[:, :, None]
    low, high = sections[own, at], sections[own, at + 1]
    return (density[:, None] * (high - f * (high - low))).sum()


def objective(energies, where, counts, nuclides, densities, union, indices, grid, sections):
    given = (energies, where, counts, nuclides, densities, union, indices)
    return sum(total(*piece, grid, sections) for piece in pieces(*given))


def derivative(energies, where, counts, nuclides, densities, union, indices, grid, sections):
    given = (energies, where, counts, nuclides, densities, union, indices)
    grid, sections = grid.detach().requires_grad_(), sections.detach().requires_grad_()
    for piece in pieces(*given):
        total(*piece, grid, sections).backward()
    return grid.grad, sections.grad
