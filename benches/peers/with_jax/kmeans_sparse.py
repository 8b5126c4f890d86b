"""k-means by Newton's method with sparse points: sums of products over the entries of a row."""

import jax
import jax.numpy as jnp


def cost(centres, values, columns, rows, count):
    # One centre after the other, for all of them at once would need as much memory as entries times centres.
    product = lambda centre: jax.ops.segment_sum(values * centre[columns], rows, count, indices_are_sorted=True)
    products = jax.lax.map(product, centres).T
    distances = jnp.sum(centres**2, axis=1) - 2 * products
    return jnp.sum(values**2) + jnp.sum(jnp.min(distances, axis=1))


def rows_of(values, starts):
    count = starts.shape[0] - 1
    return jnp.repeat(jnp.arange(count), jnp.diff(starts), total_repeat_length=values.shape[0])


def objective(values, columns, starts, centres):
    return cost(centres, values, columns, rows_of(values, starts), starts.shape[0] - 1)


def derivative(values, columns, starts, centres):
    rows = rows_of(values, starts)
    gradient = lambda centres: jax.grad(cost)(centres, values, columns, rows, starts.shape[0] - 1)
    first, second = jax.jvp(gradient, (centres,), (jnp.ones_like(centres),))
    return jnp.where(second == 0, 0, first / jnp.where(second == 0, 1, second))
