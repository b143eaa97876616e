"""Veros with miniapp's plug-in makes what plain Veros makes, by a Python that has Veros.

    VEROS_PYTHON=venv/bin/python python3 -m pytest --miniapp build/host/bin/miniapp test_veros_plugin.py
"""

import json
import math
import os
import subprocess

import pytest

from conftest import HERE, PACKAGE
from processes import DEADLINE_S

AGREE = ["acc", "acc_basic", "global", "north_atlantic", "changes", "diagnostics", "unread", "replaced",
         "in place", "failed", "copied", "restart of the plug-in", "restart of Veros"]
REFUSED = {"diffusion": "UsageError: miniapp.veros does not cover enable_hor_diffusion = True",
           "device": "DeviceError: device 'gpu:7' cannot be used",
           "no skew": "UsageError: miniapp.veros does not cover enable_skew_diffusion = False",
           "density": "UsageError: miniapp.veros does not cover rho_0 = 1025.0",
           "gravity": "UsageError: miniapp.veros does not cover grav = 9.8",
           "pi": "UsageError: miniapp.veros does not cover pi = 3.14",
           "energy that is not conserved": "UsageError: miniapp.veros does not cover enable_conserve_energy = False",
           "a diagnostic that does not say so": "UsageError: K_33 was not made in this step",
           "a dye": "UsageError: dtemp_iso was not made in this step",
           "due late": "UsageError: the diagnostic mixing is due only since after_timestep changed the time step",
           "version": "UsageError: Veros 1.7.0 was not tested with miniapp.veros, only 1.6.0"}
UNMADE = {"dtemp_iso", "dsalt_iso", "dtemp_vmix", "dsalt_vmix", "K_11", "K_22", "K_33", "Ai_ez", "Ai_nz", "Ai_bx",
          "Ai_by", "B1_gm", "B2_gm"}


def run(miniapp, *arguments):
    python = os.environ.get("VEROS_PYTHON")
    if not python:
        pytest.skip("there is no Python with Veros: give $VEROS_PYTHON")
    if miniapp.is_sanitized:
        pytest.skip("it needs a sanitized Python")
    done = subprocess.run(
        [python, HERE / "physics/veros_plugin.py", *arguments], capture_output=True, text=True, check=False,
        timeout=DEADLINE_S, env={**os.environ, "PYTHONPATH": str(PACKAGE),
                                 "MINIAPP_LIBRARY": str(miniapp.path.parent.parent / "lib/libminiapp.so")})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def results(miniapp):
    return run(miniapp)


def assert_agree(fields):
    """As near as Veros is to itself when last digits change."""
    assert {"temp", "salt", "tke", "u", "rho"} < set(fields)
    for name, (error, spread, scale) in fields.items():
        print(f"{name}: off by {error / scale:.1e}, spread {spread / scale:.1e}")
        assert error <= 10 * spread + 1e-12 * scale, name


@pytest.mark.parametrize("case", AGREE)
def test_veros_makes_the_same(results, case):
    assert_agree(results[case])


def test_veros_by_jax_makes_the_same(miniapp):
    assert_agree(run(miniapp, "--backend", "jax", "acc")["acc"])


def test_a_signal_waits_for_the_kernels(results):
    assert set(results["interrupted"]) == {"temp", "salt", "tke", "rho"}
    for name, (error, _, scale) in results["interrupted"].items():
        assert error <= 1e-10 * scale, name


def test_a_step_that_is_made_both_ways(results):
    """From the same fields, so that no difference has grown."""
    assert {"temp", "salt", "tke", "eke", "rho", "kappaM", "P_diss_v"} < set(results["check"])
    for name, (error, _, scale) in results["check"].items():
        assert error <= 1e-9 * scale, name


@pytest.mark.parametrize("case", ["every variable", "every variable of others"])
def test_what_is_read_was_made(results, case):
    """Whatever after_timestep reads is what Veros makes; what was not made cannot be read, or is NaN in restarts."""
    compared = results[case]["compared"]
    assert set(results[case]["refused"]) == UNMADE
    assert math.isnan(compared.pop("dHd")[0])
    for name, (error, spread, scale) in compared.items():
        assert error <= 10 * spread + 1e-9 * scale, name


def test_a_diagnostic_that_needs_veros(results):
    (error, _, value), = results["a diagnostic that needs Veros"].values()
    assert value > 1 and error <= 1e-9 * value


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_covered(results, case):
    assert results[case].startswith(REFUSED[case])
