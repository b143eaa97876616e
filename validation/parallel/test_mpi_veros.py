"""Veros in several processes, by a Python that has Veros and mpi4py, makes with miniapp's plug-in what it makes in one.

    VEROS_PYTHON=venv/bin/python python3 -m pytest --miniapp build/host-mpi/bin/miniapp test_mpi_veros.py
"""

import json
import os
import subprocess

import numpy as np
import pytest

from conftest import HERE, LONG, PACKAGE
from test_mpi import count

CASES = ["acc", "basin", "free surface", "explicit friction", "IDEMIX", "TEM", "no TKE", "passive tracers",
         "one process"]


def python_that(test):
    """The Python that has Veros, if it passes a test."""
    python = os.environ.get("VEROS_PYTHON")
    return python if python and not subprocess.run([python, "-c", test], check=False, stderr=-3).returncode else None


def run(ranks, cut, *arguments, **environment):
    """A script that Veros's Python runs in the processes of a cut."""
    python = python_that("import mpi4py, veros")
    if not python:
        pytest.skip("there is no Python with Veros and mpi4py: give $VEROS_PYTHON")
    library = ranks.miniapp.path.parent.parent / "lib/libminiapp.so"
    ranks.changes = {"PYTHONPATH": str(PACKAGE), "MINIAPP_LIBRARY": str(library), **environment}
    return ranks.run(count(cut), *arguments, program=[python, "-m", "mpi4py"])


def values(ranks, cut, *cases, steps=12, begin=None):
    done = run(ranks, cut, HERE / "physics/veros_plugin.py", "--cut", cut, "--steps", steps,
               *(["--begin", begin] if begin else []), *(f"values of {case}" for case in cases))
    assert done.returncode == 0, done.stderr
    return {case.removeprefix("values of "): variables
            for case, variables in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.fixture(scope="module")
def alone(ranks):
    return values(ranks, "1x1", *CASES)


@pytest.mark.parametrize("cut", ["2x1", "1x2", "2x2"])
def test_veros_in_several_processes_makes_the_same(ranks, alone, cut):
    """Every variable that after_timestep can read, those that are made on demand among them."""
    found = values(ranks, cut, *CASES)
    for case, variables in alone.items():
        assert {"temp", "u", "psi", "du_mix", "p_hydro"} < set(variables)
        assert_equal(found[case], variables, 1e-10)


def assert_equal(found, variables, share, nudged=()):
    """But for a share of the largest value, and ten times what the last digits of an initial state make."""
    for name, whole in variables.items():
        spread = max((np.abs(np.subtract(other[name], whole)).max() for other in nudged), default=0)
        np.testing.assert_allclose(found[name], whole, rtol=0, atol=10 * spread + share * np.abs(whole).max(),
                                   err_msg=name)


FROM_REST = ["acc", "global", "acc_benchmark", "islands"]
GROWING = ["global", "islands"]
STEPS = [12, pytest.param(200, marks=pytest.mark.skipif(not LONG, reason="MINIAPP_TEST_LONG=1 makes 200 steps"))]


@pytest.mark.parametrize("steps", STEPS)
def test_bits_of_four_processes(ranks, steps):
    """From rest: the flow at set-up comes of sums round islands, which Veros adds up process by process."""
    found = values(ranks, "2x2", *FROM_REST, steps=steps, begin="rest")
    for case, variables in values(ranks, "1x1", *FROM_REST, steps=steps, begin="rest").items():
        assert np.abs(variables["u"]).max() > 1e-3
        assert_equal(found[case], variables, 0)


@pytest.mark.skipif(not LONG, reason="30 oceans three times: MINIAPP_TEST_LONG=1 makes them")
def test_bits_of_switches_at_random(ranks):
    """From rest, in setups that change variables at random and read others."""
    cases = [f"switches at random {seed}" for seed in range(30)]
    alone = values(ranks, "1x1", *cases, steps=5, begin="rest")
    for cut in ("2x2", "1x2"):
        found = values(ranks, cut, *cases, steps=5, begin="rest")
        for case, variables in alone.items():
            print(cut, case)
            assert_equal(found[case], variables, 0)


@pytest.mark.skipif(not LONG, reason="200 steps: MINIAPP_TEST_LONG=1 makes them")
def test_200_steps_of_four_processes(ranks):
    cases = ["acc", "acc_basic", "north_atlantic", "acc_benchmark"]
    found = values(ranks, "2x2", *cases, steps=200)
    for case, variables in values(ranks, "1x1", *cases, steps=200).items():
        assert_equal(found[case], variables, 1e-10)


@pytest.mark.parametrize("steps", STEPS)
def test_what_last_digits_grow_to(ranks, steps):
    """Superbee makes much of them in turbulent kinetic energy, and slopes do where layers are nearly even: in one
    process, too, when the last digits of tracers change."""
    found = values(ranks, "2x2", *GROWING, steps=steps)
    whole, *nudged = (values(ranks, "1x1", *GROWING, steps=steps, begin=begin) for begin in (None, 1, 2))
    for case, variables in whole.items():
        assert_equal(found[case], variables, 1e-10, [other[case] for other in nudged])


RESTARTS = [f"a restart of {one}" for one in ("the plug-in", "Veros", "the plug-in for itself")]


def test_restarts_of_four_processes(ranks):
    """Half a run by one and half by the other, each of four processes, ends as in one process."""
    if not python_that("import h5py; assert h5py.get_config().mpi"):
        pytest.skip("Veros's h5py is built without MPI")
    found = values(ranks, "2x2", *RESTARTS)
    for case, variables in values(ranks, "1x1", *RESTARTS).items():
        assert {"temp", "u", "psi", "tke"} < set(variables)
        assert_equal(found[case], variables, 1e-10)


@pytest.fixture(scope="module", params=[*STEPS, "islands"])
def files_alone(request, ranks):
    if not python_that("import h5py; assert h5py.get_config().mpi"):
        pytest.skip("Veros's h5py is built without MPI")
    case, steps = ("files of islands", 12) if request.param == "islands" else ("files", request.param)
    return case, steps, values(ranks, "1x1", case, steps=steps)[case]


@pytest.mark.parametrize("cut", ["2x1", "1x2", *(["2x2", "4x1", "1x4"] if LONG else [])])
def test_files_of_several_processes(ranks, files_alone, cut):
    """Each variable of all diagnostics and of the restart; energies are small differences of large sums."""
    case, steps, alone = files_alone
    assert {"restart.h5 core/temp", "run.overturning.nc bolus_iso"} < set(alone)
    assert_equal(values(ranks, cut, case, steps=steps)[case], alone, 1e-9)


def test_what_is_refused(ranks):
    """In one line, before the set-up."""
    script = ("import miniapp.veros, veros; veros.runtime_settings.num_proc = (2, 1)\n"
              "from veros.setups.acc.acc import ACCSetup\n"
              "type('Mine', (ACCSetup,), {'__veros_plugins__': (miniapp.veros,)})().setup()")
    done = run(ranks, "2x1", "-c", script, MINIAPP_DEVICE="gpu:7")
    said = [line for line in done.stdout.splitlines() if "cannot be used" in line]
    assert done.returncode == 2 and len(said) == 1 and "'gpu:7' cannot be used" in said[0], done
