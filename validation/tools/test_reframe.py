"""The ReFrame checks: on this machine, and by a real Slurm that runs on it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import pytest

from conftest import GRID_REFERENCE
from processes import DEADLINE_S, executable

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "run" / "reframe" / "check"
QUICK = ("-S", "KernelCheck.seconds=0.001")
BUILD = 1  # a check of its own
PROGRAM = ROOT / "build" / "host" / "bin" / "miniapp"


def reframe(*options, env=None):
    return subprocess.run([CHECK, "--nocolor", *options], env=env or os.environ, cwd=ROOT,
                          capture_output=True, text=True, timeout=DEADLINE_S, check=False)


@pytest.fixture(scope="module", autouse=True)
def installed():
    """ReFrame, and the program of the environment `host`."""
    if not PROGRAM.exists():
        pytest.skip(f"no {PROGRAM}")
    done = reframe("--version")
    if "cannot be installed" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done


def test_every_kernel_is_checked(miniapp):
    done = reframe("--system=laptop", "--list")
    checks = re.findall(r"%kernel=(\w+)", done.stdout)
    assert sorted(checks) == sorted(kernel.name for kernel in miniapp.ocean), done.stdout


def test_checks_pass_on_this_machine():
    done = reframe("--run", *QUICK, "--system=laptop", "-p", "host$", "-t", "isoneutral$")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("   OK ") == BUILD + 1 and "P: share: " in done.stdout, done.stdout


def test_check_fails_where_an_output_differs(tmp_path):
    wrong = shutil.copy(GRID_REFERENCE / "eos.h5", tmp_path / "wrong.h5")
    with h5py.File(wrong, "a") as file:
        file["dHdT"][5, 20, 40] += 1.0
    done = reframe("--run", *QUICK, "-p", "host$", "-t", "eos", "-S", f"KernelCheck.reference_file={wrong}")
    assert done.returncode != 0, done.stdout
    assert "differ from the reference: ['dHdT']" in done.stdout, done.stdout


MARKED = """#!/usr/bin/env python3
import json, subprocess, sys
report = json.loads(subprocess.run([{program!r}, *sys.argv[1:]], stdout=subprocess.PIPE, check=True).stdout)
for row in report["results"]:
    row["marks"] = {marks!r}
json.dump(report, sys.stdout)
"""


@pytest.mark.parametrize("marks, passes", [("noisy disturbed", True), ("", False)])
def test_check_fails_where_a_kernel_is_too_slow(tmp_path, marks, passes):
    """No kernel is a hundred times as fast as its ceiling; a noisy time says nothing of that."""
    program = tmp_path / "program"
    executable(program, MARKED.format(program=str(PROGRAM), marks=marks))
    settings = (CHECK.parent / "settings.py").read_text()
    expected = '"features": ["cpu"], "extras": {"share": {"eos": 100.0}},'
    site = tmp_path / "site.py"
    site.write_text(settings.replace('"features": ["cpu"],', expected))
    done = reframe("--run", *QUICK, "--system=laptop", "-p", "host$", "-t", "eos", "-S", f"KernelCheck.program={program}",
                   env={**os.environ, "RFM_CONFIG_FILES": str(site)})
    assert (done.returncode == 0) == passes, done.stdout
    assert ("failed to meet reference(s): share=" in done.stdout) != passes, done.stdout


def test_checks_pass_on_a_partition_of_slurm(slurm):
    done = reframe("--run", *QUICK, "--system=cluster:cpu", "-p", "host$", "-t", "(eos|tke)$", env=slurm.environment)
    assert done.returncode == 0 and done.stdout.count("   OK ") == BUILD + 2, done.stdout
    jobs = slurm.check("scontrol", "-o", "show", "job").splitlines()
    assert len(jobs) == 2
    assert all("JobState=COMPLETED" in job and "NumCPUs=8 " in job for job in jobs), jobs


def test_gpu_checks_ask_for_a_gpu(tmp_path):
    """Without a GPU: what would be submitted, once its program is built."""
    done = reframe("--system=cluster:gpu", "--dry-run", "--prefix", str(tmp_path), "-t", "(eos|tke)$",
                   "--keep-stage-files")
    assert done.returncode == 0, done.stdout
    build, = tmp_path.rglob("rfm_build.sh")
    assert "cmake --preset nvptx && cmake --build --preset nvptx;" in build.read_text()
    jobs = list(tmp_path.rglob("KernelCheck*/rfm_job.sh"))
    assert jobs and all("#SBATCH --gpus=1" in path.read_text() for path in jobs)
