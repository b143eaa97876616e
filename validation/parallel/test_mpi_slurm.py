"""The job scripts of several ranks as shipped, over the two nodes of a real Slurm on this machine.

By srun: Open MPI's processes find each other by pmix, MPICH's by pmi2. Slurm looks at time limits
about every 30 s and needs as long to believe that a node is dead; such jobs are submitted first and
looked at last, and wait without work.
"""

import json
import re
import sys

import pytest

from conftest import DEVICE
from processes import executable, wait_for, waiting
from test_mpi import ACC, same_datasets
from test_slurm import SIGNALLED, Jobs

pytestmark = pytest.mark.every_mpi

NODE_EACH = ("--ntasks-per-node=1", "--cpus-per-task=1", "--mem=1G")
ON_TWO_NODES = "; 1 of the processes on this node; "
EIGHT = ("--steps", "8", "--every", "4")


class RankedJobs(Jobs):
    """Jobs of the program under test, whose MPI srun is told of."""

    def __init__(self, slurm, ranks, folder):
        super().__init__(slurm, ranks.miniapp, folder)
        environment = ranks.environment()
        self.known = {name: environment[name] for name in environment if name.startswith(("OMPI_", "HWLOC_"))}
        self.known["SLURM_MPI_TYPE"] = "pmi2" if ranks.is_mpich else "pmix"

    def submit(self, script, *options, arguments=(), **env):
        return super().submit(script, *NODE_EACH, *options, arguments=arguments, **{**self.known, **env})

    def passes(self, job):
        state = self.slurm.ended(job)
        assert state["JobState"] == "COMPLETED" and state["ExitCode"] == "0:0", \
            self.printed(state["JobId"])
        return self.printed(state["JobId"])


# In the program's place: each rank waits for SIGUSR1, and then ends as the program does, none before
# all have said so; Slurm ends a rank as soon as another one fails.
ENDS = """echo "rank $SLURM_PROCID on $SLURMD_NODENAME ends in order"
  touch "{folder}/ended.$SLURM_PROCID"
  until [ -e "{folder}/ended.0" ] && [ -e "{folder}/ended.1" ]; do sleep 0.1; done
  exit 143"""


@pytest.fixture(scope="module")
def limited(slurm, ranks, tmp_path_factory):
    """A job that reaches its time limit."""
    folder = tmp_path_factory.mktemp("limited")
    executable(folder / "waits", waiting("USR1", 'echo "rank $SLURM_PROCID waits"', ENDS.format(folder=folder)))
    jobs = RankedJobs(slurm, ranks, folder)
    job = jobs.submit("mpi-cpu", MINIAPP=str(folder / "waits"))
    for rank in range(2):
        wait_for(lambda: jobs.has_printed(job, f"rank {rank} waits\n"))
    slurm.near_its_limit(job)
    return jobs, job


@pytest.fixture
def jobs(slurm, limited, ranks, tmp_path):
    return RankedJobs(slurm, ranks, tmp_path)


@pytest.fixture(scope="module")
def eight(ranks, tmp_path_factory):
    """Where eight steps of one process end."""
    path = tmp_path_factory.mktemp("eight") / "end.nc"
    ranks.passes("1x1", *EIGHT, "-o", path, str(ACC))  # the file that jobs read, whose coordinates are copied
    return path


def test_ranks_of_two_nodes_share_an_ocean(jobs, eight, tmp_path):
    """Bit for bit."""
    job = jobs.submit("mpi-cpu", arguments=(*EIGHT, "-o", tmp_path / "end.nc", "--format", "json"))
    output = jobs.passes(job)
    found = json.loads(output[output.index("{\n"):])
    assert found["results"][0]["processes"]["count"] == 2
    assert ON_TWO_NODES in found["provenance"]["mpi"]
    assert found["results"][0]["threads"] == 1
    same_datasets(tmp_path / "end.nc", eight)


def test_mpirun_finds_the_nodes_of_a_job(jobs, ranks):
    """Without srun, and whatever Slurm's plug-ins can."""
    launcher = "mpirun.mpich" if ranks.is_mpich else "mpirun.openmpi --bind-to none"
    job = jobs.slurm.submit(f"--output={jobs.folder}/%j.out", "--nodes=2", *NODE_EACH,
                            f"--wrap={launcher} -n 2 {ranks.miniapp.path} --steps 2 {ACC}",
                            env={**jobs.known, "OMP_NUM_THREADS": "1"})
    assert ON_TWO_NODES in jobs.passes(job)


