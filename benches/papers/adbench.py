"""The four problems of ADBench, with sizes of its inputs."""

import numpy as np

from . import adbench_files
from .checking import jacobian_is_wrong
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
    only_full=("n=10k d=128 K=25", "n=10k d=128 K=200"),
    growth=[(250, 32, 25), (1000, 32, 25), (4000, 32, 25), (16_000, 32, 25)],
    read=adbench_files.mixture,
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
    read=adbench_files.sequences,
    strips=True,
)



def bundle(size, rng):
    p, n, m = size
    rotation, centre = rng.normal(0, 0.3, (n, 3)), rng.normal(0, 0.5, (n, 3))
    lens = np.stack([rng.uniform(0.8, 1.2, n), *rng.normal(0, 0.1, (2, n)), *rng.normal(0, 0.01, (2, n))], axis=1)
    points = rng.normal(0, 1, (m, 3)) + [0, 0, 10]
    # All observations of a point stand together, as they do in the files of ADBench.
    seen = np.stack([rng.integers(0, n, p), np.sort(rng.integers(0, m, p))], axis=1).astype(i32)
    return [np.concatenate([rotation, centre, lens], axis=1), points, rng.uniform(0.5, 1.5, p), seen, rng.normal(0, 0.2, (p, 2))]


def bundle_check(inputs, objective, derivative):
    """The product of the sparse matrix and a random direction against differences."""
    starts, columns, entries = derivative
    direction = np.random.default_rng(2).standard_normal(sum(value.size for value in inputs[:3]))
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    product = np.bincount(rows, entries * direction[columns], len(starts) - 1)
    parts = np.split(direction, np.cumsum([value.size for value in inputs[:2]]))
    return jacobian_is_wrong(inputs, {i: part.reshape(inputs[i].shape) for i, part in enumerate(parts)}, objective, product)


BA = Problem(
    name="ba",
    title="BA",
    rows={
        "49 cams 7776 pts 31843 obs": (31_843, 49, 7776),
        "1197 cams 126327 pts 563734 obs": (563_734, 1197, 126_327),
    },
    inputs=bundle,
    outputs=lambda inputs: [("f64", (inputs[2].shape[0], 2)), ("f64", inputs[2].shape)],
    derivative_outputs=lambda inputs: [("i32", (3 * len(inputs[2]) + 1,)), ("i32", (31 * len(inputs[2]),)),
                                       ("f64", (31 * len(inputs[2]),))],
    check=bundle_check,
    sizes=lambda inputs: [inputs[0].shape[0], inputs[1].shape[0], inputs[2].shape[0]],
    growth=[(8000, 49, 7776), (32_000, 49, 7776), (128_000, 49, 7776), (512_000, 49, 7776)],
    read=adbench_files.bundle,
)


BONES = 22


def hand(size, rng):
    """A wrist, and four bones for each of five fingers; every vertex follows three bones."""
    vertices, points = size
    parents = [-1] + [0 if bone % 4 == 1 else bone - 1 for bone in range(1, 21)] + [0]
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    relatives[:, :3, 3] = rng.normal(0, 0.3, (BONES, 3))
    absolutes = []
    for bone, parent in enumerate(parents):
        absolutes.append(relatives[bone] if parent == -1 else absolutes[parent] @ relatives[bone])
    weights = np.zeros((BONES, vertices))
    for _ in range(3):
        weights[rng.integers(0, BONES, vertices), np.arange(vertices)] += rng.uniform(0.1, 1, vertices)
    weights /= weights.sum(axis=0)
    positions = np.concatenate([rng.normal(0, 1, (3, vertices)), np.ones((1, vertices))])
    return [np.array(parents, i32), relatives, np.linalg.inv(np.array(absolutes)), weights, positions, np.bool_(True),
            rng.integers(0, vertices, points, dtype=i32), rng.normal(0, 1, (points, 3)), rng.normal(0, 0.3, 26)]


def hand_with_triangles(size, rng):
    inputs = hand(size, rng)
    vertices, points = size
    triangles = rng.integers(0, vertices, (2 * vertices, 3), dtype=i32)
    correspondences = rng.integers(0, 2 * vertices, points, dtype=i32)
    return [*inputs[:5], triangles, inputs[5], correspondences, *inputs[7:], rng.uniform(0, 0.5, (points, 2))]


def simple_check(inputs, objective, derivative):
    direction = np.random.default_rng(2).standard_normal(26)
    product = np.tensordot(direction, derivative[0], 1)
    return jacobian_is_wrong(inputs, {8: direction}, objective, product.ravel())


def complicated_check(inputs, objective, derivative):
    rng = np.random.default_rng(2)
    direction, us = rng.standard_normal(26), rng.standard_normal(inputs[10].shape)
    product = np.tensordot(direction, derivative[0][2:], 1) + np.einsum("uni,nu->ni", derivative[0][:2], us)
    return jacobian_is_wrong(inputs, {9: direction, 10: us}, objective, product.ravel())


HAND_NOTE = ("The numbers of a finger move its own bones, so that Dagaz and C need one derivative for the same joint of all fingers; JAX "
             "and PyTorch differentiate by all 26 numbers.")

HAND_SIMPLE = Problem(
    name="hand_simple",
    title="HAND simple",
    rows={"544 verts 100 corr.": (544, 100), "10000 verts 100 corr.": (10_000, 100)},
    inputs=hand,
    outputs=lambda inputs: [("f64", inputs[7].shape)],
    derivative_outputs=lambda inputs: [("f64", (26, *inputs[7].shape))],
    check=simple_check,
    sizes=lambda inputs: [BONES, inputs[3].shape[1], inputs[7].shape[0]],
    growth=[(500, 100), (2000, 100), (8000, 100), (32_000, 100)],
    read=adbench_files.hand,
    note=HAND_NOTE,
)

HAND_COMPLICATED = Problem(
    name="hand_complicated",
    title="HAND complicated",
    rows={"544 verts 100 corr.": (544, 100), "10000 verts 100 corr.": (10_000, 100)},
    inputs=hand_with_triangles,
    outputs=lambda inputs: [("f64", inputs[8].shape)],
    derivative_outputs=lambda inputs: [("f64", (28, *inputs[8].shape))],
    check=complicated_check,
    sizes=lambda inputs: [BONES, inputs[3].shape[1], inputs[8].shape[0]],
    growth=[(500, 100), (2000, 100), (8000, 100), (32_000, 100)],
    read=adbench_files.hand,
    note=HAND_NOTE,
)

PROBLEMS = {problem.name: problem for problem in [GMM, BA, DLSTM, HAND_SIMPLE, HAND_COMPLICATED]}
