"""The ReFrame checks: on this machine, and by a real Slurm that runs on it."""

import os
import re
import shutil
from pathlib import Path

import h5py
import pytest

from conftest import GRID_REFERENCE
from processes import completed, executable

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "run" / "reframe" / "check"
QUICK = ("-S", "KernelCheck.seconds=0.001")
BUILD = 1  # a check of its own
PROGRAM = ROOT / "build" / "host" / "bin" / "miniapp"


def reframe(*options, env=None):
    return completed([CHECK, "--nocolor", *options], env=env or os.environ, cwd=ROOT)


@pytest.fixture(scope="module", autouse=True)
def listing():
    """ReFrame's list of checks, where it can be installed and the program of the environment `host` is there."""
    if not PROGRAM.exists():
        pytest.skip(f"no {PROGRAM}")
    done = reframe("--system=laptop", "--list")
    if "cannot be installed" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done
    return done.stdout


def test_every_kernel_is_checked(miniapp, listing):
    checks = re.findall(r"%kernel=(\w+)", listing)
    assert sorted(checks) == sorted(kernel.name for kernel in miniapp.ocean), listing


def test_checks_pass_on_this_machine():
    done = reframe("--run", *QUICK, "--system=laptop", "-p", "host$", "-t", "isoneutral$")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("   OK ") == BUILD + 1 and "P: share: " in done.stdout, done.stdout


# In the program's place, whose rows have marks that depend on the kernel.
MARKED = """#!/usr/bin/env python3
import json, subprocess, sys
report = json.loads(subprocess.run([{program!r}, *sys.argv[1:]], stdout=subprocess.PIPE).stdout)
for row in report["results"]:
    row["marks"] = "noisy disturbed" if "density" in sys.argv else ""
json.dump(report, sys.stdout)
"""


def test_checks_fail(tmp_path):
    """Where an output differs, and where a kernel is too slow: none is a hundred times as fast as its ceiling. A noisy
    time says nothing of that."""
    for kernel in ("density", "eos", "tke"):
        shutil.copy(GRID_REFERENCE / f"{kernel}.h5", tmp_path)
    with h5py.File(tmp_path / "tke.h5", "a") as file:
        file["tke_taup1"][..., 20, 40] += 1.0
    executable(tmp_path / "program", MARKED.format(program=str(PROGRAM)))
    settings = (CHECK.parent / "settings.py").read_text()
    expected = '"features": ["cpu"], "extras": {"share": {"eos": 100.0, "density": 100.0}},'
    (tmp_path / "site.py").write_text(settings.replace('"features": ["cpu"],', expected))
    done = reframe("--run", *QUICK, "--system=laptop", "-p", "host$", "-t", "(eos|density|tke)$",
                   "-S", f"KernelCheck.program={tmp_path}/program", "-S", f"KernelCheck.reference_file={tmp_path}",
                   env={**os.environ, "RFM_CONFIG_FILES": str(tmp_path / "site.py")})
    assert done.returncode != 0, done.stdout
    assert sorted(re.findall(r"  (OK|FAIL) .*kernel=(\w+)", done.stdout)) == [
        ("FAIL", "eos"), ("FAIL", "tke"), ("OK", "density")], done.stdout
    reasons = re.findall(r"FAILURE INFO for .*kernel=(\w+)(?:.*\n)*?  \* Reason: \w+ error: ([^=\n]*)", done.stdout)
    assert sorted(reasons) == [("eos", "failed to meet reference(s): share"),
                               ("tke", "differ from the reference: ['tke_taup1']")], done.stdout


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
