"""What the program's tke conserves and creates: the physics of the kernel, without its reference."""

import numpy as np
import pytest

from test_reference_tke import (CASES, EULER, INSIDE, closed, even_ocean, make, pulse, still, volumes)

EPS = np.finfo(np.float64).eps


def run(miniapp, folder, fields, settings):
    """One step by the program."""
    def as_stored(name, values):
        if name.startswith("mask") or name == "kbot":
            return np.asarray(values, np.int32)
        return np.asarray(values, np.float64)

    if not any(kernel.name == "tke" for kernel in miniapp.kernels):
        pytest.skip("there is no kernel tke")
    return miniapp.made_by("tke", folder, {name: as_stored(name, values) for name, values in fields.items()},
                           {name: float(value) for name, value in settings.items()})


def assert_conserved(change, fields):
    """The content changes by rounding only, though the cells' change by far more."""
    change = (change * volumes(fields))[INSIDE]
    content = abs(fields["tke"] * volumes(fields))[INSIDE].sum()
    assert abs(change).sum() > 1e-7 * content
    assert abs(change.sum()) < 20 * EPS * (content + abs(change).sum())


@pytest.mark.parametrize("case", CASES[:2])
def test_lateral_diffusion_conserves(miniapp, case, tmp_path):
    f, s = make(case, negative_tke=False)
    f = still(closed(f))
    f |= {"kappaM": 0 * f["tke"], "tke_taup1": f["tke"]}
    out = run(miniapp, tmp_path, f, s | {"c_eps": 0})
    assert_conserved(out["tke_taup1"] - f["tke"], f)


@pytest.mark.parametrize("case", CASES[:2])
def test_vertical_mixing_conserves(miniapp, case, tmp_path):
    f, s = make(case, negative_tke=False)
    f = still(f) | {"tke_taup1": f["tke"]}
    out = run(miniapp, tmp_path, f, s | {"c_eps": 0, "K_h_tke": 0})
    assert_conserved(out["tke_taup1"] - f["tke"], f)


@pytest.mark.parametrize("case", CASES[:2])
@pytest.mark.parametrize("direction", ["u_wgrid", "v_wgrid", "w_wgrid"])
def test_advection_conserves(miniapp, case, direction, tmp_path):
    f, s = make(case, negative_tke=False)
    f = closed(f)
    f = still(f) | {direction: f[direction], "kappaM": 0 * f["tke"], "tke_taup1": f["tke"]}
    out = run(miniapp, tmp_path, f, s | {"c_eps": 0, "K_h_tke": 0})
    assert_conserved(out["tke_taup1"] - f["tke"], f)


@pytest.mark.parametrize("case", CASES[:2])
def test_budget_closes(miniapp, case, tmp_path):
    """What the step changes is what was forced, less what was dissipated and drained; lateral
    diffusion and advection only move it."""
    f, s = make(case, negative_tke=False)
    f = closed(f) | {"dtke_taum1": 0 * f["tke"], "tke_taup1": f["tke"]}
    out = run(miniapp, tmp_path, f, s | EULER)
    wet = (f["kbot"] > 0) & (np.arange(len(f["tke"]))[:, None, None] >= f["kbot"] - 1)
    area = volumes(f) / np.where(np.arange(len(f["dzw"])) == len(f["dzw"]) - 1, f["dzw"] / 2, f["dzw"])[:, None, None]
    change = ((out["tke_taup1"] - f["tke"]) * volumes(f))[INSIDE]
    sources = s["dt_mom"] * ((f["forc"] - out["tke_diss"]) * volumes(f) * wet)[INSIDE]
    surface = s["dt_mom"] * ((f["forc_tke_surface"] + out["tke_surf_corr"]) * area[-1] * wet[-1])[INSIDE[1:]]
    moved = abs(change).sum() + abs(sources).sum() + abs(surface).sum()
    assert abs(change.sum() - sources.sum() - surface.sum()) < 100 * EPS * moved
    assert abs(sources).sum() > 1e-3 * moved and abs(surface).sum() > 1e-6 * moved


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_advection_of_a_step_has_no_new_extrema(miniapp, axis, tmp_path):
    """By several Courant numbers side by side, also in the ghost cells."""
    courant = np.pad([0.3, -0.3, 0.9, -0.9], 2, mode="edge")
    shape, across, side = [5, 5, 5], [1, 1, 1], [1, 1, 1]  # z, y, x
    shape[axis] = across[axis] = 41
    shape[axis - 1] = side[axis - 1] = len(courant)
    f, s = even_ocean(*shape[::-1], dx=10.0, dz=10.0)
    name = ("w_wgrid", "v_wgrid", "u_wgrid")[axis]
    f[name] = np.broadcast_to(courant.reshape(side) * 10 / s["dt_tracer"], shape)
    f["tke"] = np.broadcast_to(pulse(41).reshape(across), shape)
    for _ in range(8):
        new = run(miniapp, tmp_path, f, s | EULER | {"K_h_tke": 0})
        new = new["tke_taup1"][INSIDE]
        assert new.min() >= -4 * EPS and new.max() <= 1 + 10 * EPS
        f["tke"] = np.pad(new, [(0, 0), (2, 2), (2, 2)], mode="edge")
