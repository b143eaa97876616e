"""Reference of the kernel `barotropic_correction`: the flow with the external mode, in 80-bit arithmetic.

The depth mean that momentum left is replaced by that of the streamfunction, or the gradient of the surface
pressure acts for a step; then each cell lets out above what comes in elsewhere.
"""

import numpy as np

from . import Tolerance
from .momentum import Real, east, north, prepare, south, west

NAME = "barotropic_correction"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "cost", "cosu", "kbot", "maskW", "psi_taup1", "u_taup1", "v_taup1")
OPTIONAL = ("u_mean", "v_mean")
SETTINGS = {"dt_mom": 1.0, "enable_streamfunction": 1}
OUTPUTS = (
    ("u_taup1", ("z", "y", "x"), "m s-1", "eastward velocity after the step"),
    ("v_taup1", ("z", "y", "x"), "m s-1", "northward velocity after the step"),
    ("w_taup1", ("z", "y", "x"), "m s-1", "upward velocity after the step"))
FLOW = {
    "float64": Tolerance(1e-13, "A difference of streamfunctions, a few roundings."),
    "float32": Tolerance(1e-4, "The same in float32."),
}
TOLERANCES = {
    "u_taup1": FLOW, "v_taup1": FLOW,
    "w_taup1": {
        "float64": Tolerance(1e-12, "A sum, up a column, of differences of transports that nearly cancel."),
        "float32": Tolerance(1e-3, "The same in float32."),
    },
}


def reference(fields, settings):
    streams = settings.get("enable_streamfunction", SETTINGS["enable_streamfunction"])
    flow = {"u": fields["u_taup1"], "v": fields["v_taup1"]}
    f, u, v = prepare({**fields, **flow, "dzw": fields["dzt"]})
    psi = np.asarray(fields["psi_taup1"], Real)
    if streams:
        means = [np.asarray(fields.get(name, np.zeros(psi.shape)), Real) for name in ("u_mean", "v_mean")]
        heights = [(face.wet * f.dzt).sum(axis=0) for face in (u, v)]
        deep = [np.where(height > 0, height, 1) for height in heights]
        gained = [-(psi - south(psi)) / (f.dyt * deep[0]) - means[0],
                  (psi - west(psi)) / (f.cosu * f.dxt * deep[1]) - means[1]]
    else:
        step = Real(settings.get("dt_mom", SETTINGS["dt_mom"]))
        gained = [-step * (east(psi) - psi) / (f.cost * f.dxu), -step * (north(psi) - psi) / f.dyu]
    new_u, new_v = (face.flow + face.wet * gain for face, gain in zip((u, v), gained))
    eastward, northward = new_u * f.dyt * f.dzt, new_v * f.cosu * f.dxt * f.dzt
    out = eastward - west(eastward) + northward - south(northward)
    w = -np.cumsum(np.asarray(fields["maskW"], Real) * out / (f.cost * f.dyt * f.dxt), axis=0)
    return {"u_taup1": inside(new_u, 1), "v_taup1": inside(new_v, 1), "w_taup1": inside(w, 2)}


def inside(values, ghosts):
    """With zeros in so many cells along each edge."""
    result = np.zeros_like(values)
    kept = (..., slice(ghosts, -ghosts), slice(ghosts, -ghosts))
    result[kept] = values[kept]
    return result
