"""k-means by Newton's method: distances as a matrix product, |p|² - 2pc + |c|²."""

import jax
import jax.numpy as jnp


def cost(centres, points):
    distances = jnp.sum(centres**2, axis=1) - 2 * points @ centres.T
    return jnp.sum(jnp.sum(points**2, axis=1) + jnp.min(distances, axis=1))


def objective(points, centres):
    return cost(centres, points)


def derivative(points, centres):
    gradient = lambda centres: jax.grad(cost)(centres, points)
    first, second = jax.jvp(gradient, (centres,), (jnp.ones_like(centres),))
    return jnp.where(second == 0, 0, first / jnp.where(second == 0, 1, second))
