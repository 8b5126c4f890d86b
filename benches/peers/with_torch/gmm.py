"""GMM of ADBench: benches/papers/gmm.fut says what it is."""

import math

import torch


def triangles(icf, d):
    rows, columns = torch.triu_indices(d, d, 1).flip(0)
    strict = torch.zeros(icf.shape[0], d, d, dtype=icf.dtype)
    strict[:, rows, columns] = icf[:, d:]
    return strict + torch.diag_embed(torch.exp(icf[:, :d]))


def log_wishart_prior(qs, log_determinants, gamma, m):
    k, d, _ = qs.shape
    n = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + torch.lgamma(0.5 * n - 0.5 * torch.arange(d)).sum()
    constant = n * d * (torch.log(gamma) - 0.5 * math.log(2)) - log_gamma
    return 0.5 * gamma**2 * (qs**2).sum() - m * log_determinants.sum() - k * constant


def objective(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    qs = triangles(icf, d)
    log_determinants = icf[:, :d].sum(1)
    centres = torch.einsum("kij,kj->ki", qs, means)
    transformed = torch.einsum("nj,kij->nki", x, qs) - centres
    terms = alphas + log_determinants - 0.5 * (transformed**2).sum(2)
    likelihood = terms.logsumexp(1).sum() - n * (0.5 * d * math.log(2 * math.pi) + alphas.logsumexp(0))
    return likelihood + log_wishart_prior(qs, log_determinants, gamma, m)


def derivative(alphas, means, icf, x, gamma, m):
    parameters = [parameter.detach().requires_grad_() for parameter in (alphas, means, icf)]
    return torch.autograd.grad(objective(*parameters, x, gamma, m), parameters)
