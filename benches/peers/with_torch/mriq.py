"""The matrix Q of a magnetic resonance reconstruction: pieces of points, all waves at once."""

import math

import torch


def energy(points, waves, weights):
    angle = 2 * math.pi * points @ waves
    return 0.5 * ((angle.cos() @ weights) ** 2 + (angle.sin() @ weights) ** 2).sum()


def objective(kx, ky, kz, weights, xs, ys, zs):
    waves = torch.stack([kx, ky, kz])
    return sum(energy(piece, waves, weights) for piece in torch.stack([xs, ys, zs], 1).split(1024))


def derivative(kx, ky, kz, weights, xs, ys, zs):
    waves, weights = torch.stack([kx, ky, kz]).requires_grad_(), weights.detach().requires_grad_()
    for piece in torch.stack([xs, ys, zs], 1).split(1024):
        energy(piece, waves, weights).backward()
    return (*waves.grad, weights.grad)
