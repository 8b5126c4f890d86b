"""HAND of ADBench, complicated: benches/papers/hand_complicated.fut says what it is."""

import importlib.util
from pathlib import Path

import jax
import jax.numpy as jnp

spec = importlib.util.spec_from_file_location("hand_simple", Path(__file__).with_name("hand_simple.py"))
hand = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hand)


def objective(parents, base_relatives, inverse_base_absolutes, weights, base_positions, triangles, is_mirrored, correspondences,
              points, theta, us):
    positions = hand.skin(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, theta)
    corners = positions[:, triangles[correspondences]]
    shares = jnp.concatenate([us, 1 - us.sum(axis=1, keepdims=True)], axis=1)
    return points - jnp.einsum("inc,nc->ni", corners, shares)


def derivative(*arguments):
    *others, theta, us = arguments
    n = len(us)

    def along(theta_tan, us_tan):
        return jax.jvp(lambda theta, us: objective(*others, theta, us), (theta, us), (theta_tan, us_tan))[1]

    # Two directions for the places in triangles, then one for each number of theta.
    us_tans = jnp.repeat(jnp.eye(2)[:, None], n, axis=1)
    by_u = jax.vmap(lambda us_tan: along(jnp.zeros_like(theta), us_tan))(us_tans)
    by_theta = jax.vmap(lambda theta_tan: along(theta_tan, jnp.zeros_like(us)))(jnp.eye(len(theta)))
    return jnp.concatenate([by_u, by_theta])
