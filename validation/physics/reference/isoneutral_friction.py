"""Reference of the kernel `isoneutral_friction`, in 80-bit arithmetic."""

from types import SimpleNamespace

import numpy as np

from . import Tolerance, alike
from .momentum import VOLUME, Real, above, chosen, interior, mix_vertically, prepare, to_t_columns

NAME = "isoneutral_friction"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "kbot", "maskW", "u", "v", "kappaM", "K_gm",
          "Nsqr", "coriolis_t", "tantr")
OPTIONAL = ("u_taup1", "v_taup1")
SETTINGS = {"dt_mom": 1.0, "enable_implicit_vert_friction": 0, "enable_conserve_energy": 1}
OUTPUTS = (
    ("kappa_gm", VOLUME, "m2 s-1", "vertical viscosity by eddies"),
    ("u_taup1", VOLUME, "m s-1", "u after the step, before the external mode"),
    ("v_taup1", VOLUME, "m s-1", "v after the step, before the external mode"),
    ("K_diss_gm", VOLUME, "m2 s-3", "dissipation of kinetic energy by eddies"))
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(2e-12, "Differences of levels that vertical friction leaves nearly alike."),
    float32=Tolerance(1e-3, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f, u, v = prepare(fields)
    K_gm, Nsqr, maskW = (np.asarray(fields[name], Real) for name in ("K_gm", "Nsqr", "maskW"))
    kappa_gm = K_gm * np.minimum(Real("0.01"), f.coriolis_t**2 / np.maximum(Real("1e-9"), Nsqr)) * maskW
    by_eddies = SimpleNamespace(**{**vars(f), "kappaM": kappa_gm})
    result, lost = {"kappa_gm": kappa_gm}, np.zeros(f.u.shape, Real)
    for name, face in (("u", u), ("v", v)):
        mixed = mix_vertically(f, s, face)[0] if s.enable_implicit_vert_friction else face.flow
        new, _ = mix_vertically(by_eddies, s, SimpleNamespace(**{**vars(face), "flow": mixed}))
        viscosity = (kappa_gm + face.beside(kappa_gm)) / 2 * (face.wet & above(face.wet))
        lost += to_t_columns(f, face, viscosity * (above(face.flow) - face.flow) * (above(new) - new) / f.dzw**2)
        before = np.asarray(fields.get(f"{name}_taup1", fields[name]), Real)
        result[f"{name}_taup1"] = before + interior(face.wet * (new - mixed))
    return result | {"K_diss_gm": s.enable_conserve_energy * interior(lost)}
