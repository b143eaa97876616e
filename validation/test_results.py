"""Results: their values, the verdict on them, and the three forms in which they are printed."""

import csv
import io
import json
import math
import os
import re

import h5py
import numpy as np
import pytest

import fields
from conftest import (DONE, GRID, GRID_REFERENCE, INPUT, MISMATCH, QUICK, assert_one_line, change,
                      read, read_of, replace, write)
from test_kernels import reference_of
from test_reading import faces

# Section 5 of the interface
RESULT = ["kernel", "device", "precision", "nx", "ny", "nz", "points", "calls", "mean_s", "stdev_s",
          "min_s", "p25_s", "median_s", "p75_s", "max_s", "ns_per_point", "gb_per_s", "speedup",
          "threads", "efficiency", "gflop_per_s", "bytes", "flops", "intensity", "bound", "share",
          "ceiling_bytes_per_s", "ceiling_flops_per_s", "device_bytes", "transfer", "marks"]
NO_NUMBER = {"bound", "share", "ceiling_bytes_per_s", "ceiling_flops_per_s",  # with --roofline only
             "threads", "efficiency", "transfer", "marks"}
VALIDATION = {"kernel", "device", "variable", "max_abs", "max_rel", "max_ref", "rtol", "atol",
              "worst_index", "passed", "compared", "below_atol"}
BUILD = {"version", "git_commit", "build_type", "compiler", "flags", "offload_target",
         "hdf5_version"}
RUN = {"host", "cpu", "threads", "binding", "grid", "device", "settings", "input", "input_sha256",
       "command_line", "time"}


def rtol_and_atol(path, name):
    with h5py.File(path) as file:
        return file[name].attrs["rtol"], file[name].attrs["atol"]


def edit(path, name, **attributes):
    """Sets attributes, or removes those that are None."""
    with h5py.File(path, "a") as file:
        for key, value in attributes.items():
            file[name].attrs.pop(key, None)
            if value is not None:
                file[name].attrs[key] = value


def use_default_tolerances(path):
    with h5py.File(path, "a") as file:
        for dataset in file.values():
            for name in ("rtol", "atol"):
                dataset.attrs.pop(name, None)


def shift(path, name, index, amount):
    with h5py.File(path, "a") as file:
        file[name][index] += amount


def verdicts(miniapp, path, reference, *arguments):
    """Exit code, and the validation of each variable."""
    done = miniapp.run(*QUICK, path, "--validate", reference, "--format", "json", *arguments)
    checks = {check["variable"]: check for check in json.loads(done.stdout)["validation"]}
    assert done.returncode == (DONE if all(c["passed"] for c in checks.values()) else MISMATCH)
    return done.returncode, checks


# ---- the stored grid ----

def has_reference(kernel):
    if not (GRID.exists() and GRID_REFERENCE.exists()):
        return False
    with h5py.File(GRID_REFERENCE) as file:
        return all(output.name in file for output in kernel.outputs)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_stored_reference(miniapp, together, kernel, device, precision):
    """The independent reference, on the global grid."""
    if not has_reference(kernel):
        pytest.skip(f"validation/grid.reference.h5 has no reference of {kernel}")
    names = ",".join(kernel.name for kernel in miniapp.kernels if has_reference(kernel))
    checks = together.once(("stored reference", device, precision), lambda _: miniapp.json(
        GRID, "-k", names, "-d", device, "--precision", precision, "--validate", GRID_REFERENCE))
    passed = {check["variable"]: check["passed"] for check in checks["validation"]
              if check["kernel"] == kernel.name}
    assert passed == {output.name: True for output in kernel.outputs}


def test_quickstart(miniapp):
    """The README's main job."""
    if not all(has_reference(kernel) for kernel in miniapp.ocean):
        pytest.skip("not every kernel has a stored reference")
    devices = [word for device in miniapp.devices for word in ("--device", device)]
    text = miniapp.passes("--kernel", "all", *devices, "--validate", GRID_REFERENCE, GRID)
    assert "validation PASSED" in text


# ---- the same on all roads ----

GRIDS = [(5, 5, 1), (6, 5, 2), (7, 9, 3), (16, 8, 5), (33, 17, 12), (64, 6, 9)]


@pytest.fixture(params=GRIDS, ids=lambda shape: "x".join(map(str, shape)))
def ocean_of_a_size(request, together):
    nx, ny, nz = request.param
    return together.ocean(request.param, lambda: fields.make(nx, ny, nz, seed=nx))


def test_runs_repeat_bit_for_bit(together, kernel, device, ocean_of_a_size):
    """Whatever the number of threads; but a sum over threads, in its last digits."""
    path = ocean_of_a_size.path
    outputs = [together.output(path, "-d", device, "-t", threads, again=again)
               for again, threads in enumerate((1, 1, 2, 3))]
    for described in kernel.outputs:
        first, *others = (read_of(kernel, output, described.name) for output in outputs)
        for other in others:
            np.testing.assert_array_max_ulp(other, first, 0 if described.axes else 8)


