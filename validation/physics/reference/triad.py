"""Reference of the kernel `triad`."""

import numpy as np

from . import Tolerance, alike

NAME = "triad"
INPUTS = ("salt", "temp")
OPTIONAL = ()
OUTPUTS = (("triad", ("z", "y", "x"), "1", "salt + 3 temp, as numbers"),)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-15, "One rounding of the product (none where fused) and one of the sum."),
    float32=Tolerance(1e-6, "The same in float32, after rounding the inputs."))


def reference(fields, _settings):
    return {"triad": np.asarray(fields["salt"], np.longdouble) + 3 * np.asarray(fields["temp"])}
