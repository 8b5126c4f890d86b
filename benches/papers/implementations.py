"""Those that compute a problem: Dagaz, C by hand, JAX and PyTorch, each in processes of its own.

All have the same methods: `prepare` (what compiling took, and the peak of the first call), `time` (the median and the least of
some calls) and `results` of an entry point, `objective` or `derivative`. Each raises `Failure` with a reason.
"""

import contextlib
import importlib.util
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compare import flags

from . import values
from .problem import Problem

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / "peers"
# A call that takes longer than this, with all that goes before it, counts as failed.
PATIENCE = 300


class Failure(Exception):
    pass


class Absent(Failure):
    """There is no such entry point, as there is no derivative in most C."""


@dataclass
class Task:
    """One row: a problem with inputs, in files of a folder for all implementations."""

    problem: Problem
    inputs: list
    folder: Path
    threads: int

    def __post_init__(self):
        self.binary = self.folder / "inputs.bin"
        self.numpy = self.folder / "inputs.npz"
        if not self.binary.exists():
            values.write(self.binary, self.inputs)
            np.savez(self.numpy, *self.inputs)

    def on_cores(self, command):
        """One thread stays on one core, the last one, which a busy system uses least."""
        core = str(max(os.sched_getaffinity(0)))
        return ["taskset", "-c", core, *command] if self.threads == 1 else command


class Dagaz:
    title = "Dagaz"

    def __init__(self, task: Task, dagaz: str, program: Path, entries: dict):
        self.task, self.dagaz, self.program, self.entries = task, dagaz, program, entries

    def bench(self, entry, *options, environment=None):
        report = self.task.folder / "dagaz.json"
        command = [self.dagaz, "bench", self.program, "-e", self.entries[entry], "-i", self.task.binary, "--json", report,
                   "--threads", str(self.task.threads), *options]
        run(self.task.on_cores(command), environment)
        return json.loads(report.read_text())[0]

    def prepare(self, entry):
        with tempfile.TemporaryDirectory() as empty:
            measured = self.bench(entry, "--runs", "1", environment={**os.environ, "XDG_CACHE_HOME": empty})
        return {"compile_seconds": measured["compile_seconds"], "peak_bytes": measured["peak_bytes"]}

    def time(self, entry, seconds):
        times = self.bench(entry, "--time", str(seconds))["microseconds"]
        return {"ms": statistics.median(times) / 1e3, "least_ms": min(times) / 1e3}

    def results(self, entry):
        return self.results_for(entry, self.task.binary)

    def results_for(self, entry, inputs):
        command = [self.dagaz, "run", self.program, "-e", self.entries[entry], "-b", "--threads", str(self.task.threads), inputs]
        return values.read(run(command))

    def close(self):
        pass


def run(command, environment=None):
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failure(f"takes more than {PATIENCE} s") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise Failure(said[0])
    return done.stdout


class Peer:
    """A process that waits for requests."""

    def __init__(self, kind, path, task: Task):
        self.title = {"c": "C", "jax": "JAX", "torch": "PyTorch"}[kind]
        self.task = task
        entries = ("objective", "derivative")
        given = {
            "inputs": str(task.numpy),
            "threads": task.threads,
            "sizes": [int(size) for size in task.problem.sizes(task.inputs)],
            "results": {entry: [(values.NUMPY[dtype], list(map(int, shape)))
                                for dtype, shape in task.problem.results(entry, task.inputs)] for entry in entries},
        }
        self.compile_seconds = None
        if kind == "c":
            path = self.build(path)
        command = task.on_cores([sys.executable, HERE / "child.py", kind, str(path), json.dumps(given)])
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env=environment(task.threads), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)

    def build(self, source):
        target = self.task.folder / f"{source.stem}.so"
        start = time.perf_counter()
        run([os.environ.get("CC", "cc"), *flags(generated=False), "-o", target, source, "-lm"])
        self.compile_seconds = time.perf_counter() - start
        return target

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failure(self.last_words()) from None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        if not ready:
            self.process.kill()
            raise Failure(f"takes more than {PATIENCE} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failure(self.last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def last_words(self):
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else "ended without a word, perhaps for lack of memory"

    def prepare(self, entry):
        answer = self.ask(do="prepare", entry=entry)
        if "absent" in answer:
            raise Absent(entry)
        if self.compile_seconds is not None:
            answer["compile_seconds"] = self.compile_seconds
        return answer

    def time(self, entry, seconds):
        return self.ask(do="time", entry=entry, seconds=seconds)

    def results(self, entry):
        path = self.task.folder / f"{self.title}-{entry}.npz"
        self.ask(do="results", entry=entry, to=str(path))
        with np.load(path) as file:
            return [file[name] for name in file.files]

    def close(self):
        # What could not be written to one that has ended is lost.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def environment(threads):
    """Memory that was freed stays with the process: giving it back and getting it again would cost peers up to half of their
    time."""
    own = {
        "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 26), "MALLOC_ARENA_MAX": "1",
        "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
    }
    if threads == 1:
        own["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return {**os.environ, **own}


def installed():
    """The kinds of peers that can run here, and those that cannot."""
    missing = [kind for kind in ("jax", "torch") if importlib.util.find_spec(kind) is None]
    return [kind for kind in ("c", "jax", "torch") if kind not in missing], missing


def peers(task: Task, kinds):
    """The peers of a problem that exist; C has one thread."""
    sources = {"c": PEERS / "c" / f"{task.problem.name}.c", "jax": PEERS / "with_jax" / f"{task.problem.name}.py",
               "torch": PEERS / "with_torch" / f"{task.problem.name}.py"}
    return [Peer(kind, sources[kind], task) for kind in kinds
            if sources[kind].exists() and (kind != "c" or task.threads == 1)]
