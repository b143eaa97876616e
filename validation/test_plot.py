"""run/plot: the same results give the same figures, byte for byte; what it cannot read it says."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import GRID, HERE, INPUT, OUTPUT, assert_one_line

pytest.importorskip("matplotlib", reason="without matplotlib there is nothing to draw with")

RUN = HERE.parent / "run"
sys.path.insert(0, str(RUN))
from peers import results  # noqa: E402  pylint: disable=wrong-import-position

FRAMEWORKS = ("miniapp", "numpy", "jax", "taichi", "numba", "pytorch", "tensorflow", "cupy",
              "aesara")


def rows():
    """Made up, of every kind that run/compare writes."""
    for kernel, inputs, precision in (
            ("eos", "pyhpc", "float64"), ("tke", "pyhpc", "float64"),
            ("matmul", "uniform", "float32")):
        for cores in (1, 2):
            for points in (4096, 65536, 1048576):
                for i, framework in enumerate(FRAMEWORKS):
                    side = round(points ** (1 / 3))
                    seconds = 1e-9 * points * (1 + i) / cores
                    yield {
                        **dict.fromkeys(results.COLUMNS), "kernel": kernel, "inputs": inputs,
                        "precision": precision, "device": "cpu", "nx": side, "ny": side,
                        "nz": side, "points": points, "cores": cores, "framework": framework,
                        "version": "1.0", "seconds": seconds, "ns_per_point": 1.0 + i,
                        "speedup_over_numpy": 2 / (1 + i), "bytes": 24.0 * points,
                        "flops": 100.0 * points, "triad_gb_per_s": 10.0 * cores,
                        "fma_gflop_per_s": 60.0 * cores, "largest_difference": 1e-12,
                        "consistent": "yes", "machine": "host, a processor", "date": "2026-11-21"}


@pytest.fixture
def saved(tmp_path):
    """The prefix of made-up results of run/compare."""
    prefix = tmp_path / "saved"
    results.write(prefix, list(rows()), ["cupy: skipped"], {"command_line": "run/compare"})
    return prefix


def plot(*arguments):
    return subprocess.run([sys.executable, RUN / "plot", *map(str, arguments)],
                          capture_output=True, text=True, check=False, timeout=120)


def drawn(*arguments):
    """The figures by name, with what their files hold."""
    done = plot(*arguments)
    assert done.returncode == 0 and done.stderr == "", done
    return {Path(name).name.split("-", 1)[1]: Path(name).read_bytes()
            for name in done.stdout.split()}


def fails(code, pattern, *arguments):
    done = plot(*arguments)
    assert done.returncode == code and done.stdout == "", done
    assert_one_line(done.stderr)
    assert done.stderr.startswith("run/plot: ") and pattern in done.stderr, done.stderr


def test_figures_of_every_kind(saved, tmp_path):
    """The same bytes from both files, and nothing in them of the machine that draws."""
    expected = {f"{kind}-{group}.{ending}" for kind in ("time", "speedup", "roofline")
                for group in ("pyhpc", "matmul") for ending in ("svg", "png")}
    figures = drawn(f"{saved}.json")
    assert set(figures) == expected
    for name, data in figures.items():
        assert data.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml"), name
        assert b"<dc:date>" not in data and b"Matplotlib v" not in data
    assert drawn(f"{saved}.csv", "-o", tmp_path / "again") == figures


def test_what_is_read_is_what_was_written(saved):
    assert results.read(f"{saved}.json") == results.read(f"{saved}.csv") == list(rows())


def test_results_of_the_program_itself(miniapp, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(miniapp.passes("-k", "eos", "-s", "1000", "-s", "8000", "--format", "json",
                                   "--roofline", GRID), encoding="utf-8")
    read = results.read(path)
    assert {row["framework"] for row in read} == {"miniapp, cpu"}
    assert all(row["triad_gb_per_s"] > 0 and row["fma_gflop_per_s"] > 0 for row in read)
    done = plot(path)
    assert done.returncode == 0 and len(done.stdout.split()) == 4, done
    assert_one_line(done.stderr)  # without NumPy there are no speedups
    assert "NumPy" in done.stderr


@pytest.mark.parametrize("text", [
    "", "nonsense", "{", '{"rows": []}', '{"rows": [{"kernel": "eos"}]}', '{"results": 3}',
    "kernel,seconds\neos,1\n", "kernel,framework,points,seconds,machine,date\neos,a,8,x,m,d\n",
    "kernel,framework,points,seconds,machine,date\neos,a,8,-1,m,d\n"])
def test_a_file_of_something_else(tmp_path, text):
    path = tmp_path / "bad"
    path.write_text(text, encoding="utf-8")
    fails(INPUT, str(path), path)


def test_no_file(tmp_path):
    fails(INPUT, "No such file", tmp_path / "none.json")


def test_no_text(tmp_path):
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\x89HDF\xff\xfe")
    fails(INPUT, "no text", path)


def test_a_folder_that_is_not_there(saved, tmp_path):
    fails(OUTPUT, "cannot be written", f"{saved}.json", "-o", tmp_path / "none" / "x")
