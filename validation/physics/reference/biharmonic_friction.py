"""Reference of the kernel `biharmonic_friction`: the second half of biharmonic friction, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike
from .flow_laplacian import fluxes
from .momentum import (SURFACE, VOLUME, Real, chosen, depth_mean, divergence, interior, on_wgrid, prepare, to_t_columns,
                       work)

NAME = "biharmonic_friction"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "kbot", "u", "v", "del2_u", "del2_v")
MEANS = ("du_mean", "dv_mean", "u_mean", "v_mean")
OPTIONAL = ("u_taup1", "v_taup1", *MEANS)
SETTINGS = {"dt_mom": 1.0, "A_hbi": 0.0, "biharmonic_friction_cosPower": 0, "enable_noslip_lateral": 0,
            "enable_conserve_energy": 1}
OUTPUTS = (
    ("u_taup1", VOLUME, "m s-1", "u after the step, before the external mode"),
    ("v_taup1", VOLUME, "m s-1", "v after the step, before the external mode"),
    ("du_mean", SURFACE, "m s-2", "depth mean of the tendency of u with friction"),
    ("dv_mean", SURFACE, "m s-2", "depth mean of the tendency of v with friction"),
    ("u_mean", SURFACE, "m s-1", "depth mean of u_taup1"),
    ("v_mean", SURFACE, "m s-1", "depth mean of v_taup1"),
    ("K_diss_h", VOLUME, "m2 s-3", "dissipation by lateral friction"))
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "A sum of four fluxes that nearly cancel, some of them sums up a column."),
    float32=Tolerance(1e-4, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f, u, v = prepare(fields)
    result = {"K_diss_h": np.zeros(f.u.shape, Real)}
    for name, face in (("u", u), ("v", v)):
        through = fluxes(f, s, face, np.asarray(fields[f"del2_{name}"], Real))
        mix = face.wet * -divergence(face, through)
        mean = depth_mean(f, face, mix)
        lost = -s.enable_conserve_energy * work(face, through, face.flow)
        result["K_diss_h"] += to_t_columns(f, face, on_wgrid(f, face, lost))
        for output, change in ((f"{name}_taup1", s.dt_mom * mix), (f"d{name}_mean", mean), (f"{name}_mean", s.dt_mom * mean)):
            before = fields.get(output, fields[name] if output.endswith("taup1") else np.zeros_like(mean))
            result[output] = np.asarray(before, Real) + interior(change)
    return result | {"K_diss_h": interior(result["K_diss_h"])}
