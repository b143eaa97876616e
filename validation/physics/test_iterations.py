"""Iterations of the external mode: few where the guess is as warm as in a run, and the report says how many."""

import re

import h5py
import numpy as np
import pytest

from conftest import LONG
from peers import external_mode, solvers

MOST = {"pressure": 10, "stream": 10}
# The largest grid takes 5 GB, and the three large ones together four minutes of an idle core.
STEPS = {(30, 42): 60, (120, 84): 60} | ({(360, 160): 60, (1440, 720): 40, (3600, 1800): 8} if LONG else {})
SHOWN = re.compile(r" (\d+) iterations of [\d.]+ .s(, [\d.]+ launches each)?, relative residual (\S+)\n")


def warm(form, nx, ny, path):
    solvers.after_steps(form, nx, ny, STEPS[nx, ny]).ocean.store(path)
    return path


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("form", MOST)
def test_few_iterations_on_any_grid(miniapp, form, tmp_path):
    """The iteration is Chebyshev's alone; a warning would tell its end."""
    kernel, found = external_mode.FORMS[form], []
    for nx, ny in STEPS:
        path = warm(form, nx, ny, tmp_path / "in.h5")
        row, = miniapp.json(path, "-k", kernel)["results"]
        solution = row["solution"]
        assert solution["residual"] <= 1e-10 and solution["nests"] > 0, solution
        found.append(solution["iterations"])
    assert max(found) <= MOST[form] and max(found) <= 2 * min(found), found


@pytest.mark.usefixtures("library")
@pytest.mark.every_device
def test_report_shows_iterations(miniapp, device, tmp_path):
    path, kept = warm("pressure", 30, 42, tmp_path / "in.h5"), tmp_path / "kept.json"
    words = path, "-k", "surface_pressure", "-d", device
    shown = SHOWN.search(miniapp.passes(*words))
    first, again = (miniapp.json(*words, "--resume", kept)["results"][0]["solution"] for _ in range(2))
    assert shown[1] == str(first["iterations"]) and (shown[2] is None) == (device == "cpu")
    assert float(shown[3]) == pytest.approx(first["residual"], rel=0.1) and again == first
    with h5py.File(path, "r+") as file:
        for name in ("u_mean", "v_mean", "psi", "psi_taum1"):
            file[name][...] = 0
    assert " no iteration: the right-hand side is 0" in miniapp.passes(*words)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("form", MOST)
def test_flops_are_those_of_iterations(miniapp, form, tmp_path):
    """However many levels there are; where nothing is solved there are none, and no rate."""
    def row():
        return miniapp.json(path, "-k", external_mode.FORMS[form])["results"][0]

    path = warm(form, 30, 42, tmp_path / "in.h5")
    solved = row()
    with h5py.File(path, "r+") as file:
        heights, bottom = file["dzt"][...], file["kbot"]
        del file["dzt"]
        file["dzt"] = np.append(np.full(10, 500.0), heights)
        bottom[...] += 10 * (bottom[...] > 0)
    deeper = row()
    assert deeper["nz"] == solved["nz"] + 10 and deeper["solution"] == solved["solution"]
    columns, iterations = solved["nx"] * solved["ny"], solved["solution"]["iterations"]
    assert deeper["flops"] == solved["flops"] == 143 * columns * iterations
    assert solved["gflop_per_s"] == pytest.approx(1e-9 * solved["flops"] / solved["median_s"])
    with h5py.File(path, "r+") as file:
        for name in {"u_mean", "v_mean", "du_mean", "dv_mean", "psi", "psi_taum1", "dpsi", "dpsi_taum1"} & set(file):
            file[name][...] = 0
    still = row()
    assert still["solution"]["iterations"] == still["flops"] == 0 and still["gflop_per_s"] is None
    assert still["bytes"] == deeper["bytes"] == solved["bytes"] + 8 * 10  # of dzt
    said = miniapp.passes(path, "-k", external_mode.FORMS[form])
    assert re.search(r"[\d.]+ +[\d.]+ +- +-( L\d)?$", said, re.MULTILINE), said
