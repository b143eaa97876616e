"""Reference of the kernel `isoneutral_mixing`: the tensor of isoneutral.py, applied to temperature and
salinity by tracer_fluxes.py, the dissipation, and the streamfunction of the eddies' overturning."""

from types import SimpleNamespace

import numpy as np

from . import Tolerance, isoneutral, tracer_fluxes

NAME = "isoneutral_mixing"
INPUTS = (*isoneutral.INPUTS, "kbot")
OPTIONAL = ("K_gm", "int_drhodT", "int_drhodS", "temp_taup1", "salt_taup1")
SETTINGS = {**isoneutral.SETTINGS, "dt_tracer": 1.0, "enable_conserve_energy": 1,
            "pyom_compatibility_mode": 1, "enable_skew_diffusion": 1, "enable_eddy_streamfunction": 0}
OUTPUTS = (
    ("temp_taup1", ("z", "y", "x"), "degC", "Conservative Temperature at time level taup1"),
    ("salt_taup1", ("z", "y", "x"), "g kg-1", "Absolute Salinity at time level taup1"),
    ("P_diss_iso", ("z", "y", "x"), "m2 s-3", "dissipation of dynamic enthalpy by isoneutral diffusion"),
    ("P_diss_skew", ("z", "y", "x"), "m2 s-3", "dissipation of dynamic enthalpy by skew diffusion"),
    ("B1_gm", ("z", "y", "x"), "m2 s-1", "zonal component of the eddies' streamfunction, on V points"),
    ("B2_gm", ("z", "y", "x"), "m2 s-1", "meridional component of the eddies' streamfunction, on U points"),
)
_TRACER = {
    "float64": Tolerance(
        1e-13,
        "A few roundings of the tracer, which changes by less than its largest value, and the "
        "slopes of isoneutral: 6e-16 was measured on grid.h5."),
    "float32": Tolerance(1e-3, "As the diffusivities of isoneutral."),
}
_LOSS = {
    "float64": Tolerance(
        1e-10,
        "As the slopes of isoneutral; the losses of T and S cancel, and the implicit flux has "
        "differences of the solved tracers: 3e-12 was measured on grid.h5."),
    "float32": Tolerance(1e-2, "As the slopes of isoneutral."),
}
_STREAM = {
    "float64": Tolerance(1e-11, "As the slopes of isoneutral, of which it is a sum."),
    "float32": Tolerance(1e-2, "As the slopes of isoneutral."),
}
TOLERANCES = {"temp_taup1": _TRACER, "salt_taup1": _TRACER, "P_diss_iso": _LOSS,
              "P_diss_skew": _LOSS, "B1_gm": _STREAM, "B2_gm": _STREAM}


def reference(fields, settings):
    Real = tracer_fluxes.Real
    chosen = {**SETTINGS, **{name: settings[name] for name in SETTINGS if name in settings}}
    tensor = SimpleNamespace(**isoneutral.reference(fields, chosen))
    stand_ins = {"K_gm": lambda f: f["K_iso"], "temp_taup1": lambda f: f["temp"],
                 "salt_taup1": lambda f: f["salt"],
                 "int_drhodT": lambda f: np.zeros(f["temp"].shape, Real),
                 "int_drhodS": lambda f: np.zeros(f["temp"].shape, Real)}
    f = tracer_fluxes.gather(fields, INPUTS, stand_ins)
    dt = Real(chosen["dt_tracer"])
    result = {"P_diss_iso": np.zeros(f.temp.shape, Real), "P_diss_skew": np.zeros(f.temp.shape, Real)}
    for name, X in (("temp", f.int_drhodT), ("salt", f.int_drhodS)):
        tracer = getattr(f, name)
        solved, iso = tracer_fluxes.diffuse(f, tensor, tracer, getattr(f, f"{name}_taup1"), dt)
        K_gm = chosen["enable_skew_diffusion"] * f.K_gm
        skew = tracer_fluxes.fluxes(f, tensor, tracer, -K_gm, K_gm,
                                    chosen["enable_skew_diffusion"] * chosen["pyom_compatibility_mode"])
        result[f"{name}_taup1"] = solved + dt * tracer_fluxes.divergence(f, skew)
        implicit = np.zeros(solved.shape, Real)
        implicit[:-1] = (tensor.K_33[:-1] * (solved[1:] - solved[:-1])
                         / f.dzw[:-1, None, None])
        for flux, which in ((iso, "P_diss_iso"), (skew, "P_diss_skew")):
            result[which] += tracer_fluxes.on_w_grid(f, tracer_fluxes.lateral_loss(f, X, flux))
            result[which] += tracer_fluxes.vertical_loss(f, X, flux.top)
        result["P_diss_iso"] += tracer_fluxes.vertical_loss(f, X, implicit)
    if not chosen["enable_conserve_energy"]:
        result |= {name: 0 * result[name] for name in ("P_diss_iso", "P_diss_skew")}
    K = chosen["enable_skew_diffusion"] * f.K_gm
    at_floor = (K + np.concatenate([K[:1], K[:-1]])) / 2
    streams = (("B1_gm", tensor.Ai_nz, 1, -1), ("B2_gm", tensor.Ai_ez, 2, 1))
    for name, Ai, axis, sign in streams if chosen["enable_eddy_streamfunction"] else ():
        at_face = (at_floor + np.roll(at_floor, -1, axis)) / 2  # no slope is where this is round the corner
        result[name] = sign * at_face * Ai.mean(axis=(0, 1))
    return {name: values.astype(np.float64) for name, values in result.items()}
