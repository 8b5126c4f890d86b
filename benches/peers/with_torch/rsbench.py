"""Lookups of cross sections by poles: material by material, all its particles, nuclides and poles at once, in pieces."""

import math

import torch


def faddeeva(z):
    near = z.detach().abs() < 6
    inner = torch.where(near, z, 1.0)
    wave, square, total = torch.exp(12j * inner), 144 * inner * inner, 0
    for n in range(1, 11):
        coefficient = math.sqrt(math.pi) / 6 * math.exp(-((n * math.pi / 12) ** 2))
        total = total + coefficient * ((-1) ** n * wave - 1) / ((n * math.pi) ** 2 - square)
    series = 1j * ((1 - wave) / (12 * inner) + 144 / math.sqrt(math.pi) * inner * total)
    if near.all():
        return series
    outer = torch.where(near, 10.0, z)
    square = outer * outer
    rational = 1j * outer * (0.5124242247547685 / (square - 0.2752551286084110) + 0.0517653587929878 / (square - 2.7247448713915890))
    return torch.where(near, series, rational)


def phases(x):
    one, two, three = x[..., 1], x[..., 2], x[..., 3]
    shifts = [torch.zeros_like(one), torch.atan(one), torch.atan(3 * two / (3 - two**2)),
              torch.atan(three * (15 - three**2) / (15 - 6 * three**2))]
    return torch.exp(-2j * (x - torch.stack(shifts, -1)))


def pieces(energies, where, counts, nuclides, densities):
    for material, count in enumerate(counts.tolist()):
        members = (where == material).nonzero()[:, 0]
        for piece in members.split(1000):
            yield energies[piece], nuclides[material, :count].long(), densities[material, :count]


def total(energies, own, density, lengths, background, radii, momenta, positions, residues):
    windows, width = momenta.shape[1:]
    window = torch.clamp((energies * windows).long(), max=windows - 1)[:, None]
    factors = phases(radii[own] * energies.sqrt()[:, None, None])
    broadened = faddeeva(0.5 * (energies[:, None, None] - torch.view_as_complex(positions)[own, window]))
    scattered = broadened * factors.gather(2, momenta[own, window].long())
    values = torch.stack([scattered, broadened, broadened], -1) * torch.view_as_complex(residues)[own, window]
    there = torch.arange(width) < lengths[own, window][..., None]
    sections = energies[:, None] * background[own, window].sum(-1) + torch.where(there, values.real.sum(-1), 0).sum(-1)
    return (density * sections).sum()


def objective(energies, where, counts, nuclides, densities, *poles):
    return sum(total(*piece, *poles) for piece in pieces(energies, where, counts, nuclides, densities))


def derivative(energies, where, counts, nuclides, densities, lengths, background, radii, momenta, positions, residues):
    background, positions, residues = (x.detach().requires_grad_() for x in (background, positions, residues))
    for piece in pieces(energies, where, counts, nuclides, densities):
        total(*piece, lengths, background, radii, momenta, positions, residues).backward()
    return background.grad, positions.grad, residues.grad
