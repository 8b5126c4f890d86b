"""The matrix Q of a magnetic resonance reconstruction: pieces of points, all waves at once."""

import jax
import jax.numpy as jnp

PIECE = 256


def energy(waves, xs, ys, zs):
    kx, ky, kz, weights = waves

    def piece(total, given):
        x, y, z, there = given
        angle = 2 * jnp.pi * (x[:, None] * kx + y[:, None] * ky + z[:, None] * kz)
        real, imaginary = jnp.cos(angle) @ weights, jnp.sin(angle) @ weights
        return total + jnp.sum(there * (real**2 + imaginary**2)), None

    rest = -xs.shape[0] % PIECE
    pieces = tuple(jnp.pad(v, (0, rest)).reshape(-1, PIECE) for v in (xs, ys, zs, jnp.ones_like(xs)))
    return 0.5 * jax.lax.scan(jax.checkpoint(piece), jnp.zeros((), xs.dtype), pieces)[0]


def objective(kx, ky, kz, weights, xs, ys, zs):
    return energy((kx, ky, kz, weights), xs, ys, zs)


def derivative(kx, ky, kz, weights, xs, ys, zs):
    return jax.grad(energy)((kx, ky, kz, weights), xs, ys, zs)
