"""What the advection of tracers has to keep: their content, in any flow; in one without divergence a
constant, and with the scheme of second order the variance; and with superbee the range. And what it
dissipates, which is nothing where all is linear."""

import numpy as np
import pytest

import fields
from test_isoneutral import OCEANS, lowest_wet, volume, without_ghosts

ROUNDING = 1e-15  # of the sum of moduli, each of which is off by a few 1e-16
EULER = {"AB_eps": -0.5}  # turns the Adams-Bashforth step into a plain one
SCHEMES = ("second order", "superbee")
INPUTS = ("tracer", "dtracer_taum1", "u", "v", "w", "maskT", "kbot", "dxt", "dyt", "dzt", "cost",
          "cosu", "dzw", "Hd", "rho", "int_drhodT", "int_drhodS", "dtemp", "dsalt", "tke")


@pytest.fixture(params=OCEANS)
def basin(request):
    """Fields without ghosts, settings, and whether it is cyclic. Nothing flows through closed faces."""
    choice = dict(OCEANS[request.param])
    cyclic_x = choice.pop("cyclic_x")
    values, settings = fields.make(**choice)
    values = {name: without_ghosts(name, values[name]) for name in INPUTS}
    values["kbot"] = lowest_wet(values["maskT"])
    values |= fields.faces(values["maskT"], cyclic_x, halo=0)
    for name, axis in (("u", 2), ("v", 1), ("w", 0)):
        values[name] = values[name] * is_open(values["maskT"], axis, cyclic_x)
    return values, settings | {"dt_tracer": 1800.0}, cyclic_x


def is_open(water, axis, cyclic_x):
    """Faces between two cells of water."""
    result = water & np.roll(water, -1, axis)
    if not (axis == 2 and cyclic_x):
        np.moveaxis(result, axis, 0)[-1] = 0
    return result


def before(values, axis):
    return np.roll(values, 1, axis)


def without_divergence(values, cyclic_x):
    """Two stream functions that vanish beside land: one of the level, one of the meridional plane."""
    rng = np.random.default_rng(5)
    water, dx, dy = values["maskT"], values["dxt"], values["dyt"][:, None]
    area = values["cost"][:, None] * dy * dx
    depth = values["dzt"][:, None, None]
    east, north = is_open(water, 2, cyclic_x), is_open(water, 1, cyclic_x)
    corner = east & np.roll(east, -1, 1) & (np.arange(len(dy)) < len(dy) - 1)[:, None]
    upper = north & np.roll(north, -1, 0) & (np.arange(len(depth)) < len(depth) - 1)[:, None, None]
    gyres = 1e5 * corner * rng.uniform(-1, 1, water.shape)
    overturning = 1e5 * upper * rng.uniform(-1, 1, water.shape)
    return {
        "u": -(gyres - before(gyres, 1)) / (dy * depth),
        "v": (gyres - before(gyres, 2) - overturning + before(overturning, 0)) / (
            values["cosu"][:, None] * dx * depth),
        "w": (overturning - before(overturning, 1)) / area}


