"""Veros's whole step without miniapp's plug-in and with it, as run/compare-veros --model --json found."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import safely

from .. import figures

SERIES = {  # who, how run/compare-veros names its times and those beside which they count, and a look
    "NumPy": ("model, numpy, 1", "", "numpy"), "JAX": ("model, jax, 1", "", "jax"),
    "NumPy with the plug-in, one core": ("with plug-in, numpy, 1", "model, numpy, 1", "miniapp"),
    "NumPy with the plug-in, two cores": ("with plug-in, numpy, 2", "model, numpy, 2", "pytorch")}


def read(path):
    """{setup: its shape and {who: least time, and how many times as fast as Veros}}; {} of another file."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        return {setup: (row["shape"], dict(series_of(row["times"]))) for setup, row in found.items()}
    except (OSError, *safely.MALFORMED):
        return {}


def series_of(times):
    for who, (own, beside, _) in SERIES.items():
        if own in times:
            least = min(times[own])
            yield who, (least, f"{min(times[beside]) / least:.1f}" if beside else "")


def draw(models, path):
    """All setups on one axis: the files' names."""
    with figures.style():
        figure, axis = plt.subplots(layout="constrained", figsize=(7, 3.4))
        for who, (*_, framework) in SERIES.items():
            shown = [(place, *times[who]) for place, (_, times) in enumerate(models.values()) if who in times]
            colour, marker, _ = figures.LOOKS[framework]
            if shown:
                axis.semilogy([place for place, *_ in shown], [time for _, time, _ in shown], color=colour,
                              marker=marker, linestyle="none", label=who)
            for place, time, ratio in shown:
                axis.annotate(ratio, (place, time), xytext=(8, -3), textcoords="offset points", fontsize=8)
        axis.set_xticks(range(len(models)), [f"{setup}\n{shape.replace(',', ' x ')}"
                                             for setup, (shape, _) in models.items()])
        axis.set_xlim(-0.5, len(models) - 0.5)
        figures.log_axis(axis.yaxis, figures.short, few=True)
        axis.set_ylabel("ns a point and step")
        axis.set_title("numbers: how many times as fast as Veros without it")
        axis.legend(loc="upper left", bbox_to_anchor=(1.02, 1.02), borderaxespad=0)
        return figures.save(figure, path)
