"""run/compilers: the arithmetic of its table, and one pair of builds."""

import csv
import importlib.machinery
import importlib.util
import io
import shutil
import subprocess
import sys

import numpy as np
import pytest

from conftest import HERE, INPUT, LONG, assert_one_line

SCRIPT = HERE.parent / "run" / "compilers"


@pytest.fixture(scope="module")
def compilers():
    loader = importlib.machinery.SourceFileLoader("compilers", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compilers", loader))
    loader.exec_module(module)
    return module


def apart(compilers, a, b, dtype=np.float64):
    (distance,) = compilers.ulps(np.array([a], dtype), np.array([b], dtype))
    assert distance == compilers.ulps(np.array([b], dtype), np.array([a], dtype))[0]
    return int(distance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ulps(compilers, dtype):
    one, tiny = dtype(1), np.finfo(dtype).smallest_subnormal
    assert apart(compilers, one, one, dtype) == 0
    assert apart(compilers, one, np.nextafter(one, dtype(2)), dtype) == 1
    assert apart(compilers, one, np.nextafter(one, dtype(0)), dtype) == 1
    assert apart(compilers, 1, 2, dtype) == 2 ** np.finfo(dtype).nmant
    assert apart(compilers, -1, -2, dtype) == 2 ** np.finfo(dtype).nmant
    assert apart(compilers, 0.0, -0.0, dtype) == 0
    assert apart(compilers, tiny, -tiny, dtype) == 2
    assert apart(compilers, np.finfo(dtype).max, np.inf, dtype) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ulps_do_not_overflow(compilers, dtype):
    most = np.finfo(dtype).max
    bits = 8 * np.dtype(dtype).itemsize
    steps = int(np.array(most).view(f"u{bits // 8}"))  # from 0 to the largest number
    assert apart(compilers, -most, most, dtype) == 2 * steps
    assert apart(compilers, -np.inf, np.inf, dtype) == 2 * steps + 2


def test_ulps_of_nan(compilers):
    assert apart(compilers, np.nan, -np.nan) == 0
    assert apart(compilers, np.nan, 1) == 2**64 - 1


def test_ulps_against_random_steps(compilers):
    generator = np.random.default_rng(1)
    values = generator.standard_normal(1000) * 10.0 ** generator.integers(-300, 300, 1000)
    moved, steps = values.copy(), generator.integers(0, 9, 1000)
    for step in range(8):
        moved = np.where(steps > step, np.nextafter(moved, np.inf), moved)
    np.testing.assert_array_equal(compilers.ulps(values, moved), steps)


def test_compare(compilers):
    first = np.array([[0.0, 2.0, -4.0], [1.0, 8.0, 3.0]])
    second = first.copy()
    assert compilers.compare(first, second)["moved"] == 0
    second[1, 0] = 1.5
    second[1, 1] = 9
    found = compilers.compare(first, second)
    assert found == {"moved": 2, "values": 6, "max_ulp": 2**51, "ulp_at": [1, 0], "max_rel": 0.5,
                     "rel_at": [1, 0], "of_max": 0.125}
    second[0, 0] = 1e-300  # next to 0, ulp and rel say little
    found = compilers.compare(first, second)
    assert found["max_rel"] == np.inf and found["rel_at"] == [0, 0] and found["of_max"] == 0.125
    second[0, 2] = np.nan
    found = compilers.compare(first, second)
    assert found["ulp_at"] == [0, 2] and found["of_max"] == np.inf


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True,
                          check=False)


def test_wrong_arguments():
    for wrong in (["no-such-build"], ["--input", "absent.h5"], ["--format", "xml"]):
        done = run(*wrong)
        assert done.returncode == 2 and "error: " in done.stderr and done.stdout == ""


def test_a_python_without_packages():
    done = subprocess.run([sys.executable, "-S", SCRIPT, "--list"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == INPUT and done.stdout == ""
    assert_one_line(done.stderr)
    assert "h5py" in done.stderr


def test_list(compilers):
    done = run("--list")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == len(compilers.find_builds())


def test_a_pair_of_builds(miniapp, compilers):
    """Two builds of one compiler: minutes where they are not there yet."""
    built = compilers.BUILDS.exists() and not miniapp.is_sanitized
    if not ((LONG or built) and shutil.which("cmake") and shutil.which("gcc")):
        pytest.skip("building takes minutes: MINIAPP_TEST_LONG=1 does it")
    done = run("gcc-O3", "gcc-O3-fast", "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    outputs = sorted(out.name for kernel in miniapp.ocean for out in kernel.outputs)
    assert [(row["build"], row["variable"]) for row in rows] == [
        (build, name) for build in ("gcc-O3", "gcc-O3-fast") for name in outputs]
    assert all(row["moved"] == "0" for row in rows if row["build"] == "gcc-O3")
    # the exponential withstands -ffast-math
    assert all(row["verdict"] == "passed" for row in rows)
    assert any(row["moved"] != "0" for row in rows)
    objects = {path: path.stat().st_mtime_ns for path in compilers.BUILDS.glob("gcc-O3*/**/*.o")}
    assert run("gcc-O3", "gcc-O3-fast").returncode == 0
    assert objects == {path: path.stat().st_mtime_ns for path in objects}, "built anew needlessly"
