"""The temperature of a chip: steps of a simulation, by neighbours in a padded array."""

import torch


def objective(steps, t, power):
    for _ in range(steps):
        p = torch.nn.functional.pad(t[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
        north, south, west, east = p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]
        t = t + 0.05 * (power + (north + south - 2 * t) * 0.1 + (east + west - 2 * t) * 0.1 + (80 - t) * 0.02)
    return 0.5 * ((t - 80) ** 2).sum()


def derivative(steps, t, power):
    t, power = t.detach().requires_grad_(), power.detach().requires_grad_()
    return torch.autograd.grad(objective(steps, t, power), (t, power))
