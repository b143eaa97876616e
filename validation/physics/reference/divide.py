"""Reference of the kernel `divide`: its chains in closed form, a number times a sum of reciprocals."""

from fractions import Fraction

import numpy as np

from . import Tolerance, alike

NAME = "divide"
INPUTS = ("temp",)
OPTIONAL = ("sample",)
SAMPLED = {"sample": (0, 1, 2)}
OUTPUTS = (("divide", ("z", "y", "x"), "1", "(5 + sample) (1 + 1/2 + ... + 1/8)"),)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-15, "Nine roundings in a row, of quotients, and three of their sum."),
                   float32=Tolerance(1e-6, "The same in float32, after rounding sample."))

CHAINS = 8


def reference(fields, _settings):
    harmonic = sum(Fraction(1, k) for k in range(1, CHAINS + 1))
    number = 5 + np.asarray(fields["sample"], np.longdouble)
    return {"divide": number * harmonic.numerator / harmonic.denominator}
