"""All products of the first matrices of a sequence, by JAX's scan of associative operators."""

import jax
import jax.numpy as jnp


def times(x, y):
    a, b, c, d = x
    e, f, g, h = y
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


def objective(matrices):
    products = jax.lax.associative_scan(times, tuple(matrices[:, i] for i in range(4)))
    return 0.5 * sum(jnp.sum(x * x) for x in products)


def derivative(matrices):
    return jax.grad(objective)(matrices)