def verdicts_on_gpu(miniapp, together, path, precision):
    """What the host makes is the reference. In float32 each kernel has a tolerance of its own, which
    may be wider than the default."""
    output = together.output(path, "--precision", precision)
    with h5py.File(output, "a") as file:
        for kernel in miniapp.kernels if precision == "float32" else ():
            for described in kernel.outputs:
                own = f"{kernel}.{described.name}"
                dataset = file[own if own in file else described.name]
                tolerance = reference_of(kernel).TOLERANCES[described.name][precision].atol_rel
                dataset.attrs.update(rtol_float32=0.0,
                                     atol_float32=tolerance * abs(dataset[...]).max())
    names = ",".join(kernel.name for kernel in miniapp.kernels)
    done = miniapp.run(*QUICK, path, "-k", names, "--precision", precision, "-d", "gpu",
                       "--validate", output, "--format", "json")
    return json.loads(done.stdout)["validation"]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_gpu_agrees_with_cpu(miniapp, together, kernel, ocean_of_a_size, precision):
    if "gpu" not in miniapp.devices:
        pytest.skip("there is no gpu in this build, or here")
    path = ocean_of_a_size.path
    checks = [check for check in together.once(
        ("on the gpu", path, precision),
        lambda _: verdicts_on_gpu(miniapp, together, path, precision))
              if check["kernel"] == kernel.name]
    assert {check["variable"]: check["passed"] for check in checks} == {
        described.name: True for described in kernel.outputs}
    assert {check["device"] for check in checks} == {"gpu:0"}


def test_repetitions_do_not_change_the_result(together, kernel, device):
    """A kernel starts from the same state in each call."""
    path = together.ocean("small", lambda: fields.make(11, 9, 6, seed=3)).path
    outputs = [together.output(path, "-d", device, *calls)
               for calls in ((), ("-r", 5, "--burnin", 3))]
    for described in kernel.outputs:
        np.testing.assert_array_equal(*(read_of(kernel, output, described.name)
                                        for output in outputs))


def stored_setting(path, name):
    with h5py.File(path) as file:
        return file.attrs.get(name)


# Values that show where another number would not, and what has to be set for a setting to count.
OTHERS = {"eq_of_state_type": 2, "tke_mxl_choice": 2, "mxl_min": 5, "kappaM_min": 1,
          "kappaM_max": 1e-4, "kappaH_min": 1, "eke_lmin": 1e5, "eke_k_max": 1, "t_ice": 20,
          "enable_eke": 0, "enable_eke_superbee_advection": 0, "pyom_compatibility_mode": 0}
NEEDED = {"Prandtl_tke0": {"enable_Prandtl_tke": 0}, "dt_tracer": {"enable_superbee_advection": 1},
          "K_gm_0": {"enable_eke": 0}, "eq_of_state_type": {"enable_conserve_energy": 0}}
IN_FRESH_WATER = ("clamp_enthalpy",)  # test_density.py shows it, there is none here


def another(name, default):
    return OTHERS.get(name, 1 - default if name.startswith("enable_") else 3 * default + 0.001)


def settings_of(kernels):
    """Each setting, and the kernels that read it."""
    names = {name for kernel in kernels for name in kernel.settings}
    return {name: [kernel for kernel in kernels if name in kernel.settings]
            for name in sorted(names - set(IN_FRESH_WATER))}


def test_settings_take_effect(miniapp, small, tmp_path):
    """Default, then the file's, then the command line's; seen by the outputs of each kernel."""
    def run(*arguments):
        path = tmp_path / "output.h5"
        miniapp.passes(small, "-k", ",".join(map(str, kernels)), "-o", path, *arguments)
        return {str(kernel): np.concatenate([read_of(kernel, path, output.name).ravel()
                                             for output in kernel.outputs]) for kernel in kernels}

    listing = miniapp.passes("--list-kernels")
    for name, kernels in settings_of(miniapp.kernels).items():
        default = float(re.search(rf"setting {name} +\[([^]]+)\]", listing)[1])
        needed = NEEDED.get(name, {})
        before = {other: stored_setting(small, other) for other in needed}
        edit(small, "/", **needed)
        original, stored = run(), stored_setting(small, name)
        stored = default if stored is None else stored
        other = another(name, default)
        changed = run("--set", f"{name}={other}")
        for kernel in map(str, kernels):
            assert not np.array_equal(original[kernel], changed[kernel]), (
                f"{name} has no effect on {kernel}")
        edit(small, "/", **{name: other})
        np.testing.assert_equal(run(), changed)
        np.testing.assert_equal(run("--set", f"{name}={stored}"), original)
        edit(small, "/", **{name: None})
        np.testing.assert_equal(run(), run("--set", f"{name}={default}"))
        edit(small, "/", **{name: stored}, **before)


