#!/usr/bin/env python3
"""Two builds of Dagaz in turns: how much faster or slower generated code has become.

All rows of the papers' problems and all programs of this folder, on one thread. A program whose C is the same from both
builds, but for the numbers of variables, counts as a ratio of 1 and is not run. See README.md.
"""

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from papers import values
from papers.implementations import HERE as PAPERS
from papers.implementations import Dagaz, Failure, Task
from papers.registry import PROBLEMS
from programs import PROGRAMS

ROOT = Path(__file__).resolve().parent


class Inputs:
    """The inputs of a program of this folder, as those of a problem."""

    def __init__(self, spec):
        self.spec = spec

    def sizes(self, inputs):
        return self.spec.sizes(inputs)


def programs(arguments):
    """Name, source file, problem, entry points and inputs of all that is measured."""
    for name, problem in PROBLEMS.items():
        if wanted(name, arguments):
            yield name, PAPERS / f"{name}.fut", problem, ("objective", "derivative"), rows(problem, arguments)
    for name, spec in PROGRAMS.items():
        if wanted(name, arguments):
            inputs = [("", [np.asarray(value) for value in spec.inputs(np.random.default_rng(1), "usual")])]
            yield name, ROOT / f"{name}.fut", Inputs(spec), ("main",), inputs


def wanted(name, arguments):
    return not arguments.names or name in arguments.names


def rows(problem, arguments):
    for title, size in problem.chosen(arguments):
        yield title, problem.inputs(size, np.random.default_rng(1))


def same_c(program, builds, folder):
    """Whether both builds write the same C, but for the numbers of variables."""
    texts = []
    for position, build in enumerate(builds):
        base = folder / str(position) / "library"
        base.parent.mkdir(exist_ok=True)
        done = subprocess.run([build, "compile", "--lib", program, "-o", base], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(done.stderr.strip().splitlines()[0])
        texts.append(renumbered(base.with_suffix(".c").read_text()))
    return texts[0] == texts[1]


def renumbered(text):
    """The text with the numbers at the ends of names replaced by the order in which they appear."""
    order = {}
    # Names of the run-time library may carry the name of the library.
    text = text.replace("library_", "")
    return re.sub(r"(?<=[A-Za-z0-9]_)\d+\b", lambda found: str(order.setdefault(found.group(), len(order))), text)


def ratio(program, task, entry, arguments):
    """The least time of the new build over that of the old one, and the least times in milliseconds."""
    own = [Dagaz(task, build, program, {entry: entry}) for build in (arguments.old, arguments.new)]
    least = [math.inf, math.inf]
    for turn in range(arguments.rounds):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            least[which] = min(least[which], own[which].time(entry, arguments.seconds)["least_ms"])
    return least[1] / least[0], least


def measure(arguments):
    ratios = {}
    for name, program, problem, entries, inputs_of_rows in programs(arguments):
        with tempfile.TemporaryDirectory() as temporary:
            same = same_c(program, (arguments.old, arguments.new), Path(temporary))
        for title, inputs in inputs_of_rows:
            with tempfile.TemporaryDirectory() as temporary:
                task = None if same else Task(problem, inputs, Path(temporary), 1)
                for entry in entries:
                    found, (old, new) = (1.0, (math.nan, math.nan)) if same else ratio(program, task, entry, arguments)
                    ratios[f"{name} {title}".strip(), entry] = found
                    times = "the same C" if same else f"{old:10.3f} ms {new:10.3f} ms"
                    print(f"{name + ' ' + title:<44} {entry:<12} {found:6.3f}  {times}", flush=True)
    return ratios


def summary(ratios):
    for kind, entries in (("derivative", ("derivative",)), ("objective", ("objective",)), ("program", ("main",))):
        chosen = [value for (_, entry), value in ratios.items() if entry in entries]
        if chosen:
            mean = math.exp(statistics.fmean(map(math.log, chosen)))
            print(f"{kind}: geometric mean {mean:.4f}, most {max(chosen):.3f}, of {len(chosen)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the dagaz to compare with")
    parser.add_argument("new", help="the dagaz to judge")
    parser.add_argument("names", nargs="*", metavar="NAME", help="problems and programs; all of them unless told")
    parser.add_argument("--row", metavar="TEXT", default="", help="only rows of problems with this in their name")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the leading data size of every row")
    parser.add_argument("--full", action="store_true", help="all rows, with all of the sizes that were chosen for GPUs")
    parser.add_argument("--quick", action="store_true", help="the first row of every problem")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.3, help="for one entry point, of one build, in one round")
    parser.add_argument("--json", metavar="FILE", help="write all ratios to a file")
    arguments = parser.parse_args()
    ratios = measure(arguments)
    summary(ratios)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({" / ".join(key): value for key, value in ratios.items()}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
