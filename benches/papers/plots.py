"""Plots of growth: time and memory of objective and derivative, both axes logarithmic."""

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


def draw(path, title, points):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
    for axis, (key, label, scale) in zip(axes, [("least_ms", "ms", 1), ("peak_bytes", "MiB", 2**20)]):
        for entry, (colour, style) in LINES.items():
            known = []
            for point in points:
                value = point["record"].get(entry, {}).get(key)
                if value is not None:
                    more = point["argument_bytes"] if key == "peak_bytes" else 0
                    known.append((point["size"], (value + more) / scale))
            if known:
                axis.plot(*zip(*known), style, marker="o", markersize=4, color=colour, label=entry)
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
