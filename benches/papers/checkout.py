"""The papers' own programs, unchanged, from checkouts of the repositories they are in: diku-dk/futhark-benchmarks and
diku-dk/futhark-ad-sc22. Their inputs are ours, in the shapes that they want."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np

from .implementations import Dagaz, Failure, Task
from .problem import Problem

ENTRIES = {"objective": "calculate_objective", "derivative": "calculate_jacobian"}
MAIN = {"objective": "main", "derivative": "diff"}


@dataclass
class Program:
    # The program in a checkout, and the problem whose inputs it gets.
    path: str
    problem: str
    # From inputs of the problem to those of the program.
    adapted: Callable[[list], list] = list
    entries: dict = field(default_factory=lambda: ENTRIES)


def long_lstm(inputs):
    main, extra, state, sequence = inputs
    l, _, _, d = main.shape
    return [main.reshape(2 * l, 4 * d), extra, state.reshape(2 * l, d), sequence]


def hand_simple(inputs):
    triangles = np.zeros((0, 3), np.int32)
    return [*inputs[:5], triangles, *inputs[5:7], np.ascontiguousarray(inputs[7].T), inputs[8], np.zeros(0)]


def hand_complicated(inputs):
    return [*inputs[:8], np.ascontiguousarray(inputs[8].T), inputs[9], inputs[10].ravel()]


def newton_step(inputs):
    """One step; the centres to start from are the last points."""
    points, centres = inputs
    return [np.int32(0), np.int64(len(centres)), np.int32(1), points]


def newton_steps(inputs):
    values, columns, starts, _ = inputs
    return [values, columns.astype(np.int64), starts.astype(np.int64)]


def batched_lstm(inputs):
    sequence, target, input, hidden, bias, output, output_bias = inputs
    state = np.zeros((hidden.shape[1], sequence.shape[1]), np.float32)
    return [sequence, target, state, state, input, hidden, bias, np.zeros_like(bias), output, output_bias, np.float32(1)]


def xsbench(inputs):
    energies, _, counts, nuclides, densities, union, indices, grids, sections = inputs
    points = np.concatenate([grids[:, :, None], sections], axis=2)
    sizes = [np.int64(size) for size in (*grids.shape, 0, 10_000, len(energies))]
    return [*sizes, counts, densities, nuclides, points, indices, union]


def rsbench(inputs):
    energies, _, counts, nuclides, densities, lengths, background, radii, momenta, positions, residues = inputs
    isotopes, windows, poles = momenta.shape
    complexes = np.concatenate([positions[:, :, :, None], residues], axis=3).reshape(isotopes, windows * poles, 4, 2)
    first = np.broadcast_to(poles * np.arange(windows), lengths.shape)
    ends = np.stack([first, first + lengths - 1], axis=2).astype(np.int32)
    return [np.int64(len(energies)), np.int32(1), np.full(isotopes, windows, np.int32),
            momenta.reshape(isotopes, -1).astype(np.int16), complexes, background, ends, radii, counts, nuclides, densities]


PROGRAMS = [
    Program("adbench/gmm.fut", "gmm"),
    Program("adbench/ba.fut", "ba"),
    Program("adbench/lstm.fut", "dlstm", long_lstm),
    Program("adbench/hand.fut", "hand_simple", hand_simple),
    Program("adbench/hand.fut", "hand_complicated", hand_complicated),
    Program("xsbench/xsbench.fut", "xsbench", xsbench, MAIN),
    Program("rsbench/rsbench.fut", "rsbench", rsbench, MAIN),
    Program("benchmarks/gmm/gmm.fut", "gmm"),
    Program("benchmarks/lstm/lstm.fut", "lstm", batched_lstm),
    Program("benchmarks/kmeans/standard/kmeans.fut", "kmeans", newton_step, {"derivative": "calculate_objective"}),
    Program("benchmarks/kmeans/sparse/kmeans_sparse.fut", "kmeans_sparse", newton_steps, {"derivative": "calculate_objective"}),
    Program("benchmarks/xsbench/xsbench.fut", "xsbench", xsbench),
    Program("benchmarks/rsbench/rsbench.fut", "rsbench", rsbench),
]


def measure(folder: Path, arguments, problems: dict[str, Problem]):
    """Rows for all programs of a checkout that we know, with the first inputs of each. Nothing is written there."""
    for program in PROGRAMS:
        path = (folder / program.path).resolve()
        problem = problems.get(program.problem)
        if not path.exists() or problem is None or arguments.names and problem.name not in arguments.names:
            continue
        for title, size in problem.chosen(arguments, most=2):
            inputs = program.adapted(problem.inputs(size, np.random.default_rng(1)))
            row = {"program": f"{folder.resolve().name}/{program.path}", "inputs": f"{problem.title} {title}"}
            yield measure_one(path, program.entries, row, inputs, problem, arguments)


def measure_one(path, entries, row, inputs, problem, arguments):
    with tempfile.TemporaryDirectory() as temporary:
        task = Task(problem, inputs, Path(temporary), 1)
        dagaz = Dagaz(task, arguments.dagaz, path, entries)
        for entry in entries:
            try:
                row[entry] = min(dagaz.time(entry, arguments.seconds)["ms"] for _ in range(arguments.rounds))
            except Failure as failure:
                row["failure"] = f"{entry}: {failure}".replace(str(path), row["program"])
    return row
