"""Plots of growth: time and memory of the derivative, both axes logarithmic."""

import sys

COLOURS = {"Dagaz": "#b3202a", "C": "#444444", "JAX": "#2b6cb0", "PyTorch": "#dd8a00"}


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
        for implementation, colour in COLOURS.items():
            known = [(point["size"], point["records"].get(implementation, {}).get("derivative", {}).get(key)) for point in points]
            known = [(size, value / scale) for size, value in known if value]
            if known:
                axis.plot(*zip(*known), marker="o", markersize=4, color=colour, label=implementation)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("size")
        axis.set_ylabel(label)
        axis.grid(True, which="major", alpha=0.3)
    axes[0].set_title(f"{title}: time of the derivative")
    axes[1].set_title("memory")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
