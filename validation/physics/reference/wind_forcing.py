"""Reference of the kernel `wind_forcing`, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike
from .tracer_fluxes import RHO_0, Real

NAME = "wind_forcing"
INPUTS = ("surface_taux", "surface_tauy", "maskT")
OPTIONAL = ()
SETTINGS = {}
OUTPUTS = (("forc_tke_surface", ("y", "x"), "m3 s-3", "flux of turbulent kinetic energy through the surface"),)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "A few roundings of a sum of squares and its roots; a mean of two stresses may cancel."),
    float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    del settings
    east, north = (np.asarray(fields[name], Real) for name in INPUTS[:2])
    result = np.zeros(east.shape)
    stress = np.hypot((east[2:-2, 2:-2] + east[2:-2, 1:-3]) / 2, (north[2:-2, 2:-2] + north[1:-3, 2:-2]) / 2)
    result[2:-2, 2:-2] = fields["maskT"][-1, 2:-2, 2:-2] * (stress / RHO_0)**Real(1.5)
    return {"forc_tke_surface": result}
