"""Whether results are right: implementations agree, and derivatives agree with finite differences."""

import numpy as np

from . import values
from .problem import Problem


def difference(expected, got, tolerance):
    """What is wrong with results, or None."""
    if len(expected) != len(got):
        return f"{len(expected)} results, and {len(got)}"
    for which, (x, y) in enumerate(zip(expected, got)):
        x, y = np.asarray(x), np.asarray(y)
        if x.size != y.size:
            return f"result {which} has {x.size} elements, and {y.size}"
        if not x.size:
            continue
        x, y = x.ravel().astype(np.float64), y.ravel().astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        distance = np.where(same, 0, np.abs(x - y))
        distance[np.isnan(distance)] = np.inf
        worst = int(np.argmax(distance))
        largest = float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0))
        if distance[worst] > tolerance * max(largest, 1e-30):
            return f"result {which} at {worst}: {x[worst]:.9g}, and {y[worst]:.9g}"
    return None


def disagreements(problem: Problem, results: dict):
    """Between Dagaz and each of the others."""
    remarks = []
    for (title, entry), got in results.items():
        own = results.get(("Dagaz", entry))
        if title == "Dagaz" or own is None:
            continue
        wrong = difference(got, own, problem.tolerance)
        if wrong:
            remarks.append(f"{title} and Dagaz disagree about the {entry}: {wrong}")
    return remarks


def against_differences(problem: Problem, inputs, dagaz, results, folder):
    """The derivative of Dagaz against differences of its objective."""
    derivative = results.get(("Dagaz", "derivative"))
    if derivative is None:
        return []

    def objective(changed):
        path = folder / "changed.bin"
        values.write(path, changed)
        return dagaz.results_for("objective", path)

    if problem.differentiated is None:
        wrong = problem.check(inputs, objective, derivative) if problem.check else None
    else:
        wrong = gradient_is_wrong(problem, inputs, objective, derivative)
    return [f"Dagaz's derivative is not that of its objective: {wrong}"] if wrong else []


def gradient_is_wrong(problem: Problem, inputs, objective, gradient):
    """Along a random direction, the gradient says what a central difference does."""
    rng = np.random.default_rng(2)
    directions = [rng.standard_normal(np.shape(inputs[i])) for i in problem.differentiated]
    sizes = [np.sqrt(np.mean(np.square(inputs[i]))) if np.size(inputs[i]) else 0.0 for i in problem.differentiated]
    step = problem.finite_step * max(max(sizes), 1e-3)

    def moved(by):
        changed = list(inputs)
        for i, direction in zip(problem.differentiated, directions):
            changed[i] = np.asarray(inputs[i] + by * direction, dtype=np.asarray(inputs[i]).dtype)
        return float(objective(changed)[0])

    slope = (moved(step) - moved(-step)) / (2 * step)
    expected = sum(float(np.sum(np.asarray(g, np.float64).reshape(np.shape(d)) * d)) for g, d in zip(gradient, directions))
    if abs(slope - expected) <= problem.finite_tolerance * max(abs(slope), abs(expected)):
        return None
    return f"differences give {slope:.9g}, the gradient {expected:.9g}"


def jacobian_is_wrong(inputs, directions: dict, objective, product, step=1e-6, tolerance=1e-5):
    """The product of a Jacobian and a direction, given by the positions of inputs, against a central difference."""

    def moved(by):
        changed = [value + by * directions[i] if i in directions else value for i, value in enumerate(inputs)]
        return np.concatenate([np.ravel(result) for result in objective(changed)])

    return difference([(moved(step) - moved(-step)) / (2 * step)], [product], tolerance)
