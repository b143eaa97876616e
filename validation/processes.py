"""Processes that a test looks at while they run, and the events that it waits for."""

import contextlib
import fcntl
import functools
import importlib.machinery
import importlib.util
import mmap
import multiprocessing
import os
import pty
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEADLINE_S = 1200  # only turns a hang into a failure: what is waited for comes, or never does
ANNOUNCEMENT = re.compile(r"^miniapp: (a reading of the clock|.* points: first (call|turn)).*\n", re.MULTILINE)


def load_script(name):
    """A script of run/ as a module; what it says begins with its name."""
    run = Path(__file__).resolve().parents[1] / "run"
    sys.path[:0] = [str(run), str((run / name).parent)]  # where it finds its modules
    loader = importlib.machinery.SourceFileLoader(name, str(run / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    sys.argv[0] = str(run / name)
    return module


def forked(name, *words, cwd=".", env=None):
    """A run of a script of run/ by a copy of this process, which has loaded it once: without Python's start and the
    script's imports, it gives what subprocess.run gives."""
    script = loaded(name)

    def start():
        sys.argv[:] = [script.__file__, *map(str, words)]
        os.chdir(cwd)
        os.environ.update(env or {})
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")
        script.safely.run(script.main)

    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = multiprocessing.get_context("fork").Process(target=start, daemon=True)
        process.start()
        process.join(DEADLINE_S)
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess(words, process.exitcode, out.read(), err.read())


loaded = functools.cache(load_script)


def wait_for(condition, process=None, pause_s=0.01):
    """What the condition gives once that is true. It fails where the process ends before. A look
    that starts a process is worth a longer pause before the next."""
    end = time.monotonic() + DEADLINE_S
    while True:
        has_ended = process is not None and process.poll() is not None
        if found := condition():
            return found
        assert not has_ended, f"it ended before, with exit code {process.returncode}"
        assert time.monotonic() < end, f"not reached within {DEADLINE_S} s"
        time.sleep(pause_s)


def pause_at_random(generator, longest_s):
    """Before a fault that may come at any moment: whatever moment it is, the test holds."""
    time.sleep(generator.uniform(0, longest_s))


def without_announcements(text):
    """Lines on stderr but for what --verbose adds."""
    return ANNOUNCEMENT.sub("", text)


def completed(command, **options):
    """A run of a command, whatever comes of it."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE_S, **options)


def executable(path, text):
    """A script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def waiting(name, ready, then):
    """A script that runs `ready`, waits for the signal of this name, which may come at once, and then runs
    `then`, which ends it. A launcher may send the signal to what the script has started as well: that has to
    ignore it, since the script would otherwise continue from its wait before it has the signal itself."""
    return f"""#!/bin/sh
trap '' {name}
sleep 100000 >/dev/null 2>&1 &
trap 'kill -9 $!; {then}' {name}
{ready}
wait
"""


def library(path, source, compiler="cc", **definitions):
    """A shared library of C source, to be loaded in another's place or before it."""
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, "-x", "c", "-",
                    *(f"-D{name}={value}" for name, value in definitions.items())],
                   input=source, text=True, check=True)
    return path


class Running(subprocess.Popen):
    """A process whose stderr is a file, which can be read at any time. The end of a `with` ends
    the process, too, so that a test that fails leaves none behind."""

    def __init__(self, command, **options):
        self.log = tempfile.TemporaryFile()
        super().__init__(list(map(str, command)),
                         **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                            "stderr": self.log, "text": True, **options})

    def __exit__(self, *reason):
        self.kill()
        super().__exit__(*reason)

    def said(self):
        """Its stderr so far. The process shares the position in the file, which pread leaves."""
        return os.pread(self.log.fileno(), 1 << 20, 0).decode(errors="surrogateescape")

    def wait_for(self, event):
        """Waits until a condition holds, or until its stderr has a line with a pattern."""
        return wait_for(event if callable(event) else lambda: re.search(event, self.said()), self)

    def is_stopped(self):
        """Whether SIGSTOP holds it."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def finish(self):
        """Its stdout, and its stderr without announcements, once it has ended."""
        text, _ = self.communicate(timeout=DEADLINE_S)
        return text, without_announcements(self.said())


def read_to_the_end(leader):
    """The rest of what a terminal shows, until no process has it any more."""
    seen = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while chunk := os.read(leader, 4096):
            seen += chunk
    return seen.decode()


def watch(command, **more):
    """Exit code and what a terminal shows of a program's stderr."""
    leader, follower = pty.openpty()
    with subprocess.Popen(command, stderr=follower, stdout=subprocess.DEVNULL, **more) as process:
        os.close(follower)
        seen = read_to_the_end(leader)
    os.close(leader)
    return process.returncode, seen


class Starter:
    """Starts a program again and again in one environment, by starter.c: each run gives what subprocess.run gives,
    without the work of the dynamic loader and the sanitizers before main."""

    def __init__(self, library, program, environment):
        self.environment = environment
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(DEADLINE_S)
        with other:
            self.process = subprocess.Popen([program], stdin=other, stdout=subprocess.DEVNULL,
                                            env={**environment, "LD_PRELOAD": str(library)})

    def run(self, command):
        with (tempfile.TemporaryFile("w+", errors="surrogateescape") as out,
              tempfile.TemporaryFile("w+", errors="surrogateescape") as err):
            words = b"".join(os.fsencode(word) + b"\0" for word in (os.getcwd(), *command))
            socket.send_fds(self.socket, [words], [out.fileno(), err.fileno()])
            status = self.socket.recv(4)
            assert status, "starter.c has ended"
            for stream in (out, err):
                stream.seek(0)
            code = os.waitstatus_to_exitcode(int.from_bytes(status, sys.byteorder))
            return subprocess.CompletedProcess(command, code, out.read(), err.read())

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()


class FullPipe:
    """A pipe that holds all it can, but for some bytes: a process that writes more to it waits until it
    is emptied."""

    def __init__(self, room=0):
        self.reader, self.writer = os.pipe()
        capacity = fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, mmap.PAGESIZE)
        self.filled = os.write(self.writer, bytes(capacity - room))

    def empty(self):
        """What was written, without announcements, when all its writers have ended."""
        os.close(self.writer)
        with open(self.reader, "rb") as pipe:
            return without_announcements(pipe.read()[self.filled:].decode())
