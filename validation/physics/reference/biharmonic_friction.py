"""Reference of the kernel `biharmonic_friction`: the second half of biharmonic friction, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance
from .flow_laplacian import chosen, divergence, fluxes
from .momentum import (SURFACE, VOLUME, Real, depth_mean, east, interior, north, on_wgrid, prepare, south,
                       to_t_columns, west)

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
TOLERANCES = {name: {
    "float64": Tolerance(1e-13, "A sum of four fluxes that nearly cancel, some of them sums up a column."),
    "float32": Tolerance(1e-4, "The same in float32."),
} for name, *_ in OUTPUTS}


def reference(fields, settings):
    s = chosen(settings)
    dt = Real(settings.get("dt_mom", SETTINGS["dt_mom"]))
    conserves = settings.get("enable_conserve_energy", SETTINGS["enable_conserve_energy"])
    f, u, v = prepare(fields)
    result = {"K_diss_h": np.zeros(f.u.shape, Real)}
    for name, face in (("u", u), ("v", v)):
        through = fluxes(f, s, face, np.asarray(fields[f"del2_{name}"], Real))
        mix = face.wet * -divergence(face, through)
        mean = depth_mean(f, face, mix)
        lost = -conserves * work(face, through)
        result["K_diss_h"] += to_t_columns(f, face, on_wgrid(f, face, lost))
        for output, change in ((f"{name}_taup1", dt * mix), (f"d{name}_mean", mean), (f"{name}_mean", dt * mean)):
            before = fields.get(output, fields[name] if output.endswith("taup1") else np.zeros_like(mean))
            result[output] = np.asarray(before, Real) + interior(change)
    return result | {"K_diss_h": interior(result["K_diss_h"])}


def work(face, through):
    """Work of the fluxes on the differences of the flow that they cross; half of it is on either side."""
    at_east, at_north = ((beside(face.flow) - face.flow) * flux for beside, flux in zip((east, north), through))
    return ((at_east + west(at_east)) / (2 * face.cosine * face.dx)
            + (at_north + south(at_north)) / (2 * face.cosine * face.dy))
