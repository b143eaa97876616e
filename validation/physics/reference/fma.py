"""Reference of the kernel `fma`: the polynomials summed as a geometric series, not by Horner."""

import numpy as np

from . import Tolerance, alike

NAME = "fma"
INPUTS = ("temp",)
OPTIONAL = ("sample",)
SAMPLED = {"sample": (0, 1, 2)}
OUTPUTS = (("fma", ("z", "y", "x"), "1", "sum of eight polynomials of sample"),)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "32 fused multiply-adds in which nothing cancels."),
    float32=Tolerance(1e-5, "The same in float32, after rounding sample, which the 32nd power amplifies 32 times."))

CHAINS, LINKS = 8, 32


def reference(fields, _settings):
    s = np.asarray(fields["sample"], np.longdouble)
    series = sum(s**power for power in range(LINKS))
    return {"fma": sum(k * s**LINKS + (0.5 + 0.125 * k) * series for k in range(CHAINS))}
