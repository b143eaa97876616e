"""Reference of the kernel `copy`."""

import numpy as np

from . import Tolerance, alike

NAME = "copy"
INPUTS = ("temp",)
OPTIONAL = ()
OUTPUTS = (("copy", ("z", "y", "x"), "1", "temp, as numbers"),)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-16, "Nothing is computed, and the file holds the copy itself."),
                   float32=Tolerance(1e-7, "The input is rounded."))


def reference(fields, _settings):
    return {"copy": np.asarray(fields["temp"], np.longdouble)}