@pytest.mark.parametrize("size", [30, 216, 1000, 5000, 30000])
def test_other_sizes_give_finite_results(together, kernel, size):
    """Smaller and larger than the file's own grid."""
    path = together.ocean("small", lambda: fields.make(11, 9, 6, seed=3)).path
    output = together.output(path, "--size", size)
    for described in kernel.outputs:
        assert np.isfinite(read_of(kernel, output, described.name)).all()


# ---- the verdict ----

def each_output(miniapp):
    """What is written, and the kernel that writes it: where the others do not matter they are left
    out. What several write is, too: a reference has names of its own for it (test_output.py)."""
    pairs = [(described, kernel) for kernel in miniapp.ocean for described in kernel.outputs]
    names = [described.name for described, _ in pairs]
    return [pair for pair in pairs if names.count(pair[0].name) == 1]


@pytest.mark.parametrize("rtol, atol", [(0, 1e-3), (1e-3, 0), (1e-3, 0.5)])
def test_perturbed_value(miniapp, small, reference, rtol, atol):
    """Just within and just beyond the tolerance, in turn for neighbours, at a place that must be
    named. `atol` is a part of the scale."""
    expected = {}
    for described, _ in each_output(miniapp):
        values = read(reference, described.name)
        index = np.unravel_index(abs(values).argmax(), values.shape)
        tolerances = {"rtol": float(rtol), "atol": atol * scale_of(values)}
        allowed = tolerances["atol"] + rtol * abs(values[index])
        edit(reference, described.name, **tolerances)
        expected[described.name] = index, values[index], allowed, tolerances
    for odd in range(2):
        for n, (name, (index, value, allowed, tolerances)) in enumerate(expected.items()):
            error = (0.99, 1.01)[(n + odd) % 2] * allowed
            change(reference, name, index, value + error * np.sign(value))
        _, checks = verdicts(miniapp, small, reference)
        for n, (name, (index, value, allowed, tolerances)) in enumerate(expected.items()):
            assert checks[name]["passed"] == ((n + odd) % 2 == 0), name
            assert checks[name]["worst_index"] == list(index)
            assert {key: checks[name][key] for key in tolerances} == tolerances
            assert math.isclose(checks[name]["max_abs"], (0.99, 1.01)[(n + odd) % 2] * allowed,
                                rel_tol=1e-6)


def test_one_bit_fails_without_tolerance(miniapp, small, reference):
    name = each_output(miniapp)[0][0].name
    with h5py.File(reference, "a") as file:
        value = file[name][1, 2, 3]
        file[name][1, 2, 3] = np.nextafter(value, np.inf)
    _, checks = verdicts(miniapp, small, reference)
    assert not checks[name]["passed"] and checks[name]["worst_index"] == [1, 2, 3]


def test_failed_verdict_in_the_table(miniapp, small, reference):
    shift(reference, "dHdT", (5, 4, 3), 1)
    done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference)
    assert done.returncode == MISMATCH
    assert re.search(r"^eos +cpu +float64 +dHdT .* \[5, 4, 3\] +FAILED$", done.stdout, re.MULTILINE)
    assert "validation FAILED: 0 of 1 variables agree" in done.stdout
    assert done.stderr == f"miniapp: {reference}: the outputs differ from this reference\n"


def test_failed_verdict_in_csv(miniapp, small, reference):
    shift(reference, "dHdT", (5, 4, 3), 1)
    done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference, "--format", "csv")
    assert done.returncode == MISMATCH
    assert re.search("^# validation: eos cpu float64 dHdT .* FAILED$", done.stdout, re.MULTILINE)


def test_passed_verdict_in_the_table(miniapp, small, reference):
    text = miniapp.passes(small, "--validate", reference)
    count = sum(len(kernel.outputs) for kernel in miniapp.ocean)
    assert f"validation PASSED: {count} of {count} variables agree with the reference" in text


def scale_of(values):
    """The least power of 2 above 99 % of the magnitudes that are not 0, or above all but one."""
    sizes = np.sort(abs(values[values != 0]))
    left_out = len(sizes) // 100 if len(sizes) >= 200 else min(1, len(sizes) - 1)
    return 2.0 ** np.frexp(sizes[len(sizes) - 1 - left_out])[1] if len(sizes) else 0


