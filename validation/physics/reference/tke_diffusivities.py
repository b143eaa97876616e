"""Reference of the kernel `tke_diffusivities`: Veros's set_tke_diffusivities, in 80-bit arithmetic.

Everything is on the W grid, ghost cells included, a column at a time.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, alike, chosen

NAME = "tke_diffusivities"
INPUTS = ("tke", "Nsqr", "maskW", "kbot", "zw", "dzt", "dzw", "K_diss_v")
OPTIONAL = ("alpha_c", "E_iw")
SETTINGS = {
    "tke_mxl_choice": 1, "mxl_min": 1e-12, "c_k": 0.1, "kappaM_min": 0.0, "kappaM_max": 100.0,
    "kappaH_min": 0.0, "enable_kappaH_profile": 0, "enable_Prandtl_tke": 1, "Prandtl_tke0": 10.0,
    "enable_idemix": 0,
}
OUTPUTS = (
    ("sqrttke", ("z", "y", "x"), "m s-1", "square root of turbulent kinetic energy"),
    ("mxl", ("z", "y", "x"), "m", "mixing length"),
    ("kappaM", ("z", "y", "x"), "m2 s-1", "vertical viscosity"),
    ("kappaH", ("z", "y", "x"), "m2 s-1", "vertical diffusivity"),
    ("Prandtlnumber", ("z", "y", "x"), "1", "ratio of vertical viscosity to diffusivity"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "A few roundings of positive terms: mixing lengths are sums of at most nz thicknesses."),
    float32=Tolerance(1e-5, "The same in float32, with heights of thousands of metres in a difference."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f = SimpleNamespace(**{name: np.asarray(fields.get(name, 0 * fields["tke"]), Real)
                           for name in (*INPUTS, *OPTIONAL)})

    sqrttke = np.sqrt(np.maximum(0, f.tke))
    buoyancy = np.sqrt(2 * np.maximum(0, f.tke) / np.maximum(Real("1e-12"), f.Nsqr)) * f.maskW
    bounded = by_distance(f, buoyancy) if s.tke_mxl_choice == 1 else by_growth(f, s, buoyancy)
    mxl = np.maximum(s.mxl_min, bounded)
    kappaM = np.minimum(s.kappaM_max, s.c_k * mxl * sqrttke)
    prandtl = prandtl_number(f, s, kappaM)
    kappaH = np.maximum(s.kappaH_min, kappaM / prandtl)
    if s.enable_kappaH_profile:
        kappaH = np.maximum(kappaH, bryan_lewis(f.zw)[:, None, None])
    values = {"sqrttke": sqrttke, "mxl": mxl, "kappaM": np.maximum(s.kappaM_min, kappaM),
              "kappaH": kappaH, "Prandtlnumber": prandtl}
    return {name: value.astype(np.float64) for name, value in values.items()}


def by_distance(f, mxl):
    """At most the distance to the surface, half a cell being the least, and to the bottom."""
    nz = len(f.zw)
    wet = (f.kbot > 0) & (np.arange(nz)[:, None, None] >= f.kbot - 1)
    depth = (wet * f.dzt[:, None, None]).sum(axis=0)
    zw = f.zw[:, None, None]
    return np.minimum(np.minimum(mxl, f.dzw[:, None, None] / 2 - zw), depth + zw)


def by_growth(f, s, mxl):
    """From a level to the next at most its cell more: first downwards, then upwards."""
    mxl = mxl.copy()
    top = len(mxl) - 1
    for k in reversed(range(top)):
        mxl[k] = np.minimum(mxl[k], mxl[k + 1] + f.dzt[k + 1])
    mxl[top] = np.minimum(mxl[top], s.mxl_min + f.dzt[top])
    for k in range(1, top + 1):
        mxl[k] = np.minimum(mxl[k], mxl[k - 1] + f.dzt[k])
    return mxl


def prandtl_number(f, s, kappaM):
    if not s.enable_Prandtl_tke:
        return np.full(kappaM.shape, s.Prandtl_tke0)
    least = Real("1e-12")
    richardson = f.Nsqr / np.maximum(f.K_diss_v / np.maximum(least, kappaM), least)
    if s.enable_idemix:
        richardson = np.minimum(richardson, kappaM * f.Nsqr / np.maximum(least, f.alpha_c * f.E_iw**2))
    return np.maximum(1, np.minimum(10, Real("6.6") * richardson))


def bryan_lewis(zw):
    """Bryan and Lewis (1979): J. Geophys. Res. 84, 2503-2517."""
    angle = np.arctan((-zw - 2500) / Real("222.2"))
    pi = 4 * np.arctan(Real(1))
    return (Real("0.8") + Real("1.05") / pi * angle) * Real("1e-4")
