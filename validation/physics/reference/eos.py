"""Reference of the kernel `eos`: dHdT, level by level."""

import numpy as np

from . import Tolerance, alike, teos10

NAME = "eos"
INPUTS = ("salt", "temp", "zt")
OPTIONAL = ("p",)
OUTPUTS = (
    ("dHdT", ("z", "y", "x"), "J kg-1 K-1",
     "derivative of dynamic enthalpy by Conservative Temperature"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(
        1e-13, "dHdT changes sign near the temperature of maximum density, so errors scale with its largest value: "
        "1e-13 of that is what the kernel must reach, against 2e-14 of rounding (N_T D and N D_T cancel to 2 digits), "
        "up to 2e-14 of quadrature and 1e-16 in the reference."),
    float32=Tolerance(
        1e-5, "1e-5 of the largest value is what the kernel must reach: rounding SA, CT and p to float32 alone "
        "moves dHdT by up to 6e-8 of it (CT 4e-8, p 3e-8, SA 9e-9), and evaluating N_T D - N D_T in float32 by up to "
        "9e-6."))


def reference(fields, _settings):
    """Only one level is held in extended precision."""
    values = np.empty(fields["salt"].shape, np.float64)
    for level, p in enumerate(sea_pressure(fields)):
        values[level] = teos10.dhdt_level(fields["salt"][level], fields["temp"][level], p)
    return {"dHdT": values}


def sea_pressure(fields):
    """p in dbar; where it is absent, the depth in m is taken for it, as Veros does."""
    return fields["p"][...] if "p" in fields else -fields["zt"][...]
