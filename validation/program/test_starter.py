"""starter.c, by which other tests run the program: nothing that they look at differs from a true start."""

import signal
import subprocess

import pytest

from conftest import DEVICE, DONE, QUICK
from processes import DEADLINE_S, Starter

LEAK = 99  # the exit code that the tests give the sanitizers

# Ends as its words say: well, with a leak, by a signal.
PROGRAM = """
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static char *volatile kept;
    kept = malloc(99);
    if (argc > 1)
        kept = NULL;
    return argc > 2 ? raise(atoi(argv[2])) : 0;
}
"""


def test_a_run_gives_what_a_true_start_gives(miniapp, small, tmp_path, monkeypatch):
    """Its folder is that of the test when it is run."""
    monkeypatch.chdir(tmp_path)
    for words in (["absent.h5"], ["--kernel", "absent", small.name], ["--help"], ["-d", "gpu:9", small.name]):
        by_starter, true = miniapp.run(*words), miniapp.run(*words, timeout=DEADLINE_S)
        assert vars(by_starter) == vars(true)
    assert miniapp.starter.environment == miniapp.environment()
    assert true.returncode == DEVICE
    assert miniapp.run(*QUICK, "-k", "eos", small.name, "-o", "out.h5").returncode == DONE
    assert (tmp_path / "out.h5").exists()


def test_leaks_and_signals_show_in_each_run(miniapp, tmp_path):
    if not miniapp.is_sanitized:
        pytest.skip("the build has no sanitizers")
    program = str(tmp_path / "program")
    subprocess.run(["clang-19", "-g1", "-fsanitize=address", "-o", program, "-x", "c", "-"], input=PROGRAM, text=True,
                   check=True)
    starter = Starter(miniapp.starts, program, miniapp.environment())
    for _ in range(2):
        leaky = starter.run([program, "leak"])
        assert leaky.returncode == LEAK and "99 byte(s) leaked" in leaky.stderr, leaky
        assert starter.run([program, "end", str(int(signal.SIGTERM))]).returncode == -signal.SIGTERM
        assert starter.run([program]).returncode == DONE
    starter.stop()
