"""run/gpu-check, on the emulated device: that it measures and judges; not what a GPU does."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DEVICE, DONE, OUTPUT, USAGE, assert_one_line
from processes import DEADLINE_S, wait_for

SCRIPT = Path(__file__).resolve().parent.parent / "run" / "gpu-check"

# In the place of a program for a GPU: all is well, and its sweep lasts until it is asked to end.
PROGRAM = """#!/bin/sh
case "$*" in
*--list-devices*) echo "gpu:0 made up; an empty kernel takes 5 us" ;;
*--validate*) echo '{"validation": [{"passed": true}]}' ;;
*--checksums*) echo '{"checksums": {"dHdT": "0"}}' ;;
*)
  trap 'kill $!; echo "{\\"results\\": [$row]}"; exit 143' TERM
  row='{"kernel": "a_new_one", "precision": "float64", "points": 4096, "median_s": 1e-5,
    "ns_per_point": 2.5, "gb_per_s": 9.0}'
  : >"$0.sweeps"
  sleep 600 & wait $! ;;
esac
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


def gpu_check(miniapp, *words, env=None):
    return subprocess.run([sys.executable, SCRIPT, "--miniapp", miniapp.path, *words],
                          capture_output=True, text=True, env=miniapp.environment(env),
                          check=False, timeout=DEADLINE_S)


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


def test_signal_that_ends_it_loses_no_step(program, tmp_path):
    with subprocess.Popen([sys.executable, SCRIPT, "--miniapp", program, "-o", tmp_path / "out"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(program.with_suffix(".sweeps").exists, process)
        process.send_signal(signal.SIGTERM)  # as Ctrl-C, which a job in the background ignores
        output, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("run/gpu-check: stopped by the user; ")
    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert result["validation_passed"] is True and result["same_bits"] is True
    last = result["steps"][-1]
    assert last["name"] == "sweep, float64" and last["outcome"] == "stopped by the user"
    assert last["data"]["results"][0]["points"] == 4096
    assert "a_new_one  float64         4096" in output
    assert (tmp_path / "out-time.svg").exists()


def test_folder_that_is_not_there(program, tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, "--miniapp", program, "-o",
                           tmp_path / "none" / "x"], capture_output=True, text=True, check=False,
                          timeout=DEADLINE_S)
    assert done.returncode == OUTPUT and done.stdout == "", done
    assert_one_line(done.stderr)
    assert done.stderr.startswith("run/gpu-check: ") and "folder" in done.stderr
