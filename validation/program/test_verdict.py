"""The verdict on results: how they are compared with a reference, how strictly, and the references
that cannot be used."""

import json
import math
import os
import re
import shutil

import h5py
import numpy as np
import pytest

import fields
from conftest import DONE, INPUT, MISMATCH, QUICK, change, read, replace


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


# ---- the verdict ----

def each_output(miniapp):
    """What is written, and the kernel that writes it: where the others do not matter they are left
    out. What several write is, too: a reference has names of its own for it (test_output.py)."""
    pairs = [(described, kernel) for kernel in miniapp.ocean for described in kernel.outputs]
    names = [described.name for described, _ in pairs]
    return [pair for pair in pairs if names.count(pair[0].name) == 1]


def of_outputs(miniapp, names):
    """The option that chooses the kernels which write these."""
    return "-k", ",".join({kernel.name for described, kernel in each_output(miniapp) if described.name in names})


def test_perturbed_value(miniapp, small, reference):
    """Just within and just beyond the tolerance, in turn for neighbours, at a place that must be
    named. It is relative, absolute or both, in turn for each two; `atol` is a part of the scale."""
    expected = {}
    for n, (described, _) in enumerate(each_output(miniapp)):
        rtol, atol = ((0.0, 1e-3), (1e-3, 0.0), (1e-3, 0.5))[n // 2 % 3]
        values = read(reference, described.name)
        index = np.unravel_index(abs(values).argmax(), values.shape)
        tolerances = {"rtol": rtol, "atol": atol * scale_of(values)}
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
            assert math.isclose(checks[name]["max_abs"], (0.99, 1.01)[(n + odd) % 2] * allowed, rel_tol=1e-6)


def test_one_bit_fails_without_tolerance(miniapp, small, reference):
    name = each_output(miniapp)[0][0].name
    with h5py.File(reference, "a") as file:
        value = file[name][1, 2, 3]
        file[name][1, 2, 3] = np.nextafter(value, np.inf)
    _, checks = verdicts(miniapp, small, reference, *of_outputs(miniapp, [name]))
    assert not checks[name]["passed"] and checks[name]["worst_index"] == [1, 2, 3]


def test_failed_verdict_in_the_table(miniapp, small, reference):
    shift(reference, "dHdT", (5, 4, 3), 1)
    done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference)
    assert done.returncode == MISMATCH
    assert re.search(r"^eos +dHdT .* FAILED +\[5, 4, 3\]$", done.stdout, re.MULTILINE)
    assert "validation FAILED: 0 of 1 variables agree" in done.stdout
    assert done.stderr == f"miniapp: {reference}: the outputs differ from this reference\n"


def test_reference_of_another_input(miniapp, small, reference):
    """Which its file may say."""
    shift(reference, "dHdT", (5, 4, 3), 1)
    for text, said in (("0" * 64, ", which was made from another input"), ("", ""), (3, "")):
        with h5py.File(reference, "r+") as file:
            file.attrs["input_sha256"] = text
        done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference)
        assert done.returncode == MISMATCH
        assert done.stderr == f"miniapp: {reference}: the outputs differ from this reference{said}\n"


def test_failed_verdict_in_csv(miniapp, small, reference):
    shift(reference, "dHdT", (5, 4, 3), 1)
    done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference, "--format", "csv")
    assert done.returncode == MISMATCH
    assert "\neos,cpu,float64," in done.stdout and done.stderr.endswith("differ from this reference\n")


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
    words = ("-k", "eos,isoneutral,tke", "--precision", "float32")
    miniapp.passes(small, "-o", single, *words)
    code, checks = verdicts(miniapp, small, single, *words)
    assert code == DONE and all(check["rtol"] > 1e-8 for check in checks.values())


