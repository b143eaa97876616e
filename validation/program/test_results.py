"""Results: the stored grid against its reference, and the same from run to run, on each device, for
any number of threads; settings that change them, and those that are not finite."""

import json
import re
import sys

import numpy as np
import pytest

import fields
from conftest import DEVICE, DONE, GRID, GRID_REFERENCE, HERE, MISMATCH, QUICK, field_of, read, replace, write
from processes import completed, executable
from test_kernels import reference_of
from test_verdict import edit, scale_of

pytestmark = [pytest.mark.every_compiler, pytest.mark.every_device]


# ---- the stored grid ----

def all_agree(miniapp, devices):
    """How validation ends where each output of each kernel has a reference on the grid, and is near it."""
    count = len(devices) * sum(len(kernel.made()) for kernel in miniapp.kernels if not kernel.by_name)
    return f"validation PASSED: {count} of {count} variables agree"


def test_quickstart(miniapp, devices):
    """The README's main job, on all devices at once."""
    if devices == ["cpu"] and not miniapp.is_sanitized:
        pytest.skip("run/validate does it in test_all_stored_references")
    words = [word for device in devices for word in ("--device", device)]
    assert all_agree(miniapp, devices) in miniapp.passes(
        "--kernel", "all,calibration", *words, "--validate", GRID_REFERENCE, GRID)


# ---- the other stored inputs ----

def run_validate(miniapp, *words):
    return completed([sys.executable, HERE.parent / "run" / "validate", *words], env=miniapp.environment())


@pytest.mark.unsanitized("test_switches.py takes each path, and restarts and means make steps")
def test_all_stored_references(miniapp, device):
    """The independent references, in both precisions, on the global grid and on rough oceans."""
    done = run_validate(miniapp, "--miniapp", miniapp.path, "--device", device)
    assert done.returncode == DONE and done.stderr == "", done
    for precision in ("float64", "float32"):
        assert f"grid, {precision}: {all_agree(miniapp, [device])}" in done.stdout
    assert done.stdout.count("validation PASSED: ") == len(done.stdout.splitlines()) == 14


def test_a_stored_reference_that_is_not_met(miniapp, tmp_path):
    """As where the rough oceans alone show a mistake."""
    executable(tmp_path / "program", """#!/bin/sh
case "$*" in *switched.other*) echo 'validation FAILED: 16 of 17'; echo 'miniapp: they differ' >&2; exit 1 ;; esac
echo 'validation PASSED: 17 of 17 variables agree'
""")
    done = run_validate(miniapp, "--miniapp", tmp_path / "program")
    assert done.returncode == MISMATCH and done.stderr == 2 * "miniapp: they differ\n", done
    assert done.stdout.count("PASSED") == 12 and done.stdout.count("validation FAILED: 16 of 17") == 2


def test_a_program_that_compares_nothing(miniapp):
    done = run_validate(miniapp, "--miniapp", "/bin/true")
    assert done.returncode == MISMATCH and done.stdout.count(": nothing was compared\n") == 14, done


@pytest.mark.parametrize("program, code", [("exit 4", DEVICE), ("kill -TERM $$", 143), (None, DEVICE)])
def test_a_program_that_validates_nothing(miniapp, tmp_path, program, code):
    if program:
        executable(tmp_path / "program", f"#!/bin/sh\n{program}\n")
    done = run_validate(miniapp, "--miniapp", tmp_path / "program")
    assert done.returncode == code and "PASSED" not in done.stdout and "Traceback" not in done.stderr, done


# ---- the same on all roads ----

GRIDS = [(5, 5, 1), (6, 5, 2), (7, 9, 3), (16, 8, 5), (33, 17, 12), (64, 6, 9)]
EVERYWHERE = (GRIDS[0], GRIDS[4])  # also in builds that share the host's sources; all are sanitized


@pytest.fixture(params=GRIDS, ids=lambda shape: "x".join(map(str, shape)))
def ocean_of_a_size(request, together):
    if request.param not in EVERYWHERE and not together.miniapp.is_sanitized:
        together.miniapp.skip_repeat("the smallest and a large grid show it")
        if request.param != GRIDS[-1]:
            together.miniapp.leave_to_long("three grids show it, the smallest and two large ones")
    nx, ny, nz = request.param
    return together.ocean(request.param, lambda: fields.make(nx, ny, nz, seed=nx))


def outputs_in(together, *paths):
    """Each kernel and output, with its values in each of these files."""
    files = [together.opened(path) for path in paths]
    for kernel in together.miniapp.kernels:
        for described in kernel.outputs:
            yield kernel, described, [field_of(kernel, file, described.name) for file in files]


