"""Veros with miniapp's plug-in makes what plain Veros makes, by a Python that has Veros.

    VEROS_PYTHON=venv/bin/python python3 -m pytest --miniapp build/host/bin/miniapp test_veros_plugin.py
"""

import json
import os
import subprocess

import pytest

from conftest import HERE, LONG, PACKAGE
from processes import DEADLINE_S

PARTLY = ["lateral diffusion", "biharmonic diffusion", "biharmonic friction", "explicit friction",
          "explicit friction alone", "TEM", "IDEMIX", "no TKE", "no skew diffusion", "no isoneutral mixing"]
AGREE = ["acc", "acc_basic", "global", "north_atlantic", "free surface", "energy that is not conserved",
         "equation of state", "basin", *PARTLY, "changes", "unread", "levels that are set",
         "levels that are set without TKE", "replaced", "in place", "failed", "copied", "a dye",
         "restart of the plug-in", "restart of Veros", "restart of passive tracers"]
FILES = ["acc", "acc_basic", "global", "north_atlantic", "free surface", "energy that is not conserved", "IDEMIX",
         "lateral diffusion", "TEM", "no TKE"]
REFUSED = {"several": ["its kernels have rho_0 = 1024.0, not 1025.0; its kernels have pi = 3.14",
                       "device 'gpu:7' cannot be used"],
           "tracers": ["a tracer cannot be 'temp'",
                       "its variable 'dtemp_hmix' needs the dimensions ('xt', 'yt', 'zt', 'timesteps')"],
           "gravity": ["its kernels have grav = 9.81, not 9.8"],
           "middle of a run": [
               *(f"it does not cover another {name} in the middle of a run"
                 for name in ("enable_tempsalt_sources", "coord_degree", "miniapp_threads")),
               "setting 'dt_tracer' is 0, but must be positive"],
           "friction": ["without vertical friction, Veros adds friction to that of the steps before"],
           "version": ["Veros 1.7.0 was not tested with it, only 1.6.0"],
           "time steps": ["setting 'dt_tracer' is 0, but must be positive", "setting 'dt_mom' is nan"],
           "levels": ["values are not above 0 in dzw: Veros makes dzw of dzt"],
           "land": ["there is no water: kbot is 0 everywhere"],
           **dict.fromkeys(("negative kbot", "kbot below the bottom"),
                           ["kbot is not from 0, which is land, to 6, the number of levels"]),
           "walls": ["make masks, depths and areas of kbot and spacings, but others are set: maskU"],
           "temperature": ["values are not finite in ", "temp, "]}


def run(miniapp, *arguments, **environment):
    python = os.environ.get("VEROS_PYTHON")
    if not python:
        pytest.skip("there is no Python with Veros: give $VEROS_PYTHON")
    if miniapp.is_sanitized:
        pytest.skip("it needs a sanitized Python")
    return subprocess.run(
        [python, *arguments], capture_output=True, text=True, check=False, timeout=DEADLINE_S,
        env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment,
             "MINIAPP_LIBRARY": str(miniapp.path.parent.parent / "lib/libminiapp.so")})


