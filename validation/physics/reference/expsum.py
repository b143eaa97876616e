"""Reference of the kernel `expsum`: an exact sum of exponentials in extended precision."""

import math

import numpy as np

from . import Tolerance, alike

NAME = "expsum"
INPUTS = ("temp",)
OPTIONAL = ("sample",)
SAMPLED = {"sample": (0, 1, 2)}
OUTPUTS = (
    ("expsum", (), "1", "sum of exp(x^2 + 2 x) for x in sample, ghost cells included"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(
        1e-13, "All terms are positive: rows are summed in order, and the sums of rows in double, each in a few "
        "units of the last place times the square root of their number."),
    float32=Tolerance(1e-5, "Rows of some thousand points are summed in float32, the sums of rows in double."))


def reference(fields, _settings):
    x = np.asarray(fields["sample"], np.longdouble)
    terms = np.exp(x * x + 2 * x)
    high = terms.astype(np.float64)  # fsum takes doubles: what they lack is summed as well
    low = (terms - high).astype(np.float64)
    return {"expsum": np.array(math.fsum(high.ravel()) + math.fsum(low.ravel()))}
