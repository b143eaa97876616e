"""The job scripts of Slurm as shipped, on a real one that run/dev/slurm starts on this machine.

Slurm looks at time limits about every 30 s and needs as long to believe that a node is dead; such
jobs are submitted first and looked at last, and wait without work.
"""

import contextlib
import json
import os
import re
import shutil
import socket
from pathlib import Path

import h5py
import pytest

import local_slurm
from conftest import DEVICE, GRID_REFERENCE, MISMATCH, QUICK
from local_slurm import ROOT, SCRIPTS
from processes import executable, wait_for, waiting

SIGNALLED = 143
TWO_CPUS = "--cpus-per-task=2"
ENDLESS = ("--repetitions", "1000000")


def command_lines():
    """Of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            yield path.read_bytes()


class Jobs:
    """Submits the scripts with the program under test, and finds what they printed."""

    def __init__(self, slurm, miniapp, folder):
        self.slurm, self.miniapp, self.folder = slurm, miniapp, folder

    def submit(self, script, *options, arguments=(), **env):
        env = {"MINIAPP": str(self.miniapp.path), "RESULTS": str(self.folder), **env}
        return self.slurm.submit(f"--output={self.folder}/%j.out", *options, SCRIPTS / script, *arguments, env=env)

    def printed(self, job):
        return (self.folder / f"{job}.out").read_text()

    def has_printed(self, job, text):
        """Whether it has by now; it may not have started."""
        return (self.folder / f"{job}.out").exists() and text in self.printed(job)

    def rows(self, kernel):
        """The rows that a sweep has by now."""
        path = self.folder / f"{kernel}.json"
        return json.loads(path.read_text())["results"] if path.exists() else []


@pytest.fixture(scope="module")
def limited(slurm, miniapp, tmp_path_factory):
    """A job that reaches its time limit; submitted before all others, alone on a node that no test
    lets die."""
    jobs = Jobs(slurm, miniapp, tmp_path_factory.mktemp("limited"))
    # In the program's place: it waits for SIGTERM, and then ends as the program does.
    executable(jobs.folder / "program", waiting("TERM", "echo waits", 'echo "ends in order"; exit 143'))
    job = jobs.submit("cpu", TWO_CPUS, "--nodelist=n2", "--exclusive", MINIAPP=str(jobs.folder / "program"))
    wait_for(lambda: jobs.has_printed(job, "waits\n"))
    slurm.near_its_limit(job)
    return jobs, job


@pytest.fixture
def jobs(slurm, limited, miniapp, tmp_path):
    return Jobs(slurm, miniapp, tmp_path)


def test_cpu_job_validates(jobs):
    job = jobs.submit("cpu", arguments=QUICK)
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "COMPLETED" and state["ExitCode"] == "0:0", jobs.printed(job)
    assert "validation PASSED" in jobs.printed(job)
    assert "# threads        8\n" in jobs.printed(job)  # as the script asks for CPUs


def test_more_cpus_for_a_job_are_more_threads(jobs):
    job = jobs.submit("cpu", "--cpus-per-task=3", arguments=("--kernel", "eos", *QUICK))
    jobs.slurm.ended(job)
    assert "# threads        3\n" in jobs.printed(job)


def test_gpu_job_without_offload_fails(jobs):
    if len(jobs.miniapp.devices) > 1:
        pytest.skip("there is a device here")
    job = jobs.submit("gpu")
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{DEVICE}:0"
    assert jobs.printed(job).startswith("miniapp: ")


def test_job_that_gets_too_little_memory_says_so(jobs):
    job = jobs.submit("sweep", TWO_CPUS, "--array=1", "--mem=200M", arguments=("--size", "1e7"))
    state = jobs.slurm.ended(f"{job}_1")
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{DEVICE}:0"
    assert re.match("miniapp: .*memory", jobs.printed(state["JobId"]))


def test_failed_validation_fails_in_slurm(jobs, tmp_path):
    """And a job that is to run after its success never does."""
    wrong = shutil.copytree(GRID_REFERENCE, tmp_path / "wrong")
    with h5py.File(wrong / "eos.h5", "a") as file:
        file["dHdT"][5, 20, 40] += 1.0
    job = jobs.submit("cpu", TWO_CPUS, "--hold", arguments=QUICK, MINIAPP_REFERENCE=wrong)
    next_job = jobs.submit("cpu", TWO_CPUS, f"--dependency=afterok:{job}")
    jobs.slurm.check("scontrol", "release", job)
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{MISMATCH}:0"
    held = jobs.slurm.wait(next_job, lambda state: state["Reason"] == "DependencyNeverSatisfied")
    assert held["JobState"] == "PENDING"


def test_array_sweeps(jobs, miniapp):
    """A task for each kernel, each in both precisions, with its rows in a file of its own."""
    job = jobs.submit("sweep", TWO_CPUS, arguments=("--size", "4096", "--size", "16384", "--repetitions", "2"))
    for task, kernel in enumerate(map(str, miniapp.ocean), 1):
        state = jobs.slurm.ended(f"{job}_{task}")
        assert state["JobState"] == "COMPLETED" and state["ExitCode"] == "0:0"
        rows = jobs.rows(kernel)
        assert {row["kernel"] for row in rows} == {kernel}
        assert len({(row["precision"], row["points"]) for row in rows}) == len(rows) == 4


@pytest.mark.parametrize("command, state", [
    (("scancel",), "CANCELLED"),
    (("scancel", "--batch", "--signal=USR1"), "FAILED"),  # as with sbatch --signal=B:USR1
])
def test_signalled_job_ends_in_order(command, state, jobs):
    job = jobs.submit("cpu", TWO_CPUS, arguments=("--kernel", "eos", "--verbose", *ENDLESS))
    wait_for(lambda: jobs.has_printed(job, "first turn"))
    jobs.slurm.check(*command, job)
    ended = jobs.slurm.ended(job)
    assert ended["JobState"] == state and ended["ExitCode"] == f"{SIGNALLED}:0"
    assert "\neos  " in jobs.printed(job) and "PASSED" not in jobs.printed(job)


# In the program's place: before it is requeued, a job measures one size, and the second one for ever.
DIES_IN_THE_SECOND_SIZE = """#!/bin/sh
set -eu
if [ "${{SLURM_RESTART_COUNT:-0}}" -eq 0 ]; then
  {miniapp} --size 4096 "$@"
  exec {miniapp} --verbose --size 4096 --size 8192 "$@" --repetitions 100000000
