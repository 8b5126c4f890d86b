"""Reads the input files that ADBench publishes (`data/` of its repository)."""

from pathlib import Path

import numpy as np

f64, i32, i64 = np.float64, np.int32, np.int64


class Numbers:
    """The numbers of a text file, taken from the front."""

    def __init__(self, path: Path):
        self.all = np.array(path.read_text().split(), f64)
        self.at = 0

    def take(self, *shape):
        count = int(np.prod(shape, dtype=i64))
        if self.at + count > len(self.all):
            raise ValueError(f"the file ends after {len(self.all)} numbers")
        self.at += count
        return self.all[self.at - count : self.at].reshape(shape)

    def sizes(self, count):
        return [int(value) for value in self.take(count)]


def mixture(path: Path):
    """Dimensions, components and points, then all parameters; files with one point for all are shorter."""
    numbers = Numbers(path)
    d, k, n = numbers.sizes(3)
    parameters = [numbers.take(k), numbers.take(k, d), numbers.take(k, d * (d + 1) // 2)]
    is_one_for_all = len(numbers.all) - numbers.at == d + 2
    points = np.tile(numbers.take(1, d), (n, 1)) if is_one_for_all else numbers.take(n, d)
    gamma, m = numbers.take(2)
    return [*parameters, points, f64(gamma), i64(m)]


def bundle(path: Path):
    """One camera, one point, one weight and one feature, which all others are like."""
    numbers = Numbers(path)
    n, m, p = numbers.sizes(3)
    camera, point, weight, feature = numbers.take(1, 11), numbers.take(1, 3), numbers.take(1), numbers.take(1, 2)
    observation = np.arange(p)
    seen = np.stack([observation % n, observation % m], axis=1).astype(i32)
    return [np.tile(camera, (n, 1)), np.tile(point, (m, 1)), np.tile(weight, p), seen, np.tile(feature, (p, 1))]


def sequences(path: Path):
    numbers = Numbers(path)
    l, t, d = numbers.sizes(3)
    return [numbers.take(l, 2, 4, d), numbers.take(3, d), numbers.take(l, 2, d), numbers.take(t, d)]


def hand_model(folder: Path):
    bones = [line.split(":") for line in (folder / "bones.txt").read_text().split("\n") if line.strip()]
    vertices = [line.split(":") for line in (folder / "vertices.txt").read_text().split("\n") if line.strip()]
    matrices = np.array([[float(word) for word in bone[2:34]] for bone in bones]).reshape(-1, 2, 4, 4)
    positions = np.ones((4, len(vertices)))
    weights = np.zeros((len(bones), len(vertices)))
    for v, words in enumerate(vertices):
        positions[:3, v] = [float(word) for word in words[:3]]
        # A normal and two coordinates of the texture are of no use here; then come pairs of bones and weights.
        for pair in range(int(words[8])):
            weights[int(words[9 + 2 * pair]), v] = float(words[10 + 2 * pair])
    parents = np.array([int(bone[1]) for bone in bones], i32)
    return [parents, np.ascontiguousarray(matrices[:, 0]), np.ascontiguousarray(matrices[:, 1]), weights, positions]


def hand(path: Path):
    """The model is in a folder beside the file."""
    numbers = Numbers(path)
    points, thetas = numbers.sizes(2)
    pairs = numbers.take(points, 4)
    correspondences, places = pairs[:, 0].astype(i32), np.ascontiguousarray(pairs[:, 1:])
    has_places_in_triangles = len(numbers.all) - numbers.at == 2 * points + thetas
    us = numbers.take(points, 2) if has_places_in_triangles else None
    theta = numbers.take(thetas)
    model = hand_model(path.parent / "model")
    if us is None:
        return [*model, np.bool_(False), correspondences, places, theta]
    triangles = [line.split(":") for line in (path.parent / "model" / "triangles.txt").read_text().split("\n") if line.strip()]
    return [*model, np.array(triangles, i32), np.bool_(False), correspondences, places, theta, us]
