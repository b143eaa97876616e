"""Directive variants: all kernels built once more, under the directives of a header in physics/variants.

A build has none but the default ones unless MINIAPP_VARIANTS names some. run/test asks for `runtime`, which shares
rows as OMP_SCHEDULE says, on the host, and for one of offload."""

import csv
import json
import re
import shutil

import pytest

from conftest import DEVICE, HERE, INPUT, QUICK, TROUBLE, USAGE, checksums_in
from processes import completed

pytestmark = pytest.mark.unsanitized("the directives of a module are not those of another build's sanitizers")

ROUGH, ROUGH_REFERENCE = HERE.parent / "inputs" / "rough.h5", HERE / "stored" / "rough"
HEADERS = {path.stem: path for path in (HERE.parent / "physics/variants").glob("*.h")}
DEFAULTS = {"cpu": "static", "gpu": "distribute"}


def listed(miniapp):
    """{name: (target, purpose, whether it is in the build, {word: text})} as --list-variants says."""
    found = {}
    for line in miniapp.passes("--list-variants", quick=False).splitlines():
        if match := re.match(r"(\w+): (host|offload): (.+?)( \(not in this build\))?$", line):
            words = {}
            found[match[1]] = (match[2], match[3], not match[4], words)
        elif match := re.match(r"  (\S.*?)?  +(nothing|#pragma .*)$", line):
            word = match[1] or word
            words[word] = words.get(word, "") + match[2]
    return found


def built(miniapp, device):
    """The variants of the build for a device, the default one first."""
    target = "host" if device == "cpu" else "offload"
    names = [name for name, (of, _, is_built, _) in listed(miniapp).items() if of == target and is_built]
    return sorted(names, key=lambda name: name != DEFAULTS[device])


@pytest.fixture
def varied(miniapp, device):
    names = built(miniapp, device)
    if len(names) < 2:
        pytest.skip("this build has no other variants: -DMINIAPP_VARIANTS=... adds some, as run/test does")
    return names


# ---- what there is ----

def test_each_header_is_listed(miniapp):
    rows = listed(miniapp)
    assert set(rows) == set(HEADERS)
    for name, (target, purpose, is_built, words) in rows.items():
        first = HEADERS[name].read_text().splitlines()[0]
        assert first == f"/* {target}: {purpose} */"
        assert set(words) == {"PARALLEL_ROWS", "PARALLEL_ROWS_SUM(s, turns)", "PARALLEL_COLUMNS", "ALONG_X",
                              "ALONG_X_SUM(s)", "ONCE"}
        launch = "#pragma omp parallel for" if target == "host" else "#pragma omp target"
        assert words["PARALLEL_ROWS"].startswith(launch) and "reduction(+ : s)" in words["PARALLEL_ROWS_SUM(s, turns)"]
        assert is_built or name not in ("static", DEFAULTS[miniapp.devices[-1]])
    assert rows["nosimd"][3]["ALONG_X"] == "nothing"
    assert "#pragma omp tile sizes(2, 4)" in rows["tile"][3]["PARALLEL_ROWS"]


def test_variants_that_are_none(miniapp, small):
    miniapp.fails(USAGE, "unknown variant 'statik'; the closest is 'static'", small, "--variant", "statik")
    miniapp.fails(USAGE, "unknown variant 'foo'; (--list-variants names all|expected distribute)", small, "--variant", "foo")
    miniapp.fails(USAGE, "unknown variant ''", small, "--variant", "static,")
    for name, (target, _, is_built, _) in listed(miniapp).items():
        more = " and with offload" if target == "offload" else ""
        if not is_built:
            miniapp.fails(USAGE, f"this build lacks variant '{name}': configure it with -DMINIAPP_VARIANTS="
                          f"{name}{more}\n", small, "--variant", name)