def test_default_tolerances(miniapp, small, reference, tmp_path):
    """Those of the interface, where a reference has none."""
    use_default_tolerances(reference)
    _, checks = verdicts(miniapp, small, reference)
    for described, _ in each_output(miniapp):
        check, scale = checks[described.name], scale_of(read(reference, described.name))
        assert check["rtol"] == 1e-10
        assert math.isclose(check["atol"], 1e-12 * scale)
    single = tmp_path / "single.h5"
    miniapp.passes(small, "-o", single, "--precision", "float32")
    code, checks = verdicts(miniapp, small, single, "--precision", "float32")
    assert code == DONE and all(check["rtol"] > 1e-8 for check in checks.values())


def test_an_outlier_does_not_widen_the_tolerance(miniapp, small, reference):
    """With the largest value for a scale, one of them lets all others be wrong."""
    use_default_tolerances(reference)
    _, before = verdicts(miniapp, small, reference)
    outliers = {"K_11": 9e6, "Ai_ez": -99, "dHdT": 900, "tke_taup1": 900, "tke_surf_corr": 99}
    for name, value in outliers.items():
        original = read(reference, name)
        index = tuple(np.argwhere(original)[0])
        change(reference, name, index, value)
        code, checks = verdicts(miniapp, small, reference)
        assert code == MISMATCH and checks[name]["worst_index"] == list(index)
        assert checks[name]["atol"] <= 2 * before[name]["atol"]
        change(reference, name, index, original[index])


@pytest.mark.parametrize("name, value, reason", [
    ("K_11", 3e36, "from 0 to 1e.07"), ("K_22", -1, "from 0 to 1e.07"),
    ("Ai_ez", 1e20, "from -100 to 100"), ("dHdT", -9999, "from -1000 to 1000"),
    ("tke_taup1", 9.96921e36, "from -1000 to 1000"), ("tke_surf_corr", -1e-9, "from 0 to 100")])
