"""A layer of long short-term memory over sequences in batches, with a linear layer behind it."""

import jax
import jax.numpy as jnp


def loss(weights, inputs, targets):
    w_input, w_hidden, bias, w_output, output_bias = weights
    zero = jnp.zeros((inputs.shape[1], w_hidden.shape[1]), inputs.dtype)
    # The part of the gates that comes from the inputs does not depend on the steps before: one product for all of them.
    from_inputs = inputs @ w_input.T + bias

    def step(state, from_input):
        hidden, cell = state
        i, f, g, o = jnp.split(from_input + hidden @ w_hidden.T, 4, axis=1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    hidden = jax.lax.scan(step, (zero, zero), from_inputs)[1]
    return jnp.mean((hidden @ w_output + output_bias - targets) ** 2)


def objective(inputs, targets, *weights):
    return loss(weights, inputs, targets)


def derivative(inputs, targets, *weights):
    return jax.grad(loss)(weights, inputs, targets)