def answer(miniapp, *arguments, **environment):
    done = run(miniapp, HERE / "physics/veros_plugin.py", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def assert_agree(fields, share=1e-12):
    """As near as Veros is to itself when last digits change."""
    for name, (error, spread, scale) in fields.items():
        print(f"{name}: off by {error:.1e} of {scale:.1e}, spread {spread:.1e}")
        assert error <= 10 * spread + share * scale, name


@pytest.mark.parametrize("case", AGREE)
def test_veros_makes_the_same(miniapp, case):
    fields = answer(miniapp, case)[case]
    assert {"temp", "salt", "u", "rho"} < set(fields)
    assert_agree(fields)


@pytest.mark.parametrize("case", ["", " of a basin", " with lateral mixing", " without isoneutral mixing"])
def test_passive_tracers(miniapp, case):
    """Veros's own routines step them the same, and what is in the ocean stays there."""
    fields = answer(miniapp, f"passive tracers{case}")[f"passive tracers{case}"]
    assert {"dye", "ddye", "age"} < set(fields)
    assert_agree(fields)


@pytest.mark.parametrize("case", FILES)
def test_files(miniapp, case):
    """Each variable of all diagnostics and of the restart, with means that are sampled in each step, a diagnostic of a
    user, forcing in time and a time step that changes."""
    fields = answer(miniapp, f"files of {case}")[f"files of {case}"]
    assert {name.split()[0] for name in fields} == {"restart.h5", *(
        f"run.{kind}.nc" for kind in ("averages", "energy", "mixing", "overturning", "snapshot"))}
    assert_agree(fields, 1e-9)


@pytest.mark.parametrize("setup", ["acc", "acc_basic"])
def test_setups_as_they_ship(miniapp, setup):
    """In their own size and time step, 40 steps, with their own diagnostics, and a restart."""
    case = f"{setup} as it ships"
    fields = answer(miniapp, "--steps", "40", case)[case]
    assert {"restart.h5 core/temp", "restart.h5 averages/psi", "run.overturning.nc bolus_depth"} < set(fields)
    assert_agree(fields, 1e-9)


@pytest.mark.skipif(not LONG, reason="200 steps: MINIAPP_TEST_LONG=1 runs them")
@pytest.mark.parametrize("case", ["acc as it ships", "acc_basic as it ships", "files of acc_benchmark",
                                  "files of global", "files of islands"])
def test_files_after_200_steps(miniapp, case):
    """And the restart, which holds all prognostic fields; changes of energy are what large sums leave."""
    assert_agree(answer(miniapp, "--steps", "200", case)[case], 1e-8)


def test_veros_by_jax_makes_the_same(miniapp):
    assert_agree(answer(miniapp, "--backend", "jax", "acc")["acc"])


@pytest.mark.skipif(not LONG, reason="Veros compiles for minutes: MINIAPP_TEST_LONG=1 runs it")
@pytest.mark.parametrize("arguments", [["files of global"], ["--steps", "40", "acc as it ships"]])
def test_files_beside_jax(miniapp, arguments):
    assert_agree(answer(miniapp, "--backend", "jax", *arguments)[arguments[-1]], 1e-9)


def test_a_passive_tracer_beside_jax(miniapp):
    fields = answer(miniapp, "--backend", "jax", "a dye as temperature")["a dye as temperature"]
    assert fields["temp"][2] > 1 and fields["dtemp_hmix"][2] > 0
    assert_agree(fields)


@pytest.mark.skipif(not LONG, reason="Veros compiles for most of a minute: MINIAPP_TEST_LONG=1 runs it")
def test_passive_tracers_beside_jax(miniapp):
    fields = answer(miniapp, "--backend", "jax", "--steps", "3", "passive tracers once")["passive tracers once"]
    assert {"dye", "ddye", "age", "temp", "salt", "u", "v", "w", "psi", "tke", "eke"} < set(fields)
    assert_agree(fields, 1e-11)


@pytest.mark.parametrize("case", ["acc", "basin"])
def test_veros_in_float32_makes_the_same(miniapp, case):
    assert_agree(answer(miniapp, "--steps", "6", case, VEROS_FLOAT_TYPE="float32")[case])


def test_a_signal_waits_for_the_kernels(miniapp):
    fields = answer(miniapp, "interrupted")["interrupted"]
    assert set(fields) == {"temp", "salt", "tke", "rho", "u"}
    assert_agree(fields, 1e-10)


def test_a_step_that_is_made_both_ways(miniapp):
    """From the same fields, so that no difference has grown."""
    fields = answer(miniapp, "check")["check"]
    assert {"temp", "salt", "tke", "eke", "rho", "u", "psi", "dpsi", "w", "kappaM", "P_diss_v", "B1_gm", "B2_gm", "dye",
            "ddye", "age"} < set(fields)
    assert_agree(fields, 1e-9)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_steps_make_the_streamfunction_that_is_read(miniapp, precision):
    """In the bits that it has on demand, and temperature keeps its own."""
    found = answer(miniapp, "--steps", "6", "eddies", VEROS_FLOAT_TYPE=precision)["eddies"]
    for name in ("acc", "global"):
        assert (found.pop(f"{name} often"), found.pop(f"{name} never")) == (5, 0)
    assert len(found) == 6
    for name, (difference, _, most) in found.items():
        assert difference == 0 < most, name


@pytest.mark.parametrize("case", ["means", "means of every other step", "means while much changes"])
def test_means_are_the_sums_of_veros(miniapp, case):
    """Bit for bit, though one pass adds two steps."""
    found = answer(miniapp, case)[case]
    assert {"temp", "w", "psi", "K_gm", "mxl", "B1_gm", "surface_taux", "dtemp_iso", "maskT"} < set(found)
    for name, (difference, _, _) in found.items():
        assert difference == 0, name


@pytest.mark.parametrize("case", ["every variable", "every variable of a basin"])
def test_what_is_read_was_made(miniapp, case):
    """Whatever after_timestep reads is what Veros makes; of eddies, what Veros makes after it."""
    fields = answer(miniapp, case)[case]
    assert {"K_33", "Ai_ez", "du_mix", "du_adv", "p_hydro", "dtemp_iso", "dHd", "forc_rho_surface"} < set(fields)
    assert_agree({name: values for name, values in fields.items() if name not in ("B1_gm", "B2_gm")}, 1e-9)


@pytest.mark.skipif(not LONG, reason="Veros makes 30 oceans four times: MINIAPP_TEST_LONG=1 runs it")
def test_switches_at_random(miniapp):
    """In setups that change variables at random and read others, so that some are made on demand and some are not.
    Where mixing of a tracer is small, rounding of the tracer shows in it."""
    for case, fields in answer(miniapp, "--steps", "5", *(f"at random {seed}" for seed in range(30))).items():
        print(case)
        mixing = {name: fields.pop(name) for name in [*fields] if name.endswith(("_hmix", "_iso", "_vmix"))}
        assert_agree(mixing, 1e-9)
        assert_agree({name: values for name, values in fields.items() if name not in ("B1_gm", "B2_gm")}, 1e-11)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(miniapp, case):
    """All reasons in one message."""
    said = answer(miniapp, case)[case]
    assert said.startswith("Refusal: miniapp.veros cannot be used: ")
    assert all(reason in said for reason in REFUSED[case])


@pytest.mark.parametrize("case", ["read-only", "read-only in a diagnostic"])
def test_an_array_that_is_changed_in_place(miniapp, case):
    assert answer(miniapp, case)[case].startswith("UsageError: miniapp.veros gives Veros arrays")


def test_the_memory_of_a_model_that_is_gone(miniapp):
    assert not answer(miniapp, "gone")["gone"]


def test_a_library_that_is_not_there(miniapp):
    """One reason, and not each that follows from it."""
    done = run(miniapp, "-c", "import os; os.environ['MINIAPP_LIBRARY'] = 'none.so'; import miniapp.veros\n"
               "from veros.setups.acc.acc import ACCSetup\n"
               "type('Mine', (ACCSetup,), {'__veros_plugins__': (miniapp.veros,)})().setup()")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stdout.count("none.so") == 1


def test_a_refusal_has_no_traceback(miniapp):
    """And comes before a setup begins."""
    done = run(miniapp, "-c", "import miniapp.veros\nfrom veros.setups.acc.acc import ACCSetup\n"
               "type('Mine', (ACCSetup,), {'__veros_plugins__': (miniapp.veros,)})().setup()", MINIAPP_DEVICE="gpu:7")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "gpu:7" in done.stdout and "Initializing" not in done.stdout


def test_a_tolerance_that_nobody_chose(miniapp):
    """Only what the plug-in's own calls say of it is no warning."""
    done = run(miniapp, "-c", "import warnings, miniapp.veros.ocean\nfor module in ('miniapp.veros.ocean', 'mine'):\n"
               "    for line in ('the external mode is solved as far as rounding allows, but', 'other'):\n"
               "        warnings.warn_explicit(line, RuntimeWarning, module, 1, module)\n")
    said = [line for line in done.stdout.splitlines() if "RuntimeWarning" in line]  # Veros prints it there
    assert said == ["RuntimeWarning: other (miniapp.veros.ocean:1)",
                    "RuntimeWarning: the external mode is solved as far as rounding allows, but (mine:1)",
                    "RuntimeWarning: other (mine:1)"], done.stdout


def test_settings_of_the_environment(miniapp):
    """And the backend may still be chosen after the import."""
    text = ("import miniapp.veros, veros; veros.runtime_settings.backend = 'numpy'\n"
            "print(*(miniapp.veros.__VEROS_INTERFACE__['settings'][f'miniapp_{name}'].default for name in "
            "('device', 'threads', 'check')))")
    done = run(miniapp, "-c", text, MINIAPP_DEVICE="auto", MINIAPP_THREADS="2", MINIAPP_CHECK="3")
    assert done.stdout.splitlines()[-1] == "auto 2 3", done.stderr
    done = run(miniapp, "-c", "import miniapp.veros", MINIAPP_CHECK="often")
    assert done.returncode == 2 and "$MINIAPP_CHECK takes a whole number, not 'often'" in done.stdout


@pytest.mark.skipif(not LONG, reason="20 s of CPU time each: MINIAPP_TEST_LONG=1 runs them")
@pytest.mark.parametrize("setup", ["global_4deg", "global_1deg", "global_flexible", "north_atlantic",
                                   "global_4deg_waves", "global_1deg_waves"])
def test_setups_that_download_data(miniapp, setup, tmp_path):
    """With invented data: by files that the documented commands make, and with the plug-in."""
    done = run(miniapp, HERE / "physics/veros_setups.py", miniapp.path, tmp_path, setup)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])[setup]
    assert set(found) == {"program", "plugin"}
    for fields in found.values():
        assert {f"{name} after {steps}" for name in ("temp", "u", "psi", "tke") for steps in (1, 12)} < set(fields)
        assert_agree(fields, 1e-11)
