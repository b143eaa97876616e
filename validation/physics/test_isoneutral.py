"""What isoneutral mixing has to keep, whatever its numbers: the content of each tracer, and with skew
diffusion its variance; and that all ways to compute it agree.

The oceans are closed, or cyclic along x, with islands, columns of one level and unstable columns, and
have no ghosts: the reader makes them. Its rounding, of the tracer itself, bounds every residual.
"""

from pathlib import Path

import h5py
import numpy as np
import pytest

import fields
from conftest import DONE, INSIDE, LONG, QUICK, read, write

pytestmark = pytest.mark.every_gpu

VEROS = Path(__file__).parent / "veros" / "isoneutral.h5"
OCEANS = {
    "closed": dict(nx=41, ny=33, nz=9, seed=21, dx=1e5, cyclic_x=0),
    "cyclic": dict(nx=38, ny=27, nz=12, seed=22, dx=5e4, cyclic_x=1),
    "small": dict(nx=7, ny=6, nz=3, seed=23, dx=1e5, cyclic_x=1),
    "one level": dict(nx=19, ny=14, nz=1, seed=24, dx=1e5, cyclic_x=0),
}
TENSOR = ("K_11", "K_22", "K_33", "Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")
FORMS = ("isoneutral_steps", "isoneutral_mixing")
TRACERS = {"temp": "temp_taup1", "salt": "salt_taup1"}
ROUNDING = 1e-15  # of the sum of moduli, each of which is off by a few 1e-16


@pytest.fixture(scope="module", params=OCEANS)
def basin(request, tmp_path_factory):
    """An input file without ghosts, its fields and its settings. At taup1 it holds what it has at tau."""
    choice = dict(OCEANS[request.param])
    cyclic_x = choice.pop("cyclic_x")
    values, settings = fields.make(**choice)
    values = {name: without_ghosts(name, value) for name, value in values.items()
              if name not in (*TENSOR, *TRACERS.values())}
    values |= fields.faces(values["maskT"], cyclic_x, halo=0)
    values["kbot"] = lowest_wet(values["maskT"])
    settings |= {"dt_tracer": 1800.0}
    path = write(tmp_path_factory.mktemp("basin") / "basin.h5", values, settings, halo=0, cyclic_x=cyclic_x)
    return path, values, settings


def without_ghosts(name, value):
    if name in ("zt", "zw", "p", "dzt", "dzw", "divpen_shortwave"):
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


def run(together, path, kernel, *arguments):
    """The file of outputs. More threads than there are CPUs are worth a warning, but no failure."""
    def made(out):
        done = together.miniapp.run(*QUICK, "-k", kernel, *arguments, "-o", out, path)
        assert done.returncode == DONE, done
        return out
    return together.once((path, kernel, *arguments), made)


def outputs(together, path, kernel, names, *arguments):
    """Those of the names."""
    out = run(together, path, kernel, *arguments)
    return {name: read(out, name) for name in names}


def gain(out, values, tracer):
    return read(out, TRACERS[tracer]) - values[tracer]


def settings_of(path):
    with h5py.File(path) as file:
        return dict(file.attrs)


def variant(together, path, name, make):
    """The file of a basin with the fields that `make` makes."""
    return together.once((path, name), lambda new: write(new, make(), settings_of(path)))


@pytest.mark.parametrize("form", FORMS)
def test_content_is_kept(together, basin, form):
    path, values, _ = basin
    out = run(together, path, form)
    for tracer in TRACERS:
        content, change = volume(values) * values[tracer], volume(values) * gain(out, values, tracer)
        assert abs(change.sum()) <= ROUNDING * np.abs(content).sum(), tracer
        assert np.abs(change).sum() > 1e-9 * np.abs(content).sum()  # or there was nothing to keep


@pytest.mark.parametrize("form", FORMS)
def test_land_is_kept(together, basin, form):
    path, values, _ = basin
    out = run(together, path, form)
    for tracer in TRACERS:
        assert not gain(out, values, tracer)[values["maskT"] == 0].any()


