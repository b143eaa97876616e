"""Reference of the kernel `explicit_vertical_friction`, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike
from .momentum import VOLUME, Real, above, below, interior, prepare, to_t_columns

NAME = "explicit_vertical_friction"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "kbot", "u", "v", "kappaM", "K_diss_v", "tantr")
OPTIONAL = ("u_taup1", "v_taup1")
SETTINGS = {"dt_mom": 1.0}
OUTPUTS = (
    ("u_taup1", VOLUME, "m s-1", "u after the step, before the external mode"),
    ("v_taup1", VOLUME, "m s-1", "v after the step, before the external mode"),
    ("K_diss_v", VOLUME, "m2 s-3", "dissipation by vertical friction"))
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-13, "Differences of stresses that nearly cancel."),
                   float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    dt = Real(settings.get("dt_mom", SETTINGS["dt_mom"]))
    f, u, v = prepare(fields)
    result, lost = {}, np.zeros(f.u.shape, Real)
    for name, face in (("u", u), ("v", v)):
        viscosity = (f.kappaM + face.beside(f.kappaM)) / 2 * (face.wet & above(face.wet))
        shear = (above(face.flow) - face.flow) / f.dzw
        stress = viscosity * shear
        before = np.asarray(fields.get(f"{name}_taup1", fields[name]), Real)
        result[f"{name}_taup1"] = before + interior(dt * (stress - below(stress)) / f.dzt)
        lost += to_t_columns(f, face, stress * shear)
    return result | {"K_diss_v": np.asarray(fields["K_diss_v"], Real) + interior(lost)}