def test_references_that_cannot_be(miniapp, small, reference, name, value, reason):
    """What no run can give; the first such value is named."""
    last = tuple(length - 1 for length in read(reference, name).shape)
    index = tuple(length // 2 for length in read(reference, name).shape)
    for place in (last, index):
        change(reference, name, place, value)
    message = rf"reference\.h5: {name}\[{', '.join(map(str, index))}\] is "
    miniapp.fails(INPUT, message + rf".*, but must be {reason} \(--allow-invalid", small,
                  "--validate", reference)
    code, checks = verdicts(miniapp, small, reference, "--allow-invalid")
    assert code == MISMATCH and not checks[name]["passed"]
    change(reference, name, index, np.inf)
    miniapp.fails(INPUT, message + r"inf \(--allow-nonfinite accepts it\)", small,
                  "--validate", reference)


@pytest.mark.parametrize("suffix, precision", [("", "float64"), ("_float32", "float32")])
def test_tolerances_that_would_pass_anything(miniapp, small, reference, suffix, precision):
    """In whatever precision comes first: before anything is measured."""
    scale = scale_of(read(reference, "dHdT"))
    for name, most, beyond in (("rtol", 0.1, 0.11), ("atol", scale, 1.01 * scale),
                               ("atol", scale, 1e308)):
        edit(reference, "dHdT", **{name + suffix: beyond})
        for precisions in {precision, "float64,float32"}:
            pattern = re.escape(f"reference.h5: attribute '{name}{suffix}' of dataset 'dHdT' is "
                                f"{beyond:g}, but must be from 0 to {most:g}: ")
            miniapp.fails(INPUT, pattern, small, "-k", "eos", "--precision", precisions,
                          "--validate", reference)
        edit(reference, "dHdT", **{name + suffix: most})
        miniapp.passes(small, "-k", "eos", "--precision", precision, "--validate", reference)
        edit(reference, "dHdT", **{name + suffix: 0.0})


def test_no_tolerance_for_what_is_0_everywhere(miniapp, small, reference):
    replace(reference, "tke_surf_corr", 0 * read(reference, "tke_surf_corr"))
    edit(reference, "tke_surf_corr", atol=1e-300)
    miniapp.fails(INPUT, "'atol' of dataset 'tke_surf_corr' is 1e-300, but must be from 0 to 0",
                  small, "--validate", reference)


def test_how_strict_a_verdict_is(miniapp, small, reference, tmp_path):
    """The share of the values that the tolerance could not tell from 0."""
    expected = {}
    for (described, _), part in zip(each_output(miniapp), [0, 1e-3, 0.01, 0.1, 0.5, 1] * 3):
        values = read(reference, described.name)
        atol = part * scale_of(values)
        sizes = abs(values[values != 0])
        expected[described.name] = (sizes <= atol).mean() if sizes.size else None
        edit(reference, described.name, atol=atol)
    code, checks = verdicts(miniapp, small, reference)
    assert code == DONE and len(set(expected.values())) > 3
    for name, share in expected.items():
        assert checks[name]["below_atol"] == pytest.approx(share)
        assert checks[name]["compared"] == np.count_nonzero(read(reference, name))
    table = miniapp.passes(small, "--validate", reference)
    saved = tmp_path / "saved.json"
    saved.write_text(miniapp.passes(small, "--validate", reference, "--format", "json"))
    for text in (table, miniapp.passes("--show", saved, quick=False)):
        assert "<= atol: the share of the reference" in text
        for name, share in expected.items():
            percent = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
            assert re.search(rf" {name} .* {percent} % +\[.*passed", text), (name, share)


# ---- nothing compared ----

def without_water():
    values, settings = fields.make(11, 9, 6, seed=3)
    return values | {name: np.zeros_like(values[name]) for name in
                     ("maskT", "maskU", "maskV", "maskW", "kbot")}, settings


def test_all_of_it_is_land(miniapp, together, kernel):
    path = together.ocean("land", without_water).path
    output = together.output(path)
    if kernel.calibration:  # its numbers are no water
        miniapp.passes(path, "-k", kernel, "--validate", output)
        return
    done = miniapp.run(*QUICK, path, "-k", kernel, "--validate", output, "--format", "json")
    assert done.returncode == MISMATCH
    assert_one_line(done.stderr)
    assert f"nothing was compared for '{kernel}': all of the input is land" in done.stderr
    assert all(check["compared"] == 0 for check in json.loads(done.stdout)["validation"])


def test_all_of_it_is_not_finite(miniapp, small, tmp_path):
    replace(small, "temp", np.full_like(read(small, "temp"), np.nan))
    output = tmp_path / "output.h5"
    words = [small, "-k", "eos", "--allow-nonfinite"]
    miniapp.passes(*words, "-o", output)
    assert np.isnan(read(output, "dHdT")).all()
    message = miniapp.fails(MISMATCH, r"output\.h5: nothing was compared for 'eos': its outputs and "
                            "their reference are 0 or not finite everywhere", *words, "--validate",
                            output)
    text = miniapp.run(*QUICK, *words, "--validate", output).stdout
    assert "PASSED" not in text and "nothing was compared for eos" in text and message


def test_an_output_may_be_0_everywhere(miniapp, small, tmp_path):
    """Where nothing drains the surface, tke_surf_corr is; a kernel with nothing else tells nothing."""
    for name in ("forc_tke_surface", "tke", "tke_taup1", "dtke_taum1", "forc"):
        replace(small, name, np.full_like(read(small, name), 1e-6))
    output = tmp_path / "output.h5"
    miniapp.passes(small, "-k", "tke", "-o", output)
    assert not read(output, "tke_surf_corr").any()
    code, checks = verdicts(miniapp, small, output, "-k", "tke")
    assert code == DONE and checks["tke_surf_corr"]["below_atol"] is None
    for name in ("forc_tke_surface", "tke", "tke_taup1", "dtke_taum1", "forc"):
        replace(small, name, np.zeros_like(read(small, name)))
    miniapp.passes(small, "-k", "tke", "-o", output)
    miniapp.fails(MISMATCH, "nothing was compared for 'tke'", small, "-k", "tke", "--validate", output)


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
    closed = faces(ocean[0]["maskT"], cyclic=False, halo=halo)
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
    assert message.rstrip().endswith(
        f"; so are {', '.join(bad[1:])} (--allow-nonfinite accepts them)")
    np.testing.assert_array_equal(read(output, bad[0]), values)
    done = miniapp.run(*QUICK, "--format", "json", *words)
    assert done.returncode == MISMATCH
    assert ["nonfinite" in row["marks"] for row in json.loads(done.stdout)["results"]] == [False, True]


def test_index_of_what_is_not_finite_is_that_of_the_file(miniapp, ocean, tmp_path):
    """In a file from the surface down, too."""
    values = {name: value[::-1] if value.ndim == 3 or name in ("zt", "p", "dzt", "dzw") else value
              for name, value in (ocean[0] | faces(ocean[0]["maskT"], False, 0)).items()
              if name[:6] not in ("sample", "factor")}
    nz = len(values["zt"])
    values["kbot"] = np.where(values["kbot"] > 0, nz + 1 - values["kbot"], 0)
    path = write(tmp_path / "in.h5", values, ocean[1], halo=0)
    overflow(path)
    output = tmp_path / "output.h5"
    words = [path, "-k", "isoneutral"]
    miniapp.passes(*words, "--allow-nonfinite", "-o", output)
    index = np.argwhere(~np.isfinite(read(output, "K_33")))[0]
    assert index[0] != nz - 1 - index[0]
    miniapp.fails(MISMATCH, rf"are: K_33\[{', '.join(map(str, index))}\] is", *words)


def test_a_resumed_run_knows_what_was_not_finite(miniapp, small, tmp_path):
    saved = tmp_path / "saved.json"
    words = [small, "-k", "isoneutral", "--resume", saved]
    overflow(small)
    miniapp.fails(MISMATCH, "outputs are not finite", *words)
    miniapp.fails(MISMATCH, r"saved\.json: outputs of isoneutral on cpu in float64 were not finite",
                  *words)
    miniapp.passes(*words, "--allow-nonfinite")
    text = miniapp.passes("--show", saved, quick=False)
    assert re.search("^nonfinite: outputs hold NaN or Inf", text, re.MULTILINE)


def test_tolerances_of_float32(miniapp, small, reference):
    """Attributes of their own: those of float64 would fail every result in float32."""
    edit(reference, "dHdT", rtol=1e-15, atol=1e-15, rtol_float32=0.0, atol_float32=1e-4)
    code, checks = verdicts(miniapp, small, reference, "-k", "eos", "--precision", "float32")
    assert code == DONE and checks["dHdT"]["atol"] == 1e-4
    edit(reference, "dHdT", atol_float32=1e-12)
    code, checks = verdicts(miniapp, small, reference, "-k", "eos", "--precision", "float32")
    assert code == MISMATCH and 1e-9 < checks["dHdT"]["max_abs"] < 1e-3


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1e-3", [1e-3, 1e-3]], ids=repr)
@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_tolerances_that_are_none(miniapp, small, reference, name, value):
    edit(reference, "dHdT", **{name: value})
    miniapp.fails(INPUT, f"reference.h5: .*attribute '{name}'", small, "-k", "eos",
                  "--validate", reference)


def test_not_a_number_in_the_reference(miniapp, small, reference):
    """A finite result there is wrong; without --allow-nonfinite there can be no other."""
    change(reference, "dHdT", (3, 2, 1), np.nan)
    miniapp.fails(INPUT, r"reference\.h5: dHdT\[3, 2, 1\] is nan \(--allow-nonfinite accepts it\)",
                  small, "-k", "eos", "--validate", reference)
    code, checks = verdicts(miniapp, small, reference, "-k", "eos", "--allow-nonfinite")
    assert code == MISMATCH and checks["dHdT"]["worst_index"] == [3, 2, 1]
    assert checks["dHdT"]["max_abs"] is None, "JSON has no infinity"


def test_not_a_number_in_the_result(miniapp, small, reference):
    """Wrong where the reference is finite, whatever the tolerance; right where it is not."""
    edit(reference, "dHdT", rtol=0.1, atol=scale_of(read(reference, "dHdT")))
    with h5py.File(small, "a") as file:
        file["temp"][3, 2, 1] = np.nan
    code, checks = verdicts(miniapp, small, reference, "-k", "eos", "--allow-nonfinite")
    assert code == MISMATCH and checks["dHdT"]["worst_index"] == [3, 2, 1]
    with h5py.File(reference, "a") as file:
        file["dHdT"][3, 2, 1] = np.nan
    code, checks = verdicts(miniapp, small, reference, "-k", "eos", "--allow-nonfinite")
    assert code == DONE and checks["dHdT"]["max_abs"] == 0


# ---- references that cannot be used ----

def test_missing_reference(miniapp, small, tmp_path):
    miniapp.fails(INPUT, "absent.h5: No such file", small, "--validate", tmp_path / "absent.h5")


@pytest.mark.parametrize("content", [b"", b"text", b"\x89HDF\r\n\x1a\n" + bytes(3000)])
def test_garbled_reference(miniapp, small, tmp_path, content):
    path = tmp_path / "garbled.h5"
    path.write_bytes(content)
    miniapp.fails(INPUT, "garbled.h5: not an HDF5 file", small, "--validate", path)


def test_truncated_reference(miniapp, small, reference):
    os.truncate(reference, reference.stat().st_size - 500)
    miniapp.fails(INPUT, "reference.h5: not an HDF5 file, or a damaged", small,
                  "--validate", reference)


def test_missing_variable(miniapp, small, reference):
    for described, kernel in each_output(miniapp):
        original = reference.read_bytes()
        with h5py.File(reference, "a") as file:
            del file[described.name]
        miniapp.fails(INPUT, f"reference.h5: dataset '{described.name}' is missing", small,
                      "-k", kernel, "--validate", reference)
        reference.write_bytes(original)


def one_of_each_shape(miniapp):
    """Outputs that differ in their axes, and their kernels: others are read alike."""
    return {described.axes: (described, kernel) for described, kernel in each_output(miniapp)}.values()


def test_reference_that_was_never_written(miniapp, small, reference):
    """HDF5 reads zeros there, which are no reference."""
    for described, kernel in one_of_each_shape(miniapp):
        original = reference.read_bytes()
        with h5py.File(reference, "a") as file:
            shape = file[described.name].shape
            del file[described.name]
            file.create_dataset(described.name, shape, float, chunks=shape)
        miniapp.fails(INPUT, f"reference.h5: dataset '{described.name}' was never written", small,
                      "-k", kernel, "--validate", reference)
        reference.write_bytes(original)


def test_reference_of_another_shape(miniapp, small, reference):
    original = reference.read_bytes()
    for described, kernel in one_of_each_shape(miniapp):
        values = read(reference, described.name)
        for place, axis in enumerate(described.axes):
            replace(reference, described.name, values.take(range(values.shape[place] - 1), place))
            miniapp.fails(INPUT, rf"reference\.h5: dataset '{described.name}' has \d+ cells along "
                          f"{axis}, but 'the input' has", small, "-k", kernel, "--validate",
                          reference)
            reference.write_bytes(original)
        replace(reference, described.name, values[0])
        miniapp.fails(INPUT, "axes, but must have", small, "-k", kernel, "--validate", reference)
        replace(reference, described.name, values.astype("S8"))
        miniapp.fails(INPUT, "must hold numbers", small, "-k", kernel, "--validate", reference)
        reference.write_bytes(original)


def test_reference_in_float32(miniapp, small, reference):
    """Any number type."""
    replace(reference, "dHdT", read(reference, "dHdT").astype(">f4"))
    edit(reference, "dHdT", rtol=1e-6)
    code, _ = verdicts(miniapp, small, reference, "-k", "eos")
    assert code == DONE


# ---- rows ----

def test_a_row_for_each_kernel_device_precision_and_size(miniapp, small):
    devices = [word for device in miniapp.devices for word in ("-d", device)]
    result = miniapp.json(small, *devices, "--size", 1000, "--size", 2000,
                          "--precision", "float32", "--precision", "float64")
    rows = [(row["kernel"], row["device"], row["precision"], row["points"])
            for row in result["results"]]
    labels = ["cpu", "gpu:0"][:len(miniapp.devices)]
    assert len(rows) == len(set(rows)) == len(miniapp.ocean) * len(labels) * 4
    assert set(rows) == {(kernel.name, device, precision, points) for kernel in miniapp.ocean
                         for device in labels for precision in ("float32", "float64")
                         for points in (20 * 20 * 3, 26 * 26 * 4)}


def test_speedup_is_over_the_first_device(miniapp, small):
    if "gpu" not in miniapp.devices:
        pytest.skip("there is no gpu in this build, or here")
    rows = miniapp.json(small, "-d", "gpu", "-d", "cpu", "-r", 5, "-k", "eos")["results"]
    assert [row["device"] for row in rows] == ["gpu:0", "cpu"]
    assert rows[0]["speedup"] == 1
    assert math.isclose(rows[1]["speedup"], rows[0]["median_s"] / rows[1]["median_s"], rel_tol=1e-6)


def test_kernels_run_once_in_the_order_given(miniapp, small):
    names = [kernel.name for kernel in miniapp.ocean]
    words = [word for name in reversed(names) for word in ("-k", name)]
    rows = miniapp.json(small, *words, "-k", names[0])["results"]
    assert [row["kernel"] for row in rows] == names[::-1]
    assert [row["kernel"] for row in miniapp.json(small)["results"]] == names


def test_times_are_in_order(miniapp, small):
    for row in miniapp.json(small, "-r", 20)["results"]:
        times = [row[name] for name in ("min_s", "p25_s", "median_s", "p75_s", "max_s")]
        assert times == sorted(times) and times[0] > 0 and row["stdev_s"] > 0
        assert row["min_s"] <= row["mean_s"] <= row["max_s"]
        ns_per_point = 1e9 * row["median_s"] / row["points"]
        assert math.isclose(row["ns_per_point"], ns_per_point, rel_tol=1e-6)


def test_bandwidth_counts_each_array_once(miniapp, small, ocean, device):
    sizes = {"x": ocean[0]["salt"].shape[2], "y": ocean[0]["salt"].shape[1],
             "z": ocean[0]["salt"].shape[0]}
    for precision, width in (("float64", 8), ("float32", 4)):
        result = miniapp.json(small, "--precision", precision, "-d", device)
        for kernel, row, moved in zip(miniapp.ocean, result["results"], result["transfers"]):
            assert row["kernel"] == moved["kernel"] == kernel.name
            bytes_in, bytes_out = (
                sum(math.prod(sizes.get(axis, 2) for axis in dataset.axes)
                    * (1 if dataset.is_mask else 4 if dataset.name == "kbot" else width)
                    for dataset in datasets) for datasets in (kernel.inputs, kernel.outputs))
            total = 1e-9 * (bytes_in + bytes_out) / row["median_s"]
            assert math.isclose(row["gb_per_s"], total, rel_tol=1e-6)
            assert moved["to_device_bytes"] == (0 if device == "cpu" else bytes_in)


# ---- JSON, CSV, table ----

def test_json(miniapp, small, reference, device):
    use_default_tolerances(reference)  # another device need not agree to the bit
    result = miniapp.json(small, "--validate", reference, "-d", device)
    assert set(result) == {"provenance", "seed", "clock", "interrupted", "read_s", "results",
                           "transfers", "validation", "checksums", "settings", "threads"}
    assert set(result["provenance"]) == BUILD | RUN
    assert all(isinstance(text, str) and text for text in result["provenance"].values())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["provenance"]["time"])
    assert all(list(row) == RESULT for row in result["results"])
    assert all(set(check) - {"precision"} == VALIDATION for check in result["validation"])
    assert len(result["transfers"]) == len(result["results"]) == len(miniapp.ocean)
    assert result["validation"]
    assert all(check["passed"] is True for check in result["validation"])
    for row in result["results"]:
        for name in RESULT[3:8]:
            assert isinstance(row[name], int)


