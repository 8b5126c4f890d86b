#!/usr/bin/env python3
"""The papers' problems: Dagaz beside C by hand, JAX and PyTorch, in one run.

Every row is computed by all implementations, one after the other in turns, each in a process of its own on one core. Results
must agree, and derivatives must agree with finite differences. See README.md.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from papers import checking, checkout, page
from papers.implementations import HERE, Absent, Dagaz, Failure, Task, installed, peers
from papers.registry import PROBLEMS

ENTRIES = ("objective", "derivative")
ROOT = Path(__file__).resolve().parent.parent


def measured(implementations, seconds, rounds, entries=ENTRIES):
    """What each implementation gives and takes: results by entry point, and a record for the tables."""
    records, results = {}, {}
    for own in implementations:
        record = records[own.title] = {}
        for entry in entries:
            try:
                record[entry] = own.prepare(entry)
                results[own.title, entry] = own.results(entry)
            except Absent:
                record[entry] = {"absent": True}
            except Failure as failure:
                record[entry] = {"failure": str(failure)}
    start = time.perf_counter()
    for _ in range(rounds):
        for own in implementations:
            for entry in entries:
                record = records[own.title][entry]
                if "failure" in record or "absent" in record:
                    continue
                try:
                    for key, value in own.time(entry, seconds).items():
                        record[key] = min(record.get(key, value), value)
                except Failure as failure:
                    record["failure"] = str(failure)
        # What takes so long is not disturbed much.
        if time.perf_counter() - start > 60 * seconds:
            break
    return records, results


@contextlib.contextmanager
def everybody(task, arguments, kinds):
    """Dagaz and all peers, which end with the block."""
    program = HERE / f"{task.problem.name}.fut"
    implementations = [Dagaz(task, arguments.dagaz, program, {entry: entry for entry in ENTRIES}), *peers(task, kinds)]
    try:
        yield implementations
    finally:
        for own in implementations:
            own.close()


def measure_row(problem, title, inputs, arguments, kinds):
    row = {"problem": problem.name, "title": problem.title, "row": title}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with everybody(Task(problem, inputs, folder, 1), arguments, kinds) as implementations:
            row["one"], results = measured(implementations, arguments.seconds, arguments.rounds)
        row["remarks"] = checking.disagreements(problem, results)
        row["remarks"] += checking.against_differences(problem, inputs, implementations[0], results, folder)
        if problem.strips:
            row["strips"], remarks = measure_strips(implementations[0], results.get(("Dagaz", "derivative")), arguments)
            row["remarks"] += remarks
        row["argument_bytes"] = sum(np.asarray(value).nbytes for value in inputs)
        if arguments.threads > 1:
            with everybody(Task(problem, inputs, folder, arguments.threads), arguments, []) as implementations:
                row["all"], _ = measured(implementations, arguments.seconds, max(1, arguments.rounds - 1))
    for name, record in row["one"].items():
        row["remarks"] += [f"{name}, {entry}: {record[entry]['failure']}" for entry in ENTRIES if "failure" in record[entry]]
    return row


def measure_strips(dagaz, expected, arguments):
    """What the derivative takes whose loops keep few of their states, and what is wrong with it."""
    own = Dagaz(dagaz.task, dagaz.dagaz, dagaz.program, {"derivative": "derivative_in_strips"})
    records, results = measured([own], arguments.seconds, arguments.rounds, ("derivative",))
    record = records["Dagaz"]["derivative"]
    if "failure" in record:
        return record, [f"in strips: {record['failure']}"]
    wrong = checking.difference(expected, results["Dagaz", "derivative"], dagaz.task.problem.tolerance) if expected else None
    return record, [f"the derivative in strips is another one: {wrong}"] if wrong else []


def measure_growth(problem, arguments):
    """Times and memory of objective and derivative of Dagaz as the input grows."""
    points = []
    for size in problem.growth:
        size = problem.scaled(size, arguments.scale)
        inputs = problem.inputs(size, np.random.default_rng(1))
        with tempfile.TemporaryDirectory() as folder:
            with everybody(Task(problem, inputs, Path(folder), 1), arguments, []) as implementations:
                records, _ = measured(implementations, arguments.seconds, 1)
        arguments_size = sum(np.asarray(value).nbytes for value in inputs)
        points.append({"size": size[problem.leading], "argument_bytes": arguments_size, "record": records["Dagaz"]})
    return points


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="problems; all of them unless told")
    parser.add_argument("--row", metavar="TEXT", default="", help="only rows with this in their name")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the leading data size of every row")
    parser.add_argument("--full", action="store_true", help="all rows, with all of the sizes that were chosen for GPUs, and not a part of them")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for the table with several threads; 1 for none")
    parser.add_argument("--quick", action="store_true", help="the first row of every problem, and short times")
    parser.add_argument("--growth", action="store_true", help="also how the derivative grows with the input")
    parser.add_argument("--json", metavar="FILE", help="write all numbers to a file")
    parser.add_argument("--write", metavar="PAGE", type=Path,
                        help="write tables and plots of this run")
    parser.add_argument("--checkout", metavar="DIR", type=Path, action="append", default=[],
                        help="a checkout of the papers' own programs, which then run too")
    parser.add_argument("--input", metavar="FILE", type=Path, action="append", default=[],
                        help="an input file of ADBench, for the one problem that is named, instead of its rows")
    parser.add_argument("--dagaz", default=str(ROOT / "target/release/dagaz"))
    arguments = parser.parse_args()
    arguments.seconds, arguments.rounds = (0.2, 1) if arguments.quick else (0.3, 2)
    unknown = [name for name in arguments.names if name not in PROBLEMS]
    if unknown:
        parser.error(f"no problem '{unknown[0]}'; there are: {', '.join(PROBLEMS)}")
    if arguments.input and (len(arguments.names) != 1 or PROBLEMS[arguments.names[0]].read is None):
        parser.error("--input needs the name of one problem of ADBench")
    return arguments


def inputs_of(problem, arguments):
    """Titles and inputs of the rows that are wanted."""
    if arguments.input:
        yield from ((path.stem, problem.read(path)) for path in arguments.input)
        return
    for title, size in problem.chosen(arguments):
        yield title, problem.inputs(size, np.random.default_rng(1))


def save(report, arguments):
    """After every problem, so that a run can be ended."""
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(report, indent=1) + "\n")
    if arguments.write:
        page.write(arguments.write, report, PROBLEMS)


def main():
    arguments = options()
    kinds, missing = installed()
    for kind in missing:
        print(f"{kind} is not installed, and left out: benches/peers/install.sh installs it", file=sys.stderr)
    report = {"machine": page.machine(arguments), "rows": [], "growth": {}, "checkout": []}
    for folder in arguments.checkout:
        for row in checkout.measure(folder, arguments, PROBLEMS):
            report["checkout"].append(row)
            print(page.console_checkout(row), flush=True)
    print(page.console_header(kinds))
    for name in arguments.names or PROBLEMS:
        problem = PROBLEMS[name]
        for title, inputs in inputs_of(problem, arguments):
            row = measure_row(problem, title, inputs, arguments, kinds)
            report["rows"].append(row)
            print(page.console_row(row, kinds), flush=True)
        if arguments.growth and problem.growth:
            report["growth"][name] = measure_growth(problem, arguments)
        save(report, arguments)
    save(report, arguments)
    return 1 if any(row["remarks"] for row in report["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
