"""Veros's whole step without miniapp's plug-in and with it, as run/compare-veros --model --json found."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import safely

from .. import figures

SERIES = {  # who, and how run/compare-veros names its times
    "NumPy": ("model, numpy, 1", "numpy"), "JAX": ("model, jax, 1", "jax"),
    "NumPy with the plug-in, one core": ("with plug-in, numpy, 1", "miniapp"),
    "NumPy with the plug-in, two cores": ("with plug-in, numpy, 2", "pytorch")}


def read(path):
    """{setup: its shape and {who: least time}}; nothing where the file is another."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        return {setup: (row["shape"], {who: min(row["times"][name]) for who, (name, _) in SERIES.items()
                                       if name in row["times"]}) for setup, row in found.items()}
    except (OSError, *safely.MALFORMED):
        return {}


def draw(models, path):
    """All setups on one axis: the files' names."""
    with figures.style():
        figure, axis = plt.subplots(layout="constrained", figsize=(7, 3.4))
        for who, (_, framework) in SERIES.items():
            places = [place for place, (_, times) in enumerate(models.values()) if who in times]
            colour, marker, _ = figures.LOOKS[framework]
            axis.semilogy(places, [times[who] for _, times in models.values() if who in times], color=colour,
                          marker=marker, linestyle="none", label=who)
        for place, (_, times) in enumerate(models.values()):
            for who in list(SERIES)[2:]:
                if who in times and "NumPy" in times:
                    axis.annotate(f"{times['NumPy'] / times[who]:.1f}", (place, times[who]), xytext=(8, -3),
                                  textcoords="offset points", fontsize=8)
        axis.set_xticks(range(len(models)), [f"{setup}\n{shape.replace(',', ' x ')}"
                                             for setup, (shape, _) in models.items()])
        axis.set_xlim(-0.5, len(models) - 0.5)
        figures.log_axis(axis.yaxis, figures.short, few=True)
        axis.set_ylabel("ns a point and step")
        axis.set_title("numbers: how many times as fast as NumPy")
        axis.legend(loc="upper left", bbox_to_anchor=(1.02, 1.02), borderaxespad=0)
        return figures.save(figure, path)