@pytest.mark.parametrize("form", FORMS)
def test_diffusion_reduces_variance(together, basin, form):
    """Without skew diffusion, which would add the lateral part of isoneutral diffusion."""
    path, values, settings = basin
    still = variant(together, path, "still", lambda: values | {"K_gm": np.zeros_like(values["K_gm"])})
    out = run(together, still, form)
    for tracer in TRACERS:
        assert (volume(values) * values[tracer] * gain(out, values, tracer)).sum() < 0, tracer


def skew_tendency(together, path, name, values, tracer, *choice):
    """With the tensor of temperature and salinity, which is another run's output; and the tensor."""
    tensor = outputs(together, path, "isoneutral", TENSOR)
    full = variant(together, path, name, lambda: values | tensor)
    return read(run(together, full, f"isoneutral_skew:tracer={tracer}", *choice), "dtracer_skew"), tensor


@pytest.mark.parametrize("tracer", TRACERS)
def test_skew_diffusion_keeps_the_content(together, basin, tracer):
    path, values, _ = basin
    tendency, _ = skew_tendency(together, path, "with a tensor", values, tracer)
    change = volume(values) * tendency
    assert abs(change.sum()) <= 1e-12 * np.abs(change).sum()


@pytest.mark.parametrize("compatible", [0, 1])
@pytest.mark.parametrize("tracer", TRACERS)
def test_skew_diffusion_keeps_the_variance(together, basin, tracer, compatible):
    """Where K_gm is the same everywhere; but for K_11 and K_22, where they act in it."""
    path, values, _ = basin
    values = values | {"K_gm": np.full_like(values["K_gm"], 700)}
    tendency, tensor = skew_tendency(together, path, "with an even K_gm", values, tracer,
                                     "--set", f"pyom_compatibility_mode={compatible}")
    change = volume(values) * values[tracer] * tendency
    lateral = lateral_loss(values, tensor, values[tracer], settings_of(path)["cyclic_x"])
    assert abs(change.sum() + compatible * lateral) <= 1e-11 * np.abs(change).sum()


def lateral_loss(values, tensor, tracer, cyclic_x):
    """What K_11 and K_22 take of the variance: a sum over the faces."""
    dzt, cost = values["dzt"][:, None, None], values["cost"][:, None]
    east = np.roll(tracer, -1, axis=2) - tracer
    in_x = tensor["K_11"] * east**2 * dzt * values["dyt"][:, None] / (values["dxu"] * cost)
    north = np.diff(tracer, axis=1)
    in_y = (tensor["K_22"] * dzt * values["dxt"] * (values["cosu"] / values["dyu"])[:, None])[:, :-1]
    return (in_x if cyclic_x else in_x[..., :-1]).sum() + (in_y * north**2).sum()


# ---- in one pass ----

@pytest.mark.parametrize("equation", [3, 5])
def test_one_pass_and_steps_agree(together, basin, device, equation):
    """By the change, not by the value: the rounding of a tracer is all that it may differ by."""
    path, values, _ = basin
    choice = ("-d", device, "--set", f"eq_of_state_type={equation}")
    steps, one_pass = (outputs(together, path, form, TRACERS.values(), *choice) for form in FORMS)
    for tracer, name in TRACERS.items():
        change = np.abs(steps[name] - values[tracer]).max()
        allowed = 1e-12 * change + 4e-16 * np.abs(values[tracer]).max()
        assert np.abs(one_pass[name] - steps[name]).max() <= allowed, tracer


