"""Reference of the kernel `expsum`: an exact sum of exponentials in extended precision."""

import math

import numpy as np

NAME = "expsum"
INPUTS = ("temp",)
OPTIONAL = ("sample",)
SAMPLED = {"sample": (0, 1, 2)}
OUTPUTS = (
    ("expsum", (), "1", "sum of exp(x^2 + 2 x) for x in sample, ghost cells included"),
)


def reference(fields, _settings):
    x = np.asarray(fields["sample"], np.longdouble)
    terms = np.exp(x * x + 2 * x)
    high = terms.astype(np.float64)  # fsum takes doubles: what they lack is summed as well
    low = (terms - high).astype(np.float64)
    return {"expsum": np.array(math.fsum(high.ravel()) + math.fsum(low.ravel()))}