def advected(miniapp, tmp_path, basin, scheme, **changes):
    """The tendency and the stepped tracer."""
    values, settings, cyclic_x = basin
    chosen = settings | {"enable_superbee_advection": SCHEMES.index(scheme)}
    made = miniapp.made_by("tracer_advection", tmp_path, values | changes, chosen, halo=0, cyclic_x=cyclic_x)
    return made["dtracer"], made["tracer_taup1"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_content_changes_as_both_tendencies_say(miniapp, basin, scheme, tmp_path):
    values, settings, _ = basin
    now, after = advected(miniapp, tmp_path, basin, scheme)
    rate = volume(values) * now
    assert abs(rate.sum()) <= ROUNDING * np.abs(rate).sum() + 1e-300
    assert np.abs(rate).sum() > 0
    gain = volume(values) * (after - values["tracer"])
    told = -volume(values) * settings["dt_tracer"] * (0.5 + settings["AB_eps"]) * values["dtracer_taum1"]
    assert abs(gain.sum() - told.sum()) <= 10 * ROUNDING * (
        np.abs(told).sum() + np.abs(volume(values) * values["tracer"]).sum())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_land_stays_as_it_is(miniapp, basin, scheme, tmp_path):
    values, _, _ = basin
    now, after = advected(miniapp, tmp_path, basin, scheme)
    land = values["maskT"] == 0
    assert not now[land].any()
    np.testing.assert_array_equal(after[land], values["tracer"][land])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_constants_stay_constant(miniapp, basin, scheme, tmp_path):
    values, _, cyclic_x = basin
    flow = without_divergence(values, cyclic_x)
    moved, _ = advected(miniapp, tmp_path, basin, scheme, **flow)
    now, _ = advected(miniapp, tmp_path, basin, scheme, **flow, tracer=np.full_like(values["tracer"], 35.0))
    assert np.abs(now).max() <= 1e-12 * np.abs(moved).max()


def test_superbee_takes_nothing_from_empty_cells(miniapp, basin, tmp_path):
    """To the last bit: if rounding left something at the surface, mixing lengths would take its root."""
    values, _, _ = basin
    empty = np.indices(values["maskT"].shape).sum(axis=0) % 2 == 0
    flow = {name: np.where(empty, 1, -1) * np.abs(values[name]) for name in ("u", "v", "w")}
    flow["u"][..., -1] = 0  # the cells that meet there may both be full
    now, _ = advected(miniapp, tmp_path, basin, "superbee", **flow, tracer=np.where(empty, 0, np.abs(values["tracer"])))
    assert not now.any()


def test_second_order_keeps_variance(miniapp, basin, tmp_path):
    values, _, cyclic_x = basin
    now, _ = advected(miniapp, tmp_path, basin, "second order", **without_divergence(values, cyclic_x))
    change = volume(values) * values["tracer"] * now
    assert abs(change.sum()) <= ROUNDING * np.abs(change).sum()
    assert np.abs(change).sum() > 0


def test_vertical_velocity_closes_a_flow(miniapp, basin, tmp_path):
    """Where u and v have a w with which they conserve volume, it is that, and 0 at the surface."""
    values, settings, cyclic_x = basin
    flow = without_divergence(values, cyclic_x)
    made = miniapp.made_by("vertical_velocity", tmp_path, values | flow, settings, halo=0, cyclic_x=cyclic_x)
    terms = values["dzt"].max() * (np.abs(flow["u"]).max() / values["dxt"].min()
                                   + np.abs(flow["v"]).max() / values["dyt"].min())
    assert np.abs(made["w"] - flow["w"]).max() <= 20 * ROUNDING * terms
    assert not flow["w"][-1].any()


def dissipation(miniapp, tmp_path, basin, **changes):
    values, settings, cyclic_x = basin
    return miniapp.made_by("advection_dissipation", tmp_path, values | changes, settings, halo=0,
                           cyclic_x=cyclic_x)["P_diss_adv"]


def test_dissipation_is_one_number_where_there_is_turbulence(miniapp, basin, tmp_path):
    values, _, _ = basin
    lost = dissipation(miniapp, tmp_path, basin)
    wet = values["maskT"] == 1
    turbulent = wet & (values["tke"] > 0)
    turbulent[-1] = wet[-1]
    assert not lost[~turbulent].any()
    assert len(set(lost[turbulent])) == 1 and lost[turbulent][0] != 0


def test_second_order_loses_nothing_of_a_linear_enthalpy(miniapp, basin, tmp_path):
    """Where density does not depend on depth, and W cells are made of halves of T cells: what the
    vertical flux takes from temperature is work. In columns of one level half of a loss is lost."""
    values, settings, cyclic_x = basin
    values = values | {"maskT": values["maskT"] * (values["maskT"].sum(axis=0) > 1).astype(np.uint8)}
    if not values["maskT"].any():
        pytest.skip("has columns of one level only")
    values["kbot"] = lowest_wet(values["maskT"])
    values |= fields.faces(values["maskT"], cyclic_x, halo=0)
    values["dzt"] = (values["dzw"] + np.append(values["dzw"][0], values["dzw"][:-1])) / 2
    values |= without_divergence(values, cyclic_x)
    height = np.cumsum(np.append(0, values["dzw"][:-1]))[:, None, None]
    basin = values, settings, cyclic_x
    now, _ = advected(miniapp, tmp_path, basin, "second order")
    changes = {"rho": -0.2 * values["tracer"], "int_drhodT": 0.2 * height + 0 * now,
               "int_drhodS": 0 * now, "dtemp": now}
    weights = values["dzw"].copy()
    weights[-1] /= 2
    room = values["maskT"] * weights[:, None, None] * values["cost"][:, None] * (values["dyt"][:, None] * values["dxt"])
    lost = (room * dissipation(miniapp, tmp_path, basin, **changes)).sum()
    terms = 9.81 / 1024 * np.abs(volume(values) * changes["int_drhodT"] * now).sum()
    assert abs(lost) <= 4 * ROUNDING * terms  # a column has a few roundings for each level


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_superbee_has_no_new_extrema(miniapp, axis, tmp_path):
    """In one dimension and a plain step, by several Courant numbers side by side."""
    courant = np.array([0.3, -0.3, 0.9, -0.9])
    shape, along, side = [5, 5, 5], [1, 1, 1], [1, 1, 1]
    shape[axis] = along[axis] = 41
    shape[axis - 1] = side[axis - 1] = len(courant)
    nz, ny, nx = shape
    tracer = np.zeros(41)
    tracer[12:20] = 1
    values = {name: np.zeros(shape) for name in ("u", "v", "w", "dtracer_taum1")}
    values |= {name: np.full(length, 10.0) for name, length in (("dxt", nx), ("dyt", ny), ("dzt", nz))}
    values |= {"cost": np.ones(ny), "cosu": np.ones(ny), **fields.faces(np.ones(shape, np.uint8), cyclic=False, halo=0)}
    values["tracer"] = np.broadcast_to(tracer.reshape(along), shape).copy()
    flow = values[("w", "v", "u")[axis]]
    flow += courant.reshape(side) * 10 / 100
    np.moveaxis(flow, axis, 0)[-1] = 0
    basin = values, {"dt_tracer": 100.0} | EULER, 0
    for _ in range(8):
        _, values["tracer"] = advected(miniapp, tmp_path, basin, "superbee")
        inner = np.moveaxis(values["tracer"], axis, 0)[1:-1]
        assert inner.min() >= -1e-15 and inner.max() <= 1 + 1e-15