def test_an_outlier_does_not_widen_the_tolerance(miniapp, small, reference):
    """With the largest value for a scale, one of them lets all others be wrong."""
    use_default_tolerances(reference)
    outliers = {"K_11": 9e6, "Ai_ez": -99, "dHdT": 900, "tke_taup1": 900, "tke_surf_corr": 99}
    chosen = of_outputs(miniapp, outliers)
    _, before = verdicts(miniapp, small, reference, *chosen)
    index = {}
    for name, value in outliers.items():
        index[name] = tuple(np.argwhere(read(reference, name))[0])
        change(reference, name, index[name], value)
    _, checks = verdicts(miniapp, small, reference, *chosen)
    for name in outliers:
        assert not checks[name]["passed"] and checks[name]["worst_index"] == list(index[name])
        assert checks[name]["atol"] <= 2 * before[name]["atol"]


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
    chosen = of_outputs(miniapp, [name])
    message = rf"reference\.h5: {name}\[{', '.join(map(str, index))}\] is "
    miniapp.fails(INPUT, message + rf".*, but must be {reason} \(--allow-invalid", small, *chosen,
                  "--validate", reference)
    code, checks = verdicts(miniapp, small, reference, *chosen, "--allow-invalid")
    assert code == MISMATCH and not checks[name]["passed"]
    change(reference, name, index, np.inf)
    miniapp.fails(INPUT, message + r"inf \(--allow-nonfinite accepts it\)", small, *chosen, "--validate", reference)


@pytest.mark.parametrize("suffix, precision", [("", "float64"), ("_float32", "float32")])
def test_tolerances_that_would_pass_anything(miniapp, small, reference, suffix, precision):
    """In whatever precision comes first: before anything is measured."""
    scale = scale_of(read(reference, "dHdT"))
    for name, most, beyond in (("rtol", 0.1, 0.11), ("atol", scale, 1.01 * scale), ("atol", scale, 1e308)):
        edit(reference, "dHdT", **{name + suffix: beyond})
        for precisions in {precision, "float64,float32"}:
            pattern = re.escape(f"reference.h5: attribute '{name}{suffix}' of dataset 'dHdT' is "
                                f"{beyond:g}, but must be from 0 to {most:g}: ")
            miniapp.fails(INPUT, pattern, small, "-k", "eos", "--precision", precisions, "--validate", reference)
        edit(reference, "dHdT", **{name + suffix: most})
        miniapp.passes(small, "-k", "eos", "--precision", precision, "--validate", reference)
        edit(reference, "dHdT", **{name + suffix: 0.0})


def test_tolerances_of_what_is_0_everywhere(miniapp, small, reference):
    """Those of the field's own scale, which each output has."""
    use_default_tolerances(reference)
    for described, _ in each_output(miniapp):
        replace(reference, described.name, 0 * read(reference, described.name))
    _, checks = verdicts(miniapp, small, reference, "--allow-invalid")  # no length of mixing is 0
    for described, _ in each_output(miniapp):
        assert checks[described.name]["atol"] > 0, described.name


def test_atol_of_what_is_0_everywhere(miniapp, small, reference):
    replace(reference, "tke_surf_corr", 0 * read(reference, "tke_surf_corr"))
    words = (small, *of_outputs(miniapp, ["tke_surf_corr"]), "--validate", reference)
    edit(reference, "tke_surf_corr", atol=1e-300)
    assert "must be" not in miniapp.run(*words).stderr
    edit(reference, "tke_surf_corr", atol=1e-5)
    miniapp.fails(INPUT, "'atol' of dataset 'tke_surf_corr' is 1e-05, but must be from 0 to 1e-06: ", *words)


