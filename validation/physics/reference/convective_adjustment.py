"""Reference of the kernel `convective_adjustment`."""

import numpy as np

from . import Tolerance, alike

NAME = "convective_adjustment"
INPUTS = ("Nsqr",)
OPTIONAL = ()
SETTINGS = {"kappaM_0": 0.0, "kappaH_0": 0.0}
OUTPUTS = (
    ("kappaM", ("z", "y", "x"), "m2 s-1", "vertical viscosity"),
    ("kappaH", ("z", "y", "x"), "m2 s-1", "vertical diffusivity"))
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-16, "A copy."),
                   float32=Tolerance(1e-7, "A rounded copy."))


def reference(fields, settings):
    chosen = {**SETTINGS, **settings}
    unstable = np.asarray(fields["Nsqr"]) < 0
    return {"kappaM": np.full(unstable.shape, chosen["kappaM_0"]),
            "kappaH": np.where(unstable, 1.0, chosen["kappaH_0"])}
