"""run/dev/fuzz: what it makes of findings, with a fuzzer that is made up."""

import sys

import pytest

from conftest import DONE, HERE, INPUT, MISMATCH, assert_failed
from processes import completed, executable

pytestmark = pytest.mark.unsanitized("it is of a script")

SCRIPT = HERE.parent / "run" / "dev" / "fuzz"

# libFuzzer's place: it finds one file; run on that one, it does as told.
FUZZER = """#!/bin/sh
for word; do
  case $word in
  -artifact_prefix=*) echo damaged >"${{word#*=}}crash-1"; echo '#1: cov: 2' >&2; exit 0 ;;
  esac
done
{text}
"""
COPY = "    #0 0x1 in __asan_memcpy (/bin/fuzz_input+0x1)\n    #1 0x2 in raise (/lib/libc.so.6+0x2)\n"
CHECKSUM = "    #1 0x2 in stored_behind /fuzz_input.c:7\n    #2 0x2 in H5_checksum_fletcher32 /fuzz_input.c:9\n"
HDF5 = "    #2 0x3 in H5O_open (/usr/lib/libhdf5.so+0x2)\n"
OURS = "    #3 0x4 in read_box /miniapp/file/hdf5_file.c:7\n"


def fuzz(folder, text):
    """A run where the fuzzer does this with its finding."""
    executable(folder / "bin" / "fuzz_input", FUZZER.format(text=text))
    return completed([sys.executable, SCRIPT, "--build", folder, "--seconds", "1"])


def end(stack, code=77):
    return f"printf '%s' '{stack}' >&2; exit {code}"


@pytest.mark.parametrize("text, where", [(end(COPY + HDF5 + OURS), "HDF5 H5O_open"),
                                         (end(CHECKSUM + HDF5), "HDF5 H5O_open"),
                                         ("exit 0", "no crash")])
def test_what_passes(tmp_path, text, where):
    done = fuzz(tmp_path, text)
    assert done.returncode == DONE, done
    assert done.stdout.endswith(f"crash-1: {where}: not ours\n1 findings, 0 failed\n")


@pytest.mark.parametrize("text, where", [
    (end(COPY + OURS + HDF5), "read_box"), (end(""), "no stack"), ("kill -SEGV $$", "no stack"),
    (end("a dataset, type or attribute stays open\n" + HDF5), "something stays open")])
def test_what_fails(tmp_path, text, where):
    done = fuzz(tmp_path, text)
    assert done.returncode == MISMATCH, done
    assert done.stdout.endswith(f"crash-1: {where}: OURS\n1 findings, 1 failed\n")


def test_folder_without_a_fuzzer(tmp_path):
    done = completed([sys.executable, SCRIPT, "--build", tmp_path])
    assert_failed(done, INPUT, "holds no fuzzer")
