"""Ctrl-C ends a script with one line and exit code 130, whatever runs for it at that time."""

import os
import signal
import subprocess
import sys

import pytest

from conftest import HERE
from processes import DEADLINE_S, wait_for

STOPPED = 130

# Each script, and the programs that it starts.
SCRIPTS = {
    "compilers": ("cmake", "gcc"),
    "flops": ("cmake", "ninja", "clang-19", "valgrind", "objdump"),
    "fuzz": ("bin/fuzz_input", "bin/miniapp"),
    "paper": ("clang-19", "bin/ptxas"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_ctrl_c(script, tmp_path):
    (tmp_path / "bin").mkdir()
    for tool in SCRIPTS[script]:
        (tmp_path / tool).write_text(f"#!/bin/sh\n: >{tmp_path}/runs\nexec /bin/sleep 60\n")
        (tmp_path / tool).chmod(0o755)
    words = ["--build", tmp_path] if script == "fuzz" else []
    with subprocess.Popen([sys.executable, HERE.parent / "run" / script, *words],
                          env={"PATH": str(tmp_path), "CUDA_PATH": str(tmp_path)}, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          # a group of its own, as a terminal makes; and Ctrl-C may be ignored here
                          preexec_fn=take_signals) as process:
        wait_for((tmp_path / "runs").exists, process)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=DEADLINE_S)[1]
    assert process.returncode == STOPPED, errors
    assert errors.endswith(f"run/{script}: stopped by the user\n")
    assert "Traceback" not in errors and errors.count("\n") <= 2  # what is built stands before


def take_signals():
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
