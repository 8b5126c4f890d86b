"""HAND of ADBench, simple: benches/papers/hand_simple.fut says what it is."""

import torch
from torch.func import jvp, vmap


def axis_rotation(axis):
    squared = (axis * axis).sum()
    still = squared < 1e-8
    angle = torch.sqrt(torch.where(still, torch.ones_like(squared), squared))
    x, y, z = axis / angle
    s, c = torch.sin(angle), torch.cos(angle)
    turned = torch.stack([x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s,
                          x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s,
                          x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c]).reshape(3, 3)
    return torch.where(still, torch.eye(3), turned)


def joint_rotations(x, z):
    """About the axes x and then z, for all bones at once."""
    cx, sx, cz, sz = torch.cos(x), torch.sin(x), torch.cos(z), torch.sin(z)
    zero, one = torch.zeros_like(x), torch.ones_like(x)
    entries = [cz, -cx * sz, sx * sz, zero, sz, cx * cz, -sx * cz, zero, zero, sx, cx, zero, zero, zero, zero, one]
    return torch.stack(entries, -1).reshape(-1, 4, 4)


def joint_angles(theta, bones):
    fingers = theta[6:].reshape(5, 4)
    nothing = torch.zeros(5, 1)
    x = torch.cat([nothing, fingers[:, :1], fingers[:, 2:]], 1).ravel()
    z = torch.cat([nothing, fingers[:, 1:2], nothing, nothing], 1).ravel()
    before, after = torch.zeros(1), torch.zeros(bones - 21)
    return torch.cat([before, x, after]), torch.cat([before, z, after])


def skin(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, theta):
    relatives = base_relatives @ joint_rotations(*joint_angles(theta, len(parents)))
    absolutes = []
    for parent, relative in zip(parents.tolist(), relatives.unbind()):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    transforms = (torch.stack(absolutes) @ inverse_base_absolutes)[:, :3]
    means = torch.einsum("bik,bv->ikv", transforms, weights)
    positions = torch.einsum("ikv,kv->iv", means, base_positions)
    if is_mirrored:
        positions = torch.cat([-positions[:1], positions[1:]])
    return axis_rotation(theta[:3]) @ positions + theta[3:6, None]


def objective(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, correspondences, points,
              theta):
    positions = skin(parents, base_relatives, inverse_base_absolutes, weights, base_positions, is_mirrored, theta)
    return points - positions[:, correspondences].T


def derivative(*arguments):
    *others, theta = arguments
    return vmap(lambda direction: jvp(lambda theta: objective(*others, theta), (theta,), (direction,))[1])(torch.eye(len(theta)))
