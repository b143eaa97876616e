"""The job scripts: what each asks of its scheduler, and what it runs with what is granted.

Only Slurm is real (test_slurm.py). Here the scripts of all four run under a shell with the
variables that the scheduler's manual promises, and parsers of directives read what they can.
"""

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import DEVICE, GRID, GRID_REFERENCE, QUICK, USAGE
from processes import DEADLINE_S, completed, executable

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "run"
JOBS = RUN / "jobs"

# What each scheduler sets for a job that is granted 3 CPUs and, of an array, its second task.
GRANTED = {
    "slurm": {"SLURM_CPUS_PER_TASK": "3", "SLURM_MEM_PER_NODE": "8192",
              "SLURM_ARRAY_JOB_ID": "1234", "SLURM_ARRAY_TASK_ID": "2"},
    "pbs": {"PBS_O_WORKDIR": str(ROOT), "NCPUS": "3", "PBS_ARRAY_ID": "1234[].server",
            "PBS_ARRAY_INDEX": "2"},
    "lsf": {"LSB_DJOB_NUMPROC": "3", "LSB_JOBID": "1234", "LSB_JOBINDEX": "2"},
    "sge": {"NSLOTS": "3", "JOB_ID": "1234", "SGE_TASK_ID": "2"},
}
SCRIPTS = [f"{scheduler}/{job}" for scheduler in GRANTED for job in ("cpu", "gpu", "sweep")]


@pytest.fixture
def show(miniapp, tmp_path):
    """In the program's place: it prints its process, threads, limit of memory and command line. The
    kernels are the program's."""
    path = tmp_path / "show"
    executable(path, f'#!/bin/sh\n[ "$1" != --list-kernels ] || exec "{miniapp.path}" "$1"\n'
                     'echo "$$ $OMP_NUM_THREADS $(ulimit -v)"\nprintf "%s\\n" "$@"\n')
    return path


def start(script, env, *arguments, cwd=ROOT, shell=("/bin/sh",)):
    granted = GRANTED[script.split("/")[0]]
    with subprocess.Popen([*shell, JOBS / script, *arguments], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **granted, **env}) as job:
        output, _ = job.communicate(timeout=DEADLINE_S)
    return job, output


@pytest.mark.parametrize("script", SCRIPTS)
def test_program_takes_the_place_of_the_shell(script, show, tmp_path):
    """It has the job's process and so gets its signals; it has as many threads as CPUs granted."""
    job, output = start(script, {"MINIAPP": str(show), "RESULTS": str(tmp_path / "sweep")})
    assert job.returncode == 0, output
    pid, threads, _ = output.splitlines()[0].split()
    assert int(pid) == job.pid and threads == "3"


@pytest.mark.parametrize("script", [f"{scheduler}/{job}" for scheduler in ("lsf", "sge") for job in (
    "cpu", "sweep", "mpi-cpu", "scaling")] + ["pbs/mpi-cpu", "pbs/scaling", "slurm/mpi-cpu"])
def test_a_script_that_runs_in_no_job(script, show):
    done = completed(["/bin/sh", JOBS / script], cwd=ROOT, env={"MINIAPP": str(show), "PATH": os.environ["PATH"]})
    assert done.returncode == USAGE and done.stdout == "", done
    assert done.stderr == f"run/jobs/{script}: has to run as a job: --help says how to submit it\n"


@pytest.mark.parametrize("script", ["slurm/cpu", "slurm/gpu", "slurm/sweep"])
def test_slurm_gives_a_task_one_cpu_by_default(script, show, tmp_path, monkeypatch):
    """It sets no SLURM_CPUS_PER_TASK for a job without --cpus-per-task."""
    monkeypatch.delitem(GRANTED["slurm"], "SLURM_CPUS_PER_TASK")
    job, output = start(script, {"MINIAPP": str(show), "RESULTS": str(tmp_path / "sweep")})
    assert job.returncode == 0 and output.splitlines()[0].split()[1] == "1", output


