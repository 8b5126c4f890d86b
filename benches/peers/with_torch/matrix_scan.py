"""All products of the first matrices of a sequence, in steps that double how many matrices a product has."""

import torch


def times(x, y):
    a, b, c, d = x
    e, f, g, h = y
    return torch.stack([a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h])


def objective(matrices):
    products, reach = matrices.T, 1
    while reach < len(matrices):
        later = times(products[:, :-reach], products[:, reach:])
        products = torch.cat([products[:, :reach], later], 1)
        reach *= 2
    return 0.5 * (products**2).sum()


def derivative(matrices):
    matrices = matrices.detach().requires_grad_()
    return torch.autograd.grad(objective(matrices), matrices)[0]