fi
exec {miniapp} --size 4096 --size 8192 --size 16384 --size 32768 "$@"
"""


def test_sweep_goes_on_after_its_node_died(jobs, tmp_path):
    """No row is lost, none is there twice, and none is measured again."""
    program = tmp_path / "program"
    executable(program, DIES_IN_THE_SECOND_SIZE.format(miniapp=jobs.miniapp.path))
    array = jobs.submit("sweep", TWO_CPUS, "--array=1", arguments=("--repetitions", "5"), MINIAPP=str(program))
    job = f"{array}_1"
    wait_for(lambda: jobs.has_printed(jobs.slurm.job(job)["JobId"], "first turn"))
    first = str(jobs.miniapp.ocean[0])
    before = jobs.rows(first)
    node = jobs.slurm.crash(job)
    state = jobs.slurm.ended(job)
    jobs.slurm.restart(node)
    assert len(before) == 2
    assert state["JobState"] == "COMPLETED" and state["Restarts"] == "1"
    assert state["NodeList"] != node
    after = jobs.rows(first)
    assert len({(row["precision"], row["points"]) for row in after}) == len(after) == 8
    assert all(row in after for row in before)


def test_start_that_fails_leaves_nothing(tmp_path):
    """No daemon; and a job for it fails at once, where it could wait for ever."""
    if local_slurm.missing():
        pytest.skip("Slurm is not installed")
    slurm = local_slurm.LocalSlurm(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(slurm.environment["SLURM_LOCAL_PORT"]) + 1))
        taken.listen()
        assert re.fullmatch("run/dev/slurm: a daemon ended: see .*\n", slurm.start())
    assert not any(os.fsencode(tmp_path) in line for line in command_lines())
    assert slurm.run("sbatch", "--wait", SCRIPTS / "cpu", cwd=ROOT).returncode != 0


def test_time_limit_ends_a_job_in_order(limited):
    """By SIGTERM, a minute before the limit or, here, as soon as Slurm looks."""
    jobs, job = limited
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{SIGNALLED}:0"
    assert state["Restarts"] == "0"
    assert jobs.has_printed(job, "ends in order\n")
