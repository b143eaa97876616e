"""What the program reads is what an independent reader reads, on random files."""

import collections

import numpy as np
import pytest

import differential
import independent_reader
from conftest import LONG

COUNT = 10_000 if LONG else 150


@pytest.fixture(scope="module")
def results(miniapp):
    """Of all seeds, of which two builds take half each, unless all are asked for."""
    seeds = range(COUNT) if LONG else range(int(miniapp.is_gcc), COUNT, 2)
    return list(differential.run(miniapp.path, seeds))


def test_no_difference(results):
    assert not [f"seed {result.seed}: {result.difference}" for result in results
                if result.difference]


def test_both_verdicts_are_common(results):
    """Neither reader agrees with the other by refusing all, or by taking all."""
    counts = collections.Counter(result.verdict for result in results)
    assert min(counts["accepted"], counts["refused"]) > len(results) / 5, counts


MISTAKES = {
    "unpack": lambda dataset, raw: raw.astype(float),
    "is_marked": lambda dataset, raw: np.zeros(raw.shape, bool),
    "axis_of": lambda dataset, place: None,
    "extend": lambda values, dry, water: values,
    "shifted": lambda cells, axis: cells,
    "moment": lambda scale, index: None,
}


@pytest.mark.parametrize("part", MISTAKES)
def test_a_mistake_shows(miniapp, monkeypatch, part):
    """That it is made by the reader here and not by the program makes no difference."""
    monkeypatch.setattr(independent_reader, part, MISTAKES[part])
    found = differential.run(miniapp.path, range(10 * COUNT))  # as far as the first that differs
    assert any(result.difference for result in found)
