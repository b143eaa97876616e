"""A run that Veros begins, the program continues and Veros ends, by run/make-input and run/make-restart, is that of
Veros alone. A Python that has Veros makes the restarts:

    VEROS_PYTHON=venv/bin/python python3 -m pytest --miniapp build/host/bin/miniapp test_make_restart.py
"""

import json
import os
import shutil
import sys

import h5py
import numpy as np
import pytest

from conftest import DONE, HERE, INPUT, PACKAGE, USAGE, copied
from miniapp import restart
from miniapp.ghosts import with_ghosts
from miniapp.library import default
from test_make_input import assert_one_line, make as make_input, undrawn  # noqa: F401  pylint: disable=unused-import
from test_veros_plugin import run

SETUP = HERE / "physics/veros_restart.py"
SCRIPT = HERE.parent / "run/make-restart"
BY_MINIAPP, LAST = 3, 3
STATE = ("temp", "salt", "u", "v", "w", "psi", "eke", "E_iw")
CASES = ["lid", "surface", "basin"]


@pytest.fixture
def veros(miniapp):
    """Runs a script by the Python that has Veros."""
    def of(case, *arguments):
        return run(miniapp, *arguments, CASE=case, PYTHONPATH=os.pathsep.join([str(PACKAGE), str(HERE / "physics")]))
    return of


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def ended(miniapp, veros, make_input, undrawn, known, tmp_path_factory):  # pylint: disable=unused-argument
    """The folder of a case in which Veros has begun, and the program has made its steps; once for all tests."""
    def of(case):
        if case not in known:
            folder = tmp_path_factory.mktemp(case)
            done = veros(case, SETUP, "begin", folder)
            assert done.returncode == DONE, done.stderr
            code, said = make_input(folder / "run.snapshot.nc", "--restart", folder / "run.restart.h5",
                                    output=folder / "grid.h5")
            assert code == DONE, said
            miniapp.passes(folder / "grid.h5", "--steps", BY_MINIAPP, "--every", BY_MINIAPP, "-k", "ocean", "--set",
                           "solver_tolerance=1e-13", "-o", folder / "END.nc", quick=False)
            known[case] = folder
        return known[case]
    return of


def of_level(core, name, level="tau"):
    values = core[name][()]
    levels = values.ndim > 1 and values.shape[-1] == 3 and name != "K_diss_v"
    values = values[..., int(core[level][()])] if levels else values
    return values[2:-2, 2:-2] if values.ndim > 1 else values


def made_restart(veros, case, folder):
    done = veros(case, SCRIPT, folder / "END.nc", SETUP, "-o", folder / "new.restart.h5")
    assert (done.returncode, done.stdout) == (DONE, f"{folder / 'new.restart.h5'}\n"), done.stderr
    return folder / "new.restart.h5"


@pytest.mark.parametrize("case", CASES)
def test_veros_continues_as_if_it_had_made_all_steps(veros, ended, case):
    """With a direct solver in the place of its own. A tendency may be small beside what it is the difference of."""
    folder = ended(case)
    made_restart(veros, case, folder)
    done = veros(case, SETUP, "continue", folder)
    assert done.returncode == DONE, done.stderr
    with h5py.File(folder / "whole.restart.h5") as whole, h5py.File(folder / "continued.restart.h5") as parts:
        assert set(whole) == set(parts) and set(whole["core"]) == set(parts["core"])
        assert parts["core/time"][()] == whole["core/time"][()]
        assert parts["averages/average_nitts"][()] == LAST  # means begin anew
        for name in whole["core"]:
            wanted, made = (of_level(file["core"], name) for file in (whole, parts))
            error, most = np.abs(made - wanted).max(), np.abs(wanted).max()
            print(f"{case}: {name} off by {error:.1e} of {most:.1e}")
            if name not in ("tau", "taum1", "taup1"):
                assert error <= (1e-12 if name in STATE else 1e-11) * most, name


