"""Reference of the kernel `surface_pressure`: the pressure at a free surface, by a direct solver.

The transport over a step through each face is that of the flow before, and what the gradient of the new pressure
takes from it; what comes into a cell raises its surface, which is the pressure over gravity.
"""

import numpy as np

from . import Tolerance, alike
from .elliptic import Real, solve

NAME = "surface_pressure"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "cost", "cosu", "kbot", "u_mean", "v_mean", "psi")
OPTIONAL = ("psi_taum1",)
SETTINGS = {"dt_mom": 1.0, "dt_tracer": 1.0, "solver_tolerance": 1e-10}
OUTPUTS = (("psi_taup1", ("y", "x"), "m2 s-2", "pressure at the surface over rho_0 after the step"),)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-7, "The rounding of the pressure, times 1e8, the condition of the finest cells."),
    float32=Tolerance(2e-4, "Transports nearly cancel in a cell, and are rounded."))
GRAVITY = Real("9.81")
INSIDE = (slice(2, -2), slice(2, -2))


def reference(fields, settings):
    """The guess does not matter, so psi_taum1 does not."""
    step, tracer_step = (Real(settings.get(name, SETTINGS[name])) for name in ("dt_mom", "dt_tracer"))
    shape = fields["kbot"].shape
    kbot = np.asarray(fields["kbot"])[INSIDE]
    dxt, dxu = (np.asarray(fields[name], Real)[None, 2:-2] for name in ("dxt", "dxu"))
    dyt, dyu, cost, cosu = (np.asarray(fields[name], Real)[2:-2, None] for name in ("dyt", "dyu", "cost", "cosu"))
    u, v, psi = (np.asarray(fields[name], Real)[INSIDE] for name in ("u_mean", "v_mean", "psi"))
    east = height(kbot, np.roll(kbot, -1, axis=1), fields["dzt"])
    if not settings.get("cyclic_x", 0):
        east[:, -1] = 0
    north = height(kbot, np.vstack([kbot[1:], np.zeros_like(kbot[:1])]), fields["dzt"])
    cell = np.arange(kbot.size).reshape(kbot.shape)
    edges = [(cell, np.roll(cell, -1, axis=1), east * dyt / (dxu * cost)),
             (cell, np.roll(cell, -1, axis=0), north * cosu * dxt / dyu)]
    excess = (kbot > 0) * dxt * dyt * cost / (GRAVITY * step * tracer_step)
    eastward, northward = east * dyt * u, north * cosu * dxt * v
    lost = eastward - np.roll(eastward, 1, axis=1) + northward - np.roll(northward, 1, axis=0)
    result = np.zeros(shape, Real)
    result[INSIDE] = solve(edges, excess, excess * psi - lost / step)
    return {"psi_taup1": result}


def height(here, beside, dzt):
    """The height of the water in a face between columns."""
    lowest = np.where((here > 0) & (beside > 0), np.maximum(here, beside) - 1, len(dzt))
    above = np.append(np.cumsum(np.asarray(dzt, Real)[::-1])[::-1], 0)
    return above[lowest]
