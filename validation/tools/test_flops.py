"""run/dev/flops: when a count is off the description, and what it cannot use. The whole takes two minutes."""

import shutil
import sys

import pytest

from conftest import DONE, HERE, INPUT, LONG, MISMATCH, USAGE, assert_failed
from processes import completed, executable, load_script

SCRIPT = HERE.parent / "run" / "dev" / "flops"
POINTS, INTERIOR = 132 * 68 * 20, 128 * 64 * 20


@pytest.fixture
def flops():
    return load_script("dev/flops")


@pytest.fixture
def outcome(flops, monkeypatch, capsys):
    """The exit code where a kernel's description says 100 flops and bytes a point, and its call has so many."""
    def run_on(kernel, total, traffic=100 * POINTS):
        row = dict.fromkeys(("flops", "bytes", "traffic_bytes"), 100 * POINTS)
        monkeypatch.setattr(flops, "TOOLS", ())
        monkeypatch.setattr(flops, "build", lambda: None)
        monkeypatch.setattr(flops, "names", lambda: [kernel])
        monkeypatch.setattr(flops, "stated", lambda *_: {kernel: row})
        monkeypatch.setattr(flops, "flops_of_instructions", dict)
        monkeypatch.setattr(flops, "count", lambda *_: (total, traffic))
        monkeypatch.setattr(sys, "argv", ["flops"])
        code = flops.main()
        row = capsys.readouterr().out.splitlines()[1]
        assert row.endswith("right" if code == DONE else "OFF")
        return code
    return run_on


@pytest.mark.parametrize("points", [POINTS, INTERIOR])
def test_count_that_is_right(outcome, points):
    for share in (0.94, 1, 1.06):
        assert outcome("tke", 100 * share * points) == DONE


def test_count_that_is_off(outcome):
    assert outcome("tke", 0) == MISMATCH
    assert outcome("tke", 92 * INTERIOR) == MISMATCH
    assert outcome("tke", 108 * POINTS) == MISMATCH
    assert outcome("eos", 92 * INTERIOR) == MISMATCH
    assert outcome("eos", 108 * POINTS) == MISMATCH


@pytest.mark.parametrize("name, more", [("tke", 0), ("tracer_mixing", 16)])
def test_traffic(outcome, name, more):
    for share, code in ((0.89, MISMATCH), (0.91, DONE), (1.09, DONE), (1.11, MISMATCH)):
        assert outcome(name, 100 * POINTS, share * (100 + more) * POINTS) == code


def test_a_cache_that_does_not_hold_the_fields(flops):
    assert [flops.cache_for(size) for size in (3 * 1024, 4.3e6, 18e6, 1e9)] == [1024, 1 << 20, 4 << 20, 8 << 20]


def test_events_of_kernels(flops, tmp_path):
    """Counts of their functions alone, without those that these call; zeros at the end of a line are left out."""
    path = tmp_path / "callgrind.out"
    path.write_text("events: Ir Dr DLmr\nfn=main\n0x10 0 7 7 7\nfn=tke_host_float64.omp_outlined\n0x20 0 3 2 1\n"
                    "calls=1 0x99\n0x24 0 50 50 50\n0x20 0 4\n")
    assert flops.events(path) == {0x20: {"Ir": 7, "Dr": 2, "DLmr": 1}}


def refuses(path, pattern):
    done = completed([sys.executable, SCRIPT], env={"PATH": str(path)})
    assert_failed(done, INPUT, pattern, "run/dev/flops: ")


def test_tools_that_are_missing_or_fail(tmp_path):
    """Before anything is built."""
    for tool in ("cmake", "ninja", "clang-19", "valgrind", "objdump"):
        refuses(tmp_path, f"{tool} is missing")
        executable(tmp_path / tool, "#!/bin/sh\necho 'Error: made up' >&2\nexit 1\n")
    refuses(tmp_path, "the build failed: Error: made up")


def test_run_that_fails(flops, capsys):
    with pytest.raises(SystemExit) as ended:
        flops.run("valgrind", "/bin/sh", "-c", "echo 'miniapp: no luck' >&2; exit 4")
    assert ended.value.code == INPUT
    assert capsys.readouterr().err == "run/dev/flops: valgrind failed: miniapp: no luck\n"


def test_the_table(flops):
    if not (LONG and all(map(shutil.which, flops.TOOLS))):
        pytest.skip("counting takes two minutes: MINIAPP_TEST_LONG=1 does it, with valgrind")
    done = completed([sys.executable, SCRIPT])
    assert done.returncode == DONE and done.stderr == "", done
    done = completed([sys.executable, SCRIPT, "none"])
    assert done.returncode == USAGE and "there is no kernel 'none'" in done.stderr
