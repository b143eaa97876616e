"""Reference of the kernel `eos`: dHdT, level by level."""

import numpy as np

from . import teos10

NAME = "eos"
INPUTS = ("salt", "temp", "zt")
OPTIONAL = ("p",)
OUTPUTS = (
    ("dHdT", ("z", "y", "x"), "J kg-1 K-1",
     "derivative of dynamic enthalpy by Conservative Temperature"),
)


def reference(fields, _settings):
    """Only one level is held in extended precision."""
    values = np.empty(fields["salt"].shape, np.float64)
    for level, p in enumerate(sea_pressure(fields)):
        values[level] = teos10.dhdt_level(fields["salt"][level], fields["temp"][level], p)
    return {"dHdT": values}


def sea_pressure(fields):
    """p in dbar; where it is absent, the depth in m is taken for it, as Veros does."""
    return fields["p"][...] if "p" in fields else -fields["zt"][...]
