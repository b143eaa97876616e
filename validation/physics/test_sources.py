"""What sources give to temperature and salinity, and what comes through the surface."""

import numpy as np
import pytest

import fields
from conftest import INSIDE
from test_kernels import OCEANS

GRAVITY_BY_RHO_0 = 9.81 / 1024
DT = 43200.0
LETTERS = {"temp": "T", "salt": "S"}


def column(values, what):
    return (values["dzt"][:, None, None] * what).sum(axis=0)[INSIDE]


@pytest.mark.parametrize("ocean", ["odd", "fine", "two levels", "all water"])
def test_sources_give_what_they_are(miniapp, ocean, tmp_path):
    """Heat and salt of each column, and its dynamic enthalpy, but in columns of one level, where half
    of a loss is lost on the W grid; its cells are made of halves of T cells."""
    values, settings = fields.make(**OCEANS[ocean])
    assert settings["dt_tracer"] == DT
    values["dzt"] = (values["dzw"] + np.append(values["dzw"][0], values["dzw"][:-1])) / 2
    made = miniapp.made_by("tempsalt_sources", tmp_path, values, settings)
    taken, terms = 0, 0
    for name in LETTERS:
        new, source = made[f"{name}_taup1"], values["maskT"] * values[f"{name}_source"]
        gain = column(values, new - values[f"{name}_taup1"])
        np.testing.assert_allclose(gain, DT * column(values, source), rtol=0,
                                   atol=1e-13 * column(values, abs(new)).max())
        taken += column(values, values[f"int_drhod{LETTERS[name]}"] * source)
        terms += column(values, abs(values[f"int_drhod{LETTERS[name]}"] * source)).max()
    heights = values["dzw"].copy()
    heights[-1] /= 2
    lost = (heights[:, None, None] * made["P_diss_sources"]).sum(axis=0)[INSIDE]
    several = (values["maskT"].sum(axis=0) != 1)[INSIDE]
    assert several.any() and abs(lost).max() > 0
    assert abs(lost + GRAVITY_BY_RHO_0 * taken)[several].max() <= 1e-14 * GRAVITY_BY_RHO_0 * terms


def forced(miniapp, tmp_path, values, **settings):
    made = miniapp.made_by("surface_forcing", tmp_path, values, settings)
    return made["forc_temp_surface"], made["forc_salt_surface"]


def test_surface_that_is_as_it_should_be_takes_what_is_given(miniapp, tmp_path):
    values, _ = fields.make(**OCEANS["odd"])
    values |= {"t_star": values["temp"][-1], "s_star": values["salt"][-1]}
    heat, salinity = forced(miniapp, tmp_path, values)
    np.testing.assert_array_equal(heat, values["maskT"][-1] * values["t_flux"])
    np.testing.assert_array_equal(salinity, values["maskT"][-1] * values["s_flux"])


def test_restoring_brings_it_nearer(miniapp, tmp_path):
    values, _ = fields.make(**OCEANS["odd"])
    values |= {name: 0 * values[name] for name in ("t_flux", "s_flux")}
    wet = values["maskT"][-1] == 1
    for flux, name in zip(forced(miniapp, tmp_path, values), LETTERS):
        distance = values[f"{name[0]}_star"] - values[name][-1]
        assert (np.sign(flux) == np.sign(distance))[wet].all() and not flux[~wet].any()


def test_only_heat_goes_through_ice(miniapp, tmp_path):
    values, _ = fields.make(**OCEANS["odd"])
    wet, t_ice = values["maskT"][-1] == 1, float(np.median(values["temp"][-1]))
    bare, covered = (forced(miniapp, tmp_path, values, **choice) for choice in ({}, {"t_ice": t_ice}))
    ice = wet & (values["temp"][-1] <= t_ice) & (bare[0] <= 0)
    assert ice.any() and (wet & ~ice & (values["temp"][-1] <= t_ice)).any()
    for without, under in zip(bare, covered):
        assert not under[ice].any()
        np.testing.assert_array_equal(under[~ice], without[~ice])


def test_no_salt_goes_through_ice_that_is_not_cooled_either(miniapp, tmp_path):
    values, _ = fields.make(**OCEANS["odd"])
    values |= {name: 0 * values[name] for name in ("t_flux", "t_rest")}
    _, salinity = forced(miniapp, tmp_path, values, t_ice=80)
    assert values["s_flux"].all() and not salinity.any()