def test_a_variant_for_no_device_of_the_run(miniapp, small, gpu):
    miniapp.fails(USAGE, "variant 'distribute' is for offload devices, but no --device is one", small, "--variant",
                  "distribute")
    miniapp.fails(USAGE, "variant 'static' is for the host, but no --device is one", small, "--variant", "static",
                  "-d", gpu)


def test_too_many_rows(miniapp, small):
    threads = ",".join(map(str, range(1, 65)))
    miniapp.fails(USAGE, "--variant makes more than 64 rows of each kernel", small, "--variant", "static", "-t",
                  threads)


def test_an_output_is_of_one(miniapp, small, varied, device, tmp_path):
    miniapp.fails(USAGE, "--output holds one run: give one device, variant", small, "--variant", ",".join(varied),
                  "-o", tmp_path / "out.h5", "-d", device)
    miniapp.passes(small, "-k", "eos", "--variant", varied[1], "-o", tmp_path / "out.h5", "-d", device)


@pytest.mark.parametrize("what, why", [
    (None, "cannot open shared object file"), ("text", "file too short|invalid ELF header"),
    ("other", "undefined symbol: miniapp_variant_module")])
def test_module_that_cannot_be_loaded(miniapp, small, varied, device, tmp_path, what, why):
    build, name = miniapp.path.parent.parent, f"miniapp-variant-{varied[1]}.so"
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    shutil.copy(miniapp.path, tmp_path / "bin")
    for module in (build / "lib").glob("miniapp-*.so"):
        shutil.copy(module, tmp_path / "lib")
    (tmp_path / "lib" / name).unlink()
    if what == "text":
        (tmp_path / "lib" / name).write_text("no module\n")
    if what == "other":
        shutil.copy((build / "lib/libminiapp.so").resolve(), tmp_path / "lib" / name)
    done = completed([tmp_path / "bin/miniapp", small, "--variant", varied[1], "-d", device])
    assert done.returncode == DEVICE and done.stderr.count("\n") == 1, done
    assert re.match(f"miniapp: variant '{varied[1]}' cannot be used: .*({why})", done.stderr), done


# ---- rows ----

@pytest.mark.every_device
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_all_kernels_validate(miniapp, varied, device, precision):
    """Other schedules give each point the same bits, so checksums are those of any number of threads, but for sums."""
    threads = ("-t", "1,3") if device == "cpu" else ()
    done = miniapp.run(*QUICK, ROUGH, "-k", "all,calibration", "-d", device, "--variant", ",".join(varied),
                       "--precision", precision, "--validate", ROUGH_REFERENCE, "--checksums", "--format", "json",
                       *threads, env={"OMP_SCHEDULE": "dynamic,2"})
    assert done.returncode == 0 and not TROUBLE.search(done.stderr), done
    report = json.loads(done.stdout)
    assert {row["variant"] for row in report["validation"] if row["passed"]} == set(varied)
    sums = {}
    for one in report["checksums"]:
        sums.setdefault((one["kernel"], one["variable"]), set()).add(one["sha256"])
    assert device != "cpu" or {name for name, found in sums.items() if len(found) > 1} <= {("expsum", "expsum")}


@pytest.mark.every_device
def test_rows(miniapp, small, varied, device):
    words = (small, "-k", "eos,tke", "-d", device, "--variant", ",".join(varied))
    report = miniapp.json(*words)
    assert [(row["kernel"], row["variant"]) for row in report["results"]] == [
        (kernel, name) for kernel in ("eos", "tke") for name in varied]
    for row in report["results"]:
        first = next(one for one in report["results"] if one["kernel"] == row["kernel"])
        assert row["speedup"] == pytest.approx(first["median_s"] / row["median_s"])
    for part in ("transfers", "results"):
        assert [one["variant"] for one in report[part]] == 2 * varied
    label = "cpu" if device == "cpu" else "gpu:0"
    assert report["provenance"]["variant"] == "; ".join(f"{label}: {name}" for name in varied)
    assert report["provenance"]["device"].count(label) == 1
    text = miniapp.passes(*words)
    assert all(len(line) <= 100 for line in text.splitlines() if ".h5" not in line), text
    assert re.search(rf"^kernel +variant +nx x ny x nz .* speedup$\n(^eos +({'|'.join(varied)}) .*\n)+", text,
                     re.MULTILINE), text
    lines = [line for line in miniapp.passes(*words, "--format", "csv").splitlines() if line[0] != "#"]
    assert [row["variant"] for row in csv.DictReader(lines)] == 2 * varied


