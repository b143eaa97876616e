"""Reference of the kernel `expansion`: drho/dT and drho/dS, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike
from .isoneutral import Real, density_derivatives

NAME = "expansion"
INPUTS = ("salt", "temp", "zt")
OPTIONAL = ()
SETTINGS = {"eq_of_state_type": 3}
OUTPUTS = (
    ("drhodT", ("z", "y", "x"), "kg m-3 K-1",
     "derivative of density by Conservative Temperature"),
    ("drhodS", ("z", "y", "x"), "kg2 m-3 g-1", "derivative of density by Absolute Salinity"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(
        1e-13, "Both are sums of terms of one size, with TEOS-10 quotients of polynomials that cancel two digits: "
        "1e-13 of the largest value leaves a hundred units in the last place."),
    float32=Tolerance(1e-5, "The same in float32, whose numerators n' d - n d' cancel two digits as well."))


def reference(fields, settings):
    equation = int(settings.get("eq_of_state_type", SETTINGS["eq_of_state_type"]))
    salt, temp, zt = (np.asarray(fields[name], Real) for name in INPUTS)
    by_temp, by_salt = density_derivatives(equation, salt, temp, abs(zt)[:, None, None])
    return {name: np.broadcast_to(values, salt.shape).astype(np.float64)
            for name, values in (("drhodT", by_temp), ("drhodS", by_salt))}
