"""GMM of ADBench: benches/papers/gmm.fut says what it is."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, logsumexp


def triangles(icf, d):
    rows, columns = np.triu_indices(d, 1)[::-1]
    diagonal = jnp.arange(d)
    empty = jnp.zeros((icf.shape[0], d, d), icf.dtype)
    return empty.at[:, rows, columns].set(icf[:, d:]).at[:, diagonal, diagonal].set(jnp.exp(icf[:, :d]))


def log_wishart_prior(qs, log_determinants, gamma, m):
    k, d, _ = qs.shape
    n = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * jnp.log(jnp.pi) + jnp.sum(gammaln(0.5 * n - 0.5 * jnp.arange(d)))
    constant = n * d * (jnp.log(gamma) - 0.5 * jnp.log(2)) - log_gamma
    return 0.5 * gamma**2 * jnp.sum(qs**2) - m * jnp.sum(log_determinants) - k * constant


def objective(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    qs = triangles(icf, d)
    log_determinants = jnp.sum(icf[:, :d], axis=1)
    centres = jnp.einsum("kij,kj->ki", qs, means)
    transformed = jnp.einsum("nj,kij->nki", x, qs) - centres
    terms = alphas + log_determinants - 0.5 * jnp.sum(transformed**2, axis=2)
    likelihood = jnp.sum(logsumexp(terms, axis=1)) - n * (0.5 * d * jnp.log(2 * jnp.pi) + logsumexp(alphas))
    return likelihood + log_wishart_prior(qs, log_determinants, gamma, m)


derivative = jax.grad(objective, argnums=(0, 1, 2))
