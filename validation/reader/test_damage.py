"""A flipped byte anywhere: an error or exactly the right result, never a wrong one or a crash."""

import concurrent.futures
import json
import random
import struct
import subprocess

import h5py
import numpy as np
import pytest

from conftest import DONE, GRID, INPUT, LONG, QUICK, TROUBLE, change, checksums_in, read

START = 4096  # the bytes at a file's start that all get flipped, some in a short run


def generator_of(miniapp, seed):
    """Each build that runs these tests takes places of its own, but in a long run."""
    return random.Random(f"{seed} {miniapp.is_sanitized}")


def positions(miniapp, size, seed):
    """All of the start, or one in 48, and places in the rest. With the sanitizers a run takes three times
    as long: they get half as many, since the fuzzer, which has them too, finds more in that time."""
    first, step, count = (seed + 16, 96, 17) if miniapp.is_sanitized else (seed, 48, 35)
    start = range(min(START, size)) if LONG else range(first, min(START, size), step)
    rest = range(START, size)
    return [*start, *generator_of(miniapp, seed).sample(rest, min(len(rest), 2000 if LONG else count))]


@pytest.fixture(scope="module")
def hdf5_may_leak(tmp_path_factory):
    """HDF5 1.10 loses a block of its own when the checksum of an object header is wrong."""
    path = tmp_path_factory.mktemp("leaks") / "hdf5.txt"
    path.write_text("leak:libhdf5\n")
    return {"LSAN_OPTIONS": f"suppressions={path}:print_suppressions=0"}


def checksums(done):
    """None where it printed no report."""
    return checksums_in(json.loads(done.stdout)) if done.stdout else {}


class Sweep:
    """Runs on damaged files, two at a time, each on a copy of its own, and what is wrong with them.
    The arguments say what a run does with the file; it has to give what it gives of the whole one, bit
    for bit, or an error. In a format with checksums HDF5 refuses damage before it can crash on it."""

    def __init__(self, miniapp, folder, env, whole, *arguments):
        self.miniapp, self.folder, self.env, self.whole = miniapp, folder, env, whole
        self.arguments = (*QUICK, "--threads", 1, "--checksums", "--format", "json", *arguments)
        self.expected = checksums(self.run("whole", whole))
        assert self.expected

    def run(self, name, content):
        path = self.folder / f"{name}.h5"
        path.write_bytes(content)
        try:
            return self.miniapp.run(*self.arguments, path, env=self.env)
        finally:
            path.unlink()

    def flip(self, place, mask):
        content = bytearray(self.whole)
        content[place] ^= mask
        return self.fault(f"{place}.{mask:#x}", content, (DONE, INPUT))

    def cut(self, place):
        return self.fault(str(place), self.whole[:place], (INPUT,))

    def fault(self, name, content, codes):
        """What is wrong with a run; None where nothing is."""
        try:
            done = self.run(name, content)
        except subprocess.TimeoutExpired:
            return f"{name}: it hangs"
        good = done.returncode in codes and not TROUBLE.search(done.stderr)
        good = good and done.stderr.count("\n") == (done.returncode == INPUT)
        good = good and "the HDF5 library" not in done.stderr
        good = good and checksums(done) == (self.expected if done.returncode == DONE else {})
        return None if good else f"{name}: {done.returncode} {done.stderr!r}"

    def finds_nothing(self, damage, jobs):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            bad = [found for found in pool.map(lambda job: damage(*job), jobs) if found]
        assert not bad, "\n".join(bad[:20])


def masks(places, size):
    """Which bits are flipped at each place."""
    generator = random.Random(size)
    return [(place, mask) for place in places
            for mask in ((0xff, 0x01) if LONG else generator.sample((0xff, 0x80, 0x01, 0x10), 1))]


def flip_each(sweep, places):
    sweep.finds_nothing(sweep.flip, masks(places, len(sweep.whole)))


def test_flipped_byte_in_the_input(miniapp, small, tmp_path, hdf5_may_leak):
    sweep = Sweep(miniapp, tmp_path, hdf5_may_leak, small.read_bytes())
    flip_each(sweep, positions(miniapp, len(sweep.whole), 0))


