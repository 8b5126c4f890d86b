"""Reading an array at many indices."""

import torch


def objective(table, indices, targets):
    return 0.5 * ((table.index_select(0, indices) - targets) ** 2).sum()


def derivative(table, indices, targets):
    table = table.detach().requires_grad_()
    return torch.autograd.grad(objective(table, indices, targets), table)[0]
