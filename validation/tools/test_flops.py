"""run/dev/flops: when a count is off the table, and what it cannot use. The whole takes a minute."""

import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys

import pytest

from conftest import DONE, HERE, INPUT, LONG, MISMATCH, USAGE, assert_one_line

SCRIPT = HERE.parent / "run" / "dev" / "flops"
sys.path.insert(0, str(SCRIPT.parent))  # where the script finds its modules
POINTS, INTERIOR = 132 * 68 * 20, 128 * 64 * 20


@pytest.fixture
def flops():
    loader = importlib.machinery.SourceFileLoader("flops", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("flops", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def outcome(flops, monkeypatch, capsys):
    """The exit code where a kernel's table says 100 and its call executes so many."""
    def run_on(kernel, total):
        monkeypatch.setattr(flops, "TOOLS", ())
        monkeypatch.setattr(flops, "build", lambda: None)
        monkeypatch.setattr(flops, "table", lambda _: {kernel: 100})
        monkeypatch.setattr(flops, "flops_of_instructions", dict)
        monkeypatch.setattr(flops, "count", lambda *_: total)
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


def refuses(path, pattern):
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False,
                          env={"PATH": str(path)})
    assert done.returncode == INPUT and done.stdout == "", done
    assert_one_line(done.stderr)
    assert done.stderr.startswith("run/dev/flops: ") and pattern in done.stderr, done.stderr


def test_tools_that_are_missing_or_fail(tmp_path):
    """Before anything is built."""
    for tool in ("cmake", "ninja", "clang-19", "valgrind", "objdump"):
        refuses(tmp_path, f"{tool} is missing")
        (tmp_path / tool).write_text("#!/bin/sh\necho 'Error: made up' >&2\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
    refuses(tmp_path, "the build failed: Error: made up")


def test_run_that_fails(flops, capsys):
    with pytest.raises(SystemExit) as ended:
        flops.run("valgrind", "/bin/sh", "-c", "echo 'miniapp: no luck' >&2; exit 4")
    assert ended.value.code == INPUT
    assert capsys.readouterr().err == "run/dev/flops: valgrind failed: miniapp: no luck\n"


def test_the_table(flops):
    if not (LONG and all(map(shutil.which, flops.TOOLS))):
        pytest.skip("counting takes a minute: MINIAPP_TEST_LONG=1 does it, with valgrind")
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == DONE and done.stderr == "", done
    done = subprocess.run([sys.executable, SCRIPT, "none"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == USAGE and "there is no kernel 'none'" in done.stderr