def test_flipped_byte_in_the_reference(miniapp, small, tmp_path, hdf5_may_leak):
    """Of outputs on lines, planes, levels and corners: others are read alike."""
    reference = tmp_path / "whole.h5"
    kernels = ("-k", "eos,isoneutral,tke")
    miniapp.passes(small, *kernels, "-o", reference)
    strict(reference)
    sweep = Sweep(miniapp, tmp_path, hdf5_may_leak, reference.read_bytes(), *kernels, small, "--validate")
    places = positions(miniapp, len(sweep.whole), 5)
    flip_each(sweep, places if LONG else places[::4])


def test_flipped_byte_in_the_stored_grid(miniapp, tmp_path, hdf5_may_leak):
    """The file that all users start with, against what it gives whole."""
    if not GRID.exists():
        pytest.skip("inputs/grid.h5 is not made yet")
    sweep = Sweep(miniapp, tmp_path, hdf5_may_leak, GRID.read_bytes())
    places = positions(miniapp, len(sweep.whole), 3)
    flip_each(sweep, places if LONG else places[::8])


def test_random_damage_of_the_stored_grid(miniapp, tmp_path, hdf5_may_leak):
    """Anywhere, any bits of a byte; and the file is cut anywhere, which is never done. Nearly all hits
    compressed data, the same in each dataset: a few places will do but in a long run."""
    sweep = Sweep(miniapp, tmp_path, hdf5_may_leak, GRID.read_bytes())
    generator = generator_of(miniapp, "stored grid")
    count = 10000 if LONG else 20 if miniapp.is_sanitized else 40
    places = [generator.randrange(len(sweep.whole)) for _ in range(count)]
    sweep.finds_nothing(sweep.flip, [(place, generator.randrange(1, 256)) for place in places])
    sweep.finds_nothing(sweep.cut, [(place,) for place in places[:1000 if LONG else 6]])


def strict(path):
    """Makes a reference accept no difference."""
    with h5py.File(path, "a") as file:
        for dataset in file.values():
            dataset.attrs.update(rtol=0.0, atol=0.0)


def test_a_changed_value_would_show(miniapp, small, tmp_path, hdf5_may_leak):
    """The sweeps above prove nothing if this is found to be whole."""
    sweep = Sweep(miniapp, tmp_path, hdf5_may_leak, small.read_bytes())
    change(small, "salt", (1, 2, 3), np.nextafter(read(small, "salt")[1, 2, 3], 100) + 1e-9)
    assert sweep.fault("changed", small.read_bytes(), (DONE,)).startswith("changed: 0 ")


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
        done = miniapp.run(*QUICK, small, "-k", "eos", "--validate", reference, env=hdf5_may_leak)
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

TEXTS = {"many texts": (np.array(["x" * 8] * 1000, object), h5py.string_dtype()),
         "one text": (np.array(["x" * 8], object), h5py.string_dtype()),
         "wide texts": (np.array([b"x" * 64] * 3), None), "numbers": (np.full(1000, 0x41414141), None)}


def with_scales(path, names):
    """Scales of two axes of temperature; the third axis is the one that is left."""
    with h5py.File(path, "a") as file:
        for place, name in enumerate(names):
            file[name] = np.arange(file["temp"].shape[place]) * 1e-3
            file[name].make_scale(name)
            file["temp"].dims[place].attach_scale(file[name])


@pytest.mark.parametrize("texts", TEXTS)
def test_labels_that_are_none(miniapp, small, small_checksums, texts):
    with_scales(small, ["lev", "lat"])
    with h5py.File(small, "a") as file:
        file["temp"].attrs.create("DIMENSION_LABELS", TEXTS[texts][0], dtype=TEXTS[texts][1])
    assert miniapp.checksums(small) == small_checksums


@pytest.mark.parametrize("texts", TEXTS)
def test_names_of_scales_that_are_none(miniapp, small, small_checksums, texts):
    with_scales(small, ["lev", "lat"])
    with h5py.File(small, "a") as file:
        for name in ("lev", "lat"):
            file[name].attrs.create("NAME", TEXTS[texts][0], dtype=TEXTS[texts][1])
    assert miniapp.checksums(small) == small_checksums
