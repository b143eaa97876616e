"""A real Slurm on this machine (run/dev/slurm), and jobs on it."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from processes import DEADLINE_S, wait_for

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "run" / "jobs" / "slurm"
LOCAL = ROOT / "run" / "dev" / "slurm"
COMMANDS = ("slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "sinfo")
SEARCH = f"{os.environ['PATH']}:/usr/sbin"


def missing():
    """What it would need and is not here."""
    return [name for name in COMMANDS if not shutil.which(name, path=SEARCH)]


def free_ports(count):
    """The first of so many ports in a row that nobody listens on."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise OSError("no free ports")


class LocalSlurm:
    """One that warns a job of its time limit as any does, but gives it longer than the tests' deadline to
    end by itself: a busy machine is slow."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": SEARCH,
                            "SLURM_LOCAL_PORT": str(free_ports(3)),
                            "SLURM_LOCAL_OVERTIME": str(DEADLINE_S // 60 + 2)}

    def run(self, *command, env=None, **options):
        return subprocess.run(list(map(str, command)), env={**self.environment, **(env or {})},
                              capture_output=True, text=True, timeout=DEADLINE_S,
                              check=False, **options)

    def check(self, *command, **options):
        """What a command printed that has to work."""
        done = self.run(*command, **options)
        assert done.returncode == 0, done
        return done.stdout

    def start(self):
        """An empty string, or why it does not start."""
        done = self.run(LOCAL, "start", self.folder)
        return done.stderr if done.returncode else ""

    def stop(self):
        self.check(LOCAL, "stop", self.folder)

    # ---- jobs ----

    def submit(self, *arguments, env=None, cwd=ROOT):
        """Options of sbatch, the script, its arguments; the number of the job."""
        return self.check("sbatch", "--parsable", *arguments, env=env, cwd=cwd).strip()

    def job(self, job):
        """What Slurm knows of a job, or of one task of an array, such as 12_3."""
        line = self.check("scontrol", "-o", "show", "job", job)
        return dict(word.split("=", 1) for word in line.split() if "=" in word)

    def wait(self, job, is_reached):
        """The job once a condition on it holds."""
        def reached():
            state = self.job(job)
            return state if is_reached(state) else None
        return wait_for(reached, pause_s=0.2)

    def ended(self, job):
        """In a state that stays, unlike COMPLETING or SIGNALING."""
        return self.wait(job, lambda state: state["EndTime"] != "Unknown" and state["JobState"]
                         in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL",
                             "OUT_OF_MEMORY", "PREEMPTED"))

    def near_its_limit(self, job):
        """Shortens the time limit of a job that runs to a minute from now at most: Slurm then warns it when
        it looks next."""
        hours, minutes, _ = map(int, self.job(job)["RunTime"].split(":"))
        self.check("scontrol", "update", f"JobId={job}", f"TimeLimit={60 * hours + minutes + 1}")

    def processes(self, job, node):
        """The processes of a job on a node, by the environment that Slurm gives them, and their
        parents."""
        marks = {f"SLURM_JOB_ID={self.job(job)['JobId']}", f"SLURMD_NODENAME={node}",
                 f"SLURM_CONF={self.environment['SLURM_CONF']}"}
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                environment = (entry / "environ").read_bytes().decode(errors="replace")
                if marks <= set(environment.split("\0")):
                    found |= {int(entry.name), parent(entry)}
            except OSError:
                continue  # it has ended, or is not ours
        return found

    def crash(self, job):
        """The first node of a job dies: its daemon, the job's own daemons and what the job runs.
        They are stopped first, so that no daemon can report what was killed before it."""
        node = self.job(job)["BatchHost"]
        daemon = int((self.folder / f"slurmd-{node}.pid").read_text())
        processes = {daemon, *self.processes(job, node)}
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                    os.kill(pid, number)
        return node

    def restart(self, node):
        """As after a boot of a node whose spool is in memory. Slurm 22.05 starts no step by pmix
        where one of the same number, which died, has left its socket."""
        for left in (*self.folder.glob(f"spool-{node}/*pmix*"), *self.folder.glob(f"tmp-{node}/*")):
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
        self.check(LOCAL, "node", self.folder, node)


def parent(entry):
    """The parent of a process; its name in `stat`, in parentheses, may hold anything."""
    return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
