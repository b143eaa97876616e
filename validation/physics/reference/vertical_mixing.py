"""Reference of the kernel `vertical_mixing`: each column's system, solved from the surface down."""

from types import SimpleNamespace

import numpy as np

from . import Tolerance, alike, tracer_fluxes

NAME = "vertical_mixing"
COLUMNS = ("dzt", "dzw", "kbot", "kappaM")
INPUTS = (*COLUMNS, "temp", "salt")
OPTIONAL = ("kappaH", "temp_taup1", "salt_taup1", "forc_temp_surface", "forc_salt_surface")
SETTINGS = {"dt_tracer": 1.0}
OUTPUTS = (
    ("temp_taup1", ("z", "y", "x"), "degC", "Conservative Temperature at time level taup1"),
    ("salt_taup1", ("z", "y", "x"), "g kg-1", "Absolute Salinity at time level taup1"),
)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-14, "A few roundings: the system makes means of what is in a column."),
                   float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    return mix(fields, settings, {"temp": "temp", "salt": "salt"})


def mix(fields, settings, tracers):
    """Each tracer, and what stands for it where its level taup1 is absent."""
    Real = tracer_fluxes.Real
    dt = Real(settings.get("dt_tracer", SETTINGS["dt_tracer"]))
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in COLUMNS if name in fields})
    kappaH = np.asarray(fields["kappaH"], Real) if "kappaH" in fields else f.kappaM / 10
    result = {}
    level = np.arange(len(f.dzt))[:, None, None]
    wet = (f.kbot > 0) & (level >= f.kbot - 1)
    exchange = np.where(wet, kappaH, 0)
    for name, stand_in in tracers.items():
        right = np.array(fields[f"{name}_taup1" if f"{name}_taup1" in fields else stand_in], Real)
        forcing = np.asarray(fields.get(f"forc_{name}_surface", np.zeros(right.shape[1:])), Real)
        inside = np.ix_(*tracer_fluxes.interior(right.shape))
        right[-1][inside] += (wet[-1] * dt * forcing / f.dzt[-1])[inside]
        result[f"{name}_taup1"] = tracer_fluxes.solve_columns(f, exchange, dt, right)
    return {name: values.astype(np.float64) for name, values in result.items()}