def test_runs_repeat_bit_for_bit(miniapp, together, device, ocean_of_a_size):
    """Whatever the number of threads; but a sum over threads, in its last digits. The sanitizers look at
    one thread and several."""
    path = ocean_of_a_size.path
    outputs = [together.output(path, "-d", device, "-t", threads, again=again)
               for again, threads in enumerate((1, 3) if miniapp.is_sanitized else (1, 1, 2, 3))]
    for kernel, described, (first, *others) in outputs_in(together, *outputs):
        for other in others:
            np.testing.assert_array_max_ulp(other, first, 0 if described.axes else 8)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_gpu_agrees_with_cpu(together, gpu, ocean_of_a_size, precision):
    """As a reference's default tolerance has it; in float32 each kernel has one of its own, which may be
    wider."""
    path = ocean_of_a_size.path
    ours, theirs = (together.output(path, "-d", device, "-t", 1, *(
        ("--precision", precision) if precision == "float32" else ())) for device in ("cpu", gpu))
    assert together.opened(theirs).attrs["device"].startswith(b"gpu:0: ")
    for kernel, described, (wanted, found) in outputs_in(together, ours, theirs):
        rtol, atol = 1e-10, 1e-12 * scale_of(wanted)
        if precision == "float32":
            tolerance = reference_of(kernel).TOLERANCES[described.name][precision].atol_rel
            rtol, atol = 0, tolerance * abs(wanted).max()
        np.testing.assert_allclose(found, wanted, rtol, atol, err_msg=f"{kernel}: {described.name}")


def test_repetitions_do_not_change_the_result(together, device):
    """A kernel starts from the same state in each call."""
    path = together.ocean("small", lambda: fields.make(11, 9, 6, seed=3)).path
    outputs = [together.output(path, "-d", device, *calls) for calls in ((), ("-r", 5, "--burnin", 3))]
    for kernel, described, values in outputs_in(together, *outputs):
        np.testing.assert_array_equal(*values, f"{kernel}: {described.name}")


# Values that show where another number would not, and what has to be set for a setting to count.
OTHERS = {"eq_of_state_type": 2, "tke_mxl_choice": 2, "mxl_min": 5, "kappaM_min": 1,
          "kappaM_max": 1e-4, "kappaH_min": 1, "eke_lmin": 1e5, "eke_k_max": 1, "t_ice": 20,
          "enable_eke": 0, "enable_eke_superbee_advection": 0, "pyom_compatibility_mode": 0,
          "A_h": 1e4, "hor_friction_cosPower": 2, "A_hbi": 1e10, "biharmonic_friction_cosPower": 3, "K_h": 1e3,
          "K_hbi": 1e12, "kappaM_0": 1e-3, "kappaH_0": 1e-4, "enable_idemix_hor_diffusion": 0,
          "enable_idemix_superbee_advection": 0, "eke_diss_surfbot_frac": 0.3, "enable_eddy_streamfunction": 0}
LATERAL = {"enable_hor_friction": 1, "A_h": 1e4}
SCALED = LATERAL | {"enable_hor_friction_cos_scaling": 1}
BOTTOM = {"enable_bottom_friction": 1, "r_bot": 1e-5}
NEEDED = {"Prandtl_tke0": {"enable_Prandtl_tke": 0}, "dt_tracer": {"enable_superbee_advection": 1},
          "K_gm_0": {"enable_eke": 0}, "eq_of_state_type": {"enable_conserve_energy": 0},
          "dt_mom": {"enable_streamfunction": 0}, "enable_implicit_vert_friction": {"enable_implicit_vert_friction": 0},
          "enable_hor_friction": LATERAL | {"enable_hor_friction": 0}, "A_h": {"enable_hor_friction": 1},
          "enable_hor_friction_cos_scaling": LATERAL, "hor_friction_cosPower": SCALED, "enable_noslip_lateral": LATERAL,
          "enable_ray_friction": {"r_ray": 1e-5}, "r_ray": {"enable_ray_friction": 1},
          "enable_bottom_friction": BOTTOM | {"enable_bottom_friction": 0}, "r_bot": {"enable_bottom_friction": 1},
          "enable_bottom_friction_var": BOTTOM, "enable_conserve_energy": BOTTOM,
          "enable_store_cabbeling_heat": {"enable_eke": 0}, "enable_store_bottom_friction_tke": {"enable_idemix": 1},
          "eke_diss_surfbot_frac": {"enable_eke_diss_surfbot": 1},
          "enable_quadratic_bottom_friction": {"r_quad_bot": 0.1},
          "r_quad_bot": {"enable_quadratic_bottom_friction": 1}}
IN_FRESH_WATER = ("clamp_enthalpy",)  # test_density.py shows it, there is none here


def another(name, default):
    return OTHERS.get(name, 1 - default if name.startswith("enable_") else 3 * default + 0.001)


def settings_of(kernels):
    """Each setting, and the kernels that read it."""
    names = {name for kernel in kernels for name in kernel.settings}
    return {name: [kernel for kernel in kernels if name in kernel.settings]
            for name in sorted(names - set(IN_FRESH_WATER))}


def apart(readers):
    """The settings in groups, in none of which a kernel reads two, or one and what another needs: a run can show
    those of a group."""
    groups = []
    for name in readers:
        touched = {str(kernel) for each in (name, *NEEDED.get(name, {})) for kernel in readers[each]}
        for names, kernels in groups:
            if not touched & kernels:
                names.append(name)
                kernels |= touched
                break
        else:
            groups.append(([name], touched))
    return [names for names, _ in groups]


