"""k-means by Newton's method with sparse points, as a sparse matrix times the centres."""

import torch


def matrix(values, columns, starts, width):
    rows = torch.repeat_interleave(torch.arange(len(starts) - 1), starts.diff().long())
    return torch.sparse_coo_tensor(torch.stack([rows, columns.long()]), values, (len(starts) - 1, width), is_coalesced=True,
                                   check_invariants=False)


def cost(points, values, centres):
    distances = (centres**2).sum(1) - 2 * torch.sparse.mm(points, centres.T)
    return (values**2).sum() + distances.min(1).values.sum()


def objective(values, columns, starts, centres):
    return cost(matrix(values, columns, starts, centres.shape[1]), values, centres)


def derivative(values, columns, starts, centres):
    centres = centres.detach().requires_grad_()
    points = matrix(values, columns, starts, centres.shape[1])
    first, = torch.autograd.grad(cost(points, values, centres), centres, create_graph=True)
    second, = torch.autograd.grad(first.sum(), centres)
    return torch.where(second == 0, 0, first.detach() / second)
