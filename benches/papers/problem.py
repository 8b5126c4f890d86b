"""What a problem of the papers' tables is: its sizes, its inputs, and how its results are compared."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np

TYPES = {"float32": "f32", "float64": "f64", "int8": "i8", "int32": "i32", "int64": "i64", "uint32": "u32", "bool": "bool"}
Size = tuple[int, ...]
Outputs = list[tuple[str, tuple[int, ...]]]


def like(inputs: list, which) -> Outputs:
    """Results with the types and shapes of some of the inputs."""
    return [(TYPES[np.asarray(inputs[i]).dtype.name], np.shape(inputs[i])) for i in which]


@dataclass
class Problem:
    """`benches/papers/NAME.fut` with its peers, `benches/peers/{c,with_jax,with_torch}/NAME.*`, those of them that exist."""

    name: str
    title: str
    # The rows of the table: what a row is called, and its size. `--scale` multiplies the leading data size, `size[leading]`.
    rows: dict[str, Size]
    # Inputs, in the order of the entries' parameters: NumPy arrays, and NumPy scalars such as `np.int64(3)`.
    inputs: Callable[[Size, np.random.Generator], list]
    # The type and shape of each result of `objective`; one f64 unless told.
    outputs: Callable[[list], Outputs] = lambda inputs: [("f64", ())]
    # Positions of the parameters that `derivative` differentiates with respect to. The directional derivative along a random
    # direction is then compared with finite differences. None where the derivative is no gradient of one number: `check`.
    differentiated: list[int] | None = None
    # The type and shape of each result of `derivative`; like the differentiated inputs unless told.
    derivative_outputs: Callable[[list], Outputs] | None = None
    # For derivatives that are no gradients: takes the inputs, `objective` (a function from inputs to the list of results) and
    # the results of `derivative`; returns what is wrong, or None.
    check: Callable[[list, Callable[[list], list], list], str | None] | None = None
    # The sizes that C functions take after the inputs, as int64_t.
    sizes: Callable[[list], list[int]] = lambda inputs: []
    # How far results of two implementations may differ, relative to the largest number of a result.
    tolerance: float = 1e-8
    # How far the derivative may differ from finite differences, relative to the larger of the two; and their relative step.
    finite_tolerance: float = 1e-5
    finite_step: float = 1e-6
    # Sizes for the plot of growth, each two to four times the one before.
    growth: list[Size] = field(default_factory=list)
    # Which number of a size `--scale` multiplies and the plot of growth has on its axis.
    leading: int = 0
    # How many numbers from there on share in that, as the sides of a box do.
    sides: int = 1
    # The part of the leading size that a processor gets unless `--full` says otherwise: many sizes were chosen for GPUs.
    part: float = 1.0
    # Rows that only `--full` measures.
    only_full: tuple[str, ...] = ()
    # Whether the program has the derivative once more, as `derivative_in_strips`, with loops that keep few of their states.
    strips: bool = False
    # Inputs from a file in the format that others publish them in.
    read: Callable[[Path], list] | None = None
    # A remark below the tables.
    note: str = ""

    def results(self, entry: str, inputs: list) -> Outputs:
        """The types and shapes of what an entry point gives."""
        if entry == "objective":
            return self.outputs(inputs)
        if self.derivative_outputs:
            return self.derivative_outputs(inputs)
        return like(inputs, self.differentiated)

    def scaled(self, size: Size, scale: float) -> Size:
        own = list(size)
        for side in range(self.leading, self.leading + self.sides):
            own[side] = max(1, round(own[side] * scale ** (1 / self.sides)))
        return tuple(own)

    def chosen(self, arguments, most=None):
        """Titles and sizes of the rows that are wanted, the first ones if there is a limit."""
        rows = [(title, size) for title, size in self.rows.items()
                if arguments.row in title and (arguments.full or title not in self.only_full)]
        scale = arguments.scale * (1 if arguments.full else self.part)
        for title, size in rows[:1 if arguments.quick else most]:
            yield title if scale == 1 else f"{title} ×{scale:g}", self.scaled(size, scale)
