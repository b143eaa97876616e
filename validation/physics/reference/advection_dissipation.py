"""Reference of the kernel `advection_dissipation`, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, advection, alike
from .tracer_fluxes import GRAVITY, RHO_0, Real, divergence, on_w_grid

NAME = "advection_dissipation"
INPUTS = (*advection.GRID, "dzw", "kbot", "tke")
OPTIONAL = ("w", "Hd", "rho", "int_drhodT", "int_drhodS", "dtemp", "dsalt")
SETTINGS = {"enable_conserve_energy": 1, "enable_superbee_advection": 0, "dt_tracer": 1.0}
OUTPUTS = (
    ("P_diss_adv", ("z", "y", "x"), "m2 s-3", "dissipation of dynamic enthalpy by advection"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(
        1e-10, "One number, a sum over all water of terms of both signs that may nearly cancel: 4e-14 was measured "
        "over 30 rough grids."),
    float32=Tolerance(5e-2, "The same in float32, where it was 2e-5."))


def reference(fields, settings):
    chosen = {**SETTINGS, **settings}
    f = advection.gather(fields)
    f.dzw, f.tke = (np.asarray(fields[name], Real) for name in ("dzw", "tke"))
    f.kbot = np.asarray(fields["kbot"], int)
    for name in OPTIONAL[1:]:
        setattr(f, name, np.asarray(fields.get(name, 0 * f.u), Real))
    flux = advection.fluxes(f, f.Hd, Real(chosen["dt_tracer"]), advection.scheme_of(chosen))
    by_tracers = -GRAVITY / RHO_0 * (f.int_drhodT * f.dtemp + f.int_drhodS * f.dsalt)
    lost = on_w_grid(f, by_tracers + divergence(f, flux) - work(f))
    height = f.dzw.copy()
    height[-1] /= 2
    volume = f.maskW * height[:, None, None] * (f.cost * f.dyt)[:, None] * f.dxt
    spread = f.tke > 0
    spread[-1] = True
    inside = (slice(None), slice(2, -2), slice(2, -2))
    room = (volume * spread)[inside].sum()
    result = np.zeros(f.tke.shape)
    if room > 0 and chosen["enable_conserve_energy"]:
        rate = (volume * lost)[inside].sum() / room
        result[inside] = (rate * spread * f.maskW)[inside].astype(np.float64)
    return {"P_diss_adv": result}


def work(f):
    """Of the vertical velocity against density: half of that at a face goes to the cell on each side."""
    at_top = GRAVITY / RHO_0 / 2 * f.w[:-1] * (f.rho[:-1] + f.rho[1:]) * f.dzw[:-1, None, None]
    result = np.zeros(f.rho.shape, Real)
    result[:-1] += at_top / 2
    result[1:] += at_top / 2
    return result / f.dzt[:, None, None]
