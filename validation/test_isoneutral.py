"""What isoneutral mixing has to keep, whatever its numbers: the content of each tracer, and with skew
diffusion its variance; and that all ways to compute it agree.

The oceans are closed, or cyclic along x, with islands, columns of one level and unstable columns, and
have no ghosts: the reader makes them. Its rounding, of the tracer itself, bounds every residual.
"""

import h5py
import numpy as np
import pytest

import fields
from conftest import read, write

OCEANS = {
    "closed": dict(nx=41, ny=33, nz=9, seed=21, dx=1e5, cyclic_x=0),
    "cyclic": dict(nx=38, ny=27, nz=12, seed=22, dx=5e4, cyclic_x=1),
    "small": dict(nx=7, ny=6, nz=3, seed=23, dx=1e5, cyclic_x=1),
    "one level": dict(nx=19, ny=14, nz=1, seed=24, dx=1e5, cyclic_x=0),
}
TENSOR = ("K_11", "K_22", "K_33", "Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")
MADE = ("maskU", "maskV", "maskW")  # by the reader, of maskT
FORMS = ("isoneutral_steps",)
TRACERS = {"temp": "temp_taup1", "salt": "salt_taup1"}
ROUNDING = 1e-15  # of the sum of moduli, each of which is off by a few 1e-16


@pytest.fixture(params=OCEANS)
def basin(request, tmp_path):
    """An input file without ghosts, its fields and its settings. At taup1 it holds what it has at tau."""
    choice = dict(OCEANS[request.param])
    cyclic_x = choice.pop("cyclic_x")
    values, settings = fields.make(**choice)
    values = {name: without_ghosts(name, value) for name, value in values.items()
              if name not in (*MADE, *TENSOR, *TRACERS.values())}
    values["kbot"] = lowest_wet(values["maskT"])
    settings |= {"dt_tracer": 1800.0}
    path = write(tmp_path / "basin.h5", values, settings, halo=0, cyclic_x=cyclic_x)
    return path, values, settings


def without_ghosts(name, value):
    if name in ("zt", "zw", "p", "dzt", "dzw"):
        return value
    if value.ndim == 1:
        return value[2:-2]
    return value[..., 2:-2] if name in ("factor_a", "factor_b") else value[..., 2:-2, 2:-2]


def lowest_wet(maskT):
    return np.where(maskT.any(axis=0), 1 + maskT.argmax(axis=0), 0).astype(np.int32)


def volume(values):
    """Of each cell, 0 on land."""
    area = (values["cost"] * values["dyt"])[:, None] * values["dxt"]
    return values["maskT"] * values["dzt"][:, None, None] * area


def run(miniapp, path, kernel, *arguments):
    out = path.with_suffix(".out.h5")
    miniapp.passes("-k", kernel, *arguments, "-o", out, path)
    return out


def gain(out, values, tracer):
    return read(out, TRACERS[tracer]) - values[tracer]


def settings_of(path):
    with h5py.File(path) as file:
        return dict(file.attrs)


def add(path, values, **changes):
    """The file of a basin with other fields."""
    settings = settings_of(path)
    place = {name: settings.pop(name) for name in ("halo", "cyclic_x")}
    return write(path.with_suffix(".more.h5"), values | changes, settings, **place)


@pytest.mark.parametrize("form", FORMS)
def test_content_is_kept(miniapp, basin, form):
    path, values, _ = basin
    out = run(miniapp, path, form)
    for tracer in TRACERS:
        content, change = volume(values) * values[tracer], volume(values) * gain(out, values, tracer)
        assert abs(change.sum()) <= ROUNDING * np.abs(content).sum(), tracer
        assert np.abs(change).sum() > 1e-9 * np.abs(content).sum()  # or there was nothing to keep


@pytest.mark.parametrize("form", FORMS)
def test_land_is_kept(miniapp, basin, form):
    path, values, _ = basin
    out = run(miniapp, path, form)
    for tracer in TRACERS:
        assert not gain(out, values, tracer)[values["maskT"] == 0].any()


@pytest.mark.parametrize("form", FORMS)
def test_diffusion_reduces_variance(miniapp, basin, form):
    """Without skew diffusion, which would add the lateral part of isoneutral diffusion."""
    path, values, settings = basin
    still = add(path, values, K_gm=np.zeros_like(values["K_gm"]))
    out = run(miniapp, still, form)
    for tracer in TRACERS:
        assert (volume(values) * values[tracer] * gain(out, values, tracer)).sum() < 0, tracer


def skew_tendency(miniapp, path, values, tracer):
    """With the tensor of temperature and salinity, which is another run's output; and the tensor."""
    made = run(miniapp, path, "isoneutral")
    tensor = {name: read(made, name) for name in TENSOR}
    full = add(path, values, **tensor)
    return read(run(miniapp, full, f"isoneutral_skew:tracer={tracer}"), "dtracer_skew"), tensor


@pytest.mark.parametrize("tracer", TRACERS)
def test_skew_diffusion_keeps_the_content(miniapp, basin, tracer):
    path, values, _ = basin
    tendency, _ = skew_tendency(miniapp, path, values, tracer)
    change = volume(values) * tendency
    assert abs(change.sum()) <= 1e-12 * np.abs(change).sum()


@pytest.mark.parametrize("tracer", TRACERS)
def test_skew_diffusion_keeps_the_variance(miniapp, basin, tracer):
    """But for K_11 and K_22, which act in it as in Veros, where K_gm is the same everywhere."""
    path, values, _ = basin
    values = values | {"K_gm": np.full_like(values["K_gm"], 700)}
    tendency, tensor = skew_tendency(miniapp, path, values, tracer)
    change = volume(values) * values[tracer] * tendency
    lateral = lateral_loss(values, tensor, values[tracer], settings_of(path)["cyclic_x"])
    assert abs(change.sum() + lateral) <= 1e-11 * np.abs(change).sum()


def lateral_loss(values, tensor, tracer, cyclic_x):
    """What K_11 and K_22 take of the variance: a sum over the faces."""
    dzt, cost = values["dzt"][:, None, None], values["cost"][:, None]
    east = np.roll(tracer, -1, axis=2) - tracer
    in_x = tensor["K_11"] * east**2 * dzt * values["dyt"][:, None] / (values["dxu"] * cost)
    north = np.diff(tracer, axis=1)
    in_y = (tensor["K_22"] * dzt * values["dxt"] * (values["cosu"] / values["dyu"])[:, None])[:, :-1]
    return (in_x if cyclic_x else in_x[..., :-1]).sum() + (in_y * north**2).sum()
