#!/usr/bin/env python3
"""Write validation/physics/veros/external.h5: the external mode as Veros's own NumPy routines solve for it.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_external.py [-o validation/physics/veros/external.h5]

Each group, `pressure` and `stream`, has as its datasets and attributes an input of miniapp, with ghosts: a small `acc`
with an uneven sea floor, islands and a rough flow. Its group "outputs" holds what Veros makes of that, with a direct
solver in the place of BiCGSTAB, whose tolerance is absolute.
"""

import sys

import numpy as np
import scipy.sparse.linalg

from veros_acc import (  # it starts Veros, too
    SmallSetup, cyclic, in_order, level, new_file, stepped, store, store_input, tendency)

from veros import veros_routine
import veros.core.external  # noqa: F401  pylint: disable=unused-import
from veros.variables import VARIABLES

# the package has functions of these names
STREAM, PRESSURE = (sys.modules[f"veros.core.external.{name}"] for name in ("solve_stream", "solve_pressure"))

GRID = ("dxt", "dxu", "dyt", "dyu", "dzt", "cost", "cosu", "kbot")
NUMBERS = ("dt_mom", "dt_tracer", "AB_eps")


def solve_directly(matrix, b, **_options):
    factors = scipy.sparse.linalg.splu(matrix.tocsc())
    x = factors.solve(b)
    return x + factors.solve(b - matrix @ x), 0


class Setup(SmallSetup):
    """With islands: one on the seam, two that touch at a corner, and one of a single cell."""

    def __init__(self, is_stream):
        super().__init__()
        self.is_stream = is_stream

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        state.settings.nx, state.settings.ny = 24, 20
        state.settings.enable_streamfunction = self.is_stream

    @veros_routine
    def set_topography(self, state):
        vs = state.variables
        x, y = np.indices(vs.kbot.shape)
        kbot = np.maximum(2 + np.rint(1.8 * np.sin(x) * np.cos(y)).astype(int), 1)
        kbot[(x == 18) & (y > 12)] = 0
        kbot[:4, 6:8], kbot[-4:, 6:8] = 0, 0
        kbot[8:10, 9:12], kbot[10:13, 12:14], kbot[14, 6] = 0, 0, 0
        vs.kbot = kbot


def roughen(state):
    vs = state.variables
    rng = np.random.default_rng(13)
    size = 1e5 if state.settings.enable_streamfunction else 1.0

    def noise(scale, mask):
        return cyclic(scale * rng.uniform(-1, 1, mask.shape) * np.asarray(mask))

    new = {name: np.array(getattr(vs, name)) for name in ("u", "v", "du", "dv", "psi")}
    for name, mask in (("u", vs.maskU), ("v", vs.maskV)):
        new[name][..., int(vs.tau)] = noise(0.3, mask)
        for slot in ("tau", "taum1"):
            new[f"d{name}"][..., int(getattr(vs, slot))] = noise(1e-5, mask)
    for slot in ("tau", "taum1"):
        new["psi"][..., int(getattr(vs, slot))] = noise(size, np.ones(vs.kbot.shape))
    with vs.unlock():
        vs.update(new)


def stream(state):
    vs = state.variables
    before = {"psi": in_order(level(vs, "psi", "tau")), "dpsi": in_order(tendency(vs, "tau", "taum1"))}
    du, dv = np.array(vs.du), np.array(vs.dv)
    with vs.unlock():
        _, (_, u_mean, v_mean) = STREAM.prepare_forcing(state)
        vs.du, vs.dv = du, dv
        STREAM.solve_streamfunction(state)
    before |= {"dpsi_taum1": before["dpsi"], "du_mean": in_order(u_mean), "dv_mean": in_order(v_mean)}
    return before, {"psi_taup1": in_order(level(vs, "psi", "taup1")),
                    "dpsi_taup1": in_order(tendency(vs, "taup1", "tau"))}


def pressure(state):
    vs = state.variables
    before = {"psi": in_order(level(vs, "psi", "tau")), "psi_taum1": in_order(level(vs, "psi", "taum1"))}
    gradients = {name: np.array(getattr(vs, name)) for name in ("du", "dv")}
    with vs.unlock():
        vs.update(PRESSURE.prepare_forcing(state)[0])
        for name, height, mask in (("u", vs.hur, vs.maskU), ("v", vs.hvr, vs.maskV)):
            mean = np.sum(np.array(level(vs, name, "taup1")) * np.array(mask) * np.array(vs.dzt), axis=2)
            before[f"{name}_mean"] = in_order(mean * np.array(height))
        vs.update(gradients)  # the pressure's gradient is not added twice
        PRESSURE.solve_pressure(state)
    return before, {"psi_taup1": in_order(level(vs, "psi", "taup1"))}


def write(group, state, solve):
    vs = state.variables
    grid = {name: in_order(getattr(vs, name)) for name in GRID}
    before, after = solve(state)
    store_input(group, grid | before, state.settings, NUMBERS)
    store(group.create_group("outputs"), after)


def main():
    scipy.sparse.linalg.bicgstab = solve_directly
    VARIABLES["ssh"].active = True  # which the routine of the free surface writes
    with new_file(__doc__, "external.h5") as file:
        for name, solve in (("stream", stream), ("pressure", pressure)):
            state = stepped(Setup(solve is stream), 3).state
            roughen(state)
            write(file.create_group(name), state, solve)


if __name__ == "__main__":
    main()
