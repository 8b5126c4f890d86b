"""Messages along the edges of a graph, added at their targets."""

import jax
import jax.numpy as jnp


def energy(given, sources, targets):
    nodes, weights = given
    sums = jnp.zeros_like(nodes).at[targets].add(weights * nodes[sources])
    return 0.5 * jnp.sum(jnp.tanh(sums) ** 2)


def objective(nodes, weights, sources, targets):
    return energy((nodes, weights), sources, targets)


def derivative(nodes, weights, sources, targets):
    return jax.grad(energy)((nodes, weights), sources, targets)
