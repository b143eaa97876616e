"""What the velocities on the W grid conserve: the transport of each column, and volume."""

import numpy as np
import pytest

import fields
from conftest import GRID, INSIDE, read
from test_kernels import OCEANS


@pytest.mark.parametrize("ocean_name", ["odd", "fine", "two levels", "all water"])
def test_columns_transport_as_much_on_both_grids(miniapp, ocean_name, tmp_path):
    """Where both columns of a face are wet from their bottoms to the surface."""
    values, settings = fields.make(**OCEANS[ocean_name])
    if len(values["dzt"]) > 1:  # as Veros makes its grids: a W point midway between T points
        values["dzw"] = np.append((values["dzt"][1:] + values["dzt"][:-1]) / 2, values["dzt"][-1] / 2)
    made = miniapp.made_by("velocities_on_wgrid", tmp_path, values, settings)
    for name, mask in (("u", "maskU"), ("v", "maskV")):
        before = (values[name] * values[mask] * values["dzt"][:, None, None])[INSIDE]
        after = (made[f"{name}_wgrid"] * values["dzw"][:, None, None])[INSIDE]
        scale = np.abs(before).sum(axis=0).max()
        assert np.abs(before.sum(axis=0) - after.sum(axis=0)).max() < 1e-13 * scale


def test_flow_without_divergence_stays_in_the_ocean(miniapp, tmp_path):
    """Nothing leaves through the surface of a column into which nothing flows."""
    values, settings = fields.make(**OCEANS["all water"])
    rng = np.random.default_rng(3)
    stream = rng.uniform(-1, 1, values["u"].shape[1:])  # of the whole depth, on corners
    depth = values["dzt"].sum()
    values["dzw"] = np.append((values["dzt"][1:] + values["dzt"][:-1]) / 2, values["dzt"][-1] / 2)
    north = values["cosu"] * 1.0
    u, v = np.zeros_like(values["u"]), np.zeros_like(values["v"])
    u[:, 1:] = -(stream[1:] - stream[:-1]) / (values["dyt"][1:, None] * depth)
    v[:, :, 1:] = (stream[:, 1:] - stream[:, :-1]) / (north[:, None] * values["dxt"][1:] * depth)
    values |= {"u": u, "v": v, "maskU": np.ones_like(values["maskU"]), "maskV": np.ones_like(values["maskV"])}
    made = miniapp.made_by("velocities_on_wgrid", tmp_path, values, settings)
    through_surface = made["w_wgrid"][-1][2:-2, 2:-2]
    assert np.abs(made["w_wgrid"][INSIDE]).max() < 1e-9 * np.abs(u).max()
    assert np.abs(through_surface).max() < 1e-10 * np.abs(u).max()


def test_grid_has_such_velocities(miniapp, tmp_path):
    """Those of inputs/grid.h5 on T points make some on the W grid that vanish on land."""
    out = tmp_path / "out.h5"
    miniapp.passes("-k", "velocities_on_wgrid", "-o", out, GRID)
    wet = read(GRID, "maskW") == 1
    assert np.abs(read(out, "u_wgrid")[wet]).max() > 0.01
    assert not read(out, "u_wgrid")[~wet].any() and not read(out, "v_wgrid")[~wet].any()
