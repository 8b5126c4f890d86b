"""What the programs take and give."""

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64


@dataclass
class Program:
    # Inputs from a generator of random numbers and sizes.
    make: Callable[..., list]
    usual: tuple
    # The type and shape of each result.
    outputs: Callable[[list], list]
    # The sizes that the C function takes after its inputs.
    sizes: Callable[[list], list]
    tolerance: float = 1e-3
    # The sizes and the time in ms that Futhark needs with them on one thread of the same machine.
    anchor: tuple | None = None
    anchor_ms: float | None = None
    numpy: Any = None
    jax: bool = True

    def inputs(self, rng, scale):
        return self.make(rng, *(self.anchor if scale == "anchor" and self.anchor else self.usual))


def uniform(rng, shape, dtype=f32, low=0.0, high=1.0):
    return rng.uniform(low, high, shape).astype(dtype)


def lengths(*which):
    return lambda inputs: [size for i in which for size in inputs[i].shape]


def like(*which):
    return lambda inputs: [({"float32": "f32", "float64": "f64", "int32": "i32", "uint32": "u32"}[inputs[i].dtype.name],
                            inputs[i].shape) for i in which]


def first_lengths(*which):
    return lambda inputs: [inputs[i].shape[0] for i in which]


def vectors(count, dtype=f32):
    return lambda rng, n: [uniform(rng, n, dtype) for _ in range(count)]


def histogram(rng, n, bins):
    return [i64(bins), rng.integers(0, bins, n, dtype=i32), uniform(rng, n)]


def options(rng, n):
    return [f32(0.02), f32(0.3), uniform(rng, n, f32, 5, 30), uniform(rng, n, f32, 1, 100), uniform(rng, n, f32, 0.25, 10)]


def sparse(rng, rows, per_row):
    counts = rng.integers(0, 2 * per_row, rows)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(i32)
    entries = int(starts[-1])
    return [starts, rng.integers(0, rows, entries, dtype=i32), uniform(rng, entries, f64), uniform(rng, rows, f64)]


def dominant(rng, n):
    return [uniform(rng, (n, n), f64) + n * np.eye(n)]


def clusters(rng, n, k, d):
    return [uniform(rng, (n, d)), uniform(rng, (k, d))]


def lstm(rng, t, b, d, h):
    return [uniform(rng, (t, b, d)), uniform(rng, (d, 4 * h), f32, -0.1, 0.1), uniform(rng, (h, 4 * h), f32, -0.1, 0.1),
            uniform(rng, 4 * h, f32, -0.1, 0.1)]


def mixture(rng, n, d, k):
    return [uniform(rng, (n, d), f64, -1), uniform(rng, k, f64), uniform(rng, (k, d), f64, -1), uniform(rng, (k, d), f64, -1)]


def scalar(dtype):
    return lambda inputs: [(dtype, ())]


PROGRAMS = {
    "sum": Program(vectors(1), (10_000_000,), scalar("f32"), lengths(0), 5e-2, (10_000_000,), 8.33),
    "dot": Program(vectors(2), (10_000_000,), scalar("f32"), lengths(0), 5e-2),
    "saxpy": Program(lambda rng, n: [f32(2.5)] + vectors(2)(rng, n), (5_000_000,), like(1), lengths(1), 1e-5,
                     (10_000_000,), 2.40),
    "scan": Program(vectors(1), (5_000_000,), like(0), lengths(0), 1e-3, (10_000_000,), 8.36),
    "histogram_small": Program(histogram, (5_000_000, 256), lambda x: [("f32", (int(x[0]),))], lengths(1), 1e-3,
                               (10_000_000, 1000), 24.6),
    "histogram_large": Program(histogram, (5_000_000, 1_000_000), lambda x: [("f32", (int(x[0]),))], lengths(1), 1e-3,
                               (10_000_000, 100_000), 30.8),
    "blackscholes": Program(options, (1_000_000,), like(2, 2), lengths(2), 1e-3),
    "mandelbrot": Program(lambda rng, n, limit: [i64(n), i64(n), i32(limit)], (800, 100),
                          lambda x: [("i32", (int(x[0]), int(x[1])))], lambda x: [], 0, (4000, 100), 1693),
    "nbody": Program(lambda rng, n: [f32(0.01)] + vectors(7)(rng, n), (3000,), like(1, 2, 3, 5, 6, 7), lengths(1), 1e-3,
                     (10_000,), 335),
    "mriq": Program(lambda rng, k, n: vectors(4)(rng, k) + vectors(3)(rng, n), (2048, 2048), like(4, 4), lengths(0, 4), 1e-3,
                    (2048, 32768), 901),
    "stencil": Program(lambda rng, n, m, k, steps: [i64(steps), uniform(rng, (n, m, k))], (128, 128, 128, 10), like(1),
                       lengths(1), 1e-4, (512, 512, 64, 100), 3285),
    "hotspot": Program(lambda rng, n, steps: [i64(steps), uniform(rng, (n, n), f32, 60, 100), uniform(rng, (n, n))],
                       (512, 60), like(1), lengths(1), 1e-4, (1024, 360), 1167),
    "pathfinder": Program(lambda rng, rows, n: [rng.integers(0, 10, (rows, n), dtype=i32)], (100, 100_000),
                          lambda x: [("i32", (x[0].shape[1],))], lengths(0), 0, (100, 1_000_000), 2402),
    "kmeans": Program(clusters, (100_000, 5, 35), like(1), lambda x: [x[0].shape[0], *x[1].shape], 1e-3),
    "spmv": Program(sparse, (100_000, 25), lambda x: [("f64", (x[0].shape[0] - 1,))], first_lengths(0), 1e-9),
    "radixsort": Program(lambda rng, n: [rng.integers(0, 2**32, n, dtype=np.uint32)], (1_000_000,), like(0), lengths(0), 0),
    "lu": Program(dominant, (512,), like(0), first_lengths(0), 1e-9),
    "grad_dot": Program(vectors(2), (5_000_000,), like(0, 0), lengths(0), 1e-6),
    "grad_logsumexp": Program(vectors(1, f64), (1_000_000,), like(0), lengths(0), 1e-9),
    "grad_kmeans": Program(clusters, (100_000, 5, 35), like(1), lambda x: [x[0].shape[0], *x[1].shape], 1e-3),
    "grad_stencil": Program(lambda rng, n: [uniform(rng, (n, n, n))], (128,), like(0), lengths(0), 1e-4),
    "matmul_f32": Program(lambda rng, n: [uniform(rng, (n, n)), uniform(rng, (n, n))], (1024,), like(0),
                          lambda x: [*x[0].shape, x[1].shape[1]], 1e-3, (1024,), 3469, np.matmul),
    "matmul_f64": Program(lambda rng, n: [uniform(rng, (n, n), f64), uniform(rng, (n, n), f64)], (1024,), like(0),
                          lambda x: [*x[0].shape, x[1].shape[1]], 1e-9, numpy=np.matmul),
    "lstm": Program(lstm, (10, 32, 64, 64), like(1, 2, 3), lambda x: [], 1e-3),
    "gmm": Program(mixture, (1000, 32, 25), like(1, 2, 3), lambda x: [], 1e-9),
}
