"""Reference of the kernel `isoneutral_skew`: tracer_fluxes.py, with slopes that are given."""

import numpy as np

from . import Tolerance, alike, tracer_fluxes

NAME = "isoneutral_skew"
INPUTS = (*tracer_fluxes.GRID, "K_iso", "temp")
OPTIONAL = ("tracer", "K_gm", *tracer_fluxes.TENSOR)
SETTINGS = {"pyom_compatibility_mode": 1, "enable_skew_diffusion": 1}
OUTPUTS = (
    ("dtracer_skew", ("z", "y", "x"), "s-1", "tendency of the tracer by skew diffusion"),
)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-13, "Differences of fluxes, which are differences of the tracer."),
                   float32=Tolerance(1e-4, "The same in float32."))


def reference(fields, settings):
    diagonal = settings.get("pyom_compatibility_mode", SETTINGS["pyom_compatibility_mode"])
    stand_ins = {"tracer": lambda f: f["temp"], "K_gm": lambda f: f["K_iso"],
                 **tracer_fluxes.level_tensor()}
    f = tracer_fluxes.gather(fields, INPUTS, stand_ins)
    flux = tracer_fluxes.fluxes(f, f, f.tracer, -f.K_gm, f.K_gm, diagonal)
    is_on = settings.get("enable_skew_diffusion", SETTINGS["enable_skew_diffusion"])
    return {"dtracer_skew": is_on * tracer_fluxes.divergence(f, flux).astype(np.float64)}
