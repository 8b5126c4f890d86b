"""Steps of a stencil of seven points in three dimensions."""

import jax
import jax.numpy as jnp

STATIC = (0,)


def energy(a, steps):
    def step(a, _):
        inner = 0.4 * a[1:-1, 1:-1, 1:-1] + 0.1 * (
            a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
            + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:])
        return a.at[1:-1, 1:-1, 1:-1].set(inner), None

    return 0.5 * jnp.sum(jax.lax.scan(step, a, None, steps)[0] ** 2)


def objective(steps, a):
    return energy(a, steps)


def derivative(steps, a):
    return jax.grad(energy)(a, steps)
