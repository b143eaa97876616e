"""Reference of the kernel `tke_forcing`: the sources of turbulent kinetic energy, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike

NAME = "tke_forcing"
INPUTS = ("K_diss_v",)
OPTIONAL = ("P_diss_v", "P_diss_adv", "P_diss_nonlin", "K_diss_bot", "eke_diss_tke",
            "eke_diss_iw", "K_diss_gm", "K_diss_h", "P_diss_skew", "P_diss_hmix", "P_diss_iso", "iw_diss")
SETTINGS = {"enable_eke": 0, "enable_idemix": 0, "enable_store_bottom_friction_tke": 0,
            "enable_store_cabbeling_heat": 0}
OUTPUTS = (("forc", ("z", "y", "x"), "m2 s-3", "sum of the sources of turbulent kinetic energy"),)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-14, "A sum of thirteen terms, which may cancel."),
                   float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    chosen = {name: int(settings.get(name, default)) for name, default in SETTINGS.items()}
    forc = np.zeros(fields["K_diss_v"].shape, np.longdouble)
    for name, sign in signs(**chosen).items():
        if name in fields:
            forc[:, 2:-2, 2:-2] += sign * np.asarray(fields[name][:, 2:-2, 2:-2], np.longdouble)
    return {"forc": forc.astype(np.float64)}


def signs(enable_eke, enable_idemix, enable_store_bottom_friction_tke, enable_store_cabbeling_heat):
    """What adds to TKE and what takes from it, for the switches."""
    result = {"K_diss_v": 1, "P_diss_v": -1, "P_diss_adv": -1}
    if not enable_store_cabbeling_heat:
        result["P_diss_nonlin"] = -1
    if enable_store_bottom_friction_tke or not enable_idemix:
        result["K_diss_bot"] = 1
    if enable_idemix:
        return result | {"iw_diss": 1} | ({"eke_diss_tke": 1} if enable_eke else {})
    if enable_eke:
        return result | {"eke_diss_tke": 1, "eke_diss_iw": 1}
    result |= {"K_diss_gm": 1, "K_diss_h": 1, "P_diss_skew": -1}
    if enable_store_cabbeling_heat:
        result |= {"P_diss_hmix": -1, "P_diss_iso": -1}
    return result
