"""BA of ADBench: benches/papers/ba.fut says what it is."""

import jax
import jax.numpy as jnp


def rotate(rotation, point):
    squared = jnp.dot(rotation, rotation)
    # The branch that is not taken must not divide by zero either.
    angle = jnp.sqrt(jnp.where(squared == 0, 1.0, squared))
    axis, cosine, sine = rotation / angle, jnp.cos(angle), jnp.sin(angle)
    turned = cosine * point + sine * jnp.cross(axis, point) + jnp.dot(axis, point) * (1 - cosine) * axis
    return jnp.where(squared == 0, point + jnp.cross(rotation, point), turned)


def project(camera, point):
    seen = rotate(camera[:3], point - camera[3:6])
    flat = seen[:2] / seen[2]
    squared = jnp.dot(flat, flat)
    return camera[7:9] + camera[6] * (1 + camera[9] * squared + camera[10] * squared * squared) * flat


def residual(camera, point, weight, feature):
    return weight * (project(camera, point) - feature)


def objective(cameras, points, weights, observations, features):
    errors = jax.vmap(residual)(cameras[observations[:, 0]], points[observations[:, 1]], weights, features)
    return errors, 1 - weights * weights


def block(camera, point, weight, feature):
    by_camera, by_point, by_weight = jax.jacrev(residual, (0, 1, 2))(camera, point, weight, feature)
    return jnp.concatenate([by_camera, by_point, by_weight[:, None]], axis=1)


def derivative(cameras, points, weights, observations, features):
    n, m, p = len(cameras), len(points), len(weights)
    blocks = jax.vmap(block)(cameras[observations[:, 0]], points[observations[:, 1]], weights, features)
    by_weight = jax.vmap(jax.grad(lambda weight: 1 - weight * weight))(weights)
    own = 11 * n + 3 * m + jnp.arange(p, dtype=jnp.int32)
    row = jnp.concatenate([11 * observations[:, :1] + jnp.arange(11, dtype=jnp.int32),
                           11 * n + 3 * observations[:, 1:] + jnp.arange(3, dtype=jnp.int32), own[:, None]], axis=1)
    columns = jnp.concatenate([jnp.repeat(row, 2, axis=0).ravel(), own])
    starts = jnp.concatenate([15 * jnp.arange(2 * p, dtype=jnp.int32), 30 * p + jnp.arange(p + 1, dtype=jnp.int32)])
    return starts, columns, jnp.concatenate([blocks.ravel(), by_weight])