@pytest.mark.parametrize("case", CASES)
def test_the_fields_come_back(veros, ended, make_input, case):
    """Bit for bit by run/make-input, but for dpsi, which Veros keeps in two parts; so does the time."""
    folder = ended(case)
    back = folder / "back.h5"
    code, said = make_input(folder / "run.snapshot.nc", "--restart", made_restart(veros, case, folder), output=back)
    assert code == DONE, said
    with h5py.File(folder / "END.nc") as end, h5py.File(back) as file:
        of_mode = {"dpsi", "dpsi_taum1"} if case != "surface" else set()
        names = {name for name in set(end) & set(file) if end[name].ndim > 1} - of_mode
        assert {"temp", "u", "w", "dtemp_taum1", "du_taum1", "psi", "psi_taum1", "K_diss_v"} < names
        for name in names:
            np.testing.assert_array_equal(file[name][()], end[name][()], name)
        for name in ("psi", "psi_taum1"):
            assert file[name].attrs["units"] == end[name].attrs["units"] == (b"m3 s-1" if of_mode else b"m2 s-2")
            walls = [each[name].attrs.get("southern_wall") for each in (file, end)]
            assert of_mode or walls == [None, None]  # a pressure has none
            np.testing.assert_array_equal(*walls)
        for name in of_mode & {"dpsi"}:
            for ours, theirs in ((end[name][()], file[name][()]),
                                 (end[name].attrs["southern_wall"], file[name].attrs["southern_wall"])):
                np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-14 * np.abs(end[name]).max())
        with h5py.File(folder / "run.restart.h5") as first:
            assert file.attrs["start_time"] == first["core/time"][()] + BY_MINIAPP * file.attrs["dt_tracer"]


# ---- what is refused ----

def set_text(name, change):
    def spoil(file):
        file.attrs[name] = np.bytes_(change(file.attrs[name].decode()))
    return spoil


def without(name):
    def spoil(file):
        del file[name]
    return spoil


def with_values(name, change):
    def spoil(file):
        values = change(file[name][()])
        del file[name]
        file[name] = values
    return spoil


def in_one_cell(value):
    def spoil(file):
        file["salt"][-1, 0, 0] = value
    return spoil


def without_a_cell(file):
    for name in ("temp", "salt"):
        file[name][-1, 0, 0] = 0


def with_a_tracer(file):
    for name in ("dye", "ddye_taum1"):
        file[name] = file["temp"][()]


SPOILT = {
    "sequence": (set_text("sequence", lambda text: "ocean_step_eke"),
                 "is of the sequence ocean_step_eke, expected ocean"),
    "settings": (set_text("settings", lambda text: text.replace("c_k=0.1 ", "c_k=0.2 ").replace("enable_eke=1",
                                                                                                "enable_eke=0")),
                 "is of a run with c_k = 0.2"),
    "PyOM": (set_text("settings", lambda text: text.replace("pyom_compatibility_mode=0", "pyom_compatibility_mode=1")),
             "is of a run with pyom_compatibility_mode = 1, not 0 of the setup"),
    "no settings": (lambda file: file.attrs.__delitem__("settings"), "has no step or no settings, expected what"),
    "no step": (lambda file: file.attrs.__delitem__("itt"), "has no step or no settings, expected what"),
    "no number": (lambda file: file.attrs.modify("itt", [np.nan]), "has no step or no settings, expected what"),
    "no field": (without("tke_taup1"), "missing: tke_taup1, expected an output of the sequence ocean"),
    "shape": (with_values("u", lambda values: values[:, :, 1:]),
              "u has shape (6, 13, 8), expected the setup's (6, 13, 9)"),
    "wall": (lambda file: file["psi"].attrs.__delitem__("southern_wall"), "psi has no attribute southern_wall"),
    "land": (without_a_cell, "its land is not the setup's"),
    "not finite": (in_one_cell(np.nan), "salt is not finite everywhere"),
    "levels": (with_values("z", lambda values: 2 * values), "its points along z are not the setup's"),
    "latitudes": (with_values("y", lambda values: values + 1), "its points along y are not the setup's"),
    "tracer": (with_a_tracer, "has the tracers dye, expected a setup with them in miniapp_tracers"),
}


