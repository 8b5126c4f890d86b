"""The four problems of ADBench, with sizes of its inputs."""

import numpy as np

from .problem import Problem

f64, i32, i64 = np.float64, np.int32, np.int64


def mixture(size, rng):
    n, d, k = size
    icf = np.concatenate([rng.normal(0, 0.3, (k, d)), rng.normal(0, 1 / np.sqrt(d), (k, d * (d - 1) // 2))], axis=1)
    return [rng.normal(size=k), rng.uniform(size=(k, d)), icf, rng.normal(size=(n, d)), f64(1), i64(0)]


GMM = Problem(
    name="gmm",
    title="GMM",
    rows={
        "n=1k d=10 K=50": (1000, 10, 50),
        "n=1k d=64 K=25": (1000, 64, 25),
        "n=1k d=64 K=200": (1000, 64, 200),
        "n=10k d=64 K=25": (10_000, 64, 25),
        "n=1k d=128 K=200": (1000, 128, 200),
        "n=10k d=32 K=200": (10_000, 32, 200),
        "n=10k d=128 K=25": (10_000, 128, 25),
        "n=10k d=128 K=200": (10_000, 128, 200),
    },
    inputs=mixture,
    differentiated=[0, 1, 2],
    sizes=lambda inputs: [*inputs[3].shape, *inputs[2].shape],
    growth=[(250, 32, 25), (1000, 32, 25), (4000, 32, 25), (16_000, 32, 25)],
)

PROBLEMS = {problem.name: problem for problem in [GMM]}
