"""Plots of growth: time and memory of objective and derivative, both axes logarithmic."""

import math
import sys

LINES = {"derivative": ("#b3202a", "-"), "objective": ("#2b6cb0", "--")}


def write(folder, growth, problems):
    """Writes `NAME.svg` for each problem, and returns the names."""
    if not growth:
        return []
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plots", file=sys.stderr)
        return []
    matplotlib.use("svg")
    # The same numbers give the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "dagaz", "svg.fonttype": "none"})
    names = [name for name in problems if name in growth]
    for name in names:
        draw(folder / f"{name}.svg", problems[name].title, growth[name])
    return names


def known(points, entry, key):
    """Sizes, and times (`least_ms`) or memory with the arguments (`peak_bytes`)."""
    values = ((point, point["record"].get(entry, {}).get(key)) for point in points)
    more = {"least_ms": lambda point: 0, "peak_bytes": lambda point: point["argument_bytes"]}[key]
    return [(point["size"], value + more(point)) for point, value in values if value is not None]


def slope(points, entry, key):
    """Of the line through the last three points, both axes logarithmic: 1 where twice the size takes twice as much."""
    line = [(math.log(x), math.log(y)) for x, y in known(points, entry, key)[-3:]]
    if len(line) < 2:
        return None
    x_mean, y_mean = (sum(values) / len(line) for values in zip(*line))
    return sum((x - x_mean) * (y - y_mean) for x, y in line) / sum((x - x_mean) ** 2 for x, _ in line)


def draw(path, title, points):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
    for axis, (key, label, scale) in zip(axes, [("least_ms", "ms", 1), ("peak_bytes", "MiB", 2**20)]):
        for entry, (colour, style) in LINES.items():
            line = [(x, y / scale) for x, y in known(points, entry, key)]
            if line:
                axis.plot(*zip(*line), style, marker="o", markersize=4, color=colour, label=entry)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("size")
        axis.set_ylabel(label)
        axis.grid(True, which="major", alpha=0.3)
    axes[0].set_title(f"{title}: time")
    axes[1].set_title("memory")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
