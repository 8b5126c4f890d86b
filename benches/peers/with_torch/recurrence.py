"""A linear recurrence, in steps that double how far a function reaches."""

import torch


def objective(a, b):
    reach = 1
    while reach < len(a):
        b = torch.cat([b[:reach], b[:-reach] * a[reach:] + b[reach:]])
        a = torch.cat([a[:reach], a[:-reach] * a[reach:]])
        reach *= 2
    return 0.5 * (b**2).sum()


def derivative(a, b):
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    return torch.autograd.grad(objective(a, b), (a, b))
