"""A peer in a process of its own: loads inputs, and does what it is told, line by line.

Started by `implementations.py`. Every request and every answer is a line of JSON.
"""

import ctypes
import importlib.util
import json
import os
import re
import statistics
import sys
import time
from pathlib import Path

import numpy as np


class C:
    """Functions of a shared object: inputs, then sizes, then where to write."""

    def __init__(self, path, inputs, given):
        self.lib = ctypes.CDLL(path)
        self.arguments = [c_argument(value) for value in inputs] + [ctypes.c_int64(size) for size in given["sizes"]]
        self.shapes = given["results"]

    def has(self, entry):
        return hasattr(self.lib, entry)

    def prepare(self, entry):
        function = getattr(self.lib, entry)
        outs = [aligned(tuple(shape), dtype) for dtype, shape in self.shapes[entry]]
        arguments = self.arguments + [out.ctypes.data_as(ctypes.c_void_p) for out in outs]

        def call():
            function(*arguments)
            return outs

        return call, None

    @staticmethod
    def numpy(results):
        return [out.copy() for out in results]


def c_argument(value):
    if value.ndim == 0:
        types = {"f4": ctypes.c_float, "f8": ctypes.c_double, "i4": ctypes.c_int32, "i8": ctypes.c_int64, "b1": ctypes.c_bool}
        return types[value.dtype.str[1:]](value.item())
    own = aligned(value.shape, value.dtype)
    own[...] = value
    return own.ctypes.data_as(ctypes.c_void_p)


def aligned(shape, dtype):
    """Memory of NumPy, which has large arrays on large pages, as Dagaz does."""
    dtype, count = np.dtype(dtype), int(np.prod(shape, dtype=np.int64))
    memory = np.empty(count * dtype.itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:start + count * dtype.itemsize].view(dtype).reshape(shape)


class Jax:
    def __init__(self, path, inputs, given):
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.module = load(path)
        self.static = tuple(getattr(self.module, "STATIC", ()))
        self.inputs = [value.item() if i in self.static else jax.device_put(value) for i, value in enumerate(inputs)]

    def has(self, entry):
        return hasattr(self.module, entry)

    def prepare(self, entry):
        start = time.perf_counter()
        function = self.jax.jit(getattr(self.module, entry), static_argnums=self.static)
        compiled = function.lower(*self.inputs).compile()
        seconds = time.perf_counter() - start
        moving = [value for i, value in enumerate(self.inputs) if i not in self.static]
        return lambda: self.jax.block_until_ready(compiled(*moving)), seconds

    def numpy(self, results):
        return [np.asarray(result) for result in self.jax.tree.leaves(results)]


class Torch:
    def __init__(self, path, inputs, given):
        import torch

        torch.set_num_threads(given["threads"])
        self.torch = torch
        floats = [value.dtype for value in inputs if value.dtype.kind == "f"]
        torch.set_default_dtype(torch.float32 if floats and floats[0] == np.float32 else torch.float64)
        self.module = load(path)
        # Integers and truth values are plain numbers: sizes and counts of steps.
        self.inputs = [value.item() if value.ndim == 0 and value.dtype.kind != "f" else torch.from_numpy(np.array(value))
                       for value in inputs]

    def has(self, entry):
        return hasattr(self.module, entry)

    def prepare(self, entry):
        function = getattr(self.module, entry)
        return lambda: function(*self.inputs), None

    def numpy(self, results):
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [result.detach().numpy() for result in results]


def load(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def memory(field):
    return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text()).group(1)) * 1024


def peak_of(call):
    """The bytes that a call needs at once, its results included; None where the system does not say."""
    ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        call()
        return None
    before = memory("VmRSS")
    # What is given back must live until the peak is read.
    results = call()
    peak = memory("VmHWM") - before
    del results
    return max(peak, 0)


def timed(call, seconds):
    """The median and the least of some calls, in milliseconds: three at least, unless they take five times the seconds."""
    times = []
    while sum(times) < seconds or len(times) < 3 and sum(times) < 5 * seconds:
        before = time.perf_counter()
        results = call()
        times.append(time.perf_counter() - before)
        del results
    return {"ms": statistics.median(times) * 1e3, "least_ms": min(times) * 1e3}


def main():
    # What peers print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    kind, path, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    with np.load(given["inputs"]) as file:
        inputs = [file[name] for name in file.files]
    peer = {"c": C, "jax": Jax, "torch": Torch}[kind](path, inputs, given)
    calls = {}
    for line in sys.stdin:
        request = json.loads(line)
        entry = request["entry"]
        try:
            if request["do"] == "prepare" and not peer.has(entry):
                answer = {"absent": True}
            elif request["do"] == "prepare":
                calls[entry], seconds = peer.prepare(entry)
                answer = {"compile_seconds": seconds, "peak_bytes": peak_of(calls[entry])}
            elif request["do"] == "results":
                results = peer.numpy(calls[entry]())
                np.savez(request["to"], *results)
                answer = {}
            else:
                answer = timed(calls[entry], request["seconds"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