def test_default_variant_is_named_in_data_alone(miniapp, small):
    report = miniapp.json(small, "-k", "eos", "--variant", "static")
    assert [row["variant"] for row in report["results"]] == ["static"]
    assert miniapp.json(small, "-k", "eos")["results"][0]["variant"] == "static"
    assert "variant" not in miniapp.json(small, "-k", "eos")["provenance"]
    assert "variant" not in miniapp.passes(small, "-k", "eos").split("times of calls")[1]


def test_each_device_takes_its_own(miniapp, small, gpu):
    """A device that no variant is for keeps its default."""
    for names, rows in (("static", ["static", "distribute"]), ("distribute", ["static", "distribute"])):
        report = miniapp.json(small, "-k", "eos", "-d", "cpu", "-d", gpu, "--variant", names)
        assert [row["variant"] for row in report["results"]] == rows


def test_environment_is_recorded(miniapp, small):
    env = {"OMP_SCHEDULE": "guided,4", "OMP_NUM_TEAMS": "3", "OMP_TEAMS_THREAD_LIMIT": "2"}
    provenance = miniapp.json(small, "-k", "eos", env=env)["provenance"]
    assert provenance["openmp"] == "OMP_SCHEDULE=guided,4; OMP_NUM_TEAMS=3; OMP_TEAMS_THREAD_LIMIT=2"
    env = dict.fromkeys(env)
    assert "openmp" not in miniapp.json(small, "-k", "eos", env=env)["provenance"]


@pytest.mark.every_device
def test_ceilings_have_the_directives_of_their_row(miniapp, small, varied, device):
    report = miniapp.json(small, "-k", "eos", "-d", device, "--variant", ",".join(varied), "--roofline")
    assert {(row["kernel"], row["variant"]) for row in report["results"]} >= {
        (kernel, name) for kernel in ("eos", "triad", "fma") for name in varied}


@pytest.mark.every_device
def test_steps(miniapp, varied, device):
    """Each variant steps an ocean of its own, to the same bits on the host."""
    words = (ROUGH, "-k", "ocean_step", "-d", device, "--variant", ",".join(varied))
    report = miniapp.json(*words, "--steps", 3, "--checksums", quick=False)
    assert [row["variant"] for row in report["results"]] == varied
    of_each = [checksums_in({"checksums": [one for one in report["checksums"] if one["variant"] == name]})
               for name in varied]
    assert len(of_each[0]) > 5 and (device != "cpu" or all(one == of_each[0] for one in of_each))
    text = miniapp.passes(*words, "--steps", 1, quick=False)
    assert all(re.search(rf"^ocean_step on \S+ \({name}\) in float64: 1 step", text, re.MULTILINE)
               for name in varied), text


def test_resume(miniapp, small, varied, device, tmp_path):
    words = (small, "-d", device, "--resume", tmp_path / "saved.json", "-k")
    varied = varied[:2]
    miniapp.passes(*words, "eos", "--variant", varied[0])
    miniapp.fails(INPUT, f"but not that on '{'cpu' if device == 'cpu' else 'gpu:0'}' with variant '{varied[1]}'", *words,
                  "eos", "--variant", ",".join(varied))
    report = miniapp.json(*words, "eos,tke", "--variant", varied[1])
    assert [(row["kernel"], row["variant"]) for row in report["results"]] == [
        ("eos", varied[0]), ("eos", varied[1]), ("tke", varied[1])]
