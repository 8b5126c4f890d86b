"""All problems, in the order of the tables: those of the modules that are there."""

import importlib
import importlib.util

from .problem import Problem

MODULES = ["adbench", "kernels", "complaints"]


def collected() -> dict[str, Problem]:
    problems = {}
    for name in MODULES:
        module = f"{__package__}.{name}"
        if importlib.util.find_spec(module):
            problems.update(importlib.import_module(module).PROBLEMS)
    return problems


PROBLEMS = collected()
