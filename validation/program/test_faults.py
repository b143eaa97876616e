"""Faults of the machine around a run: an error that says so, never a crash, a hang or silence.

Full disks and standard streams are in test_output.py, damaged files in test_damage.py."""

import contextlib
import json
import os
import random
import re
import resource
import shutil
from pathlib import Path

import pytest

import fields
from conftest import DEVICE, DONE, INPUT, LONG, OUTPUT, QUICK, TROUBLE, assert_failed, assert_one_line, write
from processes import FullPipe, completed, pause_at_random
from test_output import unfinished


# ---- files that vanish ----

@contextlib.contextmanager
def held(miniapp, small, output, *arguments):
    """A run that has read its input and its reference, and started its output; it is held there,
    where it announces something, until the pipe is emptied."""
    pipe = FullPipe()
    with miniapp.start(*QUICK, "-k", "eos", small, *arguments, "-o", output, stderr=pipe.writer) as process:
        process.wait_for(lambda: unfinished(output))
        yield process, pipe


def rewrite(path):
    path.write_bytes(path.read_bytes())


CUT = (lambda path: os.truncate(path, 1000), "the file was changed")
WRITTEN_AGAIN = (rewrite, "the file was changed")


def spoilt(miniapp, small, tmp_path, path, spoil, *arguments):
    """What is said of a file that is spoilt while a run is held."""
    folder = tmp_path / "results"
    folder.mkdir()
    with held(miniapp, small, folder / "output.h5", *arguments) as (process, pipe):
        spoil(path)
        message = pipe.empty()
        process.finish()
    assert process.returncode == INPUT, message
    assert_one_line(message)
    assert not os.listdir(folder)
    return message


@pytest.mark.parametrize("spoil, what", [(Path.unlink, "No such file"), CUT, WRITTEN_AGAIN],
                         ids=["vanishes", "is cut", "is written again"])
def test_reference_is_spoilt(miniapp, small, reference, tmp_path, spoil, what):
    message = spoilt(miniapp, small, tmp_path, reference, spoil, "--validate", reference)
    assert f"reference.h5: {what}" in message


@pytest.mark.parametrize("spoil, what", [CUT, WRITTEN_AGAIN], ids=["is cut", "is written again"])
def test_input_is_spoilt(miniapp, small, tmp_path, spoil, what):
    """Between its check and the reading of its fields."""
    message = spoilt(miniapp, small, tmp_path, small, spoil)
    assert f"small.h5: {what} during the run" in message


def test_folder_of_the_output_vanishes(miniapp, small, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    with held(miniapp, small, folder / "output.h5") as (process, pipe):
        shutil.rmtree(folder)
        message = pipe.empty()
        process.finish()
    assert process.returncode == OUTPUT, message
    assert_one_line(message)
    assert "output.h5: cannot be written" in message and not folder.exists()


def test_input_vanishes_at_any_moment(miniapp, small):
    """Done with the file's true checksum, or an error that names it; never without a word."""
    content = small.read_bytes()
    digest = json.loads(miniapp.passes("--format", "json", small))["provenance"]["input_sha256"]
    generator = random.Random(5)
    for _ in range(20):
        small.write_bytes(content)
        with miniapp.start(*QUICK, "--format", "json", small) as process:
            pause_at_random(generator, 0.05)
            small.unlink()
            output, message = process.finish()
        assert process.returncode in (DONE, INPUT), message
        if process.returncode == INPUT or message:
            assert_one_line(message)
            assert "small.h5" in message
        else:
            assert json.loads(output)["provenance"]["input_sha256"] == digest


# ---- a mount namespace of a run's own ----

def in_a_namespace(miniapp, mounts, words, *arguments):
    """Runs the shell's line `mounts`, whose $1, $2 ... are the words, then the program."""
    if not shutil.which("unshare"):
        pytest.skip("this needs unshare")
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    script = f"{mounts} || exit 77; shift {len(words)}; exec \"$@\""
    done = completed([*namespace, "sh", "-c", script, "sh", *words, *miniapp.command(*QUICK, *arguments)],
                     env=miniapp.environment())
    if done.returncode in (1, 77) and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip(f"nothing can be mounted here: {done.stderr}")
    return done


# ---- a read-only file system ----

# $1 a folder, $2 a file to copy there
READ_ONLY_DISK = ('mount -t tmpfs tmpfs "$1" && cp "$2" "$1/input.h5" && '
                  'mount -o remount,ro "$1"')


def on_a_read_only_disk(miniapp, small, folder, *arguments):
    folder.mkdir()
    return in_a_namespace(miniapp, READ_ONLY_DISK, [folder, small], folder / "input.h5", *arguments)


def test_input_on_a_read_only_disk(miniapp, small, tmp_path):
    done = on_a_read_only_disk(miniapp, small, tmp_path / "disk")
    assert done.returncode == DONE and done.stderr == "", done


def test_output_on_a_read_only_disk(miniapp, small, tmp_path):
    disk = tmp_path / "disk"
    done = on_a_read_only_disk(miniapp, small, disk, "-o", disk / "output.h5")
    assert_failed(done, OUTPUT, "output.h5: cannot be written: Read-only file system")


# ---- too little of what a process may use ----

def limited(what, amount):
    return lambda: resource.setrlimit(what, (amount, amount))


ADDRESS_SPACE = pytest.mark.unsanitized("the sanitizer needs an address space without limits")


@pytest.mark.every_compiler
@ADDRESS_SPACE
def test_address_space_too_small_for_the_grid(miniapp, small):
    """It says so, with what is needed, before any work."""
    message = miniapp.fails(DEVICE, r"needs [\d.e+]+ GB", small, "--size", "1000", "--size", "1e8",
                            "-t", 1, "-r", 10**9, quick=False,
                            preexec_fn=limited(resource.RLIMIT_AS, 2**30))
    assert float(re.search(r"needs ([\d.e+]+) GB", message)[1]) > 1


@pytest.mark.every_compiler
@ADDRESS_SPACE
def test_any_limit_of_address_space(miniapp, small):
    """Down to where the process cannot even start, which the loader says."""
    codes = []
    for megabytes in range(20, 700, 20 if LONG else 40):
        done = miniapp.run(*QUICK, small, "-k", "eos", "--size", "1e6", "-t", 1,
                           preexec_fn=limited(resource.RLIMIT_AS, megabytes * 2**20))
        if "error while loading shared libraries" in done.stderr:
            continue
        codes.append(done.returncode)
        assert done.returncode in (DONE, INPUT, DEVICE), (megabytes, done)
        if done.returncode != DONE:
            assert_one_line(done.stderr)
    assert codes[-1] == DONE and codes == sorted(codes, reverse=True), codes


@pytest.mark.every_compiler
@pytest.mark.parametrize("mode", ["rw", "ro"])
def test_shared_memory_that_is_full(miniapp, small, mode):
    """LLVM's runtime needs a page of it to start where it may write there; GCC's needs none."""
    done = in_a_namespace(miniapp, 'mount -t tmpfs -o size=16k tmpfs /dev/shm && ! dd if=/dev/zero of=/dev/shm/all '
                          f'bs=4k 2>/dev/null && mount -o remount,{mode} /dev/shm', [], "-k", "eos", small)
    if miniapp.is_gcc or mode == "ro":
        assert done.returncode == DONE, done
    else:
        assert_failed(done, DEVICE, "/dev/shm is full, but the OpenMP runtime needs a page of it")


@pytest.mark.every_compiler
def test_a_note_of_a_killed_process(miniapp, small):
    """LLVM's runtime would end at the empty note of a process that had the same number."""
    note = "/dev/shm/__KMP_REGISTERED_LIB_$$_$(id -u)"
    done = completed(["sh", "-c", f': >{note} && exec "$@"', "sh", *miniapp.command(*QUICK, "-k", "eos", small)])
    assert done.returncode == DONE and not done.stderr, done


# What a control group says of its memory: version 2, and version 1, where it is in a folder.
GROUPS = {2: ("memory.max", "memory.current", "memory.stat", ""),
          1: ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat",
              "total_")}


