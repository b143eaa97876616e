"""What vertical mixing keeps: the content of each column but for what its surface takes in, the range
of what is in it, and energy."""

import numpy as np
import pytest

import fields
from conftest import INSIDE
from test_kernels import OCEANS

GRAVITY_BY_RHO_0 = 9.81 / 1024
TRACERS = ("temp", "salt")
DT = 43200.0


@pytest.fixture(scope="module", params=["odd", "fine", "two levels", "one level", "masks"])
def mixed(request, miniapp, tmp_path_factory):
    """The ocean before, and both tracers after."""
    values, settings = fields.make(**OCEANS[request.param])
    assert settings["dt_tracer"] == DT
    allowed = ["--allow-invalid"] if request.param == "masks" else []
    made = miniapp.made_by("vertical_mixing", tmp_path_factory.mktemp("mixed"), values, settings, *allowed)
    return values, settings, {name: made[f"{name}_taup1"] for name in TRACERS}, allowed


def wet(values):
    level = np.arange(len(values["dzt"]))[:, None, None]
    return (values["kbot"] > 0) & (level >= values["kbot"] - 1)


def content(values, tracer):
    return (values["dzt"][:, None, None] * wet(values) * tracer).sum(axis=0)[INSIDE]


def test_columns_gain_what_comes_through_the_surface(mixed):
    values, _, after, _ = mixed
    for name in TRACERS:
        gain = content(values, after[name] - values[f"{name}_taup1"])
        expected = DT * (values[f"forc_{name}_surface"] * (values["kbot"] > 0))[INSIDE]
        assert abs(gain - expected).max() <= 1e-13 * abs(content(values, after[name])).max()


def test_land_and_ghosts_keep_what_they_have(mixed):
    values, _, after, _ = mixed
    stays = ~wet(values)
    stays[..., :2], stays[..., -2:], stays[:, :2], stays[:, -2:] = True, True, True, True
    for name in TRACERS:
        np.testing.assert_array_equal(after[name][stays], values[f"{name}_taup1"][stays])


def test_nothing_new_is_beyond_what_was_there(mixed):
    """But for the top cell, which the surface heats: what it brings counts as having been there."""
    values, _, after, _ = mixed
    for name in TRACERS:
        before = values[f"{name}_taup1"].copy()
        before[-1] += DT / values["dzt"][-1] * values[f"forc_{name}_surface"]
        water = wet(values)
        least = np.where(water, before, np.inf).min(axis=0)
        most = np.where(water, before, -np.inf).max(axis=0)
        margin = 1e-13 * abs(before).max()
        inside = np.zeros_like(water)
        inside[INSIDE] = water[INSIDE]
        assert ((after[name] >= least - margin) | ~inside).all()
        assert ((after[name] <= most + margin) | ~inside).all()


def test_dissipation_is_what_dynamic_enthalpy_loses(miniapp, mixed, tmp_path):
    values, settings, after, allowed = mixed
    changed = values | {f"{name}_taup1": after[name] for name in TRACERS}
    made = miniapp.made_by("vertical_dissipation", tmp_path, changed, settings, *allowed)
    loss = made["P_diss_v"] + made["P_diss_nonlin"]
    heights = values["dzw"].copy()
    heights[-1] /= 2
    lost = (heights[:, None, None] * loss).sum(axis=0)[INSIDE]
    columns = [content(values, values[f"int_drhod{letter}"] * (after[name] - values[f"{name}_taup1"]))
               for letter, name in (("T", "temp"), ("S", "salt"))]
    scale = sum(abs(content(values, abs(values[f"int_drhod{letter}"] * after[name]))).max()
                for letter, name in (("T", "temp"), ("S", "salt")))
    is_wet_below = (values["maskW"] == wet(values)).all()
    assert is_wet_below or allowed
    if not allowed:
        assert abs(lost + GRAVITY_BY_RHO_0 * sum(columns) / DT).max() <= (1e-13 * GRAVITY_BY_RHO_0 * scale / DT)
