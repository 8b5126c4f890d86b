"""Values in the binary format of Futhark, which `dagaz` reads and writes."""

import struct

import numpy as np

from .problem import TYPES

NAMES = {**TYPES, "int16": "i16"}
NUMPY = {name: dtype for dtype, name in NAMES.items()}


def written(value) -> bytes:
    value = np.asarray(value, order="C")
    name = NAMES[value.dtype.name].rjust(4).encode()
    return b"b\x02" + bytes([value.ndim]) + name + struct.pack(f"<{value.ndim}q", *value.shape) + value.tobytes()


def write(path, inputs):
    with open(path, "wb") as file:
        for value in inputs:
            file.write(written(value))


def read(data: bytes) -> list:
    """All values of a file; blanks may stand between them."""
    values, at = [], 0
    while at < len(data):
        if data[at : at + 1].isspace():
            at += 1
            continue
        if data[at : at + 2] != b"b\x02":
            raise ValueError(f"no binary value at byte {at}")
        rank, dtype = data[at + 2], np.dtype(NUMPY[data[at + 3 : at + 7].decode().strip()])
        shape = struct.unpack_from(f"<{rank}q", data, at + 7)
        start = at + 7 + 8 * rank
        count = int(np.prod(shape, dtype=np.int64))
        values.append(np.frombuffer(data, dtype, count, start).reshape(shape))
        at = start + count * dtype.itemsize
    return values
