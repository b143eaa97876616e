"""A flipped byte anywhere: an error or exactly the right result, never a wrong one or a crash."""

import concurrent.futures
import random
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from conftest import DONE, GRID, INPUT, LONG, MISMATCH, QUICK, TROUBLE

START = 4096  # the bytes at a file's start that all get flipped, some in a short run


BUILDS = 3  # that run these tests: each takes other places, but in a long run


def build_number(miniapp):
    return 2 if miniapp.is_sanitized else int(miniapp.is_gcc)


def positions(miniapp, size, seed):
    """All of the start, or one in 48, and places in the rest."""
    number = build_number(miniapp)
    generator = random.Random(f"{seed} {number}")
    start = range(min(START, size)) if LONG else range(seed + 16 * number, min(START, size), 48)
    rest = range(START, size)
    return [*start, *generator.sample(rest, min(len(rest), 2000 if LONG else 35))]


@pytest.fixture(scope="module")
def hdf5_may_leak(tmp_path_factory):
    """HDF5 1.10 loses a block of its own when the checksum of an object header is wrong."""
    path = tmp_path_factory.mktemp("leaks") / "hdf5.txt"
    path.write_text("leak:libhdf5\n")
    return {"LSAN_OPTIONS": f"suppressions={path}:print_suppressions=0"}


def outcome(miniapp, original, position, mask, reference, path, role, env):
    damaged = bytearray(original)
    damaged[position] ^= mask
    files = [path, "--validate", reference] if role == "input" else [reference, "--validate", path]
    bad = verdict(miniapp, path, damaged, files, (DONE, INPUT), env)
    return f"byte {position} ^ {mask:#x}: {bad}" if bad else None


def verdict(miniapp, path, content, files, codes, env):
    """What is wrong with a run on a file of this content; None where nothing is. In a format with
    checksums HDF5 refuses damage before it can crash on it."""
    path.write_bytes(content)
    try:
        done = miniapp.run(*QUICK, "--threads", 1, *files, env=env)
    except subprocess.TimeoutExpired:
        return "it hangs"
    finally:
        path.unlink()
    good = done.returncode in codes and not TROUBLE.search(done.stderr)
    good = good and done.stderr.count("\n") == (done.returncode == INPUT)
    good = good and "the HDF5 library" not in done.stderr
    return None if good else f"{done.returncode} {done.stderr!r}"


def sweep(miniapp, target, other, role, tmp_path, places, env):
    """Two at a time, each on a copy of its own."""
    original = target.read_bytes()
    generator = random.Random(len(original))
    masks = (0xff, 0x01) if LONG else (None,)
    jobs = [(place, mask or generator.choice((0xff, 0x80, 0x01, 0x10)))
            for place in places for mask in masks]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = [found for found in pool.map(
            lambda job: outcome(miniapp, original, *job, other, tmp_path / f"{job[0]}.{job[1]}.h5",
                                role, env), jobs) if found]
    assert not bad, "\n".join(bad[:20])


def test_flipped_byte_in_the_input(miniapp, small, reference, tmp_path, hdf5_may_leak):
    sweep(miniapp, small, reference, "input", tmp_path, positions(miniapp, small.stat().st_size, 0),
          hdf5_may_leak)


def test_flipped_byte_in_the_reference(miniapp, small, reference, tmp_path, hdf5_may_leak):
    places = positions(miniapp, reference.stat().st_size, 5)
    sweep(miniapp, reference, small, "reference", tmp_path, places if LONG else places[::4],
          hdf5_may_leak)


def test_flipped_byte_in_the_stored_grid(miniapp, tmp_path, hdf5_may_leak):
    """The file that all users start with, against what it gives whole."""
    if not GRID.exists():
        pytest.skip("inputs/grid.h5 is not made yet")
    reference = tmp_path / "reference.h5"
    copy = tmp_path / "grid.h5"
    shutil.copy(GRID, copy)
    miniapp.passes(GRID, "--output", reference)
    strict(miniapp, reference)
    places = positions(miniapp, GRID.stat().st_size, 3)
    sweep(miniapp, copy, reference, "input", tmp_path, places if LONG else places[::8],
          hdf5_may_leak)


@pytest.mark.parametrize("damage, count", [("flips", 10000), ("truncations", 1000)])
def test_random_damage_of_the_stored_grid(miniapp, tmp_path, hdf5_may_leak, damage, count):
    """Anywhere, any bits of a byte; a share of the count but in a long run. Done is only what gives
    the whole file's results bit for bit, and a file that was cut is never done."""
    reference = tmp_path / "reference.h5"
    miniapp.passes(GRID, "--output", reference)
    strict(miniapp, reference)
    whole = GRID.read_bytes()
    generator = random.Random(f"{count} {build_number(miniapp)}")

    def one(number, place, mask):
        content = bytearray(whole)
        if damage == "flips":
            content[place] ^= mask
        else:
            del content[place:]
        path = tmp_path / f"{number}.h5"
        codes = (DONE, INPUT) if damage == "flips" else (INPUT,)
        bad = verdict(miniapp, path, content, [path, "--validate", reference], codes,
                      hdf5_may_leak)
        return bad and f"{damage} at {place}, {mask:#x}: {bad}"

    jobs = [(number, generator.randrange(len(whole)), generator.randrange(1, 256))
            for number in range(count if LONG else count // (50 * BUILDS))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = [found for found in pool.map(lambda job: one(*job), jobs) if found]
    assert not bad, "\n".join(bad[:20])


def strict(miniapp, path):
    """Makes a reference accept no difference."""
    with h5py.File(path, "a") as file:
        for kernel in miniapp.ocean:
            for output in kernel.outputs:
                file[output.name].attrs.update(rtol=0.0, atol=0.0)


def test_a_changed_value_would_show(miniapp, small, reference):
    """The sweeps above prove nothing if this passes validation."""
    with h5py.File(small, "a") as file:
        file["salt"][1, 2, 3] = np.nextafter(file["salt"][1, 2, 3], 100) + 1e-9
    assert miniapp.run(*QUICK, small, "--validate", reference).returncode == MISMATCH


def test_index_of_datasets_that_cannot_be_read(miniapp, small, reference, hdf5_may_leak):
    """An optional dataset that cannot be found for damage is not absent."""
    with h5py.File(small, "a") as file:
        for number in range(2000):  # an index of many nodes: damage hits some names only
            file.create_group(f"group{number}")
    original = small.read_bytes()
    places = [place for place in range(len(original)) if original.startswith(b"BTLF", place)]
    assert len(places) > 10
    codes = set()
    for place in places:
        small.write_bytes(original[:place + 20] + b"\xff" + original[place + 21:])
        done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference, env=hdf5_may_leak)
        codes.add(done.returncode)
        assert done.returncode in (DONE, INPUT) and not TROUBLE.search(done.stderr), done
        if done.returncode == INPUT:
            assert "checksum" in done.stderr
    assert codes == {DONE, INPUT}