def test_how_strict_a_verdict_is(miniapp, small, reference, tmp_path):
    """The share of the values that the tolerance could not tell from 0."""
    expected = {}
    for (described, _), part in zip(each_output(miniapp), [0, 1e-3, 0.01, 0.1, 0.5, 1] * 3):
        values = read(reference, described.name)
        atol = part * scale_of(values)
        sizes = abs(values[values != 0])
        expected[described.name] = (sizes <= atol).mean() if sizes.size else None
        edit(reference, described.name, atol=atol)
    assert len(set(expected.values())) > 3
    words = (small, *of_outputs(miniapp, expected), "--validate", reference)
    checks = {check["variable"]: check for check in miniapp.json(*words)["validation"]}
    for name, share in expected.items():
        assert checks[name]["below_atol"] == pytest.approx(share)
        assert checks[name]["compared"] == np.count_nonzero(read(reference, name))
    table = miniapp.passes(*words)
    assert "<= atol: fraction of nonzero reference values below atol" in table
    for name, share in expected.items():
        percent = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
        assert re.search(rf" {name} .* {percent} % +passed", table), (name, share)


# ---- nothing compared ----

def without_water():
    values, settings = fields.make(11, 9, 6, seed=3)
    return values | {name: np.zeros_like(values[name]) for name in
                     ("maskT", "maskU", "maskV", "maskW", "kbot")}, settings


@pytest.mark.parametrize("chosen", ["all", "triad,tke"])
def test_all_of_it_is_land(miniapp, together, chosen):
    """Nothing is compared but of calibrations, whose numbers are no water. The first such is named."""
    path = together.ocean("land", without_water).path
    output = together.output(path)
    first = miniapp.ocean[0] if chosen == "all" else "tke"
    done = miniapp.run(*QUICK, path, "-k", chosen, "--validate", output, "--format", "json")
    assert done.returncode == MISMATCH
    assert re.fullmatch(rf"miniapp: warning: {path}: all of the ocean is land\n"
                        rf"miniapp: {output}: nothing was compared for '{first}': all of the input is land\n",
                        done.stderr), done.stderr
    checks = json.loads(done.stdout)["validation"]
    assert checks and all((check["compared"] > 0) == (check["kernel"] == "triad") for check in checks)
    miniapp.passes(path, "-k", "calibration", "--validate", output)


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
    line = miniapp.fails(INPUT, f"reference.h5: .*attribute '{name}'", small, "-k", "eos", "--validate", reference)
    assert "dataset 'dHdT'" in line


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
    miniapp.fails(INPUT, "reference.h5: not an HDF5 file, or a damaged", small, "--validate", reference)


def test_folder_of_references(miniapp, small, reference, tmp_path):
    """Each kernel's file is read when the kernel's outputs are."""
    folder = tmp_path / "folder"
    folder.mkdir()
    words = small, "-k", "eos,expansion", "--validate", folder
    shutil.copy(reference, folder / "eos.h5")
    miniapp.fails(INPUT, "folder/expansion.h5: No such file", *words)
    shutil.copy(reference, folder / "expansion.h5")
    assert "3 of 3 variables agree" in miniapp.passes(*words)
    with h5py.File(folder / "expansion.h5", "a") as file:
        file["drhodS"][2, 5, 5] += 1
        file.attrs["input_sha256"] = "0" * 64
    message = miniapp.fails(MISMATCH, "folder: the outputs differ from this reference, which was made from another",
                            *words)
    assert message.startswith("miniapp: ")
    (folder / "eos.h5").write_bytes(b"text")
    miniapp.fails(INPUT, "folder/eos.h5: not an HDF5 file", *words)


def one_of_each_shape(miniapp):
    """Outputs that differ in their axes, and their kernels: others are read alike."""
    return {described.axes: (described, kernel) for described, kernel in each_output(miniapp)}.values()


def test_missing_variable(miniapp, small, reference):
    for described, kernel in one_of_each_shape(miniapp):
        original = reference.read_bytes()
        with h5py.File(reference, "a") as file:
            del file[described.name]
        miniapp.fails(INPUT, f"reference.h5: dataset '{described.name}' is missing", small,
                      "-k", kernel, "--validate", reference)
        reference.write_bytes(original)


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
                          f"{axis}, but the input has", small, "-k", kernel, "--validate",
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