def given(settings):
    """As options."""
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def defaults(miniapp):
    listing = miniapp.passes("--list-kernels")
    return {name: float(re.search(rf"setting {name} +\[([^]]+)\]", listing)[1])
            for name in settings_of(miniapp.kernels)}


@pytest.mark.unsanitized("test_switches.py takes each path")
def test_settings_take_effect(miniapp, small):
    """Each is seen by an output of each kernel that reads it."""
    if miniapp.is_gcc:
        pytest.skip("other compilers' builds validate with each of two values")
    default, readers = defaults(miniapp), settings_of(miniapp.kernels)
    for names in apart(readers):
        def run(settings):
            kernels = {str(kernel): True for name in names for kernel in readers[name]}
            return miniapp.checksums(small, "-k", ",".join(kernels), *given(settings))

        needed = {key: value for name in names for key, value in NEEDED.get(name, {}).items()}
        original, changed = run(needed), run(needed | {name: another(name, default[name]) for name in names})
        for name in names:
            for kernel in map(str, readers[name]):
                assert any(original.get(key) != changed.get(key) for key in {*original, *changed} if key[0] == kernel), (
                    f"{name} has no effect on {kernel}")


def test_where_settings_come_from(miniapp, small):
    """Default, then the file's, then the command line's; as the report says, and seen by outputs."""
    def run(settings):
        kernels = ",".join(map(str, miniapp.kernels))
        result = miniapp.json(small, "-k", kernels, "--checksums", *given(settings))
        return result["settings"], result["checksums"]

    default = defaults(miniapp)
    others = {name: another(name, value) for name, value in default.items()}
    original, changed = run({}), run(others)
    stored = {name: original[0][name] for name in default}
    assert {name: changed[0][name] for name in others} == pytest.approx(others) != pytest.approx(stored)
    edit(small, "/", **others)
    assert run({}) == changed and run(stored) == original != changed
    edit(small, "/", **dict.fromkeys(others))
    assert run({}) == run(default) != original


def test_other_sizes_give_finite_results(miniapp, small):
    """Smaller and larger than the file's own grid; a run whose results are not finite would fail."""
    miniapp.passes(small, "-k", ",".join(map(str, miniapp.kernels)), "--size", "30,216,1000,5000,30000")


# ---- outputs that are not finite ----

# Of spacings above 0, by which slopes overflow.
OVERFLOWING = {"float64": 1e-305, "float32": 1e-42}


def overflow(path, precision="float64"):
    """Narrow cells, but each as far from the next as both are wide."""
    for name in ("dxt", "dxu"):
        replace(path, name, read(path, name) * OVERFLOWING[precision])


@pytest.mark.parametrize("precision", OVERFLOWING)
@pytest.mark.parametrize("halo", [2, 0])
def test_outputs_that_are_not_finite(miniapp, ocean, device, tmp_path, precision, halo):
    """They are named, with the first index in the output file, which is written."""
    closed = fields.faces(ocean[0]["maskT"], cyclic=False, halo=halo)
    path = write(tmp_path / "in.h5", ocean[0] | closed, ocean[1], halo=halo)
    overflow(path, precision)
    output = tmp_path / "output.h5"
    words = [path, "-k", "eos,isoneutral", "-d", device, "--precision", precision]
    miniapp.passes(*words, "--allow-nonfinite", "-o", output)
    bad = [described.name for kernel in miniapp.ocean for described in kernel.outputs
           if described.name in ("K_11", "K_22", "K_33", "Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")
           and not np.isfinite(read(output, described.name)).all()]
    values = read(output, bad[0])
    index = np.argwhere(~np.isfinite(values))[0]
    output.unlink()
    label = {"gpu": "gpu:0"}.get(device, device)
    message = miniapp.fails(
        MISMATCH, rf"outputs are not finite, though the inputs are: {bad[0]}\["
        rf"{', '.join(map(str, index))}\] is (nan|-?inf) in isoneutral on {label} in {precision}",
        *words, "-o", output)
    assert message.rstrip().endswith(f"; so are {', '.join(bad[1:])} (--allow-nonfinite accepts them)")
    np.testing.assert_array_equal(read(output, bad[0]), values)
    done = miniapp.run(*QUICK, "--format", "json", *words)
    assert done.returncode == MISMATCH
    assert ["nonfinite" in row["marks"] for row in json.loads(done.stdout)["results"]] == [False, True]


def test_a_resumed_run_knows_what_was_not_finite(miniapp, small, tmp_path):
    saved = tmp_path / "saved.json"
    words = [small, "-k", "isoneutral", "--resume", saved]
    overflow(small)
    miniapp.fails(MISMATCH, "outputs are not finite", *words)
    miniapp.fails(MISMATCH, r"saved\.json: outputs of isoneutral on cpu in float64 were not finite", *words)
    text = miniapp.passes(*words, "--allow-nonfinite")
    assert re.search("^nonfinite: outputs hold NaN or Inf", text, re.MULTILINE)
