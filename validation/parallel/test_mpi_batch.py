"""The job scripts of several ranks: what each starts with what its scheduler grants.

Only Slurm is real (test_mpi_slurm.py); test_batch.py asks it about their directives. Here the scripts of all four run
under a shell with the variables that the scheduler's manual promises, and made-up srun and mpirun.
"""

import os
import re
import subprocess

import pytest

from conftest import GRID
from processes import DEADLINE_S, executable
from test_batch import JOBS, ROOT

# What each scheduler sets for a job that is granted 4 ranks of 3 CPUs and, of an array, its third
# task.
GRANTED = {
    "slurm": {"SLURM_CPUS_PER_TASK": "3", "SLURM_NTASKS": "4", "SLURM_ARRAY_JOB_ID": "1234",
              "SLURM_ARRAY_TASK_ID": "3"},
    "pbs": {"PBS_O_WORKDIR": str(ROOT), "OMP_NUM_THREADS": "3", "PBS_ARRAY_ID": "1234[].server",
            "PBS_ARRAY_INDEX": "3"},
    "lsf": {"LSB_DJOB_NUMPROC": "4", "OMP_NUM_THREADS": "3", "LSB_JOBID": "1234",
            "LSB_JOBINDEX": "3"},
    "sge": {"NSLOTS": "4", "JOB_ID": "1234", "SGE_TASK_ID": "3"},
}
STEPS = [f"{scheduler}/{job}" for scheduler in GRANTED for job in ("mpi-cpu", "mpi-gpu")
         if (scheduler, job) != ("sge", "mpi-gpu")]
ARRAYS = [f"{scheduler}/scaling" for scheduler in GRANTED]


@pytest.fixture
def start(tmp_path):
    """Runs a script: the job, and what srun or mpirun said in its place: its process, the threads
    of a rank, and its words."""
    for name in ("srun", "mpirun"):
        executable(tmp_path / "bin" / name, '#!/bin/sh\n[ "$1" != --version ] || { echo "$VERSION"; exit; }\n'
                                            'echo "$$ ${OMP_NUM_THREADS-none}" >&2\n'
                                            'printf "%s\\n" "$@" >&2\n')
    executable(tmp_path / "bin/scontrol", '#!/bin/sh\necho "TaskPlugin = $PLUGIN"\n')
    executable(tmp_path / "bin/PROGRAM", "#!/bin/sh\n")
    hosts = tmp_path / "hosts"
    hosts.write_text("n1\nn1\nn2\nn2\n")

    def begin(script, *arguments, **env):
        granted = {"PBS_NODEFILE": str(hosts), "LSB_DJOB_HOSTFILE": str(hosts),
                   "RESULTS": str(tmp_path / "results"), "MINIAPP": "PROGRAM", "VERSION": "", "PLUGIN": "",
                   **GRANTED[script.split("/")[0]], **env}
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        with subprocess.Popen(["/bin/sh", JOBS / script, *arguments], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, **granted, "PATH": path}) as job:
            output, _ = job.communicate(timeout=DEADLINE_S)
        first, *words = output.splitlines()
        return job, first, words
    return begin


def threads_of(first, words):
    """Given by srun, or by env on each node."""
    return next((word for word in words if word.startswith("OMP_NUM_THREADS=")),
                "=" + first.split()[1]).partition("=")[2]


@pytest.mark.parametrize("script", STEPS)
def test_launcher_takes_the_place_of_the_shell(script, start):
    """It has the job's process and so gets its signals; ranks have the threads granted."""
    job, first, words = start(script)
    assert job.returncode == 0 and first.split()[0] == str(job.pid)
    assert threads_of(first, words) == ("1" if script.startswith("sge") else "3")
    program = words[words.index("PROGRAM"):]
    assert program == ["PROGRAM", "--device", script[-3:], "--steps", "100", "inputs/acc.h5"]
    assert "--ntasks=4" in words or words[words.index("-n") + 1] == "4"


@pytest.mark.parametrize("told, options", [
    ({"PLUGIN": "task/cgroup,task/affinity", "VERSION": "mpirun (Open MPI) 4.1.4"},
     {"slurm": "--cpu-bind=cores", "sge": "--map-by slot:PE=1 --bind-to core",
      "pbs": "--map-by slot:PE=3 --bind-to core", "lsf": "--map-by slot:PE=3 --bind-to core"}),
    ({"VERSION": "HYDRA build details:"},
     {"sge": "-bind-to core:1", "pbs": "-bind-to core:3", "lsf": "-bind-to core:3"}),
    ({"PLUGIN": "task/none", "VERSION": "another"}, {})])
@pytest.mark.parametrize("script", STEPS)
def test_ranks_have_cores_of_their_own(script, start, told, options):
    """Where no launcher can be told to bind them, their threads are not bound either: all first ones would
    go to the first core."""
    _, _, words = start(script, OMP_PROC_BIND="", **told)
    option = options.get(script.split("/")[0], "")
    assert option in " ".join(words)
    assert ("OMP_PROC_BIND=spread" if option else "OMP_PROC_BIND=false") in words


@pytest.mark.parametrize("script", STEPS)
def test_other_steps(script, start):
    words = ("--steps", "7", "--every", "2")
    for arguments, given in ((words, {}), ((), {"MINIAPP_OPTIONS": " ".join(words)})):
        _, _, found = start(script, *arguments, MINIAPP_INPUT=str(GRID), **given)
        assert found[-5:] == [*words, str(GRID)]


@pytest.mark.parametrize("script", ARRAYS)
def test_a_task_runs_its_number_of_ranks(script, start, tmp_path):
    """The third of 1, 2, 4, 8; the made-up launcher prints no result, and run/scaling says so."""
    job, first, words = start(script)
    assert job.returncode == 3 and re.search("4 ranks: .* did not start 4 processes", words[-1])
    assert threads_of(first, words) == ("1" if script.startswith("sge") else "3")
    assert "--ntasks=4" in words or words[words.index("-n") + 1] == "4"
    assert words[words.index("PROGRAM"):][:3] == ["PROGRAM", "--steps", "20"]
    assert (tmp_path / "results").is_dir()


@pytest.mark.parametrize("script", ARRAYS)
def test_an_array_has_a_task_for_each_number(script):
    text = (JOBS / script).read_text()
    tasks = int(re.search(r"^#.*(?:--array=|-J |-t |-scaling\[)1-(\d+)", text, re.MULTILINE)[1])
    assert tasks >= re.search(r"--strong -n ([\d,]+)", (JOBS / "body.sh").read_text())[1].count(",") + 1
