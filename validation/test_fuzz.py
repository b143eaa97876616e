"""run/fuzz: what it makes of findings, with a fuzzer and a program that are made up."""

import subprocess
import sys

import pytest

from conftest import DONE, HERE, INPUT, MISMATCH, assert_one_line
from processes import DEADLINE_S

SCRIPT = HERE.parent / "run" / "fuzz"

# libFuzzer's place: it finds one file; run on that one, it crashes in HDF5.
FUZZER = """#!/bin/sh
for word; do
  case $word in
  -artifact_prefix=*) echo damaged >"${word#*=}crash-1"; echo '#1: cov: 2' >&2; exit 0 ;;
  esac
done
echo '    #0 0x1 in H5O_open (/usr/lib/libhdf5.so+0x2)' >&2
exit 77
"""


KERNELS = """eos: made up
  reads   salt

a_new_one: made up

triad: made up
  measures the machine: one of 'calibration'

sequence both: made up
  runs eos, a_new_one"""
MINIAPP = """#!/bin/sh
if [ "$1" = --list-kernels ]; then echo "{kernels}"; exit 0; fi
{text}
"""


def fuzz(folder, program, kernels=KERNELS):
    """A run with that program in miniapp's place."""
    (folder / "bin").mkdir(parents=True)
    for name, text in (("fuzz_input", FUZZER),
                       ("miniapp", MINIAPP.format(kernels=kernels, text=program))):
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    return subprocess.run([sys.executable, SCRIPT, "--build", folder, "--seconds", "1"],
                          capture_output=True, text=True, check=False, timeout=DEADLINE_S)


@pytest.mark.parametrize("program", [
    "exit 0", "echo 'miniapp: warning: made up' >&2", "echo 'miniapp: in.h5: damaged' >&2; exit 3",
    "echo 'miniapp: warning: made up' >&2; echo 'miniapp: 1 of 2 differ' >&2; exit 1",
    "echo 'miniapp: in.h5: one' >&2; echo 'miniapp: in.h5: two' >&2; exit 3",
    "echo '*** stack smashing detected ***: terminated' >&2; "
    "echo 'miniapp: in.h5: a damaged file: the HDF5 library crashed while it read it' >&2; exit 3"])
def test_what_passes(tmp_path, program):
    done = fuzz(tmp_path, program)
    assert done.returncode == DONE, done
    assert done.stdout.endswith("crash-1: HDF5 H5O_open: the program ends in order\n"
                                "1 findings, 0 failed\n")


@pytest.mark.parametrize("program", [
    "exit 3", "printf 'miniapp: no newline' >&2; exit 3", "kill -SEGV $$", "exit 4",
    "echo 'HDF5-DIAG: error' >&2; echo 'miniapp: in.h5: damaged' >&2; exit 3",
    "echo 'miniapp: one' >&2; echo 'two' >&2; exit 3", "echo 'HDF5-DIAG: error' >&2"])
def test_what_fails(tmp_path, program):
    done = fuzz(tmp_path, program)
    assert done.returncode == MISMATCH, done
    assert "crash-1: HDF5 H5O_open: FAILED (" in done.stdout
    assert done.stdout.endswith("1 findings, 1 failed\n")


def test_folder_without_a_fuzzer(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, "--build", tmp_path], capture_output=True,
                          text=True, check=False)
    assert done.returncode == INPUT and done.stdout == ""
    assert_one_line(done.stderr)
    assert "holds no fuzzer" in done.stderr


def test_every_kernel_runs_on_a_finding(tmp_path):
    done = fuzz(tmp_path, '[ "$2" = eos ] || exit 4')
    assert done.returncode == MISMATCH and "FAILED (a_new_one: exit code 4" in done.stdout, done
    done = fuzz(tmp_path / "other", '[ "$2" != both ] || exit 4')
    assert done.returncode == MISMATCH and "FAILED (both: exit code 4" in done.stdout, done
    done = fuzz(tmp_path / "build", '[ "$2" != triad ] || exit 4')
    assert done.returncode == DONE, done


def test_program_without_kernels(tmp_path):
    """Which would pass over every finding."""
    done = fuzz(tmp_path, "exit 0", kernels="")
    assert done.returncode == INPUT and done.stdout == "", done
    assert_one_line(done.stderr)
    assert "lists no kernels" in done.stderr
