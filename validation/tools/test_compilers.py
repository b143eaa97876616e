"""run/compilers: the arithmetic of its table, and one pair of builds."""

import argparse
import csv
import importlib.util
import io
import json
import re
import shutil
import sys

import h5py
import numpy as np
import pytest

from conftest import DONE, HERE, INPUT, LONG, MISMATCH, assert_failed
from processes import completed, executable, forked, load_script

SCRIPT = HERE.parent / "run" / "compilers"


@pytest.fixture(scope="module")
def compilers():
    return load_script("compilers")


@pytest.fixture(scope="module")
def differences(compilers):
    return importlib.import_module("peers.differences")


def apart(differences, a, b, dtype=np.float64):
    (distance,) = differences.ulps(np.array([a], dtype), np.array([b], dtype))
    assert distance == differences.ulps(np.array([b], dtype), np.array([a], dtype))[0]
    return int(distance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ulps(differences, dtype):
    one, tiny = dtype(1), np.finfo(dtype).smallest_subnormal
    assert apart(differences, one, one, dtype) == 0
    assert apart(differences, one, np.nextafter(one, dtype(2)), dtype) == 1
    assert apart(differences, one, np.nextafter(one, dtype(0)), dtype) == 1
    assert apart(differences, 1, 2, dtype) == 2 ** np.finfo(dtype).nmant
    assert apart(differences, -1, -2, dtype) == 2 ** np.finfo(dtype).nmant
    assert apart(differences, 0.0, -0.0, dtype) == 0
    assert apart(differences, tiny, -tiny, dtype) == 2
    assert apart(differences, np.finfo(dtype).max, np.inf, dtype) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ulps_do_not_overflow(differences, dtype):
    most = np.finfo(dtype).max
    bits = 8 * np.dtype(dtype).itemsize
    steps = int(np.array(most).view(f"u{bits // 8}"))  # from 0 to the largest number
    assert apart(differences, -most, most, dtype) == 2 * steps
    assert apart(differences, -np.inf, np.inf, dtype) == 2 * steps + 2


def test_ulps_of_nan(differences):
    assert apart(differences, np.nan, -np.nan) == 0
    assert apart(differences, np.nan, 1) == 2**64 - 1


def test_ulps_against_random_steps(differences):
    generator = np.random.default_rng(1)
    values = generator.standard_normal(1000) * 10.0 ** generator.integers(-300, 300, 1000)
    moved, steps = values.copy(), generator.integers(0, 9, 1000)
    for step in range(8):
        moved = np.where(steps > step, np.nextafter(moved, np.inf), moved)
    np.testing.assert_array_equal(differences.ulps(values, moved), steps)


def test_compare(differences):
    first = np.array([[0.0, 2.0, -4.0], [1.0, 8.0, 3.0]])
    second = first.copy()
    assert differences.compare(first, second)["moved"] == 0
    second[1, 0] = 1.5
    second[1, 1] = 9
    found = differences.compare(first, second)
    assert found == {"moved": 2, "values": 6, "max_ulp": 2**51, "ulp_at": [1, 0], "max_rel": 0.5,
                     "rel_at": [1, 0], "of_max": 0.125}
    second[0, 0] = 1e-300  # next to 0, ulp and rel say little
    found = differences.compare(first, second)
    assert found["max_rel"] == np.inf and found["rel_at"] == [0, 0] and found["of_max"] == 0.125
    second[0, 2] = np.nan
    found = differences.compare(first, second)
    assert found["ulp_at"] == [0, 2] and found["of_max"] == np.inf


def run(*arguments):
    return forked("compilers", *arguments)


def test_wrong_arguments():
    for wrong in (["no-such-build"], ["--input", "absent.h5"], ["--format", "xml"], ["--rounds", "1"], ["--seconds", "0"],
                  ["--flags", "-O1"], ["--cc", "/no/compiler"]):
        done = run(*wrong)
        assert done.returncode == 2 and "error: " in done.stderr and done.stdout == ""


def test_a_python_without_packages():
    done = completed([sys.executable, "-S", SCRIPT])
    assert_failed(done, INPUT, "h5py")


def test_list(compilers):
    done = run("--list")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == len(compilers.find_builds())


# Made-up builds: one that runs, one that cannot be made, and programs that do not run.
PROGRAMS = {"good": 'exec {miniapp} "$@"', "other": 'exec {miniapp} "$@"',
            "fails later": 'case $* in *--seconds*) exit 4 ;; *) exec {miniapp} "$@" ;; esac',
            "wants all": 'case $* in *"--kernel all"*) exec {miniapp} "$@" ;; esac',
            "unmade": None, "crashes": "kill -SEGV $$",
            "fails": "echo 'miniapp: no luck' >&2; exit 4",
            "refuses": "echo 'miniapp: no HDF5' >&2; exit 3"}


@pytest.fixture
def outcome(miniapp, compilers, small, tmp_path, monkeypatch, capsys):
    """What comes of builds: the exit code, stdout, and stderr without a line for each build."""
    for name, text in PROGRAMS.items():
        (tmp_path / name).mkdir()
        if text:
            executable(tmp_path / name / "program", f"#!/bin/sh\n{text}\n".format(miniapp=miniapp.path))

    def build(name, _compiler, _flags):
        path = tmp_path / name / "program"
        if not path.exists():
            raise compilers.safely.Failed("cmake failed", 1, "exit code 1", "error: made up")
        return path

    def run_on(builds, named=True, more=("--rounds", "0")):
        monkeypatch.setattr(compilers, "find_builds", lambda: {name: ("cc", "") for name in builds})
        monkeypatch.setattr(compilers, "build", build)
        monkeypatch.setattr(compilers, "BUILDS", tmp_path)
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--input", str(small), *(builds if named else []), *more])
        code = compilers.main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, [line for line in said.err.splitlines()
                                if not line.endswith(": cc ") and "true: true" not in line]
    return run_on


def test_without_the_first_build_nothing_is_compared(outcome):
    """Least of all the second one with itself."""
    code, printed, said = outcome(["unmade", "good"])
    assert code == INPUT and printed == ""
    assert said == ["run/compilers: unmade: left out: error: made up",
                    "run/compilers: nothing can be compared without a first build that runs"]


def test_every_kernel_is_compared(outcome, miniapp):
    """Those that the program has."""
    _, printed, _ = outcome(["wants all"])
    outputs = sum(len(kernel.outputs) for kernel in miniapp.ocean)
    assert f" {outputs} outputs: the same, bit for bit" in printed


def test_outputs_are_validated(outcome, reference):
    """A field that several kernels write has a verdict for each."""
    def verdicts():
        code, printed, _ = outcome(["good"], more=("--rounds", "0", "--reference", str(reference), "--format", "json"))
        rows = json.loads(printed)
        return code, [row["variable"] for row in rows if row["verdict"] == "FAILED"], [
            row["variable"] for row in rows if row["verdict"] == "-"]

    assert verdicts() == (DONE, [], [])
    with h5py.File(reference, "a") as file:
        file["temp_taup1"][...] += 1
    assert verdicts() == (MISMATCH, ["temp_taup1"], [])


def test_one_of_all_builds_may_be_missing(outcome):
    """But not all besides the first."""
    assert outcome(["unmade", "good"], named=False)[0] == INPUT
    (code, printed, _) = outcome(["good", "unmade"])
    assert code == INPUT and "good" in printed
    assert outcome(["good"])[0] == DONE


@pytest.mark.parametrize("bad, said_of_it", [
    ("crashes", "ended by SIGSEGV"), ("fails", "exit code 4: miniapp: no luck"),
    ("refuses", "exit code 3: miniapp: no HDF5")])
def test_a_program_that_does_not_run_is_bad(outcome, bad, said_of_it):
    for named in (True, False):
        code, printed, said = outcome(["good", bad], named)
        assert code == MISMATCH and "good" in printed
        assert said == [f"run/compilers: {bad}: FAILED: {said_of_it}"]


TIMED = ("--rounds", "2", "--seconds", "1e-4")


def test_times(outcome, miniapp, tmp_path):
    """One column for each build, and files for run/plot."""
    code, printed, said = outcome(["good", "other"], more=TIMED)
    assert code == DONE and said == ["run/compilers: 2 rounds of times",
                                     "run/compilers: run/plot build/compilers/BUILD/times-float64.json ... draws the times"]
    for kernel in miniapp.ocean:
        row = re.search(rf"^{kernel.name} +[0-9.]+( +[0-9.]+ +(disturbed|\+-[0-9.]+)){{2}}$", printed, re.MULTILINE)
        assert row, kernel.name
    files = [tmp_path / build / "times-float64.json" for build in ("good", "other")]
    if shutil.which("python3") and importlib.util.find_spec("matplotlib"):
        done = completed([sys.executable, SCRIPT.parent / "plot", *files, "-o", tmp_path / "times"])
        assert done.returncode == DONE and (tmp_path / "times-ratios.svg").exists(), done


def test_times_in_other_forms(outcome, miniapp):
    code, printed, _ = outcome(["good", "other"], more=(*TIMED, "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert code == DONE and all(row["compiler"] for row in rows if row["variable"])
    times = [(row["build"], row["kernel"]) for row in rows if row["kernel"] and float(row["ratio"]) > 0]
    assert times == [(build, kernel.name) for build in ("good", "other") for kernel in miniapp.ocean]


def test_a_program_that_fails_when_it_is_timed(outcome):
    code, printed, said = outcome(["good", "fails later"], more=TIMED)
    assert code == MISMATCH and "the same, bit for bit" in printed
    assert said[-1] == "run/compilers: FAILED: exit code 4"


def test_ratios_of_rounds(compilers, monkeypatch):
    """The drift of a machine cancels, and the first build's own ratio is noise."""
    calls = []

    def report_of(program, *_):
        calls.append(program)
        slower = 1 + 0.1 * ((len(calls) - 1) % 3)
        return {"results": [{"kernel": "eos", "min_s": {"a": 1, "b": 2}[program] * slower}]}
    monkeypatch.setattr(compilers, "report_of", report_of)
    ratios, times, _ = compilers.time_in_turns({"a": "a", "b": "b"}, argparse.Namespace(rounds=2, seconds=1))
    assert calls == ["a", "b", "a"] * 2
    assert ratios["b"]["eos"] == pytest.approx([2 * 1.1 / 1.2**0.5] * 2) and ratios["a"]["eos"] == [1.2, 1.2]
    assert times["eos"] == pytest.approx([1.2**0.5] * 2) and compilers.noise_of([1, 1]) == 0


@pytest.mark.parametrize("ratio, noise, cell", [
    (1.0, 0.0123, "  1.000   +-0.012"), (2.0, 0.5, "  2.000   +-0.500"), (2.0, 0.51, "  2.000 disturbed"),
    (1438.1, 1438.121, "   1438 disturbed"), (1438.1, 9.1, "   1438   +-9.100")])
def test_cells_of_ratios(compilers, ratio, noise, cell):
    assert compilers.cell_of({"ratio": ratio, "noise": noise}) == cell


def test_builds_of_the_command_line(compilers):
    builds = compilers.builds_of(["/opt/a b/icx", "gcc"], ["-O1", "-O2"])
    assert builds == {"icx": ("/opt/a b/icx", "-O1"), "icx+": ("/opt/a b/icx", "-O2"), "gcc": ("gcc", "-O1"),
                      "gcc+": ("gcc", "-O2")}
    assert compilers.builds_of(["gcc"], []) == {"gcc": ("gcc", compilers.FLAGS["O3"])}
    gcc = shutil.which("gcc")
    assert compilers.is_by("gcc", f"CMAKE_C_COMPILER:FILEPATH={gcc}\n") and not compilers.is_by("gcc", "\n")


def test_a_compiler_of_the_command_line_beside_the_first_build(outcome, tmp_path):
    """Without names of builds."""
    (tmp_path / "true").mkdir()
    shutil.copy(tmp_path / "good" / "program", tmp_path / "true" / "program")
    _, printed, _ = outcome(["good", "other"], named=False, more=("--rounds", "0", "--cc", "true", "--flags", "-Ofast"))
    assert printed.splitlines()[0].startswith("good") and "other" not in printed
    assert re.search(r"^true +\w+ [0-9.]+, -Ofast$", printed, re.MULTILINE)


def test_an_input_that_no_program_can_use(outcome):
    assert outcome(["refuses"])[0] == INPUT
    assert outcome(["crashes"])[0] == MISMATCH


def test_a_pair_of_builds(miniapp, compilers):
    """Two builds of one compiler: minutes where they are not there yet."""
    built = compilers.BUILDS.exists() and not miniapp.is_sanitized
    if not ((LONG or built) and shutil.which("cmake") and shutil.which("gcc")):
        pytest.skip("building takes minutes: MINIAPP_TEST_LONG=1 does it")
    done = run("gcc-O3", "gcc-O3-fast", "--format", "csv", "--rounds", "0")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    outputs = {out.name for kernel in miniapp.ocean for out in kernel.made()}
    for build in ("gcc-O3", "gcc-O3-fast"):  # of kernels that write one field, the later ones' is KERNEL.FIELD
        assert outputs <= {row["variable"].rpartition(".")[2] for row in rows if row["build"] == build}
    assert all(row["moved"] == "0" for row in rows if row["build"] == "gcc-O3")
    # the exponential withstands -ffast-math
    assert all(row["verdict"] in ("passed", "-") for row in rows)
    assert any(row["moved"] != "0" for row in rows)
    objects = {path: path.stat().st_mtime_ns for path in compilers.BUILDS.glob("gcc-O3*/**/*.o")}
    assert run("gcc-O3", "gcc-O3-fast", "--rounds", "0").returncode == 0
    assert objects == {path: path.stat().st_mtime_ns for path in objects}, "built anew needlessly"
