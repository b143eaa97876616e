"""Reference of the kernel `eddy_streamfunction`: the slopes of isoneutral.py, times K_gm."""

import numpy as np

from . import Tolerance, isoneutral

NAME = "eddy_streamfunction"
INPUTS = isoneutral.INPUTS
OPTIONAL = ("K_gm",)
SETTINGS = {name: value for name, value in isoneutral.SETTINGS.items() if name != "K_iso_steep"}
OUTPUTS = (
    ("B1_gm", ("z", "y", "x"), "m2 s-1", "zonal component of the eddies' streamfunction, on V points"),
    ("B2_gm", ("z", "y", "x"), "m2 s-1", "meridional component of the eddies' streamfunction, on U points"),
)
_MEANS = {
    "float64": Tolerance(1e-11, "As the slopes of isoneutral, of which it is a sum."),
    "float32": Tolerance(1e-2, "As the slopes of isoneutral."),
}
TOLERANCES = {"B1_gm": _MEANS, "B2_gm": _MEANS}


def reference(fields, settings):
    slopes = isoneutral.reference(fields, settings)
    K = np.asarray(fields.get("K_gm", fields["K_iso"]), isoneutral.Real)
    at_floor = (K + np.concatenate([K[:1], K[:-1]])) / 2
    result = {}
    for name, Ai, axis, sign in (("B1_gm", "Ai_nz", 1, -1), ("B2_gm", "Ai_ez", 2, 1)):
        at_face = (at_floor + np.roll(at_floor, -1, axis)) / 2  # no slope is where this is round the corner
        result[name] = (sign * at_face * slopes[Ai].mean(axis=(0, 1))).astype(np.float64)
    return result
