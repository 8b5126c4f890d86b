"""D-LSTM of ADBench: benches/papers/dlstm.fut says what it is."""

import jax
import jax.numpy as jnp


def step(main, extra, state, input):
    x, after = input * extra[0], []
    for (weight, bias), (hidden, cell) in zip(main, state):
        forget = jax.nn.sigmoid(x * weight[0] + bias[0])
        ingate = jax.nn.sigmoid(hidden * weight[1] + bias[1])
        outgate = jax.nn.sigmoid(x * weight[2] + bias[2])
        change = jnp.tanh(hidden * weight[3] + bias[3])
        cell = cell * forget + ingate * change
        x = outgate * jnp.tanh(cell)
        after.append(jnp.stack([x, cell]))
    return jnp.stack(after), x * extra[1] + extra[2]


def objective(main, extra, state, sequence):
    _, predictions = jax.lax.scan(lambda state, input: step(main, extra, state, input), state, sequence[:-1])
    normalisers = jnp.log(2 + jnp.sum(jnp.exp(predictions), axis=1, keepdims=True))
    return -jnp.mean(sequence[1:] * (predictions - normalisers))


derivative = jax.grad(objective, argnums=(0, 1))
