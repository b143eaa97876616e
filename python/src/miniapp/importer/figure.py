"""The picture of an input: what a user looks at before trusting it."""

import contextlib
import importlib
import os
import tempfile

import numpy as np

from .grid import outer_edges


DRAWN = {"x", "y", "temp", "maskT", "dzt", "zw", "K_iso"}


def find_matplotlib(folder):
    """None where there is none. It wants a folder for its cache, where neither home nor a temporary one may
    be: then one beside the picture serves, as long as this takes."""
    with contextlib.ExitStack() as stack:
        try:
            tempfile.gettempdir()
        except OSError:
            own = tempfile.TemporaryDirectory(dir=folder, prefix=".matplotlib-")
            os.environ.setdefault("MPLCONFIGDIR", stack.enter_context(own))
        try:
            matplotlib = importlib.import_module("matplotlib")
            importlib.import_module("matplotlib.pyplot")
        except ImportError:
            return None
    matplotlib.use("Agg")
    return matplotlib


def on_water(values, wet):
    return np.ma.masked_where(~wet, values)


def wettest_row(g):
    """The row with the most water: a section along it shows most."""
    return int(np.argmax((g["maskT"] * g["dzt"][:, None, None]).sum(axis=(0, 2))))


def panel(figure, axes, x, y, values, title, labels, colours):
    mesh = axes.pcolormesh(x, y, values, cmap=colours, shading="flat")
    figure.colorbar(mesh, ax=axes)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_facecolor("0.7")


def draw(matplotlib, g, path, units, title):
    """Surface temperature, a section, the sea floor and K_iso; the same bytes each time."""
    plt = matplotlib.pyplot
    x, y = outer_edges(g["x"]), outer_edges(g["y"])
    z = np.append(g["zw"][0] - g["dzt"][0], g["zw"])
    wet, row = g["maskT"].astype(bool), wettest_row(g)
    depth = on_water((wet * g["dzt"][:, None, None]).sum(axis=0), wet[-1])
    names = (f"x [{units}]", f"y [{units}]")
    figure, axes = plt.subplots(2, 2, figsize=(11, 7))
    figure.subplots_adjust(0.07, 0.08, 0.99, 0.9, wspace=0.16, hspace=0.34)
    panel(figure, axes[0, 0], x, y, on_water(g["temp"][-1], wet[-1]),
          "temp at the uppermost level [degC]", names, "RdYlBu_r")
    panel(figure, axes[0, 1], x, z, on_water(g["temp"][:, row], wet[:, row]),
          f"temp at y = {g['y'][row]:.4g} [degC]", (names[0], "z [m]"), "RdYlBu_r")
    panel(figure, axes[1, 0], x, y, depth, "depth of the sea floor [m]", names, "Blues")
    panel(figure, axes[1, 1], x, y, on_water(g["K_iso"][-1], wet[-1]),
          "K_iso at the uppermost level [m2 s-1]", names, "viridis")
    figure.suptitle(title, fontsize=11, parse_math=False)  # of a name with dollars
    kind = {".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None}}
    matplotlib.rcParams["svg.hashsalt"] = "miniapp"
    figure.savefig(path, dpi=110, metadata=kind.get(path.suffix, {"Software": None} if path.suffix == ".png" else None))
    plt.close(figure)
