"""run/stream: miniapp beside a BabelStream that is made up."""

import pytest

from conftest import DEVICE, DONE, GRID, INPUT, MISMATCH, USAGE, assert_failed
from processes import executable, forked

TABLE = "function,num_times,n_elements,sizeof,max_MB_per_sec,min_runtime,max_runtime,avg_runtime"


@pytest.fixture
def stream(tmp_path, miniapp):
    """The outcome where BabelStream reaches so many MB/s, or prints other rows, or fails."""
    def run(rate="1000", *words, text=None, program=miniapp.path, end=0):
        body = text or f"Copy,2,1,8,{rate}\\nTriad,2,1,8,{rate}"
        other = tmp_path / "omp-stream"
        executable(other, f"#!/bin/sh\necho \"$*\" \"$GLIBC_TUNABLES\" >>{tmp_path}/calls\n"
                   f"printf 'BabelStream\\n{TABLE}\\n{body}\\n'\nexit {end}\n")
        return forked("stream", other, "--miniapp", program, "-s", "4096", "--rounds", "2", "--calls", "3",
                      "--input", GRID, *words)
    return run


def test_bandwidths_side_by_side(stream, tmp_path):
    """On as many points, with huge pages; the margin decides."""
    done = stream("20000", "--margin", "1e6")
    assert done.returncode == DONE and done.stdout.endswith("\ntriad: they agree within 100000000 %\n"), done
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[2:4]}
    for ours, _, theirs, _, ratio in rows.values():
        assert theirs == "20.0" and float(ratio) == pytest.approx(float(ours) / 20, abs=0.005), rows  # both are rounded
    assert (tmp_path / "calls").read_text() == 2 * "--csv -s 4096 -n 3 glibc.malloc.hugetlb=1\n"
    done = stream("1")
    assert done.returncode == MISMATCH and done.stdout.endswith("\ntriad: they do not agree within 15 %\n")


@pytest.mark.parametrize("fault, code, pattern", [
    ({"text": "Copy,2,1,8,1"}, INPUT, "has no row 'triad'"),
    *(({"text": f"Copy,2,1,8,{rate}"}, INPUT, "prints no table of BabelStream's") for rate in ("many", "0", "nan")),
    ({"end": 3}, INPUT, "omp-stream failed: exit code 3"),
    ({"program": "/none"}, DEVICE, "/none: cannot be run: No such file or directory"),
    ({"program": "/bin/false"}, DEVICE, "/bin/false failed: exit code 1"),
    ({"program": "/bin/true"}, DEVICE, "/bin/true: prints no report of miniapp's")])
def test_programs_that_fail(stream, fault, code, pattern):
    assert_failed(stream(**fault), code, pattern)


def test_wrong_usage(stream):
    assert stream("1", "--rounds", "0").returncode == USAGE