@pytest.mark.parametrize("of, names", [
    ("isoneutral_mixing", (*TRACERS.values(), "P_diss_iso", "P_diss_skew")),
    ("isoneutral", TENSOR),
])
def test_chunks_and_tiles_do_not_show(together, basin, of, names):
    """Where rows are shared among threads, and the first of a thread or of a tile needs more than
    others."""
    path, values, _ = basin
    first, *others = (outputs(together, path, of, names, "-t", threads)
                      for threads in ((1, 2, 3, 5, 7) if LONG else (1, 3, 7)))
    for other in others:
        for name in names:
            np.testing.assert_array_equal(first[name], other[name])


def test_dissipation_is_what_dynamic_enthalpy_loses(together, basin):
    """P_diss_iso + P_diss_skew = -g / rho_0 sum vol (X_T dT + X_S dS), X the derivatives of dynamic
    enthalpy. Not in columns of one level, whose losses have no W cell to go to."""
    path, values, settings = basin
    maskT = values["maskT"] & (values["maskT"].sum(axis=0) > 1)
    if not maskT.any():
        pytest.skip("all columns have one level")
    values = (values | fields.faces(maskT, settings_of(path)["cyclic_x"], halo=0)
              | {"kbot": lowest_wet(maskT)} | even_levels(values))
    out = run(together, variant(together, path, "deep", lambda: values), "isoneutral_mixing")
    area = (values["cost"] * values["dyt"])[:, None] * values["dxt"]
    height = values["dzw"].copy()
    height[-1] /= 2  # at the surface
    dissipated = sum((read(out, name) * area).sum(axis=(1, 2)) @ height for name in ("P_diss_iso", "P_diss_skew"))
    terms = np.array([volume(values) * X * gain(out, values, tracer) for tracer, X in
                      (("temp", values["int_drhodT"]), ("salt", values["int_drhodS"]))])
    factor = -9.81 / 1024 / settings["dt_tracer"]
    rounding = ROUNDING * sum(np.abs(volume(values) * X * values[tracer]).sum() for tracer, X in
                              (("temp", values["int_drhodT"]), ("salt", values["int_drhodS"])))
    assert abs(dissipated - factor * terms.sum()) <= abs(factor) * rounding
    assert np.abs(terms).sum() > 1e5 * rounding


def even_levels(values):
    """Faces in the middle between T points, as in Veros, whose mapping to the W grid counts on it."""
    nz = len(values["dzt"])
    thickness = np.full(nz, 120.0)
    return {"dzt": thickness, "dzw": thickness, "zt": -120 * (np.arange(nz)[::-1] + 0.5)}


def test_without_dissipation(together, basin):
    """The tracers get the same bits, and the rest is 0."""
    path, _, _ = basin
    names = (*TRACERS.values(), "P_diss_iso", "P_diss_skew")
    with_it, without = (outputs(together, path, "isoneutral_mixing", names, "--set",
                                f"enable_conserve_energy={choice}") for choice in (1, 0))
    for name in TRACERS.values():
        np.testing.assert_array_equal(with_it[name], without[name])
    assert not without["P_diss_iso"].any() and not without["P_diss_skew"].any()
    assert with_it["P_diss_iso"].any() and with_it["P_diss_skew"].any()


# ---- Veros's own routines ----

@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("group, compatible", [("outputs", 0), ("outputs_of_pyom", 1)])
def test_veros_makes_the_same(together, device, form, group, compatible):
    """On the state of make_veros_isoneutral.py. Veros fills ghosts as well; tracers are compared by
    their change, the rest by its largest value."""
    out = run(together, VEROS, form, "-d", device, "--set", f"pyom_compatibility_mode={compatible}")
    with h5py.File(VEROS) as file, h5py.File(out) as made:
        theirs = {name: values[INSIDE] for name, values in file[group].items() if name in made}
        assert set(TRACERS.values()) < set(theirs)
        for name, values in theirs.items():
            scale = np.abs(values).max()
            allowed = 1e-12 * scale
            if name in TRACERS.values():
                allowed = 1e-12 * np.abs(values - file[name][INSIDE]).max() + 8e-16 * scale
            assert np.abs(made[name][INSIDE] - values).max() <= allowed, name
