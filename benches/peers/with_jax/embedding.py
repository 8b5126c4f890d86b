"""An embedding, the mean of its rows for a sentence, and a linear layer."""

import jax
import jax.numpy as jnp


def loss(parameters, words, targets):
    table, layer = parameters
    return jnp.mean((jnp.mean(table[words], axis=1) @ layer - targets) ** 2)


def objective(table, layer, words, targets):
    return loss((table, layer), words, targets)


def derivative(table, layer, words, targets):
    return jax.grad(loss)((table, layer), words, targets)
