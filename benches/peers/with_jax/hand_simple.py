"""HAND of ADBench, simple: benches/papers/hand_simple.fut says what it is."""

import jax
import jax.numpy as jnp


def axis_rotation(axis):
    squared = jnp.dot(axis, axis)
    still = squared < 1e-8
    angle = jnp.sqrt(jnp.where(still, 1.0, squared))
    x, y, z = axis / angle
    s, c = jnp.sin(angle), jnp.cos(angle)
    turned = jnp.array([[x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
                        [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
                        [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c]])
    return jnp.where(still, jnp.eye(3), turned)


def joint_rotations(x, z):
    """About the axes x and then z, for all bones at once."""
    cx, sx, cz, sz = jnp.cos(x), jnp.sin(x), jnp.cos(z), jnp.sin(z)
    zero, one = jnp.zeros_like(x), jnp.ones_like(x)
    rows = [[cz, -cx * sz, sx * sz, zero], [sz, cx * cz, -sx * cz, zero], [zero, sx, cx, zero], [zero, zero, zero, one]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def joint_angles(theta, bones):
    fingers = theta[6:].reshape(5, 4)
    nothing = jnp.zeros((5, 1))
    x = jnp.concatenate([nothing, fingers[:, :1], fingers[:, 2:]], axis=1).ravel()
    z = jnp.concatenate([nothing, fingers[:, 1:2], nothing, nothing], axis=1).ravel()
    return jnp.pad(x, (1, bones - 21)), jnp.pad(z, (1, bones - 21))


def skin(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, theta):
    bones = len(parents)
    relatives = base_relatives @ joint_rotations(*joint_angles(theta, bones))

    def place(absolutes, bone):
        relative = relatives[bone]
        absolute = jnp.where(parents[bone] == -1, relative, absolutes[parents[bone]] @ relative)
        return absolutes.at[bone].set(absolute), None

    absolutes, _ = jax.lax.scan(place, jnp.zeros((bones, 4, 4)), jnp.arange(bones))
    transforms = (absolutes @ inverse_base_absolutes)[:, :3]
    means = jnp.einsum("bik,bv->ikv", transforms, weights)
    positions = jnp.einsum("ikv,kv->iv", means, base_positions)
    mirror = jnp.where(is_mirrored, -1.0, 1.0)
    return axis_rotation(theta[:3]) @ positions.at[0].multiply(mirror) + theta[3:6, None]


def objective(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, correspondences, points,
              theta):
    positions = skin(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, theta)
    return points - positions[:, correspondences].T


def derivative(*arguments):
    *others, theta = arguments
    directions = jnp.eye(len(theta))
    return jax.vmap(lambda direction: jax.jvp(lambda theta: objective(*others, theta), (theta,), (direction,))[1])(directions)
