"""Reference of the kernel `tempsalt_sources`, in 80-bit arithmetic."""

from types import SimpleNamespace

import numpy as np

from . import Tolerance, alike
from .tracer_fluxes import GRAVITY, RHO_0, Real, on_w_grid

NAME = "tempsalt_sources"
INPUTS = ("dzw", "kbot", "maskT")
OPTIONAL = ("temp", "salt", "temp_taup1", "salt_taup1", "temp_source", "salt_source", "int_drhodT",
            "int_drhodS")
SETTINGS = {"dt_tracer": 1.0, "enable_conserve_energy": 1}
OUTPUTS = (
    ("temp_taup1", ("z", "y", "x"), "degC", "Conservative Temperature at time level taup1"),
    ("salt_taup1", ("z", "y", "x"), "g kg-1", "Absolute Salinity at time level taup1"),
    ("P_diss_sources", ("z", "y", "x"), "m2 s-3",
     "dissipation of dynamic enthalpy by sources of temperature and salinity"),
)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-14, "Products and sums of a few terms, of which two may cancel."),
                   float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    chosen = {**SETTINGS, **settings}
    shape = fields["maskT"].shape
    zero = np.zeros(shape, Real)
    wet = np.asarray(fields["maskT"], Real)
    inside = np.zeros(shape)
    inside[:, 2:-2, 2:-2] = 1
    result, lost = {}, zero
    for name, X in (("temp", "int_drhodT"), ("salt", "int_drhodS")):
        after = np.asarray(fields.get(f"{name}_taup1", fields.get(name)), Real)
        source = wet * np.asarray(fields.get(f"{name}_source", zero), Real)
        result[f"{name}_taup1"] = after + Real(chosen["dt_tracer"]) * source * inside
        lost = lost - GRAVITY / RHO_0 * np.asarray(fields.get(X, zero), Real) * source
    f = SimpleNamespace(kbot=np.asarray(fields["kbot"], int), dzw=np.asarray(fields["dzw"], Real))
    result["P_diss_sources"] = on_w_grid(f, lost) * inside * chosen["enable_conserve_energy"]
    return {name: values.astype(np.float64) for name, values in result.items()}
