"""Steps of a stencil of seven points in three dimensions."""

import torch


def objective(steps, a):
    for _ in range(steps):
        inner = 0.4 * a[1:-1, 1:-1, 1:-1] + 0.1 * (
            a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
            + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:])
        a = a.clone()
        a[1:-1, 1:-1, 1:-1] = inner
    return 0.5 * (a**2).sum()


def derivative(steps, a):
    a = a.detach().requires_grad_()
    return torch.autograd.grad(objective(steps, a), a)[0]