@pytest.mark.parametrize("script", SCRIPTS)
def test_memory_granted_by_slurm_is_the_limit(script, show, tmp_path):
    """The other schedulers set it by their directives; CUDA needs more addresses than memory."""
    _, output = start(script, {"MINIAPP": str(show), "RESULTS": str(tmp_path / "sweep")})
    limit = str(8 << 20) if script in ("slurm/cpu", "slurm/sweep") else "unlimited"
    assert output.splitlines()[0].split()[2] == limit


@pytest.mark.parametrize("scheduler", GRANTED)
def test_sweep_keeps_the_rows_of_a_kernel_in_a_file(scheduler, miniapp, show, tmp_path):
    changes = {"MINIAPP": str(show), "MINIAPP_INPUT": str(GRID), "PBS_O_WORKDIR": str(tmp_path)}
    (tmp_path / "run").symlink_to(RUN)
    _, output = start(f"{scheduler}/sweep", changes, cwd=tmp_path)
    words = output.splitlines()[1:]
    second = miniapp.ocean[1].name
    assert words[words.index("--kernel") + 1] == second
    assert words[words.index("--resume") + 1] == f"sweep-1234/{second}.json"
    assert "--sweep" in words and words[-1] == str(GRID)
    assert (tmp_path / "sweep-1234").is_dir()


@pytest.mark.parametrize("scheduler", GRANTED)
def test_sweep_has_a_task_for_each_kernel(scheduler, miniapp, show, tmp_path):
    """The program names them; a task beyond the last ends at once."""
    text = (JOBS / scheduler / "sweep").read_text()
    tasks = int(re.search(r"^#.*(?:--array=|-J |-t |-sweep\[)1-(\d+)", text, re.MULTILINE)[1])
    assert tasks >= len(miniapp.ocean)
    number = {"slurm": "SLURM_ARRAY_TASK_ID", "pbs": "PBS_ARRAY_INDEX", "lsf": "LSB_JOBINDEX",
              "sge": "SGE_TASK_ID"}[scheduler]
    for task in (1, len(miniapp.ocean), len(miniapp.ocean) + 1):
        job, output = start(f"{scheduler}/sweep", {"MINIAPP": str(show), number: str(task),
                                                   "RESULTS": str(tmp_path / "sweep")})
        assert job.returncode == 0
        if task <= len(miniapp.ocean):
            assert f"--kernel\n{miniapp.ocean[task - 1].name}\n" in output
        else:
            assert output == ""


@pytest.fixture
def quick(miniapp, tmp_path):
    """The program, which calls two kernels once: not all schedulers hand a job more options."""
    path = tmp_path / "quick"
    executable(path, f'#!/bin/sh\nexec "{miniapp.path}" {" ".join(QUICK)} --kernel eos,tke "$@"\n')
    return path


@pytest.mark.parametrize("scheduler", GRANTED)
def test_cpu_job_validates(scheduler, quick):
    job, output = start(f"{scheduler}/cpu", {"MINIAPP": str(quick)})
    assert job.returncode == 0 and "validation PASSED" in output, output
    assert str(GRID_REFERENCE.relative_to(ROOT)) in output


@pytest.mark.parametrize("scheduler", GRANTED)
def test_options_of_a_job(scheduler, show):
    """OpenPBS and LSF pass no words on to a script."""
    _, output = start(f"{scheduler}/cpu", {"MINIAPP": str(show), "MINIAPP_OPTIONS": "--kernel eos"})
    assert output.splitlines()[1:5] == ["--device", "cpu", "--kernel", "eos"]


