"""What the library reads is what an independent reader reads, on random files: one verdict, and the same values."""

import collections
import warnings

import h5py
import numpy as np
import pytest

import independent_reader
import miniapp as package
import random_inputs
from conftest import LONG

pytestmark = pytest.mark.unsanitized("it needs a sanitized Python")

COUNT = 10_000 if LONG else 75
MADE_UP = {"sample", "factor_a", "factor_b"}  # where a file lacks them, they are no field of it


@pytest.fixture(scope="module")
def compare(library, tmp_path_factory):  # pylint: disable=unused-argument
    """Gives (what kind of file, the verdict, the difference or None) for a seed, or for it and a fault."""
    tables = package.library.default()
    folder = tmp_path_factory.mktemp("differential")
    sequences = {name: tables.reads(name) for name in tables.sequences if not MADE_UP.intersection(tables.reads(name))}

    def run(seed, fault=None):
        path = folder / f"{seed}.h5"
        case = random_inputs.make(seed, tables.fields, sequences, list(tables.settings), fault)
        case.write(path)
        try:
            found = by_library(path, case)
            expected = independently(path, case, tables)
        finally:
            path.unlink()
        difference = difference_of(path, found, expected)
        return case.faults, "refused" if isinstance(expected, str) else "accepted", difference and (
            f"seed {seed} ({case.sequence}; {', '.join(case.faults)}): {difference}")
    return run


def by_library(path, case):
    """The fields, or a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            with package.load(path, case.sequence) as state:
                return {name: state[name] for name in case.read}
    except package.InputError as error:
        return str(error)


def independently(path, case, tables):
    try:
        values = independent_reader.read(path, case.read, tables.fields, tables.settings)
    except independent_reader.Refused as error:
        return str(error)
    if tables.levels(case.sequence) and "w" in values and has_only_velocities(path, "w"):
        needed = {name: values[name] for name in tables.reads("vertical_velocity")}
        values["w"] = package.vertical_velocity(**needed, check=False)
    carries_psi = "psi" in dict(tables.levels(case.sequence))
    if carries_psi and has_only_velocities(path, "psi") and setting(path, "enable_streamfunction") != 0:
        values["psi"] = sums_of_transports(values, case.cyclic)
    return values


def has_only_velocities(path, absent):
    """Then a step in time makes what is absent from u and v."""
    with h5py.File(path) as file:
        return "u" in file and "v" in file and absent not in file


def setting(path, name):
    with h5py.File(path) as file:
        return file.attrs[name] if name in file.attrs else package.library.default().settings[name].default


def sums_of_transports(values, is_cyclic):
    """The streamfunction at corners in water, by what u carries north of them; NaN beside land, whose coasts
    test_ocean.py looks at."""
    water = values["maskT"] != 0
    carried = (values["u"] * values["dzt"][:, None, None])[:, :, :-1] * (water[:, :, :-1] & water[:, :, 1:])
    sums = np.cumsum((carried.sum(axis=0) * values["dyt"][:, None])[-3:1:-1], axis=0)[::-1]
    column = water.any(axis=0)
    column[:2] = column[-2:] = False
    if not is_cyclic:
        column[:, :2] = column[:, -2:] = False
    is_inside = column[1:-3, :-1] & column[1:-3, 1:] & column[2:-2, :-1] & column[2:-2, 1:]
    psi = np.full(values["psi"].shape, np.nan)
    psi[1:-3, 2:-2] = np.where(is_inside, sums, np.nan)[:, 2:-1]
    return psi


def are_alike(found, expected):
    """To the last bit but for a sum, which is told by what is NaN."""
    known = ~np.isnan(expected)
    if known.all():
        return np.array_equal(found, expected)
    return np.allclose(found[known], expected[known], rtol=0, atol=1e-12 * np.abs(expected[known]).max(initial=0))


def difference_of(path, found, expected):
    if isinstance(found, str) or isinstance(expected, str):
        if isinstance(found, str) and isinstance(expected, str):
            return None if found.startswith(f"{path}: ") and "\n" not in found else f"not what a user reads: {found!r}"
        return f"library: {found if isinstance(found, str) else 'done'}; " \
               f"reader: {expected if isinstance(expected, str) else 'done'}"
    differ = [name for name in expected if not are_alike(found[name], expected[name])]
    return f"{', '.join(differ)} differ" if differ else None


@pytest.fixture(scope="module")
def results(compare):
    return [compare(seed) for seed in range(COUNT)]


def test_no_difference(results):
    assert not [difference for *_, difference in results if difference]


def test_both_verdicts_are_common(results):
    """Neither reader agrees with the other by refusing all, or by taking all."""
    counts = collections.Counter(verdict for _, verdict, _ in results)
    assert min(counts["accepted"], counts["refused"]) > len(results) / 5, counts
    refused = {faults[0] for faults, verdict, _ in results if verdict == "refused" and len(set(faults)) == 1}
    assert not LONG or refused == {fault.__name__ for fault in random_inputs.FAULTS}
    assert all(faults or verdict == "accepted" for faults, verdict, _ in results)


@pytest.mark.parametrize("part, mistake, fault", [
    ("is_written", lambda dataset: True, random_inputs.unwritten),
    ("text", lambda value: "", random_inputs.other_units), ("HALO", 1, random_inputs.bad_halo)])
def test_a_mistake_shows(compare, monkeypatch, part, mistake, fault):
    """Whether it is made by the reader here or by the library makes no difference."""
    monkeypatch.setattr(independent_reader, part, mistake)
    assert any(compare(seed, fault)[-1] for seed in range(COUNT))  # as far as the first
