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



def sequences(size, rng):
    t, l, d = size
    return [rng.normal(0, 0.5, (l, 2, 4, d)), rng.normal(0, 0.5, (3, d)), rng.normal(0, 0.5, (l, 2, d)),
            rng.integers(0, 2, (t, d)).astype(f64)]


DLSTM = Problem(
    name="dlstm",
    title="D-LSTM",
    rows={"l=2 c=1024": (1024, 2, 14), "l=4 c=4096": (4096, 4, 14)},
    inputs=sequences,
    differentiated=[0, 1],
    sizes=lambda inputs: [inputs[0].shape[0], inputs[0].shape[3], inputs[3].shape[0]],
    growth=[(256, 2, 14), (1024, 2, 14), (4096, 2, 14), (16_384, 2, 14)],
)

PROBLEMS = {problem.name: problem for problem in [GMM, DLSTM]}