@pytest.mark.parametrize("built, taken", [(["nvptx"], "nvptx"), (["amdgpu"], "amdgpu"), (["amdgpu", "nvptx"], "nvptx")])
def test_gpu_job_takes_the_preset_that_is_built(built, taken, tmp_path):
    (tmp_path / "run").symlink_to(RUN)
    for preset in built:
        executable(tmp_path / f"build/{preset}/bin/miniapp", f"#!/bin/sh\necho {preset}\n")
    job, output = start("slurm/gpu", {"MINIAPP": ""}, cwd=tmp_path)
    assert job.returncode == 0 and output == f"{taken}\n", output


@pytest.mark.parametrize("scheduler", GRANTED)
def test_gpu_job_never_runs_on_the_host(scheduler, miniapp):
    if len(miniapp.devices) > 1:
        pytest.skip("there is a device here")
    job, output = start(f"{scheduler}/gpu", {"MINIAPP": str(miniapp.path)})
    assert job.returncode == 4 and output.startswith("miniapp: "), output


@pytest.mark.parametrize("script", sorted(str(path.relative_to(JOBS)) for path in JOBS.glob("*/*")))
def test_no_program(script, tmp_path):
    """The line says what to build, before anything is started."""
    (tmp_path / "run").symlink_to(RUN)
    changes = {"MINIAPP": "", "PBS_O_WORKDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    job, output = start(script, changes, cwd=tmp_path)
    preset = "nvptx" if script.endswith("gpu") else "host-mpi" if "-" in script or "scal" in script else "host"
    assert job.returncode == USAGE and output.count("\n") == 1, output
    assert output.startswith(f"there is no program build/{preset}/bin/miniapp: build it by 'cmake --preset {preset} ")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_suggested_size_fits_the_memory_asked_for(miniapp):
    """Each kernel's run says what it needs if it is refused."""
    sizes = {re.search(r"--size (\w+)", (JOBS / scheduler / "sweep").read_text())[1] for scheduler in ("slurm", "sge")}
    for size, kernel in itertools.product(sizes, miniapp.ocean):
        done = completed(["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh", miniapp.path, "--kernel", kernel.name,
                          "--precision", "float64,float32", "--size", size, GRID])
        needed = re.search(r"needs ([\d.]+) ([MG])B", done.stderr)
        assert done.returncode == DEVICE and needed, done
        assert float(needed[1]) * {"M": 1e6, "G": 1e9}[needed[2]] < 7e9, done.stderr


# ---- what a site sets ----

@pytest.fixture
def site(miniapp, tmp_path):
    """A site that loads a module, in the folder that jobs are submitted in; the program says what
    came of it."""
    folder = tmp_path / "site"
    (folder / "run/jobs").mkdir(parents=True)
    (folder / "run/jobs/body.sh").symlink_to(JOBS / "body.sh")
    text = (JOBS / "site.sh").read_text()
    assert text.count("# site: the modules") == 1
    (folder / "run/jobs/site.sh").write_text(text.replace("# site: the modules", "module load cuda\n"))
    executable(folder / "program", f'#!/bin/sh\n[ "$1" != --list-kernels ] || exec "{miniapp.path}" "$1"\n'
                                   'echo "$OMP_PROC_BIND $OMP_PLACES ${LOADED-none}"\n')
    return folder


def loaded(site, script, env=None, **options):
    """How threads are bound and what is loaded in a job of that site."""
    env = {"MINIAPP": str(site / "program"), "PBS_O_WORKDIR": str(site), "OMP_PROC_BIND": "",
           "OMP_PLACES": "", "MODULESHOME": "/none", **(env or {})}
    job, output = start(script, env, cwd=site, **options)
    assert job.returncode == 0, output
    return output.splitlines()[-1]


# As sites have it: not clean of unset variables, with commands that fail.
MODULE = "echo $UNSET_VARIABLE >/dev/null; false\nmodule() { LOADED=$2; export LOADED; }\n"


@pytest.mark.parametrize("script", SCRIPTS)
def test_module_of_the_home_of_modules(script, site):
    (site / "init").mkdir()
    (site / "init/sh").write_text(MODULE)
    assert loaded(site, script, {"MODULESHOME": str(site)}) == "spread cores cuda"


@pytest.mark.parametrize("name", ["modules.sh", "lmod.sh", "z00_lmod.sh"])
def test_module_of_login_shells(name, site, tmp_path):
    """The job's shell is none, so the job reads what login shells read."""
    profile = tmp_path / "profile.d"
    profile.mkdir()
    (profile / name).write_text(MODULE)
    mounted = ("unshare", "--mount", "sh", "-c", f'mount --bind {profile} /etc/profile.d && exec sh "$@"', "sh")
    if subprocess.run([*mounted, "-c", ":"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts of one's own here")
    assert loaded(site, "slurm/cpu", shell=mounted) == "spread cores cuda"


def test_a_binding_of_the_user_stays(site):
    (site / "run/jobs/site.sh").write_text((JOBS / "site.sh").read_text())
    given = {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads"}
    assert loaded(site, "slurm/cpu", given) == "close threads none"


# ---- directives ----

# Directives of LSF's that sbatch does not know: resources, GPUs, requeueing, the signal before the limit.
UNKNOWN_TO_SLURM = ("#BSUB -R", "#BSUB -gpu", "#BSUB -r", "#BSUB -wa", "#BSUB -wt")


def accepted(slurm, text, tmp_path):
    path = tmp_path / "job"
    path.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith(UNKNOWN_TO_SLURM)))
    return slurm.run("sbatch", "--test-only", path, cwd=ROOT)


@pytest.mark.parametrize("script, cpus", [
    *((name, 4 if name.endswith("gpu") else 8) for name in SCRIPTS if not name.startswith("sge")),
    ("slurm/mpi-cpu", 32), ("slurm/mpi-gpu", 8), ("slurm/scaling", 64), ("lsf/mpi-cpu", 4), ("lsf/mpi-gpu", 8),
    ("lsf/scaling", 8)])
def test_slurm_accepts_the_directives(script, cpus, slurm, tmp_path):
    done = accepted(slurm, (JOBS / script).read_text(), tmp_path)
    assert done.returncode == 0 and f"using {cpus} processors" in done.stderr, done


@pytest.mark.parametrize("script, right, wrong", [
    ("slurm/cpu", "--time=00:10:00", "--time=soon"),
    ("slurm/gpu", "--gpus=1", "--gpus=9"),
    ("pbs/cpu", "walltime=00:10:00", "walltime=soon"),
    ("lsf/cpu", "-W 0:10", "-W soon"),
])
def test_slurm_refuses_wrong_directives(script, right, wrong, slurm, tmp_path):
    """That it accepts ours means something."""
    text = (JOBS / script).read_text()
    assert right in text
    assert accepted(slurm, text.replace(right, wrong), tmp_path).returncode != 0


@pytest.mark.parametrize("script", [name for name in SCRIPTS if name.startswith("sge")])
def test_sge_accepts_the_directives(script):
    if not shutil.which("qconf") or subprocess.run(["qconf", "-ss"], capture_output=True, check=False).returncode:
        pytest.skip("no qmaster of Grid Engine here")
    done = completed(["qsub", "-verify", JOBS / script], cwd=ROOT)
    assert done.returncode == 0, done


# ---- all scripts ----

def shell_scripts():
    for path in sorted(RUN.rglob("*")):
        if path.is_file() and (path.suffix == ".sh" or path.read_bytes().startswith(b"#!/bin/sh")):
            yield str(path.relative_to(ROOT))


@pytest.mark.parametrize("script", shell_scripts())
def test_shell_script_is_executable_and_clean(script):
    assert os.access(ROOT / script, os.X_OK) != script.endswith(".sh")  # these are read by others
    if not shutil.which("shellcheck"):
        pytest.skip("no shellcheck here")
    done = completed(["shellcheck", "--severity=warning", ROOT / script])
    assert done.returncode == 0, done.stdout
