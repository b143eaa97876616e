"""Reference of the kernel `velocities_on_wgrid`, in 80-bit arithmetic.

Each T cell's transport through a lateral face is shared by the two W cells that it reaches into, half
and half; the lowest W cell keeps the lower half of its T cell as well, since nothing lies below it.
Below the surface a W face is closed where one of its two W cells is dry: what it would carry goes to
the face above it, whether that is open or not, and what reaches a closed face is lost.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, alike

NAME = "velocities_on_wgrid"
INPUTS = ("u", "v", "maskU", "maskV", "maskW", "dxt", "dyt", "dzt", "dzw", "cost", "cosu")
OPTIONAL = ()
SETTINGS = {}
OUTPUTS = (
    ("u_wgrid", ("z", "y", "x"), "m s-1", "eastward velocity on the W grid"),
    ("v_wgrid", ("z", "y", "x"), "m s-1", "northward velocity on the W grid"),
    ("w_wgrid", ("z", "y", "x"), "m s-1", "upward velocity on the W grid"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "The vertical velocity sums differences of transports that nearly cancel, up a column."),
    float32=Tolerance(1e-4, "The same in float32."))


def reference(fields, _settings):
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in INPUTS})
    east, north = np.ones(f.maskW.shape, bool), np.ones(f.maskW.shape, bool)
    east[:, :, :-1] = (f.maskW[:, :, :-1] * f.maskW[:, :, 1:]) > 0
    north[:, :-1] = (f.maskW[:, :-1] * f.maskW[:, 1:]) > 0
    u = redirected(transport(f, f.u * f.maskU), east) / f.dzw[:, None, None]
    v = redirected(transport(f, f.v * f.maskV), north) / f.dzw[:, None, None]
    values = {"u_wgrid": u, "v_wgrid": v, "w_wgrid": upward(f, u, v)}
    return {name: value.astype(np.float64) for name, value in values.items()}


def transport(f, u):
    """Of W cells, in m2 s-1: halves of T cells'."""
    halves = u * f.dzt[:, None, None] / 2
    result = halves.copy()
    result[:-1] += halves[1:]
    result[0] += halves[0]
    return result


def redirected(transport_of, is_open):
    """The last column or row has no neighbour: it counts as open."""
    is_open = is_open.copy()
    is_open[-1] = True  # the surface keeps what it has
    result = transport_of.copy()
    result[1:] += np.where(is_open[:-1], 0, transport_of[:-1])
    return np.where(is_open, result, 0)


def upward(f, u, v):
    """By continuity, from 0 below the lowest level; not for the first column and row, which lack a
    neighbour."""
    w = np.zeros(u.shape, Real)
    row = (f.cost * f.dyt)[1:, None]
    along_x = (u[:, 1:, 1:] - u[:, 1:, :-1]) / (f.cost[1:, None] * f.dxt[1:])
    flow = f.cosu[:, None] * v
    along_y = (flow[:, 1:, 1:] - flow[:, :-1, 1:]) / row
    w[:, 1:, 1:] = np.cumsum(-f.dzw[:, None, None] * (along_x + along_y), axis=0)
    return w
