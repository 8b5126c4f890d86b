"""Lookups of cross sections by poles: pieces of lookups, all nuclides and poles at once, with those that are not there masked.

Complex numbers are pairs: XLA's own are several times slower on processors.
"""

import jax
import jax.numpy as jnp
import numpy as np

PIECE = 512
N = np.arange(1, 11)
COEFFICIENTS = np.sqrt(np.pi) / 6 * np.exp(-((N * np.pi / 12) ** 2))


def mul(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def div(a, b):
    scale = 1 / (b[0] * b[0] + b[1] * b[1])
    return (a[0] * b[0] + a[1] * b[1]) * scale, (a[1] * b[0] - a[0] * b[1]) * scale


def series(z):
    size = jnp.exp(-12 * z[1])
    wave = size * jnp.cos(12 * z[0]), size * jnp.sin(12 * z[0])
    square = mul(z, z)
    first = div((1 - wave[0], -wave[1]), (12 * z[0], 12 * z[1]))
    total = [0, 0]
    for n in range(10):
        sign, factor = (-1.0) ** (n + 1), COEFFICIENTS[n] * 144 / np.sqrt(np.pi)
        part = div((sign * wave[0] - 1, sign * wave[1]), ((N[n] * np.pi) ** 2 - 144 * square[0], -144 * square[1]))
        total = [total[0] + factor * part[0], total[1] + factor * part[1]]
    second = mul(z, total)
    return -(first[1] + second[1]), first[0] + second[0]


def rational(z):
    square = mul(z, z)
    one = div((0.5124242247547685, 0.0), (square[0] - 0.2752551286084110, square[1]))
    two = div((0.0517653587929878, 0.0), (square[0] - 2.7247448713915890, square[1]))
    product = mul(z, (one[0] + two[0], one[1] + two[1]))
    return -product[1], product[0]


def faddeeva(z):
    near = z[0] * z[0] + z[1] * z[1] < 36
    # Where the other branch is taken, numbers must stay finite: a gradient of zero times infinity is none.
    inner = series([jnp.where(near, x, 1.0) for x in z])
    outer = rational([jnp.where(near, 10.0, x) for x in z])
    return [jnp.where(near, a, b) for a, b in zip(inner, outer)]


def phases(x):
    shifts = [0 * x[..., 0], jnp.arctan(x[..., 1]), jnp.arctan(3 * x[..., 2] / (3 - x[..., 2] ** 2)),
              jnp.arctan(x[..., 3] * (15 - x[..., 3] ** 2) / (15 - 6 * x[..., 3] ** 2))]
    angle = 2 * (x - jnp.stack(shifts, -1))
    return jnp.cos(angle), -jnp.sin(angle)


def total(poles, energies, where, counts, nuclides, densities, lengths, radii, momenta):
    background, positions, residues = poles
    windows, width = momenta.shape[1:]

    def piece(so_far, given):
        energy, material, weight = given
        nuclide = nuclides[material]
        density = jnp.where(jnp.arange(nuclides.shape[1]) < counts[material, None], densities[material], 0) * weight[:, None]
        window = jnp.minimum(windows - 1, (energy * windows).astype(jnp.int32))[:, None]
        factors = phases(radii[nuclide] * jnp.sqrt(energy)[:, None, None])
        position, residue = positions[nuclide, window], residues[nuclide, window]
        broadened = faddeeva((0.5 * (energy[:, None, None] - position[..., 0]), -0.5 * position[..., 1]))
        own = mul(broadened, [jnp.take_along_axis(x, momenta[nuclide, window], axis=2) for x in factors])
        values = sum(mul((residue[..., r, 0], residue[..., r, 1]), of)[0] for r, of in enumerate((own, broadened, broadened)))
        there = jnp.arange(width) < lengths[nuclide, window][..., None]
        sections = energy[:, None] * jnp.sum(background[nuclide, window], -1) + jnp.sum(jnp.where(there, values, 0), -1)
        return so_far + jnp.sum(density * sections), None

    rest = -energies.shape[0] % PIECE
    pieces = [jnp.pad(x, (0, rest)).reshape(-1, PIECE) for x in (energies, where, jnp.ones_like(energies))]
    return jax.lax.scan(jax.checkpoint(piece), 0.0, tuple(pieces))[0]


def objective(energies, where, counts, nuclides, densities, lengths, background, radii, momenta, positions, residues):
    poles = (background, positions, residues)
    return total(poles, energies, where, counts, nuclides, densities, lengths, radii, momenta)


def derivative(energies, where, counts, nuclides, densities, lengths, background, radii, momenta, positions, residues):
    poles = (background, positions, residues)
    return jax.grad(total)(poles, energies, where, counts, nuclides, densities, lengths, radii, momenta)