def test_json_without_validation(miniapp, small):
    assert miniapp.json(small)["validation"] == []


def test_csv(miniapp, small):
    text = miniapp.passes(small, "--format", "csv", "--precision", "float64", "--precision",
                          "float32", "-r", 3)
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert {line[2:].split(":")[0] for line in comments} == BUILD | RUN | {"read_s", "transfer",
                                                                             "seed", "clock"}
    rows = list(csv.DictReader(io.StringIO(text[text.index("\nkernel,") + 1:])))
    assert len(rows) == 2 * len(miniapp.ocean)
    for row in rows:
        assert list(row) == RESULT and None not in row.values()
        assert all(math.isfinite(float(row[name])) for name in RESULT[3:] if name not in NO_NUMBER)


def test_table(miniapp, small, device):
    lines = miniapp.passes(small, "-d", device, "-k", "eos").splitlines()
    provenance = {line.split()[1] for line in lines if line.startswith("# ")}
    assert provenance == BUILD | RUN | {"seed"}
    head = next(line.split() for line in lines if line.startswith("kernel "))
    row = next(line.split() for line in lines if line.startswith("eos "))
    assert head[:3] == ["kernel", "device", "precision"] and head[-1] == "speedup"
    assert row[1] == {"gpu": "gpu:0"}.get(device, device) and row[2] == "float64"
    assert "1.00" in row[-2:]  # a mark may follow
    if device == "gpu" and miniapp.offload == "emulated":
        assert any("emulated on the CPU" in line for line in lines if line.startswith("# device"))


