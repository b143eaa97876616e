"""Reference of the kernel `vertical_velocity`: each cell lets out above what comes in elsewhere."""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, alike

NAME = "vertical_velocity"
INPUTS = ("u", "v", "maskW", "dxt", "dyt", "dzt", "cost", "cosu")
OPTIONAL = ()
SETTINGS = {}
OUTPUTS = (("w", ("z", "y", "x"), "m s-1", "upward velocity on the upper faces of T cells"),)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "A sum, up a column, of differences of transports that nearly cancel."),
    float32=Tolerance(1e-4, "The same in float32."))


def reference(fields, _settings):
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in INPUTS})
    height, width = f.dzt[:, None, None], (f.cosu[:, None] * f.dxt)
    eastward = f.u * f.dyt[:, None] * height  # m3 s-1
    northward = f.v * width * height
    area = f.cost[:, None] * f.dyt[:, None] * f.dxt
    w = np.zeros(f.u.shape, Real)
    under = w[0]
    for k, (into_east, into_north) in enumerate(zip(eastward, northward)):
        w[k] = under
        out = np.diff(into_east, axis=1)[1:] + np.diff(into_north, axis=0)[:, 1:]
        w[k, 1:, 1:] -= f.maskW[k, 1:, 1:] * out / area[1:, 1:]
        under = w[k].copy()
    return {"w": w.astype(np.float64)}
