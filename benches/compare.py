#!/usr/bin/env python3
"""Compares programs of this folder with C written by hand, and with JAX.

Builds NAME.fut with `dagaz compile --lib` and NAME.c with the same flags, loads both into one process, checks that they
agree, and times them in turns. See README.md.
"""

import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# One thread for matrix products of NumPy, which reads this when it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

from programs import PROGRAMS

HERE = Path(__file__).resolve().parent


def flags(generated):
    """Those that dagaz itself uses, and those for the pragmas of the C and for shared objects."""
    source = (HERE.parent / "crates/dagaz-runtime/src/compiler.rs").read_text()
    table = re.search(r"const FLAGS.*?=\s*\[(.*?)\];", source, re.S)
    own = re.findall(r'"([^"]+)"', table.group(1))
    # What helps vector functions of generated code is of no use to the C.
    own = [flag for flag in own if generated or not flag.startswith("-fno-builtin")]
    return ["-O3", *own, *(flag for flag in ("-fopenmp-simd", "-fPIC", "-shared") if flag not in own)]


C_TYPES = {
    "f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u32": ctypes.c_uint32,
}
NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint32": "u32"}


def type_name(value):
    return NAMES[np.asarray(value).dtype.name]


class Dagaz:
    """A library made by dagaz, in a context with some threads."""

    def __init__(self, path, spec, threads):
        self.lib, self.prefix = ctypes.CDLL(str(path)), Path(path).stem
        for function in ("config_new", "context_new"):
            self.function(function).restype = ctypes.c_void_p
        self.function("context_error").restype = ctypes.c_char_p
        config = ctypes.c_void_p(self.function("config_new")())
        self.function("config_set_threads")(config, threads)
        self.ctx = ctypes.c_void_p(self.function("context_new")(config))
        self.spec = spec

    def function(self, name):
        """A function of the library, all of which begin with its name."""
        return getattr(self.lib, f"{self.prefix}_{name}")

    def prepare(self, inputs):
        self.args = [self.argument(value) for value in inputs]
        self.outs = []
        for dtype, shape in self.spec.outputs(inputs):
            self.outs.append((dtype, shape, ctypes.c_void_p() if shape else C_TYPES[dtype]()))
        self.pointers = [ctypes.byref(out) for _, _, out in self.outs]

    def argument(self, value):
        name = type_name(value)
        if np.ndim(value) == 0:
            return C_TYPES[name](value.item())
        new = self.function(f"{name}_{value.ndim}d_new")
        new.restype = ctypes.c_void_p
        dims = [ctypes.c_int64(size) for size in value.shape]
        array = new(self.ctx, value.ctypes.data_as(ctypes.c_void_p), *dims)
        if not array:
            raise RuntimeError(self.function("context_error")(self.ctx).decode())
        return ctypes.c_void_p(array)

    def call(self):
        if self.function("entry_main")(self.ctx, *self.pointers, *self.args):
            raise RuntimeError(self.function("context_error")(self.ctx).decode())

    def release(self):
        for dtype, shape, out in self.outs:
            if shape:
                self.function(f"{dtype}_{len(shape)}d_free")(self.ctx, out)

    def results(self):
        self.call()
        results = []
        for dtype, shape, out in self.outs:
            if not shape:
                results.append(np.array(out.value))
                continue
            values = np.empty(shape, np.dtype({v: k for k, v in NAMES.items()}[dtype]))
            copy = self.function(f"{dtype}_{len(shape)}d_values")
            copy(self.ctx, out, values.ctypes.data_as(ctypes.c_void_p))
            results.append(values)
        self.release()
        return results

    def run(self):
        self.call()
        self.release()


