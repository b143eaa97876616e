"""Reference of the kernel `matmul`: a product in extended precision."""

import numpy as np

NAME = "matmul"
INPUTS = ("temp",)
OPTIONAL = ("factor_a", "factor_b")
SAMPLED = {"factor_a": (0, 1), "factor_b": (0, 2)}
OUTPUTS = (("matmul", ("y", "x"), "1", "sum over z of factor_a[z, y] factor_b[z, x]"),)


def reference(fields, _settings):
    a = np.asarray(fields["factor_a"], np.longdouble)
    b = np.asarray(fields["factor_b"], np.longdouble)
    return {"matmul": a.T @ b}