def in_a_group(miniapp, folder, version, left, *arguments, cached=0):
    """A run in a control group with so many bytes left, and with files of so many in memory."""
    most, used, stat, prefix = GROUPS[version]
    (folder / most).parent.mkdir(parents=True)
    (folder / most).write_text("1000000000\n")
    (folder / used).write_text(f"{10**9 - left}\n")
    (folder / stat).write_text(f"anon {10**9 - left - cached}\n"
                               f"{prefix}inactive_file {cached // 4}\n"
                               f"{prefix}active_file {cached - cached // 4}\n")
    return in_a_namespace(miniapp, 'mount --bind "$1" /sys/fs/cgroup', [folder], *arguments)


@pytest.mark.parametrize("version", GROUPS)
def test_memory_that_a_control_group_leaves(miniapp, small, tmp_path, version):
    """The files that it keeps in memory make room for a run: they are not in its way."""
    arguments = ("-k", "eos", "--size", "1e6", small)
    done = in_a_group(miniapp, tmp_path / "full", version, 10**7, *arguments)
    assert_failed(done, DEVICE)
    assert re.search(r"needs [\d.]+ GB, but the control group leaves 0\.01 GB", done.stderr)
    done = in_a_group(miniapp, tmp_path / "cached", version, 10**7, *arguments, cached=8 * 10**8)
    assert done.returncode == DONE and done.stderr == "", done


@pytest.mark.parametrize("halo", [2, 0])
@pytest.mark.parametrize("options, bytes_a_point", [
    ([], 24),  # eos's two inputs and its output
    (["--roofline"], 24 + 24 + 16),  # triad's, on another grid, and fma's
])
def test_memory_of_fields_on_their_way(miniapp, tmp_path, halo, options, bytes_a_point):
    """What kernels need, and one dataset as it is in the file, whatever is made of it, with its chunk
    as HDF5 reads and unpacks it."""
    values, settings = fields.make(43, 37, 15, seed=3)
    path = write(tmp_path / "input.h5", values, settings, halo=halo)
    ghosts = 2 * (2 - halo)
    needed = bytes_a_point * (43 + ghosts) * (37 + ghosts) * 15 + 3 * 8 * 43 * 37 * 15
    run = ["-k", "eos", "-t", 1, *options, path]
    done = in_a_group(miniapp, tmp_path / "little", 2, int(0.95 * needed), *run)
    assert_failed(done, DEVICE)
    done = in_a_group(miniapp, tmp_path / "enough", 2, int(1.1 * needed), *run)
    assert done.returncode == DONE and done.stderr == "", done


def test_few_files_may_be_open(miniapp, small, tmp_path):
    codes = set()
    for count in range(3, 16):
        output = tmp_path / f"{count}.h5"
        done = miniapp.run(*QUICK, small, "-k", "eos", "-t", 1, "-o", output,
                           preexec_fn=limited(resource.RLIMIT_NOFILE, count))
        if "error while loading shared libraries" in done.stderr:
            continue
        codes.add(done.returncode)
        assert done.returncode in (DONE, INPUT, OUTPUT) and not TROUBLE.search(done.stderr), done
        assert output.exists() == (done.returncode == DONE)
    assert DONE in codes
