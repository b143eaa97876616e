"""Reference of the kernel `interior_forcing`, in 80-bit arithmetic."""

import numpy as np

from . import Real, Tolerance, alike

NAME = "interior_forcing"
INPUTS = ("temp", "salt", "maskT", "rest_tscl")
OPTIONAL = ("forc_temp_surface", "q_solar", "divpen_shortwave", "temp_star", "salt_star")
SETTINGS = {"t_ice": -1000.0}
OUTPUTS = (
    ("temp_source", ("z", "y", "x"), "K s-1", "source of Conservative Temperature"),
    ("salt_source", ("z", "y", "x"), "g kg-1 s-1", "source of Absolute Salinity"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "Differences, products and a sum, which may cancel a digit or two."),
    float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    wet, temp, salt = (np.asarray(fields[name], Real) for name in ("maskT", "temp", "salt"))

    def given(name, axes):
        shape = tuple(wet.shape["zyx".index(axis)] for axis in axes)
        return np.asarray(fields.get(name, np.zeros(shape)), Real)

    surface = np.where(wet[-1] == 1, temp[-1], 0)
    is_open = (surface > Real(settings.get("t_ice", -1000))) | (given("forc_temp_surface", "yx") > 0)
    light = given("divpen_shortwave", "z")[:, None, None] * np.where(is_open, given("q_solar", "yx"), 0)
    rate, inside = wet * given("rest_tscl", "zyx"), np.zeros(wet.shape)
    inside[:, 2:-2, 2:-2] = 1
    return {"temp_source": (inside * (wet * light + rate * (given("temp_star", "zyx") - temp))).astype(float),
            "salt_source": (inside * rate * (given("salt_star", "zyx") - salt)).astype(float)}
