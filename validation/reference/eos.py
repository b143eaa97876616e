"""Reference of the kernel `eos`: dHdT on the grid of an input file."""

import numpy as np

from . import Field, teos10

NAME = "eos"


def is_computable(file):
    return "salt" in file and "temp" in file and ("p" in file or "zt" in file)


def compute(file):
    """Level by level, so that only one level is held in extended precision."""
    salt, temp = file["salt"], file["temp"]
    values = np.empty(salt.shape, np.float64)
    for level, p in enumerate(sea_pressure(file)):
        values[level] = teos10.dhdt_level(salt[level], temp[level], p)
    if not np.isfinite(values).all():
        raise ValueError("dHdT is not finite everywhere: negative or missing salt?")
    return {
        "dHdT": Field(
            values,
            ("z", "y", "x"),
            "J kg-1 K-1",
            "derivative of dynamic enthalpy by Conservative Temperature",
        )
    }


def sea_pressure(file):
    """p in dbar; where it is absent, the depth in m is taken for it, as Veros does."""
    return file["p"][...] if "p" in file else -file["zt"][...]
