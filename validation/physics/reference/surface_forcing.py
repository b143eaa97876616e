"""Reference of the kernel `surface_forcing`, in 80-bit arithmetic."""

import numpy as np

from . import Real, Tolerance, alike

NAME = "surface_forcing"
INPUTS = ("temp", "salt", "maskT")
OPTIONAL = ("t_star", "t_rest", "t_flux", "s_star", "s_rest", "s_flux")
SETTINGS = {"t_ice": -1000.0}
OUTPUTS = (
    ("forc_temp_surface", ("y", "x"), "K m s-1", "flux of heat into the surface, over rho_0 cp"),
    ("forc_salt_surface", ("y", "x"), "g kg-1 m s-1", "flux of salt into the surface, over rho_0"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "A difference, a product and a sum, which may cancel a digit or two."),
    float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    surface = {name: np.asarray(fields[name][-1], Real) for name in INPUTS}
    zero = np.zeros(surface["maskT"].shape)
    result = {}
    for name, letter in (("temp", "t"), ("salt", "s")):
        flux, rest, star = (np.asarray(fields.get(f"{letter}_{what}", zero), Real)
                            for what in ("flux", "rest", "star"))
        result[name] = np.where(surface["maskT"], flux + rest * (star - surface[name]), 0)
    cold = np.where(surface["maskT"], surface["temp"], 0) <= Real(settings.get("t_ice", -1000))
    takes = ~(cold & (result["temp"] <= 0))
    result = {name: values * takes for name, values in result.items()}
    return {f"forc_{name}_surface": values.astype(np.float64) for name, values in result.items()}
