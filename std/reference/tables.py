"""Reference values for the standard library, made with numpy, scipy and mpmath.

    python std/reference/tables.py

writes the files std/tests/*_reference.fut anew: entry points, and test blocks with their inputs and outputs. Nothing in it
uses the library itself. What a table is about is a function of the module of the same name in this folder.
"""

import importlib
import pathlib

FOLDER = pathlib.Path(__file__).parent
MODULES = ["linalg", "nn", "random", "special", "stats"]


def literal(value):
    """A number, a truth value, or any nest of lists of them, as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value:
            return "f64.nan"
        if value in (float("inf"), float("-inf")):
            return "f64.inf" if value > 0 else "-f64.inf"
        return repr(float(value))
    if hasattr(value, "tolist"):
        return literal(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    return literal(float(value))


class Tables:
    """The text of one test program."""

    def __init__(self, module):
        self.parts = [
            f"-- Values of std/{module} beside those of other libraries: written by std/reference/tables.py.\n",
            f'import "std/{module}"\n',
        ]

    def table(self, entry, definition, rows, tolerance):
        """An entry point, and rows of inputs and outputs."""
        block = ["-- ==", f"-- entry: {entry}", f"-- tolerance: {tolerance}"]
        for inputs, outputs in rows:
            given = " ".join(literal(v) for v in inputs)
            wanted = " ".join(literal(v) for v in outputs)
            block.append(f"-- input {{ {given} }} output {{ {wanted} }}")
        self.parts.append("\n".join(block) + f"\nentry {entry} {definition}\n")


def main():
    for module in MODULES:
        tables = Tables(module)
        importlib.import_module(f"{module}_tables").fill(tables)
        path = FOLDER.parent / "tests" / f"{module}_reference.fut"
        path.write_text("\n".join(tables.parts))


if __name__ == "__main__":
    main()
