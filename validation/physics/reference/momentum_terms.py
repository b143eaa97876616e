"""Reference of the kernel `momentum_terms`: the terms of momentum's tendency by themselves, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike
from .momentum import GRID, VOLUME, Real, advection, chosen, coriolis_of_u, coriolis_of_v, interior, prepare, pressure

NAME = "momentum_terms"
INPUTS = (*GRID, "kbot", "u", "v", "u_taup1", "v_taup1")
OPTIONAL = ("tantr", "coriolis_t", "w", "rho", "du", "dv", "du_taum1", "dv_taum1")
SETTINGS = {"dt_mom": 1.0, "AB_eps": 0.1}
OUTPUTS = (
    *((f"d{name}_{term}", VOLUME, "m s-2", f"tendency of {name} by {cause}")
      for term, cause in (("cor", "the Coriolis force and metric terms"), ("adv", "advection"), ("mix", "all friction"))
      for name in ("u", "v")),
    ("p_hydro", VOLUME, "m2 s-2", "hydrostatic pressure over rho_0"))
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-13, "A sum of terms that nearly cancel, or of levels of a column."),
                   float32=Tolerance(1e-4, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f, u, v = prepare(fields)
    result = {"p_hydro": pressure(f)}
    for name, face, turned in (("u", u, coriolis_of_u(f)), ("v", v, coriolis_of_v(f))):
        after, now = (np.asarray(fields.get(key, np.zeros(f.u.shape)), Real) for key in (f"{name}_taup1", f"d{name}"))
        mixed = ((after - face.flow) / s.dt_mom
                 - ((Real(1.5) + s.AB_eps) * now - (Real(0.5) + s.AB_eps) * face.before))
        for term, tendency in (("cor", turned), ("adv", advection(f, face)), ("mix", mixed)):
            result[f"d{name}_{term}"] = face.wet * tendency
    return {name: interior(values) for name, values in result.items()}