def test_gpu_job(jobs, ranks, tmp_path):
    """Each rank has the GPU of its node; without one it never runs on the host."""
    job = jobs.submit("mpi-gpu", arguments=(*EIGHT, "-o", tmp_path / "end.nc"))
    if len(jobs.miniapp.devices) > 1:
        jobs.passes(job)
        ranks.passes("1x1", "-d", "gpu", *EIGHT, "-o", tmp_path / "alone.nc", str(ACC))
        same_datasets(tmp_path / "end.nc", tmp_path / "alone.nc")
        return
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{DEVICE}:0"
    assert len(re.findall("^miniapp: ", jobs.printed(job), re.MULTILINE)) == 1


def test_a_signalled_job_ends_in_order_and_goes_on(jobs, eight, tmp_path):
    """As with sbatch --signal=B:USR1: the step that it came in is a snapshot."""
    words = ("--every", "4", "--restart", "-o", tmp_path / "end.nc")
    job = jobs.submit("mpi-cpu", arguments=("--steps", "1000000", *words))
    wait_for(lambda: list(tmp_path.glob("end.0*.nc")))
    jobs.slurm.check("scancel", "--batch", "--signal=USR1", job)
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{SIGNALLED}:0"
    said = re.findall("ended by SIGUSR1: --restart continues from the snapshot of step (\\d+)", jobs.printed(job))
    assert len(said) == 1 and (tmp_path / f"end.{int(said[0]):06d}.nc").exists()
    for path in tmp_path.glob("end.0*.nc"):
        if path.name != "end.000004.nc":
            path.unlink()
    jobs.passes(jobs.submit("mpi-cpu", arguments=("--steps", "8", *words)))
    same_datasets(tmp_path / "end.nc", eight)


def test_an_array_measures_scaling(jobs, ranks, tmp_path):
    """A task for each number of ranks; what is there is not run again, and one task is too many."""
    words = ("--strong", "-n", "1,2", "--steps", "3", "--shape", "20x16x6")
    for submitted in range(2):
        array = jobs.submit("scaling", "--array=1-3", arguments=words, RESULTS=str(tmp_path / "runs"))
        for task in (1, 2, 3):
            said = jobs.passes(f"{array}_{task}")
            assert ("is there already" in said) == (submitted == 1 and task < 3), said
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"strong-0001.json", "strong-0002.json"}
    two = json.loads((tmp_path / "runs" / "strong-0002.json").read_text())
    assert two["provenance"]["processes"] == "2" and ON_TWO_NODES in two["provenance"]["mpi"]
    shown = jobs.slurm.run(sys.executable, "run/scaling", tmp_path / "runs", cwd=ACC.parent.parent)
    assert shown.returncode == 0 and re.search(r"\n2 +\d x \d ", shown.stdout), shown


# In the program's place: one rank dies, which the other one would wait for.
DIES = """#!/bin/sh
[ "$SLURM_PROCID" -eq 0 ] || kill -SEGV $$
exec sleep 100000
"""


def test_a_rank_that_dies_ends_its_job(jobs, tmp_path):
    """Long before the time limit."""
    executable(tmp_path / "program", DIES)
    state = jobs.slurm.ended(jobs.submit("mpi-cpu", MINIAPP=str(tmp_path / "program")))
    assert state["JobState"] == "FAILED" and state["ExitCode"] != "0:0"


def test_a_time_limit_ends_all_ranks_in_order(limited):
    """By SIGUSR1, a minute before the limit or, here, as soon as Slurm looks; before the next test, in
    which a node that the job has dies."""
    jobs, job = limited
    state = jobs.slurm.ended(job)
    assert state["JobState"] == "FAILED" and state["ExitCode"] == f"{SIGNALLED}:0"
    assert sorted(re.findall("rank . on .. ends in order", jobs.printed(job))) == [
        "rank 0 on n1 ends in order", "rank 1 on n2 ends in order"]


# In the program's place: before its job is requeued, it makes five steps, and waits for its end.
DIES_AFTER_FIVE = """#!/bin/sh
[ "${{SLURM_RESTART_COUNT:-0}}" -eq 0 ] || exec {miniapp} --steps 8 "$@"
{miniapp} --steps 5 "$@"
exec sleep 100000
"""


def test_a_job_goes_on_after_a_node_died(jobs, eight, tmp_path):
    """From the snapshot, and to the same bits."""
    program = tmp_path / "program"
    executable(program, DIES_AFTER_FIVE.format(miniapp=jobs.miniapp.path))
    job = jobs.submit("mpi-cpu", MINIAPP=str(program), arguments=(
        "--every", "4", "--restart", "-o", tmp_path / "end.nc", "--format", "json"))
    wait_for(lambda: jobs.has_printed(job, '"calls": 5,') and (tmp_path / "end.nc").exists())
    node = jobs.slurm.crash(job)
    jobs.slurm.wait(job, lambda state: state["Restarts"] == "1")
    jobs.slurm.restart(node)
    assert '"calls": 4,' in jobs.passes(job)
    same_datasets(tmp_path / "end.nc", eight)
