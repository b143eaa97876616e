"""Reference of the kernel `lateral_diffusion`, in 80-bit arithmetic."""

from types import SimpleNamespace

import numpy as np

from . import Tolerance, alike
from .momentum import Real, chosen, divergence, east, interior, north, work
from .tracer_fluxes import GRAVITY, RHO_0, on_w_grid

NAME = "lateral_diffusion"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzw", "cost", "cosu", "kbot", "maskT", "maskU", "maskV", "temp", "salt")
OPTIONAL = ("temp_taup1", "salt_taup1", "int_drhodT", "int_drhodS")
SETTINGS = {"dt_tracer": 1.0, "K_h": 0.0, "enable_hor_friction_cos_scaling": 0, "hor_friction_cosPower": 3,
            "enable_conserve_energy": 1}
OUTPUTS = (
    ("temp_taup1", ("z", "y", "x"), "degC", "Conservative Temperature at time level taup1"),
    ("salt_taup1", ("z", "y", "x"), "g kg-1", "Absolute Salinity at time level taup1"),
    ("P_diss_hmix", ("z", "y", "x"), "m2 s-3", "dissipation of dynamic enthalpy by lateral mixing"))
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "Sums of fluxes that nearly cancel, products of which may cancel again."),
    float32=Tolerance(2e-5, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    power = s.hor_friction_cosPower * s.enable_hor_friction_cos_scaling
    f = prepare(fields)
    return step(fields, f, s, lambda tracer: fluxes(f, s.K_h * f.cost**power, s.K_h * f.cosu**power, tracer))


def prepare(fields):
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in INPUTS})
    for name in ("dyt", "dyu", "cost", "cosu"):
        setattr(f, name, getattr(f, name)[:, None])
    f.kbot = np.asarray(fields["kbot"], int)
    f.cosine, f.dx, f.dy = f.cost, f.dxt, f.dyt
    return f


def fluxes(f, diffusivity, on_northern_faces, values):
    """Up the gradient."""
    return (diffusivity * f.maskU * (east(values) - values) / (f.cost * f.dxu),
            on_northern_faces * f.cosu * f.maskV * (north(values) - values) / f.dyu)


def step(fields, f, s, fluxes_of):
    zero = np.zeros(f.temp.shape, Real)
    result, lost = {}, zero
    for name, derivative in (("temp", "int_drhodT"), ("salt", "int_drhodS")):
        through = fluxes_of(getattr(f, name))
        before = np.asarray(fields.get(f"{name}_taup1", fields[name]), Real)
        result[f"{name}_taup1"] = before + s.dt_tracer * interior(f.maskT * divergence(f, through))
        lost = lost + GRAVITY / RHO_0 * work(f, through, np.asarray(fields.get(derivative, zero), Real))
    return result | {"P_diss_hmix": s.enable_conserve_energy * interior(on_w_grid(f, lost))}
