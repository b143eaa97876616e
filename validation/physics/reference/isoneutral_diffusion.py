"""Reference of the kernel `isoneutral_diffusion`: tracer_fluxes.py, with a tensor that is given."""

import numpy as np

from . import Tolerance, alike, tracer_fluxes

NAME = "isoneutral_diffusion"
INPUTS = (*tracer_fluxes.GRID, "K_iso", "temp")
OPTIONAL = ("tracer", "tracer_taup1", "dtracer_skew", *tracer_fluxes.TENSOR, "K_33")
SETTINGS = {"dt_tracer": 1.0}
OUTPUTS = (
    ("tracer_taup1", ("z", "y", "x"), "1", "the tracer at time level taup1"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "A few roundings of the tracer itself: it changes by much less than its largest value."),
    float32=Tolerance(1e-5, "The same in float32, whose differences of the tracer hold fewer digits."))


def reference(fields, settings):
    Real = tracer_fluxes.Real
    dt = Real(settings.get("dt_tracer", SETTINGS["dt_tracer"]))
    stand_ins = {"tracer": lambda f: f["temp"], "tracer_taup1": lambda f: f["temp"],
                 "dtracer_skew": lambda f: np.zeros(f["maskT"].shape, Real),
                 **tracer_fluxes.level_tensor()}
    f = tracer_fluxes.gather(fields, INPUTS, stand_ins)
    solved, _ = tracer_fluxes.diffuse(f, f, f.tracer, f.tracer_taup1, dt)
    inside = np.ix_(range(len(solved)), *tracer_fluxes.interior(solved.shape))
    solved[inside] += dt * f.dtracer_skew[inside]
    return {"tracer_taup1": solved.astype(np.float64)}
