"""Reference of the kernel `heat`."""

import numpy as np

from . import Real, Tolerance, alike

NAME = "heat"
INPUTS = ("temp",)
OPTIONAL = ()
OUTPUTS = (("heat", ("z", "y", "x"), "J m-3", "heat content above 0 degC"),)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-15, "One rounding of a product."),
                   float32=Tolerance(1e-6, "The same in float32, after rounding temperature and capacity."))


def reference(fields, settings):
    return {"heat": Real(settings.get("heat_capacity", 4.09e6)) * np.asarray(fields["temp"], Real)}
