"""Damaged files as run/make-input and the program write them, with checksums over all: an error or exactly the
right bits, never a wrong number, a crash or a hang. HDF5 promises nothing for files without checksums."""

import collections
import hashlib
import json
import os
import platform
import random
import subprocess
import sys

import h5py
import numpy as np
import pytest

from conftest import DONE, GRID, HERE, INPUT, LONG, QUICK, TROUBLE, change, checksums_in, read
from oceans import Frozen

FIRST = 2048  # the bytes at a file's start, which hold most of its structure: a third of the damage is there
CHECKSUMS = (*QUICK, "--threads", 1, "--checksums", "--format", "json")


# ---- damage ----

def flip(content, draw):
    """Some bits of one byte."""
    changed = bytearray(content)
    changed[draw.randrange(min(FIRST, len(content)) if draw.random() < 1 / 3 else len(content))] ^= draw.choice(
        (0x01, 0x80, 0xff, draw.randrange(1, 256)))
    return bytes(changed)


def overwrite(content, draw):
    """Up to a page; not by zeros, which pass as a chunk with its checksum."""
    place, new = draw.randrange(len(content)), draw.randbytes(draw.randrange(2, 4096))
    return content[:place] + new[:len(content) - place] + content[place + len(new):]


def cut(content, draw):
    return content[:draw.randrange(len(content))]


def sweep(miniapp, path, run, most=2000):
    """Damages the file again and again; each build in other ways. `run` gives "refused", what was made of the file,
    or what is wrong."""
    content, expected = path.read_bytes(), run()
    assert expected.startswith("done "), expected
    counts, faults = collections.Counter(), []
    for number in range(most if LONG else 12 if miniapp.is_sanitized else 40):
        draw = random.Random(f"{path.stem} {number} {miniapp.is_sanitized}")
        damage = draw.choices((flip, overwrite, cut), (7, 2, 1))[0]
        path.write_bytes(damage(content, draw))
        found = run()
        counts[found.split()[0]] += 1
        if found not in ("refused", expected):
            faults.append(f"{number} {damage.__name__}: {found}")
    path.write_bytes(content)
    assert not faults, f"{counts}\n" + "\n".join(faults[:20])
    assert counts["refused"], counts


@pytest.fixture(scope="module")
def hdf5_may_leak(tmp_path_factory):
    """HDF5 1.10 loses a block of its own when the checksum of an object header is wrong."""
    path = tmp_path_factory.mktemp("leaks") / "hdf5.txt"
    path.write_text("leak:libhdf5\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSAN_OPTIONS", f"suppressions={path}:print_suppressions=0")
        yield


@pytest.fixture
def run_on(miniapp, hdf5_may_leak):
    """Runs the program; gives what `sweep` takes."""
    def run(*arguments, made=lambda done: checksums_in(json.loads(done.stdout))):
        try:
            done = miniapp.run(*arguments)
        except subprocess.TimeoutExpired:
            return "hangs"
        is_line = done.stderr.startswith("miniapp: ") and done.stderr.count("\n") == 1
        if done.returncode == INPUT and is_line and not (done.stdout or TROUBLE.search(done.stderr)):
            return "refused"
        if done.returncode == DONE and not done.stderr:
            return f"done {made(done)}"
        return f"failed {done.returncode} {done.stderr!r}"
    return run


