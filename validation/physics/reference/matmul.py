"""Reference of the kernel `matmul`: a product in extended precision."""

import numpy as np

from . import Tolerance, alike

NAME = "matmul"
INPUTS = ("temp",)
OPTIONAL = ("factor_a", "factor_b")
SAMPLED = {"factor_a": (0, 1), "factor_b": (0, 2)}
OUTPUTS = (("matmul", ("y", "x"), "1", "sum over z of factor_a[z, y] factor_b[z, x]"),)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "Sums of nz products, rounded nz times: 1e-13 holds to some thousand."),
    float32=Tolerance(1e-5, "The same in float32: 1e-5 holds to some thousand."))


def reference(fields, _settings):
    a = np.asarray(fields["factor_a"], np.longdouble)
    b = np.asarray(fields["factor_b"], np.longdouble)
    return {"matmul": a.T @ b}
