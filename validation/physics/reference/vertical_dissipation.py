"""Reference of the kernel `vertical_dissipation`, in 80-bit arithmetic."""

import numpy as np

from . import Tolerance, alike
from .isoneutral import density_derivatives
from .tracer_fluxes import GRAVITY, RHO_0, Real, interior

NAME = "vertical_dissipation"
INPUTS = ("zt", "dzw", "maskW", "kappaM", "Nsqr", "temp", "salt")
OPTIONAL = ("kappaH", "temp_taup1", "salt_taup1", "int_drhodT", "int_drhodS", "forc_temp_surface", "forc_salt_surface")
SETTINGS = {"enable_conserve_energy": 1, "eq_of_state_type": 3}
OUTPUTS = (
    ("P_diss_v", ("z", "y", "x"), "m2 s-3", "dissipation of dynamic enthalpy by vertical mixing"),
    ("P_diss_nonlin", ("z", "y", "x"), "m2 s-3",
     "dissipation of dynamic enthalpy by what is not linear in the equation of state"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-12, "Products of differences of temperature, salinity and X, which cancel some digits."),
    float32=Tolerance(1e-3, "The same in float32, in which differences have few digits."))


def reference(fields, settings):
    chosen = {**SETTINGS, **{name: settings[name] for name in SETTINGS if name in settings}}
    nothing = {"int_drhodT": 3, "int_drhodS": 3, "forc_temp_surface": 2, "forc_salt_surface": 2}
    shape = fields["maskW"].shape
    f = {name: np.asarray(fields[name], Real) for name in (*INPUTS, *OPTIONAL) if name in fields}
    stand_ins = {"kappaH": lambda: f["kappaM"] / 10, "temp_taup1": lambda: f["temp"],
                 "salt_taup1": lambda: f["salt"]}
    f |= {name: make() for name, make in stand_ins.items() if name not in f}
    f = {name: np.zeros(shape[-axes:], Real) for name, axes in nothing.items()} | f
    wet, dzw = f["maskW"][:-1], f["dzw"][:-1, None, None]
    linear, all_of_it = np.zeros(shape, Real), np.zeros(shape, Real)
    linear[:-1] = f["kappaH"][:-1] * f["Nsqr"][:-1]
    pairs = (("int_drhodT", "temp"), ("int_drhodS", "salt"))
    for X, tracer in pairs:
        slope = np.diff(f[X], axis=0) / dzw * np.diff(f[f"{tracer}_taup1"], axis=0) / dzw
        all_of_it[:-1] += GRAVITY / RHO_0 * f["kappaH"][:-1] * slope * wet
    if chosen["enable_conserve_energy"]:
        taken = [2 * f[X][-1] / f["dzw"][-1] for X, _ in pairs]
        nonlinear = all_of_it - linear
    else:
        taken = density_derivatives(int(chosen["eq_of_state_type"]), f["salt_taup1"][-1],
                                    f["temp_taup1"][-1], abs(f["zt"][-1]))
        nonlinear = np.zeros(shape, Real)
    linear[-1] = -GRAVITY / RHO_0 * f["maskW"][-1] * sum(
        by * f[f"forc_{tracer}_surface"] for by, (_, tracer) in zip(taken, pairs))
    here = np.ix_(range(shape[0]), *interior(shape))
    result = {}
    for name, values in (("P_diss_v", linear), ("P_diss_nonlin", nonlinear)):
        result[name] = np.zeros(shape)
        result[name][here] = values[here]
    return result