def test_emulation_is_named_in_every_form(miniapp, small, tmp_path):
    if miniapp.offload != "emulated":
        pytest.skip("this is no build for emulated offload")
    output = tmp_path / "output.h5"
    for form in ("table", "json", "csv"):
        text = miniapp.passes(small, "-d", "gpu", "--format", form, "-o", output)
        assert "emulated on the CPU" in re.search(r"device\"?:? .*", text)[0]
    with h5py.File(output) as file:
        assert b"emulated on the CPU" in file.attrs["device"]


@pytest.mark.parametrize("name", ["blanks in it.h5", "käse.h5", 'quo"te.h5', "back\\slash.h5",
                                  b"no\xffutf8.h5", "percent%s%n.h5", "-dash.h5"], ids=repr)
def test_odd_file_names(miniapp, small, name):
    """They come back in JSON; what is no UTF-8 comes back in some form."""
    path = os.path.join(os.fsencode(small.parent), os.fsencode(name))
    os.rename(small, path)
    result = json.loads(miniapp.passes("--format", "json", "--", os.fsdecode(path)))
    provenance = result["provenance"]
    assert set(provenance) == BUILD | RUN
    if b"\xff" not in path:
        assert provenance["input"] == os.fsdecode(path)
    printed = path.replace(b"\xff", rb"\xff")
    for form in ("table", "csv"):
        assert printed in os.fsencode(miniapp.passes("--format", form, "--", os.fsdecode(path)))


def test_line_break_in_a_file_name(miniapp, small):
    """An error stays one line."""
    miniapp.fails(INPUT, "absent", f"{small.parent}/ab\nsent\nabsent.h5")


def test_long_command_line(miniapp, small):
    """Longer than provenance has room for: it is cut."""
    words = ["--set", "c_eps=0.7"] * 500
    provenance = miniapp.json(small, *words)["provenance"]
    assert provenance["command_line"].startswith(str(miniapp.path))
    assert set(provenance) == BUILD | RUN
