"""The figures: time against size, speedup, roofline. Equal rows give equal bytes."""

import io

import matplotlib

from ..results import put

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # pylint: disable=wrong-import-position
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, NullLocator

# Nothing depends on the machine that draws: the font is matplotlib's own, and the SVG has no date
# and no random names.
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "0.88", "grid.linewidth": 0.6, "lines.linewidth": 1.4, "lines.markersize": 5,
    "legend.frameon": False, "svg.hashsalt": "miniapp", "svg.fonttype": "path",
    "path.simplify": False, "figure.dpi": 100, "savefig.dpi": 200,
}
METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}

# The colour (Okabe and Ito's, for colour-blind eyes, too), marker and line of each framework: any
# one of the three identifies it.
LOOKS = {
    "miniapp": ("#000000", "o", "-"), "numpy": ("#999999", "s", "--"),
    "numba": ("#E69F00", "^", "-."), "jax": ("#0072B2", "D", "-"),
    "pytorch": ("#D55E00", "v", "--"), "cupy": ("#F0E442", "P", "-"),
    "taichi": ("#009E73", "X", ":"), "tensorflow": ("#CC79A7", "*", "-."),
    "aesara": ("#56B4E9", "<", ":"),
}
OTHERS = [LOOKS[name] for name in ("miniapp", "jax", "pytorch", "taichi", "numba", "numpy")]
TITLES = {"numpy": "NumPy", "numba": "Numba", "jax": "JAX", "pytorch": "PyTorch", "cupy": "CuPy",
          "taichi": "Taichi", "tensorflow": "TensorFlow", "aesara": "Aesara"}
KERNELS = ("eos", "isoneutral", "tke", "expsum", "matmul", "triad", "fma")
CEILINGS = ("triad", "fma")
SECONDS = EngFormatter("s")


def order(word, words):
    return (words.index(word), "") if word in words else (len(words), word)


def distinct(rows, *names):
    """The different values of columns, in the order of the tables above."""
    found = {tuple(row[name] for name in names) for row in rows}
    return sorted(found, key=lambda values: [
        (0, value, "") if isinstance(value, (int, float)) else
        (1, *order(value or "", KERNELS + tuple(LOOKS))) for value in values])


def select(rows, names, values):
    return [row for row in rows if all(row[n] == v for n, v in zip(names, values))]


def look(framework, frameworks):
    if framework in LOOKS:
        return LOOKS[framework]
    return OTHERS[frameworks.index(framework) % len(OTHERS)]


def short(value, _=None):
    """1000 as 1 k: numbers of an axis."""
    for unit, name in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def log_axis(axis, text, few=None):
    """Labels the decades and, if there are few of them, also what lies between."""
    low, high = axis.get_view_interval()
    few = high / low < 30 if few is None else few
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if few else (1,), numticks=12))
    axis.set_major_formatter(text)
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def panels(count_down, count_across, height, share):
    figure, axes = plt.subplots(count_down, count_across, squeeze=False, layout="constrained",
                                sharex=share, sharey=share, figsize=(
                                    min(2.5 * count_across + 1.6, 11), height * count_down + 0.7))
    return figure, axes


def finish(figure, axis, lines, rows, path):
    """Legend right of the last panel, the machine and the date below: the files' names."""
    axis.legend(lines.values(), [TITLES.get(name, name) for name in lines],
                loc="upper left", bbox_to_anchor=(1.02, 1.02), borderaxespad=0)
    inputs = sorted({f"inputs: {row['inputs']}" for row in rows})
    return save(figure, path, *inputs, *sorted({f"{row['machine']}, {row['date']}" for row in rows}))


def save(figure, path, *below, size=7):
    """SVG and PNG, with a line of small text at the bottom: the files' names."""
    names = []
    if below:
        figure.supxlabel("; ".join(below), fontsize=size, color="0.35", x=0.01, ha="left")
    # The layout once, as it is for SVG: matplotlib would draw the figure for it before each file.
    FigureCanvasSVG(figure)
    figure.dpi = 72
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)
    for kind, metadata in METADATA.items():
        data = io.BytesIO()
        figure.savefig(data, format=kind, metadata=metadata)
        names.append(f"{path}.{kind}")
        put(names[-1], data.getvalue())
    plt.close(figure)
    return names


def against_size(rows, path, column, label, text, level=None):
    """A column against the size: a panel for each kernel and precision, and number of cores."""
    across, down = distinct(rows, "kernel", "precision"), distinct(rows, "cores")
    frameworks = [name for name, in distinct(rows, "framework")]
    figure, axes = panels(len(down), len(across), 2.3, share=True)
    lines = {}
    for j, (cores,) in enumerate(down):
        for i, (kernel, precision) in enumerate(across):
            axis = axes[j][i]
            here = select(rows, ("kernel", "precision", "cores"), (kernel, precision, cores))
            for framework in frameworks:
                series = sorted((row["points"], row[column]) for row in here
                                if row["framework"] == framework and row[column])
                if series:
                    colour, marker, style = look(framework, frameworks)
                    lines[framework], = axis.loglog(*zip(*series), color=colour, marker=marker,
                                                    linestyle=style)
            if level is not None:
                axis.axhline(level, color="0.6", linewidth=0.8, zorder=0)
            plural = "" if cores == 1 else "s"
            axis.set_title(f"{kernel}, {precision}, {cores} core{plural}")
            if j == len(down) - 1:
                axis.set_xlabel("multiply-adds of squares" if kernel == "matmul"
                                else "grid points")
            if i == 0:
                axis.set_ylabel(label)
    for axis in axes.flat:  # only now are the common limits known
        log_axis(axis.xaxis, short)
        log_axis(axis.yaxis, text)
    lines = {name: lines[name] for name in frameworks if name in lines}
    return finish(figure, axes[0][-1], lines, rows, path)


