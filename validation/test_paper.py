"""The GPU code of every kernel stays within the limits of paper.json."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIMITS = HERE / "paper.json"


def paper(*words):
    return subprocess.run([sys.executable, HERE.parent / "run" / "paper", *words],
                          capture_output=True, text=True, check=False, timeout=500)


@pytest.fixture
def clang(miniapp):
    if miniapp.offload != "yes" or "Clang" not in miniapp.run("--version").stdout:
        pytest.skip("looks at the GPU code of Clang's build only")


def test_limits(clang):
    done = paper("--check", LIMITS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_limit_that_is_exceeded(clang, tmp_path):
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    limits["triad 1, float64"]["calls"] = -1
    del limits["triad 1, float32"]
    path = tmp_path / "limits.json"
    path.write_text(json.dumps(limits), encoding="utf-8")
    done = paper("--kernel", "triad", "--arch", "sm_90", "--check", path)
    assert done.returncode == 1
    assert done.stderr == ("run/paper: triad 1, float64, sm_90: calls 0 is more than -1\n"
                           "run/paper: triad 1, float32, sm_90: has no limits\n")
