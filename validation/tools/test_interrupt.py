"""Ctrl-C ends a script with one line and exit code 130, whatever runs for it at that time."""

import os
import signal
import subprocess
import sys

import pytest

from conftest import HERE
from processes import DEADLINE_S, Running, executable, wait_for

STOPPED = 130

# Each script, and the programs that it starts.
SCRIPTS = {
    "compilers": ("cmake", "gcc"),
    "dev/flops": ("cmake", "ninja", "clang-19", "valgrind", "objdump"),
    "dev/fuzz": ("bin/fuzz_input", "bin/miniapp"),
    "dev/paper": ("clang-19", "bin/ptxas"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_ctrl_c(script, tmp_path):
    for tool in SCRIPTS[script]:
        executable(tmp_path / tool, f"#!/bin/sh\n: >{tmp_path}/runs\nexec /bin/sleep 60\n")
    words = ["--build", tmp_path] if script == "dev/fuzz" else []
    with subprocess.Popen([sys.executable, HERE.parent / "run" / script, *words],
                          env={"PATH": str(tmp_path), "CUDA_PATH": str(tmp_path)}, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          # a group of its own, as a terminal makes
                          start_new_session=True) as process:
        wait_for((tmp_path / "runs").exists, process)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=DEADLINE_S)[1]
    assert process.returncode == STOPPED, errors
    assert errors.endswith(f"run/{script}: stopped by the user\n")
    assert "Traceback" not in errors and errors.count("\n") <= 2  # what is built stands before


# What run/bundle calls: a build that holds nothing, and a compressor that comes to no end.
BUNDLE_TOOLS = {
    "cmake": 'if [ "$1" = -S ]; then mkdir -p "$4/bin"; : >"$4/bin/miniapp"; fi',
    "ldd": "exit 0", "ldconfig": "exit 0", "patchelf": "exit 0",
    "xz": ': >"$RUNS"; exec sleep 600',
}


def test_ctrl_c_leaves_no_part_of_a_bundle(tmp_path):
    """The archive of an earlier run stays as it was."""
    build, tools = tmp_path / "build", tmp_path / "tools"
    for name, text in BUNDLE_TOOLS.items():
        executable(tools / name, f"#!/bin/sh\n{text}\n")
    executable(build / "lib" / "miniapp-offload.so", "")
    (build / "CMakeCache.txt").write_text("CMAKE_PROJECT_VERSION:STATIC=1.2.3\n")
    archive = build / "miniapp-1.2.3-linux-x86_64.tar.xz"
    archive.write_text("earlier")
    with Running([HERE.parent / "run" / "bundle", build], start_new_session=True,
                 env={"PATH": f"{tools}:/usr/bin:/bin", "RUNS": str(tmp_path / "runs")}) as process:
        process.wait_for((tmp_path / "runs").exists)
        os.killpg(process.pid, signal.SIGINT)
        process.finish()
    assert process.returncode == -signal.SIGINT, process.said()
    assert archive.read_text() == "earlier"
    assert sorted(path.name for path in build.iterdir()) == ["CMakeCache.txt", "bundle", "lib", archive.name]
