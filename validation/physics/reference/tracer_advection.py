"""Reference of the kernel `tracer_advection`, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, advection
from .tracer_fluxes import Real, divergence

NAME = "tracer_advection"
INPUTS = advection.GRID
OPTIONAL = ("w", "temp", "tracer", "dtracer_taum1")
SETTINGS = {"enable_superbee_advection": 0, "dt_tracer": 1.0, "AB_eps": 0.1}
OUTPUTS = (
    ("dtracer", ("z", "y", "x"), "s-1", "advective tendency of the tracer"),
    ("tracer_taup1", ("z", "y", "x"), "1", "the tracer at time level taup1"),
)
TOLERANCES = {
    "dtracer": {
        "float64": Tolerance(
            1e-12,
            "Differences of fluxes, which nearly cancel where the tracer is almost constant: 3e-16 "
            "of the largest value was measured over 30 rough grids, 2e-13 for a smooth salinity."),
        "float32": Tolerance(1e-4, "The same in float32."),
    },
    "tracer_taup1": {
        "float64": Tolerance(1e-13, "A few roundings, and those of dtracer times the step."),
        "float32": Tolerance(1e-5, "The same in float32."),
    },
}


def reference(fields, settings):
    chosen = {**SETTINGS, **settings}
    dt, eps = Real(chosen["dt_tracer"]), Real(chosen["AB_eps"])
    f = advection.gather(fields)
    tracer = np.asarray(fields.get("tracer", fields.get("temp")), Real)
    before = np.asarray(fields.get("dtracer_taum1", 0 * tracer), Real)
    flux = advection.fluxes(f, tracer, dt, advection.scheme_of(chosen))
    now = -divergence(f, flux)
    step = f.maskT * dt * ((Real(3) / 2 + eps) * now - (Real(1) / 2 + eps) * before)
    after = tracer.copy()
    after[:, 2:-2, 2:-2] += step[:, 2:-2, 2:-2]
    return {"dtracer": now.astype(np.float64), "tracer_taup1": after.astype(np.float64)}
