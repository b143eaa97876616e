"""Eddy kinetic energy: what its diffusivities are without it, and its budget."""

import numpy as np
import pytest

import fields
from test_kernels import OCEANS
from test_reference_tke import CASES, EULER, INSIDE, closed, volumes

EPS = np.finfo(np.float64).eps
SOURCES = {"K_diss_gm": 1, "K_diss_h": 1, "P_diss_skew": -1, "P_diss_hmix": -1, "P_diss_iso": -1}


@pytest.mark.parametrize("eddies, constant", [(0, {"K_gm": 700, "K_iso": 900}), (1, {"K_iso": 900})])
def test_what_is_constant(miniapp, eddies, constant, tmp_path):
    values, settings = fields.make(**OCEANS["odd"])
    made = miniapp.made_by("eke_diffusivities", tmp_path, values, settings | {"enable_eke": eddies})
    for name, value in constant.items():
        assert (made[name] == value).all()
    for name in ("L_rossby", "L_rhines", "eke_len", "sqrteke"):
        assert made[name].any() == bool(eddies)
    assert not eddies or len(np.unique(made["K_gm"])) > 100


def still(values):
    return values | {name: 0 * values[name] for name in MOVES["all"]}


# Each of them moves energy; what a face diffuses at least needs no K_gm.
MOVES = {"diffusion": (), "mixing": ("kappaM",), "eastward": ("u_wgrid",), "northward": ("v_wgrid",),
         "upward": ("w_wgrid",), "all": ("kappaM", "K_gm", "u_wgrid", "v_wgrid", "w_wgrid")}


@pytest.mark.parametrize("stored", [0, 1])
@pytest.mark.parametrize("case", CASES[:2])
@pytest.mark.parametrize("moves", MOVES)
def test_budget_closes(miniapp, moves, case, stored, tmp_path):
    """What the step changes is what was gained less what was dissipated; the rest only moves."""
    if stored and moves != "all":
        miniapp.leave_to_long("what moves energy does not ask what was gained")
    values, settings = fields.make(*case)
    values = closed(values) | {"eke_taup1": values["eke"], "deke_taum1": 0 * values["eke"]}
    values["w_wgrid"] = values["w_wgrid"] * values["maskW"]  # nothing comes out of the sea floor
    values = still(values) | {name: values[name] for name in MOVES[moves]}
    made = miniapp.made_by("eke", tmp_path, values, settings | EULER | {"enable_store_cabbeling_heat": stored})
    room = (volumes(values) * values["maskW"])[INSIDE]
    gained = sum(sign * values[name] for name, sign in list(SOURCES.items())[:3 if stored else 5])
    change = room * (made["eke_taup1"] - values["eke"])[INSIDE]
    expected = room * settings["dt_tracer"] * (gained - made["eke_diss_iw"])[INSIDE]
    terms = abs(change).sum() + abs(expected).sum() + abs(room * values["eke"][INSIDE]).sum()
    assert abs(change.sum() - expected.sum()) <= 50 * EPS * terms
    assert abs(change - expected).sum() > 1e-4 * terms  # it moves
