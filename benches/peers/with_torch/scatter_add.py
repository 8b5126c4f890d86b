"""Messages along the edges of a graph, added at their targets."""

import torch


def objective(nodes, weights, sources, targets):
    messages = weights * nodes.index_select(0, sources)
    sums = torch.zeros_like(nodes).index_add(0, targets, messages)
    return 0.5 * (torch.tanh(sums) ** 2).sum()


def derivative(nodes, weights, sources, targets):
    nodes, weights = nodes.detach().requires_grad_(), weights.detach().requires_grad_()
    return torch.autograd.grad(objective(nodes, weights, sources, targets), (nodes, weights))