def plain_array(shape, dtype):
    """An array in memory as C programs get it. That of NumPy is in huge pages, which are faster."""
    count = int(np.prod(shape))
    size = max(count * np.dtype(dtype).itemsize, 1)
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.restype = ctypes.c_void_p
    memory = libc.aligned_alloc(ctypes.c_size_t(64), ctypes.c_size_t((size + 63) // 64 * 64))
    array = np.frombuffer((ctypes.c_char * size).from_address(memory), dtype, count).reshape(shape)
    return array


class Plain:
    """The function of a C file: inputs, then sizes, then outputs."""

    def __init__(self, path, spec):
        self.lib = ctypes.CDLL(str(path))
        self.spec = spec

    def prepare(self, inputs):
        args = []
        for value in inputs:
            if np.ndim(value) == 0:
                args.append(C_TYPES[type_name(value)](value.item()))
                continue
            own = plain_array(value.shape, value.dtype)
            own[...] = value
            args.append(own.ctypes.data_as(ctypes.c_void_p))
        args += [ctypes.c_int64(size) for size in self.spec.sizes(inputs)]
        reverse = {v: k for k, v in NAMES.items()}
        self.outs = [plain_array(shape or (1,), reverse[dtype]) for dtype, shape in self.spec.outputs(inputs)]
        self.args = args + [out.ctypes.data_as(ctypes.c_void_p) for out in self.outs]

    def results(self):
        self.lib.bench(*self.args)
        return [out.copy() for out in self.outs]

    def run(self):
        self.lib.bench(*self.args)


def build(name, dagaz, folder):
    """Both shared objects; the first is None if there is no C by hand."""
    library = folder / f"{name}_dagaz"
    subprocess.run([dagaz, "compile", "--lib", HERE / f"{name}.fut", "-o", library], check=True)
    compiler = os.environ.get("CC", "cc")
    made = []
    for source in (HERE / f"{name}.c", library.with_suffix(".c")):
        if not source.exists():
            made.append(None)
            continue
        target = folder / f"{name}_{len(made)}.so"
        subprocess.run([compiler, *flags(generated=len(made) == 1), "-o", target, source, "-lm", "-lpthread"], check=True)
        made.append(target)
    return made


def agree(expected, got, tolerance):
    for x, y in zip(expected, got, strict=True):
        x, y = x.ravel(), y.ravel()
        scale = max(1.0, float(np.max(np.abs(x.astype(np.float64)))) if x.size else 1.0)
        if not np.allclose(x, y, rtol=tolerance, atol=tolerance * scale):
            worst = int(np.argmax(np.abs(x.astype(np.float64) - y.astype(np.float64))))
            return f"at {worst}: C gives {x[worst]}, Dagaz {y[worst]}"
    return None


def measure_all(things, rounds, seconds):
    """Things in turns: (the median and the least of the processor time of this thread, the least of the time that passed),
    in milliseconds. Stops after some seconds, but not before five rounds."""
    for thing in things:
        thing.run()
    times = [[] for _ in things]
    start = time.perf_counter()
    for turn in range(rounds):
        if turn >= 5 and time.perf_counter() - start > seconds:
            break
        for thing, own in zip(things, times):
            before, used = time.perf_counter(), time.thread_time()
            thing.run()
            own.append((time.thread_time() - used, time.perf_counter() - before))
    summary = []
    for own in times:
        used, passed = zip(*own)
        summary.append((statistics.median(used) * 1e3, min(used) * 1e3, min(passed) * 1e3))
    return summary


def peak(kind, name, path, scale):
    """The most memory in KiB that the inputs, one call and its results need, in a process of its own."""
    command = [sys.executable, __file__, "--child", kind, name, str(path), scale]
    output = subprocess.run(command, capture_output=True, text=True)
    return int(output.stdout) if output.returncode == 0 and output.stdout.strip() else None


def child(kind, name, path, scale):
    spec = PROGRAMS[name]
    inputs = spec.inputs(np.random.default_rng(1), scale)
    thing = Dagaz(path, spec, 1) if kind == "dagaz" else Plain(path, spec)
    thing.prepare(inputs)
    # From here on the peak counts anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    thing.run()
    print(memory("VmHWM") - before + sum(value.nbytes for value in inputs) // 1024)


def memory(field):
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+)", status).group(1))


def measure(name, arguments, folder):
    spec = PROGRAMS[name]
    scale = "anchor" if arguments.anchors else "usual"
    row = {"name": name}
    try:
        c_path, dagaz_path = build(name, arguments.dagaz, folder)
    except subprocess.CalledProcessError as error:
        row["error"] = f"cannot build: {error}"
        return row
    inputs = spec.inputs(np.random.default_rng(1), scale)
    one = Dagaz(dagaz_path, spec, 1)
    two = Dagaz(dagaz_path, spec, 2)
    things = [one, two] + ([Plain(c_path, spec)] if c_path else [])
    for thing in things:
        thing.prepare(inputs)
    try:
        first, second = one.results(), two.results()
        if any(not np.array_equal(x, y, equal_nan=True) for x, y in zip(first, second)):
            row["note"] = "two threads give other results than one"
        if c_path:
            row["note"] = agree(things[2].results(), first, spec.tolerance) or row.get("note")
        times = measure_all(things, arguments.rounds, arguments.seconds)
    except RuntimeError as error:
        row["error"] = str(error)
        return row
    row["dagaz_ms"], row["two_ms"] = times[0][0], times[1][2]
    row["speedup"] = times[0][2] / times[1][2]
    if c_path:
        row["c_ms"] = times[2][0]
        row["ratio"] = times[0][1] / times[2][1]
        peaks = [peak(kind, name, path, scale) for kind, path in (("c", c_path), ("dagaz", dagaz_path))]
        if all(peaks):
            row["memory"] = peaks[1] / peaks[0]
    if spec.numpy:
        row["numpy_ms"] = numpy_time(spec, inputs)
    if arguments.anchors:
        row["futhark_ms"] = spec.anchor_ms
    if arguments.jax and spec.jax:
        row.update(jax_time(name, scale))
    return row


def numpy_time(spec, inputs):
    times = []
    for _ in range(8):
        start = time.perf_counter()
        spec.numpy(*inputs)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def jax_time(name, scale):
    """In a process of its own, on one core with one thread."""
    environment = dict(os.environ)
    environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment["JAX_PLATFORMS"] = "cpu"
    command = ["taskset", "-c", "0", sys.executable, HERE / "with_jax.py", name, scale]
    output = subprocess.run(command, env=environment, capture_output=True, text=True)
    if output.returncode != 0:
        return {"jax_error": output.stderr.strip().splitlines()[-1:]}
    return json.loads(output.stdout)


COLUMNS = [
    ("name", "name", "{}"), ("c_ms", "C ms", "{:.2f}"), ("dagaz_ms", "Dagaz ms", "{:.2f}"), ("ratio", "ratio", "{:.2f}"),
    ("two_ms", "2 threads", "{:.2f}"), ("speedup", "speed-up", "{:.2f}"), ("memory", "memory", "{:.2f}"),
    ("numpy_ms", "NumPy ms", "{:.2f}"), ("futhark_ms", "Futhark ms", "{:.1f}"), ("jax_ms", "JAX ms", "{:.2f}"),
    ("jax_compile_ms", "JAX compile", "{:.0f}"),
]


def show(row, columns):
    cells = [form.format(row[key]) if row.get(key) is not None else "" for key, _, form in columns]
    line = "  ".join(f"{cell:<16}" if i == 0 else f"{cell:>11}" for i, cell in enumerate(cells))
    remarks = [str(row[key]) for key in ("note", "error", "jax_error") if row.get(key)]
    print(line + ("  " + "; ".join(remarks) if remarks else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="this program alone; may be repeated")
    parser.add_argument("--jax", action="store_true", help="run the JAX versions too")
    parser.add_argument("--anchors", action="store_true", help="the sizes that Futhark was measured with")
    parser.add_argument("--json", metavar="FILE", help="write all numbers to a file")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5.0, help="enough for one program")
    parser.add_argument("--dagaz", default=str(HERE.parent / "target/release/dagaz"))
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    names = arguments.only or [n for n, p in PROGRAMS.items() if not arguments.anchors or p.anchor_ms]
    wanted = {"futhark_ms": arguments.anchors, "jax_ms": arguments.jax, "jax_compile_ms": arguments.jax}
    columns = [column for column in COLUMNS if wanted.get(column[0], True)]
    show({key: title for key, title, _ in columns}, [(key, title, "{}") for key, title, _ in columns])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            rows.append(measure(name, arguments, Path(folder)))
            show(rows[-1], columns)
    ratios = [row["ratio"] for row in rows if "ratio" in row and not name_is_product(row["name"])]
    if ratios:
        print(f"geometric mean of the ratios without matrix products: {math.exp(statistics.fmean(map(math.log, ratios))):.3f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=2) + "\n")


def name_is_product(name):
    return name.startswith("matmul")


if __name__ == "__main__":
    main()
