"""What was measured, as a table on the console and as a page with tables and plots."""

import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

from . import plots

NAMES = {"c": "C", "jax": "JAX", "torch": "PyTorch"}
PEERS = list(NAMES.values())
# Those that find derivatives by themselves.
AUTOMATIC = ["JAX", "PyTorch"]


def machine(arguments):
    """Where and with what everything was measured."""
    processor = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return {
        "date": datetime.date.today().isoformat(),
        "processor": f"{processor.group(1) if processor else platform.processor()}, {os.cpu_count()} cores",
        "threads": arguments.threads,
        # Other work on the machine makes times longer, and not by the same factor for all.
        "load": round(os.getloadavg()[0], 1),
        "versions": {
            "Dagaz": said([arguments.dagaz, "--version"]).split()[-1],
            "C compiler": said([os.environ.get("CC", "cc"), "--version"]),
            "Python": platform.python_version(),
            "JAX": said([sys.executable, "-c", "import jax; print(jax.__version__)"]),
            "PyTorch": said([sys.executable, "-c", "import torch; print(torch.__version__)"]),
        },
    }


def said(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout.strip() else "not there"


def milliseconds(row, title, entry, threads="one", key="ms"):
    return row.get(threads, {}).get(title, {}).get(entry, {}).get(key)


def best_peer(row, entry="derivative", threads="one", peers=PEERS):
    """The time and the name of the fastest peer, or None. Ratios come from the fastest calls, which a busy machine disturbs
    least."""
    times = [(milliseconds(row, title, entry, threads, "least_ms"), title) for title in peers]
    return min(((time, title) for time, title in times if time is not None), default=None)


def ratio_to_best(row, entry="derivative", threads="one", peers=PEERS):
    own, best = milliseconds(row, "Dagaz", entry, threads, "least_ms"), best_peer(row, entry, threads, peers)
    return own / best[0] if own is not None and best else None


def number(value):
    """Three digits that count."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def pair(row, title, threads="one"):
    both = [milliseconds(row, title, entry, threads) for entry in ("objective", "derivative")]
    return "–" if both == [None, None] else f"{number(both[0])} / {number(both[1])}"


def overhead(row, title):
    first, second = (milliseconds(row, title, entry, key="least_ms") for entry in ("objective", "derivative"))
    return second / first if first and second else None


def console_header(kinds):
    titles = ["problem", "Dagaz ms", *(f"{NAMES[kind]} ms" for kind in kinds), "ratio", "overhead"]
    return line(titles)


def console_row(row, kinds):
    cells = [f"{row['title']} {row['row']}", pair(row, "Dagaz"), *(pair(row, NAMES[kind]) for kind in kinds),
             number(ratio_to_best(row)), number(overhead(row, "Dagaz"))]
    return "\n    ".join([line(cells), *row["remarks"]])


def line(cells):
    return f"{cells[0]:<36}" + "".join(f"{cell:>18}" for cell in cells[1:-2]) + "".join(f"{cell:>10}" for cell in cells[-2:])


def console_checkout(row):
    times = f"{number(row.get('objective'))} / {number(row.get('derivative'))}"
    return "\n    ".join([f"{row['program']}, {row['inputs']}: {times}", *([row["failure"]] if "failure" in row else [])])


def table(titles, rows):
    """A table in Markdown; all columns but the first to the right."""
    lines = ["| " + " | ".join(titles) + " |", "|---|" + "--:|" * (len(titles) - 1)]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for cells in rows]) + "\n"


def time_table(rows):
    titles = ["problem", "Dagaz", *PEERS, "to the best", "to the best automatic one", "objective to the best"]
    cells = []
    for row in rows:
        cells.append([f"{row['title']} {row['row']}", *(pair(row, title) for title in ["Dagaz", *PEERS]), named_ratio(row),
                      named_ratio(row, peers=AUTOMATIC), named_ratio(row, "objective")])
    return table(titles, cells)


def named_ratio(row, entry="derivative", threads="one", peers=PEERS):
    best, ratio = best_peer(row, entry, threads, peers), ratio_to_best(row, entry, threads, peers)
    return f"{number(ratio)} ({best[1]})" if best and ratio else "–"


def overhead_table(rows):
    titles = ["problem", *(f"overhead {title}" for title in ["Dagaz", *PEERS]), "memory Dagaz",
              *(f"memory {title}" for title in PEERS), "memory over primal"]
    cells = []
    for row in rows:
        peaks = [peak(row, title, "derivative") for title in ["Dagaz", *PEERS]]
        cells.append([f"{row['title']} {row['row']}", *(number(overhead(row, title)) for title in ["Dagaz", *PEERS]),
                      *(mebibytes(value) for value in peaks), number(over_primal(row, peaks[0]))])
    return table(titles, cells)


def over_primal(row, derivative):
    """The memory of a derivative of Dagaz over that of its objective, both with the arguments."""
    primal, given = peak(row, "Dagaz", "objective"), row["argument_bytes"]
    return None if derivative is None or primal is None else (given + derivative) / (given + primal)


def strip_table(rows):
    cells = []
    for row in rows:
        strips, least = row["strips"], milliseconds(row, "Dagaz", "objective", key="least_ms")
        kept, few = peak(row, "Dagaz", "derivative"), strips.get("peak_bytes")
        slower = strips["least_ms"] / least if least and "least_ms" in strips else None
        cells.append([f"{row['title']} {row['row']}", number(overhead(row, "Dagaz")), number(slower), mebibytes(kept),
                      mebibytes(few), number(over_primal(row, kept)), number(over_primal(row, few))])
    both = lambda what: [what, f"{what} in strips"]
    return table(["problem", *both("overhead"), *both("memory"), *both("memory over primal")], cells)


def peak(row, title, entry):
    return row["one"].get(title, {}).get(entry, {}).get("peak_bytes")


def mebibytes(value):
    return "–" if value is None else number(value / 2**20)


def compile_table(rows):
    cells = []
    for row in rows:
        own = [sum_of_compiling(row["one"].get(title, {}), title) for title in ("Dagaz", "C", "JAX")]
        cells.append([f"{row['title']} {row['row']}", *map(number, own)])
    return table(["problem", "Dagaz", "C", "JAX"], cells)


def slope_table(growth, problems):
    keys = [("objective", "least_ms"), ("derivative", "least_ms"), ("objective", "peak_bytes"), ("derivative", "peak_bytes")]
    cells = []
    for name in (name for name in problems if name in growth):
        slopes = [plots.slope(growth[name], *key) for key in keys]
        cells.append([problems[name].title, *("–" if value is None else f"{value:.2f}" for value in slopes)])
    titles = ["time of the objective", "time of the derivative", "memory of the objective", "memory of the derivative"]
    return table(["problem", *titles], cells)


def sum_of_compiling(record, title):
    """Each entry point is compiled by itself; C by hand is one program with both."""
    seconds = [record.get(entry, {}).get("compile_seconds") for entry in ("objective", "derivative")]
    known = [value for value in seconds if value is not None]
    if not known:
        return None
    return min(known) if title == "C" else sum(known)


def thread_table(rows):
    cells = []
    for row in rows:
        gains = []
        for entry in ("objective", "derivative"):
            one, many = (milliseconds(row, "Dagaz", entry, threads, "least_ms") for threads in ("one", "all"))
            gains.append(number(one / many) if one and many else "–")
        cells.append([f"{row['title']} {row['row']}", pair(row, "Dagaz"), pair(row, "Dagaz", "all"), " / ".join(gains)])
    return table(["problem", "one thread", "all threads", "speed-up"], cells)


def checkout_table(rows):
    cells = [[row["program"], row["inputs"], number(row.get("objective")), number(row.get("derivative")),
              number(row["derivative"] / row["objective"]) if row.get("derivative") and row.get("objective") else "–",
              row.get("failure", "")] for row in rows]
    return table(["program", "inputs", "objective", "derivative", "overhead", "remark"], cells)


def geometric_mean(values):
    values = [value for value in values if value]
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def write(path: Path, report, problems):
    """The page, its plots, and all numbers in a file beside the plots."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    figures = plots.write(folder, report["growth"], problems)
    path.write_text(text(report, problems, figures, folder.name))


def text(report, problems, figures, folder):
    rows, versions = report["rows"], report["machine"]["versions"]
    mean, automatic = (number(geometric_mean([ratio_to_best(row, peers=peers) for row in rows])) for peers in (PEERS, AUTOMATIC))
    parts = [
        "# Benchmarks\n",
        "The problems of the papers, computed by Dagaz and by what one would use instead: C by hand, JAX (compiled) and PyTorch, "
        "in one run on one machine. This page is written by `benches/papers.py --write docs/benchmarks.md`; "
        "`benches/README.md` says how it measures.\n",
        f"{report['machine']['processor']}; " + ", ".join(f"{name} {version}" for name, version in versions.items())
        + f"; {report['machine']['date']}, with a load of {report['machine']['load']} before the run.\n",
        "## Times\n",
        "Objective / derivative in milliseconds, one thread, medians; ratios come from the fastest calls. The derivative is the "
        "gradient or the Jacobian alone. *To the best*: "
        f"the derivative of Dagaz over that of the fastest peer, which is named; less is better, and the geometric mean is {mean}. "
        "*To the best automatic one*: the same without C, whose derivatives were found by hand; the geometric mean is "
        f"{automatic}.\n",
        time_table(rows),
        "## Overhead and memory\n",
        "*Overhead*: derivative over objective, in time. *Memory* of the derivative in MiB: all that the call needs at once "
        "besides its arguments, with the results; *over primal*: that of Dagaz over what its objective needs, both with the "
        "arguments.\n",
        overhead_table(rows),
    ]
    in_strips = [row for row in rows if "strips" in row]
    if in_strips:
        parts += ["## In strips\n",
                  "A derivative keeps states of a loop for its way back. With `#[stripmine(1)]` at the loop, it keeps about 2√n of n "
                  "states, and computes the others again. Dagaz alone, one thread; columns as in the table above.\n",
                  strip_table(in_strips)]
    if any("all" in row for row in rows):
        parts += ["## Threads\n", f"Dagaz with one thread and with {report['machine']['threads']}: objective / derivative.\n",
                  thread_table([row for row in rows if "all" in row])]
    parts += ["## Compiling\n",
              "Seconds from source to machine code, objective and derivative together. PyTorch does not compile.\n",
              compile_table(rows)]
    if report["growth"]:
        parts += ["## Growth\n", "Time and memory of Dagaz, arguments included, as the input grows; both axes are logarithmic. "
                  "The table has the slopes of the lines through the last three sizes.\n",
                  slope_table(report["growth"], problems)]
        parts += [f"![{problems[name].title}]({folder}/{name}.svg)\n" for name in figures]
    if report["checkout"]:
        parts += ["## The papers' own programs\n",
                  "Programs of others, unchanged, from checkouts of their repositories; Dagaz alone, one thread, milliseconds.\n",
                  checkout_table(report["checkout"])]
    notes = [f"- {problems[name].title}: {problems[name].note}" for name in dict.fromkeys(row["problem"] for row in rows)
             if name in problems and problems[name].note]
    remarks = [f"- {row['title']} {row['row']}: {remark}" for row in rows for remark in row["remarks"]]
    missing = [problem.title for name, problem in problems.items() if not any(row["problem"] == name for row in rows)]
    if missing:
        remarks.append(f"- Not measured in this run: {', '.join(missing)}.")
    if notes or remarks:
        parts += ["## Remarks\n", "\n".join(notes + remarks) + "\n"]
    return "\n".join(parts)
