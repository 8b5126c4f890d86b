"""Gradients that users of differentiable languages complain about: reads and writes at repeated indices, scans with operators of
one's own, and products with zeros."""

import numpy as np

from .problem import Problem

f32, f64, i32 = np.float32, np.float64, np.int32


def frequent(rng, words, shape):
    """Indices of which few are frequent and most are rare, as words in a language."""
    return (words ** rng.random(shape) - 1).astype(i32)


def reads(size, rng):
    m, n = size
    return [rng.standard_normal(n), frequent(rng, n, m), rng.standard_normal(m)]


def sentences(size, rng):
    b, s, v, d = size
    return [rng.standard_normal((v, d), f32), rng.standard_normal(d, f32), frequent(rng, v, (b, s)),
            rng.standard_normal(b, f32)]


def graph(size, rng):
    m, n = size
    return [rng.standard_normal(n), 0.1 * rng.standard_normal(m), rng.integers(0, n, m, dtype=i32), frequent(rng, n, m)]


def rotations(size, rng):
    """Matrices whose products neither grow nor vanish."""
    angles = rng.uniform(-1, 1, size)
    return [np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], axis=1)]


def with_zeros(size, rng):
    n, m = size
    rows = rng.uniform(0.5, 1.5, size)
    for _ in range(2):
        some = rng.integers(0, n, n // 4)
        rows[some, rng.integers(0, m, n // 4)] = 0
    return [rows]


PROBLEMS = {problem.name: problem for problem in [
    Problem(
        "gather", "Gather",
        {"10 M reads of 1000": (10_000_000, 1000), "10 M reads of 1000000": (10_000_000, 1_000_000)},
        reads, differentiated=[0], sizes=lambda x: [x[0].size, x[1].size],
        part=0.1, growth=[(30_000 * 4**i, 1000) for i in range(5)],
    ),
    Problem(
        "embedding", "Embedding",
        {"16384 sentences of 32 words of 50000, d = 64": (16384, 32, 50_000, 64)},
        sentences, lambda inputs: [("f32", ())], differentiated=[0, 1], sizes=lambda x: [*x[0].shape, *x[2].shape],
        tolerance=1e-4, finite_tolerance=2e-2, finite_step=1e-2, part=0.1, growth=[(256 * 4**i, 32, 50_000, 64) for i in range(4)],
    ),
    Problem(
        "scatter_add", "Scatter-add",
        {"10 M edges of 1000 nodes": (10_000_000, 1000), "10 M edges of 1000000 nodes": (10_000_000, 1_000_000)},
        graph, differentiated=[0, 1], sizes=lambda x: [x[0].size, x[1].size],
        part=0.1, growth=[(30_000 * 4**i, 10_000) for i in range(5)],
    ),
    Problem(
        "matrix_scan", "Scan with 2 × 2 matrices",
        {"10 M matrices": (10_000_000,)},
        rotations, differentiated=[0], sizes=lambda x: [x[0].shape[0]], tolerance=1e-7, finite_tolerance=1e-4, finite_step=1e-8,
        part=0.1, growth=[(10_000 * 4**i,) for i in range(5)],
    ),
    Problem(
        "recurrence", "Linear recurrence",
        {"10 M steps": (10_000_000,)},
        lambda size, rng: [rng.uniform(-0.99, 0.99, size), rng.standard_normal(size)], differentiated=[0, 1],
        sizes=lambda x: [x[0].size], part=0.1, growth=[(30_000 * 4**i,) for i in range(5)],
    ),
    Problem(
        "product_zeros", "Product with zeros",
        {"100000 rows of 100": (100_000, 100)},
        with_zeros, differentiated=[0], sizes=lambda x: list(x[0].shape), finite_tolerance=1e-4, finite_step=1e-5,
        part=0.1, growth=[(300 * 4**i, 100) for i in range(5)],
    ),
]}