def roofline(rows, path):
    """Operations a second against intensity, for the largest size of each kernel; the roof is
    what triad and fma reach."""
    down = distinct(rows, "precision", "cores")
    frameworks = [name for name, in distinct(rows, "framework")]
    figure, axes = panels(1, len(down), 3.2, share=False)
    lines = {}
    for axis, (precision, cores) in zip(axes[0], down):
        here = select(rows, ("precision", "cores"), (precision, cores))
        bandwidth = max(row["triad_gb_per_s"] for row in here)
        peak = max(row["fma_gflop_per_s"] for row in here)
        kernels = [name for name, in distinct(here, "kernel")]
        intensities = []
        lowest = peak
        for kernel in kernels:
            largest = max(row["points"] for row in here if row["kernel"] == kernel)
            points = [row for row in here if (row["kernel"], row["points"]) == (kernel, largest)]
            intensity = points[0]["flops"] / points[0]["bytes"]
            intensities.append(intensity)
            for row in points:
                rate = 1e-9 * row["flops"] / row["seconds"]
                lowest = min(lowest, rate)
                colour, marker, _ = look(row["framework"], frameworks)
                lines[row["framework"]], = axis.loglog(intensity, rate, color=colour,
                                                       marker=marker, linestyle="none")
            axis.annotate(kernel, (intensity, 0.02), xycoords=("data", "axes fraction"),
                          rotation=90, ha="right", va="bottom", fontsize=7, color="0.35")
        ridge = peak / bandwidth
        left, right = min(*intensities, ridge) / 3, max(*intensities, ridge) * 3
        axis.plot([left, ridge, right], [left * bandwidth, peak, peak], color="0.3",
                  linewidth=1.0, zorder=0)
        axis.set_xlim(left, right)
        axis.set_ylim(min(lowest, left * bandwidth) / 4, peak * 3)
        axis.annotate(f"{peak:.3g} GFLOP/s", (right, peak), ha="right", va="bottom", fontsize=7)
        axis.annotate(f"{bandwidth:.3g} GB/s", (left, left * bandwidth), fontsize=7,
                      xytext=(7, -1), textcoords="offset points", va="top", ha="left")
        log_axis(axis.xaxis, short)
        log_axis(axis.yaxis, short)
        axis.set_title(f"{precision}, {cores} core{'' if cores == 1 else 's'}")
        axis.set_xlabel("FLOP per byte")
    axes[0][0].set_ylabel("GFLOP/s, by miniapp's count")
    lines = {name: lines[name] for name in frameworks if name in lines}
    return finish(figure, axes[0][-1], lines, rows, path)


def is_drawn(row):
    """Not the ceilings, and of matrix products the squares only: others make no line with them."""
    square = row["nx"] == row["ny"] == row["nz"]
    return row["kernel"] not in CEILINGS and (row["kernel"] != "matmul" or square)


def groups(rows):
    """The rows of a figure by its name: an ocean's kernels share one, the others have their own."""
    found = {}
    for row in filter(is_drawn, rows):
        name = row["kernel"] if row["inputs"] == "uniform" else str(row["inputs"])
        found.setdefault(name.split(".", maxsplit=1)[0], []).append(row)
    return sorted(found.items())


def style():
    """A context in which nothing that the user has configured shows."""
    return matplotlib.rc_context({**matplotlib.rcParamsDefault, **STYLE, "backend": "agg"})


def draw_all(rows, prefix, note):
    """Every figure that the rows allow: the files' names. Says by `note` which it leaves out."""
    files = []
    with style():
        for name, here in groups(rows):
            files += against_size(here, f"{prefix}-time-{name}", "seconds", "time of a call",
                                  SECONDS)
            if any(row["speedup_over_numpy"] for row in here):
                files += against_size(here, f"{prefix}-speedup-{name}", "speedup_over_numpy",
                                      "speedup over NumPy", short, level=1)
            else:
                note(f"{name}: no figure of speedups, as NumPy is not among the rows")
            roof = [row for row in here if row["flops"] and row["bytes"] and
                    row["triad_gb_per_s"] and row["fma_gflop_per_s"]]
            if roof:
                files += roofline(roof, f"{prefix}-roofline-{name}")
            else:
                note(f"{name}: no roofline, as no row has flops and the rates of triad and fma")
    return files
