"""Energy of internal waves: its budget, and limits of its parameters."""

import numpy as np
import pytest

import fields
from test_kernels import OCEANS
from test_reference_tke import CASES, EULER, INSIDE, closed, volumes

MOST = 3e-12  # of what is gained and dissipated
MOVES = {"spreading": ("v0",), "propagation": ("c0",), "eastward": ("u_wgrid",), "northward": ("v_wgrid",),
         "upward": ("w_wgrid",), "all": ("c0", "v0", "u_wgrid", "v_wgrid", "w_wgrid")}
SOURCES = {
    "eddies": {},
    "eddies, at the bottom": {"enable_eke_diss_bottom": 1},
    "eddies, at the bottom and the surface": {"enable_eke_diss_surfbot": 1, "eke_diss_surfbot_frac": 0.3},
    "mean flow": {"enable_eke": 0, "enable_store_bottom_friction_tke": 1},
    "mean flow and mixing": {"enable_eke": 0, "enable_store_cabbeling_heat": 1},
}
OF_MEAN_FLOW = {"K_diss_gm": 1, "K_diss_h": 1, "P_diss_skew": -1}
OF_MIXING = {"P_diss_hmix": -1, "P_diss_iso": -1}


def gained(values, chosen, room, area):
    """In a second, by all sources: as in Veros, columns of one level lose some of it."""
    deep = values["kbot"] < len(values["dzw"])
    columns = {name: np.where(deep, 1, share) * area for name, share in (
        ("forc_iw_bottom", 0.5), ("forc_iw_surface", 0))}
    result = sum((values[name] * factor)[INSIDE[1:]].sum() for name, factor in columns.items())
    names = OF_MEAN_FLOW | (OF_MIXING if chosen.get("enable_store_cabbeling_heat") else {})
    if chosen.get("enable_eke", 1):
        names = {"eke_diss_iw": 1}
        kept = (0.5 if chosen.get("enable_eke_diss_bottom") else
                1 - chosen["eke_diss_surfbot_frac"] if chosen.get("enable_eke_diss_surfbot") else 1)
        room = room * np.where(deep, 1, kept)
    result += sum(sign * (values[name] * room)[INSIDE].sum() for name, sign in names.items())
    return result


@pytest.mark.parametrize("case", CASES[:2])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("moves", MOVES)
def test_budget_closes(miniapp, moves, source, case, tmp_path):
    """Energy changes by gains less dissipation; all else only moves it."""
    if moves != "all" and SOURCES[source]:
        miniapp.leave_to_long("sources and ways to move, each by itself, show it")
    values, settings = fields.make(*case)
    chosen = SOURCES[source]
    values = closed(values) | {"E_iw_taup1": values["E_iw"], "dE_iw_taum1": 0 * values["E_iw"]}
    values["w_wgrid"] = values["w_wgrid"] * values["maskW"]  # nothing comes out of the sea floor
    values |= {name: 0 * values[name] for name in MOVES["all"] if name not in MOVES[moves]}
    made = miniapp.made_by("idemix", tmp_path, values, settings | EULER | chosen)
    room, dt = volumes(values) * values["maskW"], settings["dt_tracer"]
    area = (values["cost"] * values["dyt"])[:, None] * values["dxt"] * (values["kbot"] > 0)
    change = ((made["E_iw_taup1"] - values["E_iw"]) * room)[INSIDE] / dt
    lost = (made["iw_diss"] * room)[INSIDE]
    gain = gained(values, chosen, room, area)
    if not chosen.get("enable_store_bottom_friction_tke"):
        gain += (values["K_diss_bot"] * room)[INSIDE].sum()
    terms = abs(change).sum() + lost.sum()
    assert abs(change.sum() - gain + lost.sum()) <= MOST * lost.sum()
    assert abs(change).sum() > 1e-2 * terms  # it moves


def test_waves_as_slow_as_inertial_oscillations(miniapp, tmp_path):
    """Where the frequency is at most that of rotation, they do not spread, and dissipate least."""
    values, settings = fields.make(**OCEANS["odd"])
    values["coriolis_t"] = np.full(values["coriolis_t"].shape, 1e-3)
    values["Nsqr"][:, ::2] = 1e-6 * values["Nsqr"][:, ::2] / abs(values["Nsqr"][:, ::2])
    values["Nsqr"][:, 1::2] = 1e-3
    made = miniapp.made_by("idemix_parameters", tmp_path, values, settings)
    water = values["maskW"] == 1
    assert not made["v0"][:, ::2].any() and (made["v0"][:, 1::2] > 0)[water[:, 1::2]].all()
    assert (made["alpha_c"][:, ::2][water[:, ::2]] == 1e-4).all()
    assert (made["alpha_c"][:, 1::2][water[:, 1::2]] > 1e-4).all()
