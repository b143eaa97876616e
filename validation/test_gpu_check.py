"""run/gpu-check, on the emulated device: that it measures and judges; not what a GPU does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DEVICE, DONE, USAGE

SCRIPT = Path(__file__).resolve().parent.parent / "run" / "gpu-check"


def gpu_check(miniapp, *words, env=None):
    return subprocess.run([sys.executable, SCRIPT, "--miniapp", miniapp.path, *words],
                          capture_output=True, text=True, env=miniapp.environment(env),
                          check=False, timeout=300)


def test_emulated_device(miniapp, tmp_path):
    if miniapp.offload != "emulated":
        pytest.skip("needs a build with emulated offload")
    done = gpu_check(miniapp, "--size", "5000", "--budget", "25", "-o", tmp_path / "out")
    assert done.returncode == DONE, done
    assert "validation PASSED; two runs give the same bits" in done.stdout
    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert result["validation_passed"] is True and result["same_bits"] is True
    assert 0 < result["empty_call_s"] < 1
    steps = {step["name"]: step for step in result["steps"]}
    for precision in ("float64", "float32"):
        verdicts = steps[f"validation, {precision}"]["data"]["validation"]
        assert {verdict["kernel"] for verdict in verdicts} >= {str(k) for k in miniapp.kernels}
    # what is stopped reports what it has; what has no time left says so
    assert steps["sweep, float64"]["outcome"].startswith(("done", "stopped"))
    assert all(step["outcome"] for step in result["steps"])


def test_gpu_that_is_not_there(miniapp, tmp_path):
    if miniapp.offload != "yes" or "gpu" in miniapp.devices:
        pytest.skip("needs a build for GPUs, and none of them here")
    done = gpu_check(miniapp, "-o", tmp_path / "out")
    assert done.returncode == DEVICE
    assert "run/gpu-check: the GPU cannot be used: miniapp: device 'gpu'" in done.stderr


def test_program_that_is_not_there(miniapp, tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, "--miniapp", tmp_path / "none"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == USAGE and "there is no program" in done.stderr
