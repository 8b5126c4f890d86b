"""The papers' own programs, unchanged, from checkouts of the repositories they are in: diku-dk/futhark-benchmarks and
diku-dk/futhark-ad-sc22. Their inputs are ours, in the shapes that they want."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

from .implementations import Dagaz, Failure, Task
from .problem import Problem

ENTRIES = {"objective": "calculate_objective", "derivative": "calculate_jacobian"}


@dataclass
class Program:
    # The program in a checkout, and the problem whose inputs it gets.
    path: str
    problem: str
    # From inputs of the problem to those of the program.
    adapted: Callable[[list], list] = list


def long_lstm(inputs):
    main, extra, state, sequence = inputs
    l, _, _, d = main.shape
    return [main.reshape(2 * l, 4 * d), extra, state.reshape(2 * l, d), sequence]


def hand_simple(inputs):
    triangles = np.zeros((0, 3), np.int32)
    return [*inputs[:5], triangles, *inputs[5:7], np.ascontiguousarray(inputs[7].T), inputs[8], np.zeros(0)]


def hand_complicated(inputs):
    return [*inputs[:8], np.ascontiguousarray(inputs[8].T), inputs[9], inputs[10].ravel()]


PROGRAMS = [
    Program("adbench/gmm.fut", "gmm"),
    Program("adbench/ba.fut", "ba"),
    Program("adbench/lstm.fut", "dlstm", long_lstm),
    Program("adbench/hand.fut", "hand_simple", hand_simple),
    Program("adbench/hand.fut", "hand_complicated", hand_complicated),
    Program("benchmarks/gmm/gmm.fut", "gmm"),
]


def measure(folder: Path, arguments, problems: dict[str, Problem]):
    """Rows for all programs of a checkout that we know. Nothing is written there."""
    for program in PROGRAMS:
        path = (folder / program.path).resolve()
        problem = problems.get(program.problem)
        if not path.exists() or problem is None or arguments.names and problem.name not in arguments.names:
            continue
        rows = [(title, size) for title, size in problem.rows.items() if arguments.row in title]
        for title, size in rows[:1] if arguments.quick else rows:
            inputs = program.adapted(problem.inputs(problem.scaled(size, arguments.scale), np.random.default_rng(1)))
            yield measure_one(path, {"program": program.path, "inputs": f"{problem.title} {title}"}, inputs, problem, arguments)


def measure_one(path, row, inputs, problem, arguments):
    with tempfile.TemporaryDirectory() as temporary:
        task = Task(problem, inputs, Path(temporary), 1)
        dagaz = Dagaz(task, arguments.dagaz, path, ENTRIES)
        for entry in ENTRIES:
            try:
                row[entry] = min(dagaz.time(entry, arguments.seconds) for _ in range(arguments.rounds))
            except Failure as failure:
                row["failure"] = f"{entry}: {failure}".replace(str(path), row["program"])
    return row