def with_all_ghosts(file):
    """As the end of a run from an input that has ghosts."""
    for name, dataset in file.items():
        if dataset.ndim > 1:
            values = with_ghosts(default().fields[name], dataset[()], True, dataset.attrs.get("southern_wall"))
            del file[name]
            file[name] = values


def fresh(file):
    file["salt"][...] = np.where(file["salt"][...] == file["salt"].attrs.get("_FillValue"), file["salt"][...], 0)


@pytest.fixture
def answers(veros, ended, known, miniapp):  # pylint: disable=unused-argument
    """{name of a file: why it is refused, or where it differs from the end of the run}"""
    if "answers" not in known:
        folder = ended("lid")
        for name, (spoil, _) in {**SPOILT, "with ghosts": (with_all_ghosts, ""), "fresh": (fresh, "")}.items():
            with copied(folder / "END.nc", folder / f"{name}.nc") as file:
                spoil(file)
        miniapp.passes(folder / "grid.h5", "--steps", 1, "-k", "ocean_step_eke", "-o", folder / "given flow.nc",
                       quick=False)
        done = veros("lid", SETUP, "fill", folder)
        assert done.returncode == DONE, done.stderr
        known["answers"] = json.loads(done.stdout.splitlines()[-1])
    return known["answers"]


@pytest.mark.parametrize("name", SPOILT)
def test_what_is_refused(answers, name):
    assert answers[name].startswith(SPOILT[name][1]) and "\n" not in answers[name]


def test_all_settings_that_differ_are_named(answers):
    assert "; enable_eke = 0, not 1 of the setup" in answers["settings"]


def test_what_the_program_does_not_carry(answers):
    """A step in a given flow leaves out the flow; the setup's own variable is in no output."""
    assert answers["given flow"].startswith("missing: ") and " u, v, w, " in answers["given flow"]
    assert answers["mine"] == "missing: mine, expected an output of the sequence ocean"


def test_a_snapshot_and_an_output_with_ghosts_are_the_same(answers):
    assert answers["END.000003"] == answers["with ghosts"] == answers["END"] == []


def test_fresh_water_is_no_land(answers):
    assert "salt" in answers["fresh"] and "temp" not in answers["fresh"]


def test_a_restart_is_not_written_before_all_is_right(veros, ended):
    """The script's own exit codes, each with one line."""
    folder = ended("lid")
    output, damaged, empty = folder / "none.h5", folder / "damaged.h5", folder / "empty.py"
    empty.touch()
    shutil.copy(folder / "END.nc", damaged)
    with h5py.File(damaged) as file:
        place = file["temp"].id.get_chunk_info(0).byte_offset
    with open(damaged, "r+b") as file:
        file.seek(place)
        file.write(b"\x55" * 8)
    for code, said, words in (
            (INPUT, "is of a run with c_k = 0.1", (folder / "END.nc", SETUP, "-s", "c_k", "0.3")),
            (INPUT, "is damaged", (damaged, SETUP)),
            (USAGE, "veros run: Invalid value for 'SETUP_FILE'", (folder / "END.nc", folder / "none.py")),
            (INPUT, "empty.py: cannot set up its ocean: ", (folder / "END.nc", empty)),
            (5, "cannot be written", (folder / "END.nc", SETUP, "-o", folder / "none" / "none.h5"))):
        done = veros("lid", SCRIPT, "-o", output, *words)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1) and said in done.stderr, done
        assert not output.exists()


@pytest.mark.parametrize("code, said, words", [
    (USAGE, "the following arguments are required", ["END.nc"]),
    (USAGE, "END.nc: would be overwritten", ["END.nc", "setup.py", "-o", "END.nc"]),
    (USAGE, "setup.py: would be overwritten", ["END.nc", "setup.py", "-o", "setup.py"]),
    (INPUT, "", ["END.nc", "setup.py", "-o", "new.h5"]),  # the file is not there, or Veros is not
])
def test_usage(monkeypatch, capsys, tmp_path, code, said, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["make-restart", *words])
    assert restart.main() == code
    line = capsys.readouterr().err
    assert_one_line(line)
    assert line.startswith("run/make-restart: ") and said in line