def with_library(miniapp):
    """The environment in which a Python takes the build's library: a sanitized one needs the sanitizers' runtime, and
    Python leaks."""
    result = {**os.environ, "MINIAPP_LIBRARY": str(miniapp.path.parents[1] / "lib/libminiapp.so")}
    if miniapp.is_sanitized:
        runtime = subprocess.run(["clang-19", f"-print-file-name=libclang_rt.asan-{platform.machine()}.so"],
                                 capture_output=True, text=True, check=True).stdout.strip()
        result |= {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    return result


def test_input(miniapp, tmp_path, run_on):
    """A small part of the example, made into one."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("gsw")
    part, made = tmp_path / "part.nc", tmp_path / "made.h5"
    with xarray.open_dataset(HERE.parent / "inputs" / "example.nc", decode_times=False) as data:
        data.isel(lon=slice(20, 29), lat=slice(20, 27)).to_netcdf(part)
    subprocess.run([sys.executable, HERE.parent / "run" / "make-input", part, "--time", "0", "-o", made], check=True,
                   capture_output=True, env=with_library(miniapp))
    sweep(miniapp, made, lambda: run_on(*CHECKSUMS, made), 10_000)


def test_stored_grid(miniapp, tmp_path, run_on):
    """The file that all users start with."""
    grid = tmp_path / "grid.h5"
    grid.write_bytes(GRID.read_bytes())
    sweep(miniapp, grid, lambda: run_on(*CHECKSUMS, "-k", "eos,tke", grid))


def test_reference(miniapp, small, tmp_path, run_on):
    """Of outputs on lines, planes, levels and corners: others are read alike. No value may differ."""
    reference, kernels = tmp_path / "reference.h5", ("-k", "eos,isoneutral,tke")
    miniapp.passes(small, *kernels, "-o", reference)
    with h5py.File(reference, "a") as file:
        for dataset in file.values():
            dataset.attrs.update(rtol=0.0, atol=0.0)
    sweep(miniapp, reference, lambda: run_on(*CHECKSUMS, *kernels, small, "--validate", reference))


def test_snapshot(miniapp, tmp_path, run_on):
    """A run that continues from it ends in the same bits."""
    ocean, end = Frozen("global", tmp_path).path, tmp_path / "end.nc"
    steps = (ocean, "-k", "ocean_step_eke", "--steps", 2, "--every", 1, "-o", end)
    miniapp.passes(*steps, quick=False)

    def go_on():
        end.unlink(missing_ok=True)
        return run_on(*steps, "--restart", made=lambda done: digests_in(end))
    sweep(miniapp, tmp_path / "end.000001.nc", go_on)


def digests_in(path):
    with h5py.File(path) as file:
        return {name: hashlib.sha256(values[...].tobytes()).hexdigest() for name, values in file.items()}


def test_a_changed_value_would_show(small, run_on):
    """The sweeps above prove nothing if this counts as right."""
    before = run_on(*CHECKSUMS, small)
    change(small, "salt", (1, 2, 3), read(small, "salt")[1, 2, 3] + 1e-9)
    assert before != run_on(*CHECKSUMS, small) != "refused"


def test_index_of_datasets_that_cannot_be_read(miniapp, small, reference, hdf5_may_leak):
    """An optional dataset that cannot be found for damage is not absent."""
    with h5py.File(small, "a") as file:
        for number in range(500):  # an index of many nodes: damage hits some names only
            file.create_group(f"group{number}")
    original = small.read_bytes()
    places = [place for place in range(len(original)) if original.startswith(b"BTLF", place)]
    assert len(places) > 10
    codes = set()
    for place in places:
        small.write_bytes(original[:place + 20] + b"\xff" + original[place + 21:])
        done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference)
        codes.add(done.returncode)
        assert done.returncode in (DONE, INPUT) and not TROUBLE.search(done.stderr), done
        if done.returncode == INPUT:
            assert "checksum" in done.stderr
    assert codes == {DONE, INPUT}


# ---- HDF5's heap, which has no checksum ----

def test_the_heap_is_not_read(miniapp, tmp_path):
    """It holds the datasets' lists of their scales. HDF5 crashes on some damage of it, and reads zeros without
    end; names and coordinates in outputs come from the lists of the scales, which have checksums."""
    whole = GRID.read_bytes()
    expected = miniapp.checksums(GRID, "-k", "eos")
    first = whole.index(b"GCOL")
    size = int.from_bytes(whole[first + 8:first + 16], "little")
    path, out = tmp_path / "heap.h5", tmp_path / "out.h5"
    for place in (first, first + 16, first + 48, first + size // 2):
        path.write_bytes(whole[:place] + bytes(first + size - place) + whole[first + size:])
        assert miniapp.checksums(path, "-k", "eos", "-o", out) == expected
        with h5py.File(out) as file:
            assert [axis[0].name for axis in file["dHdT"].dims] == ["/z", "/y", "/x"]
            assert np.array_equal(file["x"], read(GRID, "x"))


# ---- attributes that HDF5 would read into too little memory ----

@pytest.mark.parametrize("texts, dtype", [
    (np.array(["x" * 8] * 1000, object), h5py.string_dtype()), (np.array(["x" * 8], object), h5py.string_dtype()),
    (np.array([b"x" * 64] * 3), None), (np.full(1000, 0x41414141), None)],
    ids=["many texts", "one text", "wide texts", "numbers"])
def test_names_of_scales_that_are_none(miniapp, small, small_checksums, texts, dtype):
    """And labels; of two axes: the third is the one that is left."""
    with h5py.File(small, "a") as file:
        file["temp"].attrs.create("DIMENSION_LABELS", texts, dtype=dtype)
        for place, name in enumerate(("lev", "lat")):
            file[name] = np.arange(file["temp"].shape[place]) * 1e-3
            file[name].make_scale(name)
            file["temp"].dims[place].attach_scale(file[name])
            file[name].attrs.create("NAME", texts, dtype=dtype)
    assert miniapp.checksums(small) == small_checksums
