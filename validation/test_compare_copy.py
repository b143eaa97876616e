"""run/compare-copy: its table, of real runs on the smallest ocean that it makes, and its failures."""

import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import DONE, HERE, INPUT, USAGE
from processes import DEADLINE_S, Running, executable
from test_mpi import Ranks

SCRIPT = HERE.parent / "run" / "compare-copy"
UNUSABLE, NO_PROGRAM, UNWRITABLE = INPUT, 4, 5
SMALLEST = ("--gigabytes", "0.1", "--pause", "0", "--rounds", "1")
ALONE = ("-n", "1", "--launcher", "env RANKS={ranks}")  # the program without a launcher


def compare(folder, *words, **more):
    done = subprocess.run([sys.executable, SCRIPT, *SMALLEST, "--folder", folder, *map(str, words)],
                          capture_output=True, text=True, check=False, timeout=DEADLINE_S, **more)
    assert "Traceback" not in done.stderr, done.stderr
    if folder.is_dir():
        assert os.listdir(folder) == []
    return done


def made_up(tmp_path, text):
    program = tmp_path / "program"
    executable(program, f"#!/bin/sh\n{text}\n")
    return program


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    return path


def test_table(miniapp, tmp_path, folder):
    ranks = Ranks(miniapp, tmp_path)
    done = compare(folder, "-n", "1,2", "--program", miniapp.path, "--launcher",
                   " ".join([*ranks.launcher, "-n", "{ranks}"]), env=ranks.environment())
    assert done.returncode == DONE, done
    title, heads, *lines = done.stdout.splitlines()
    assert title.startswith("0.10 GB read") and heads.split()[:3] == ["ranks", "reading", "writing"]
    rows = [[float(number) for number in line.split()] for line in lines]
    assert [row[0] for row in rows] == [1, 2]
    for _, reading, writing, copying, of_read, of_write in rows:
        assert min(reading, writing, copying, of_read, of_write) > 0


@pytest.mark.parametrize("words", [("-n", "0"), ("-n", "1,x"), ("--rounds", "0"), ("--pause", "-1"),
                                   ("--gigabytes", "0"), ("--launcher", "mpirun -n {"), ("--pause", "inf")])
def test_wrong_usage(folder, words):
    assert compare(folder, *words).returncode == USAGE


@pytest.mark.parametrize("text, code, message", [
    ("exit 3", 3, "1 ranks: .* failed"),
    ("kill -KILL $$", 137, "1 ranks: .* failed"),
    ("echo no JSON", UNUSABLE, "the launcher did not start 1 processes"),
    ("echo '{}'", UNUSABLE, "the launcher did not start 1 processes"),
    ("""echo '{"results": [{"processes": {"count": 3}}]}'""", UNUSABLE, r"\(it started 3\)"),
])
def test_program_that_fails(tmp_path, folder, text, code, message):
    done = compare(folder, *ALONE, "--program", made_up(tmp_path, text))
    assert done.returncode == code and re.search(message, done.stderr), done
    assert done.stdout == ""


def test_no_launcher(folder):
    done = compare(folder, "-n", "1", "--launcher", "no-such-launcher {ranks}")
    assert done.returncode == NO_PROGRAM
    assert done.stderr == "run/compare-copy: no-such-launcher: cannot be run: it is not there, or no program\n"


def test_no_program(tmp_path, folder):
    done = compare(folder, *ALONE, "--program", tmp_path / "none")
    assert done.returncode == NO_PROGRAM and f"{tmp_path}/none: cannot be run" in done.stderr


def test_launcher_that_starts_fewer(miniapp, folder):
    done = compare(folder, "-n", "2", "--launcher", "env RANKS={ranks}", "--program", miniapp.path)
    assert done.returncode == UNUSABLE and "(it started 1)" in done.stderr, done


def test_folder_that_is_not_there(tmp_path):
    done = compare(tmp_path / "none", *ALONE, "--program", "true")
    assert done.returncode == UNWRITABLE and done.stderr.endswith("cannot be written: No such file or directory\n")


@pytest.mark.parametrize("sent, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_ends_the_program_too(tmp_path, folder, sent, code):
    program = made_up(tmp_path, f"trap ': >{tmp_path}/ended; exit' TERM; : >{tmp_path}/runs; mkfifo {tmp_path}/wait; "
                                f"while :; do read line <>{tmp_path}/wait; done")
    command = [sys.executable, SCRIPT, *SMALLEST, *ALONE, "--folder", folder, "--program", program]
    with Running(command) as process:
        process.wait_for((tmp_path / "runs").exists)
        process.send_signal(sent)
        process.finish()
        assert process.returncode == code
    assert (tmp_path / "ended").exists() and os.listdir(folder) == []
