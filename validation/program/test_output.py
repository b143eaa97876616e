"""The output file: what is in it, and that nothing else ever stands in its place."""

import calendar
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from conftest import DONE, GRID, GRID_REFERENCE, HERE, INPUT, MISMATCH, OUTPUT, QUICK, TROUBLE, USAGE, read, write
from pairs import ALL, BY_NAME
from processes import completed, library, pause_at_random

pytestmark = pytest.mark.every_gpu

OLD = b"the results of last week"
LARGE = "1e6"  # points of a run whose output, 8 MB, takes a moment to write
PROVENANCE = ["version", "git_commit", "build_type", "compiler", "flags", "offload_target",
              "hdf5_version", "host", "cpu", "input", "input_sha256", "command_line",
              "time", "topology", "clock", "smt", "huge_pages", "load", "threads", "binding", "grid", "device", "settings"]


@pytest.fixture
def old(tmp_path):
    """An output file that is there already, in a folder of its own."""
    folder = tmp_path / "results"
    folder.mkdir()
    path = folder / "output.h5"
    path.write_bytes(OLD)
    return path


def assert_only_the_old(path):
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == OLD


# ---- contents ----

def test_contents(miniapp, small, kernel, device, tmp_path):
    output = tmp_path / "output.h5"
    miniapp.passes(small, "-k", kernel, "-d", device, "--output", output)
    with h5py.File(output) as file, h5py.File(small) as source:
        nz, ny, nx = source["salt"].shape
        lengths = {"x": nx, "y": ny, "z": nz}
        axes = set()
        for described in kernel.outputs:
            dataset = file[described.name]
            assert dataset.shape == tuple(lengths.get(axis, 2) for axis in described.axes)
            assert dataset.dtype == np.dtype("<f8") and (not dataset.shape or dataset.fletcher32)
            assert dataset.attrs["units"].decode() == described.units
            assert dataset.attrs["long_name"]
            assert [dim[0].name for dim in dataset.dims] == ["/" + axis for axis in described.axes]
            assert np.isfinite(dataset[...]).all() and np.any(dataset[...])
            axes |= set(described.axes)
        assert set(file) == {described.name for described in kernel.outputs} | axes


@pytest.mark.every_device
def test_an_output_that_the_settings_leave_untouched(miniapp, small, device, tmp_path):
    """It is no result: not written, hashed or compared."""
    words = small, "-k", "isoneutral_mixing", "-d", device, "--set", "enable_eddy_streamfunction=0"
    outputs = {"temp_taup1", "salt_taup1", "P_diss_iso", "P_diss_skew"}
    found = miniapp.json(*words, "--checksums", "-o", tmp_path / "output.h5")
    assert {one["variable"] for one in found["checksums"]} == outputs
    with h5py.File(tmp_path / "output.h5") as file:
        assert set(file) == outputs | {"x", "y", "z"}
    found = miniapp.json(*words, "--validate", tmp_path / "output.h5")
    assert {one["variable"] for one in found["validation"]} == outputs


def test_provenance(miniapp, small, tmp_path):
    output = tmp_path / "output.h5"
    began = int(time.time())
    result = miniapp.json(small, "--output", output, "--threads", 1)
    with h5py.File(output) as file:
        stored = {name: value.decode() for name, value in file.attrs.items()}
    assert set(stored) == set(PROVENANCE)
    assert stored == result["provenance"]
    assert stored["input"] == str(small)
    assert stored["input_sha256"] == hashlib.sha256(small.read_bytes()).hexdigest()
    assert stored["threads"] == "1"
    assert stored["command_line"].startswith(str(miniapp.path))
    assert stored["command_line"].endswith(f"--output {output} --threads 1")
    written = calendar.timegm(time.strptime(stored["time"], "%Y-%m-%dT%H:%M:%SZ"))
    assert began <= written <= time.time()


def test_what_the_input_says_of_itself(miniapp, small, tmp_path):
    """CF's attributes of the whole file, whether netCDF-4 wrote them, h5py, or HDF5's own functions; others
    may be of the program that made the input, or no text."""
    output = tmp_path / "output.h5"
    with h5py.File(small, "a") as file:
        file.attrs["title"] = "A basin"
        file.attrs["institution"] = np.bytes_("IfM ü".encode())
        file.attrs["history"] = "made\nand\nmade again"
        file.attrs["source"] = 7
        file.attrs["references"] = ["a", "b"]
        file.attrs["comment"] = "x" * 40000
        file.attrs["author"] = "somebody"
    miniapp.passes(small, "-k", "eos", "--output", output)
    with h5py.File(output) as file:
        stored = {name: value.decode() for name, value in file.attrs.items() if name not in PROVENANCE}
    assert stored == {"title": "A basin", "institution": "IfM ü", "history": "made\nand\nmade again"}


def test_float32_is_stored_as_float32(miniapp, small, tmp_path):
    output = tmp_path / "output.h5"
    miniapp.passes(small, "--precision", "float32", "--output", output)
    for kernel in miniapp.ocean:
        for described in kernel.outputs:
            assert read(output, described.name).dtype == np.dtype("<f4")


def test_units_are_those_of_the_references(miniapp, tmp_path):
    """The pressure at a free surface included, by its kernel alone, whatever the external mode of the file is."""
    output, seen = tmp_path / "output.h5", set()
    kernels = (word for kernel in (*ALL, *BY_NAME) for word in ("-k", kernel))
    miniapp.passes(GRID.with_name("rough.h5"), *kernels, "-o", output)
    with h5py.File(output) as file:
        for path in GRID_REFERENCE.with_name("rough").glob("*.h5"):
            with h5py.File(path) as stored:
                for name in {*stored} - {"x", "y", "z"}:
                    made = file.get(f"{path.stem}.{name}", file.get(name))
                    if made is not None:  # else an output that the settings leave untouched
                        units = stored[name].attrs.get("units")
                        assert made.attrs.get("units") == units, (path.stem, name)
                        seen.add((path.stem, units))
    assert {("surface_pressure", b"m2 s-2"), ("streamfunction", b"m3 s-1")} <= seen


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_opens_in_xarray(miniapp, small, tmp_path, engine):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine))
    output = tmp_path / "output.h5"
    miniapp.passes(small, "--output", output)
    with xarray.open_dataset(output, engine=engine) as dataset:
        for kernel in miniapp.ocean:
            for described in kernel.outputs:
                variable = dataset[described.name]
                assert variable.dims == described.axes
                assert variable.attrs["units"] == described.units and variable.attrs["long_name"]
                np.testing.assert_array_equal(variable.values, read(output, described.name))
        assert set(PROVENANCE) <= set(dataset.attrs)


def test_ncdump_reads_it(miniapp, small, tmp_path):
    ncdump = shutil.which("ncdump")
    if not ncdump:
        pytest.skip("there is no ncdump here")
    output = tmp_path / "output.h5"
    miniapp.passes(small, "--output", output)
    done = subprocess.run([ncdump, "-h", output], capture_output=True, text=True, check=True)
    assert "double dHdT(z, y, x)" in done.stdout and done.stderr == ""


@pytest.mark.every_device
def test_output_is_a_reference(miniapp, small, device, tmp_path):
    """It is complete, and the input it was made from gives it again."""
    output = tmp_path / "output.h5"
    miniapp.passes(small, "-d", device, "--output", output)
    result = miniapp.json(small, "-d", device, "--validate", output)
    outputs = [described.name for kernel in miniapp.ocean for described in kernel.outputs]
    assert sorted(check["variable"] for check in result["validation"]) == sorted(outputs)
    assert all(check["passed"] and check["max_abs"] == 0 for check in result["validation"])


def test_each_kernel_that_writes_a_field_has_its_own(miniapp, small, tmp_path):
    output = tmp_path / "output.h5"
    kernels = ("-k", "isoneutral_mixing,isoneutral_steps")
    miniapp.passes(small, *kernels, "-o", output)
    with h5py.File(output, "a") as file:
        assert "isoneutral_mixing.temp_taup1" not in file
        np.testing.assert_allclose(file["isoneutral_steps.temp_taup1"], file["temp_taup1"], rtol=1e-12)
        file["temp_taup1"][3, 4, 5] += 1
    miniapp.passes(small, "-k", "isoneutral_steps", "--validate", output)
    words = (*QUICK, small, "--validate", output)
    assert " temp_taup1 " in miniapp.run(*words, "-k", "isoneutral_mixing").stdout
    assert miniapp.run(*words, *kernels).returncode == MISMATCH


def test_resized_output(miniapp, small, tmp_path):
    output = tmp_path / "output.h5"
    row, *_ = miniapp.json(small, "--size", 4096, "-k", "eos", "--output", output)["results"]
    assert read(output, "dHdT").shape == (row["nz"], row["ny"], row["nx"]) == (4, 32, 32)


def test_rows_longer_than_a_chunk(miniapp, tmp_path):
    """Chunks stay within HDF5's 4 GiB by a limit on each axis."""
    nx, ny, nz = 20000, 5, 2
    values = {"salt": np.full((nz, ny, nx), 35.0), "temp": np.full((nz, ny, nx), 10.0), "p": np.array([1000.0, 10.0])}
    values["temp"] += np.arange(nx) / nx
    path = write(tmp_path / "long.h5", values, halo=2)
    output = tmp_path / "output.h5"
    miniapp.passes(path, "-k", "eos", "--output", output)
    found = read(output, "dHdT")
    assert found.shape == (nz, ny, nx) and (np.diff(found, axis=2) > 0).all()


def test_replaces_an_old_file(miniapp, small, old):
    miniapp.passes(small, "-k", "eos", "--output", old)
    assert os.listdir(old.parent) == [old.name]
    with h5py.File(old) as file:
        assert "dHdT" in file


def test_relative_path(miniapp, small, old):
    miniapp.passes(small, "-k", "eos", "--output", "new.h5", cwd=old.parent)
    assert sorted(os.listdir(old.parent)) == ["new.h5", old.name]


# ---- what cannot be written ----

def test_missing_folder(miniapp, small, tmp_path):
    miniapp.fails(OUTPUT, r"absent/output\.h5: cannot be written: No such file", small,
                  "--output", tmp_path / "absent" / "output.h5")


def test_file_in_place_of_a_folder(miniapp, small):
    miniapp.fails(OUTPUT, "cannot be written: Not a directory", small, "-o", small / "output.h5")


def test_empty_path_and_no_regular_file(miniapp, small, tmp_path):
    miniapp.fails(OUTPUT, "cannot be written", small, "--output", "")
    for path in (tmp_path, "/dev/null", "/proc/self/fd"):
        miniapp.fails(OUTPUT, "not a regular file", small, "--output", path)


def test_path_too_long(miniapp, small):
    miniapp.fails(OUTPUT, "cannot be written: File name too long", small, "-o", "a" * 300)
    miniapp.fails(OUTPUT, "the path is too long", small, "-o", "a/" * 2100, max_line=10000)


def test_folder_where_nobody_may_write(miniapp, small):
    miniapp.fails(OUTPUT, "/proc/output.h5: cannot be written", small, "-o", "/proc/output.h5")


def test_folder_where_the_user_may_not_write(miniapp, small, old):
    old.parent.chmod(0o555)
    options = {}
    if os.geteuid() == 0:  # whom permissions do not bind
        if not (shutil.which("setpriv") and can_run_as_nobody(miniapp, small)):
            pytest.skip("as root, this needs setpriv, and files that all may read")
        options = {"preexec_fn": become_nobody}
    miniapp.fails(OUTPUT, "output.h5: cannot be written: Permission denied", small, "-o", old, **options)
    old.parent.chmod(0o755)
    assert_only_the_old(old)


NOBODY = 65534


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def can_run_as_nobody(miniapp, small):
    """Pytest's folders are closed to others: they are opened here."""
    for folder in small.parents:
        if folder.stat().st_uid == os.geteuid() and str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    try:
        return miniapp.run(*QUICK, small, preexec_fn=become_nobody).returncode == DONE
    except OSError:
        return False


# ---- full disks ----

def size_of_output(miniapp, small, tmp_path, *arguments):
    path = tmp_path / "complete.h5"
    miniapp.passes(small, *arguments, "--output", path)
    return path.stat().st_size


# Chunks that HDF5 keeps until the end, and chunks that it writes as they come.
KEPT_CHUNKS, LARGE_CHUNKS = ["-k", "all"], ["-k", "eos", "--size", "262144"]


@pytest.mark.parametrize("size", [KEPT_CHUNKS, LARGE_CHUNKS], ids=["small", "larger"])
def test_limit_on_file_sizes(miniapp, small, old, tmp_path, size):
    """Writing ends early: in the superblock, in data, in the last metadata. Less than a page would
    end the OpenMP runtime, which writes a file in memory as it starts."""
    full = size_of_output(miniapp, small, tmp_path, *size)
    limits = [4096, 5000, full // 3, full // 2, full - 3000, full - 100, full - 1]
    for limit in [limit for limit in limits if 0 < limit < full]:
        miniapp.fails(OUTPUT, r"output\.h5: cannot be written", small, *size, "--output", old,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert_only_the_old(old)


# In a mount namespace of its own: $1 a folder, $2 the size of the tmpfs on it, $3 the file that
# tells what is in the folder afterwards, then the command.
ON_A_SMALL_DISK = f"""
folder=$1; size=$2; left=$3; shift 3
mount -t tmpfs -o size="$size" tmpfs "$folder" || exit 77
printf '%s' "{OLD.decode()}" > "$folder/output.h5"
"$@"; code=$?
{{ ls -A "$folder"; cat "$folder/output.h5"; }} > "$left"
exit $code
"""


@pytest.mark.parametrize("size, kilobytes", [(KEPT_CHUNKS, 4), (KEPT_CHUNKS, 8), (KEPT_CHUNKS, 64),
                                             (LARGE_CHUNKS, 512), (LARGE_CHUNKS, 1024)])
def test_full_disk(miniapp, small, tmp_path, size, kilobytes):
    if not shutil.which("unshare"):
        pytest.skip("this needs unshare")
    disk, left = tmp_path / "disk", tmp_path / "left"
    disk.mkdir()
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = completed([*namespace, "sh", "-c", ON_A_SMALL_DISK, "sh", disk, f"{kilobytes}k", left,
                      *miniapp.command(*QUICK, small, *size, "--output", disk / "output.h5")],
                     env=miniapp.environment())
    if done.returncode in (1, 77) and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr}")
    assert done.returncode == OUTPUT, done
    assert done.stderr.count("\n") == 1 and not TROUBLE.search(done.stderr), done
    assert "cannot be written: " in done.stderr and "No space left" in done.stderr
    assert left.read_bytes() == b"output.h5\n" + OLD


# ---- standard output ----

def test_full_standard_output(miniapp, small):
    for form in ("table", "json", "csv"):
        with open("/dev/full", "w") as full:
            miniapp.fails(OUTPUT, "standard output cannot be written: No space left", small, "-k", "eos", "--format", form,
                          stdout=full)


def test_closed_standard_output(miniapp, small, tmp_path):
    output = tmp_path / "output.h5"
    words = (small, "-k", "eos")
    miniapp.fails(OUTPUT, "standard output", *words, preexec_fn=lambda: os.close(1))
    miniapp.fails(OUTPUT, "standard output", *words, "-o", output, preexec_fn=lambda: os.close(1))
    with h5py.File(output) as file:  # no report was written into it
        assert np.isfinite(file["dHdT"][...]).all()


def test_closed_standard_error(miniapp, small, tmp_path):
    """A message must not end up in a file that got the number of standard error."""
    output = tmp_path / "output.h5"
    words = (*QUICK, "-k", "eos")
    done = miniapp.run(*words, small, "--threads", 50, "-o", output, preexec_fn=lambda: os.close(2))
    assert done.returncode == DONE
    done = miniapp.run(*words, output, preexec_fn=lambda: os.close(2))
    assert done.returncode == INPUT
    assert miniapp.passes(small, "-k", "eos", "--validate", output)


def test_reader_that_goes_away(miniapp, small):
    """As in `miniapp ... | head -1`: no crash report, whatever the exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    done = miniapp.run(*QUICK, small, stdout=writer)
    os.close(writer)
    assert done.returncode in (OUTPUT, -signal.SIGPIPE) and not TROUBLE.search(done.stderr)


# ---- output in place of what is read ----

def aliases(path, folder):
    """Other names of a file."""
    yield path
    yield path.parent / "." / ".." / path.parent.name / path.name
    soft, hard, chain = folder / "soft.h5", folder / "hard.h5", folder / "chain.h5"
    soft.symlink_to(path)
    os.link(path, hard)
    chain.symlink_to(soft)
    yield from (soft, hard, chain)


def test_output_equal_to_the_input(miniapp, small, tmp_path):
    original = small.read_bytes()
    for name in aliases(small, tmp_path):
        miniapp.fails(USAGE, "is a file that is read", small, "-k", "eos", "--output", name)
        miniapp.fails(USAGE, "is a file that is read", name, "-k", "eos", "--output", small)
    assert small.read_bytes() == original


def test_output_equal_to_the_reference(miniapp, small, reference, tmp_path):
    original = reference.read_bytes()
    for name in aliases(reference, tmp_path):
        miniapp.fails(USAGE, "is a file that is read", small, "-k", "eos", "--validate", reference, "-o", name)
    in_folder = shutil.copy(reference, tmp_path / "eos.h5")
    miniapp.fails(USAGE, "is a file that is read", small, "-k", "eos", "--validate", tmp_path, "-o", in_folder)
    assert reference.read_bytes() == original


# ---- signals ----

def unfinished(path):
    """The file that is being written beside its place, if any."""
    return list(path.parent.glob(".miniapp-*"))


# HDF5's function to write; the process stops at its first write beyond a megabyte.
STOPPING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>
ssize_t pwrite(int file, const void *data, size_t bytes, off_t place)
{
    static int stopped;
    ssize_t (*real)(int, const void *, size_t, off_t);
    *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    const ssize_t written = real(file, data, bytes, place);
    if (place > 1000000 && !stopped++)
        raise(SIGSTOP);
    return written;
}
"""


@pytest.mark.parametrize("number, code", [
    (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGUSR1, 128 + signal.SIGTERM),
    (signal.SIGINT, 128 + signal.SIGINT),  # in order, with what was measured
    (signal.SIGHUP, 128 + signal.SIGHUP), (signal.SIGQUIT, -signal.SIGQUIT)])
def test_signal_before_the_write(miniapp, small, old, number, code):
    """The unfinished file is there from the start: it goes when a long run is ended."""
    with miniapp.start("-r", 10**8, small, "--output", old) as process:
        process.wait_for("first call")
        assert unfinished(old)
        process.send_signal(number)
        _, message = process.finish()
    assert process.returncode == code and not TROUBLE.search(message)
    assert_only_the_old(old)


@pytest.mark.parametrize("number, code", [
    (signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGUSR1, 143),
    (signal.SIGKILL, -signal.SIGKILL)])
def test_signal_in_the_middle_of_the_write(miniapp, small, old, tmp_path, number, code):
    """As soon as data arrive on the disk, where the write stops until the signal was sent."""
    stopping = library(tmp_path / "stopping.so", STOPPING)
    with miniapp.start(*QUICK, small, "--size", "3e5", "-k", "eos", "--output", old,
                       env={"LD_PRELOAD": str(stopping)}) as process:
        process.wait_for(process.is_stopped)
        assert unfinished(old)[0].stat().st_size > 1_000_000
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        process.finish()
    assert process.returncode == code
    if number == signal.SIGKILL:  # nobody can clean up then
        unfinished(old)[0].unlink()
    assert_only_the_old(old)


def test_signals_at_any_moment(miniapp, small, old):
    """The old file or the new one, whole, and never a third."""
    began = time.monotonic()
    miniapp.passes(small, "--size", LARGE, "-k", "eos", "--output", old)
    duration = time.monotonic() - began
    complete = read(old, "dHdT")
    generator = random.Random(1)
    for _ in range(8):
        old.write_bytes(OLD)
        with miniapp.start(*QUICK, small, "--size", LARGE, "-k", "eos", "--output", old) as process:
            pause_at_random(generator, 1.1 * duration)
            process.send_signal(signal.SIGTERM)
            process.finish()
        assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM, DONE)
        assert os.listdir(old.parent) == [old.name]
        if old.read_bytes() != OLD:
            np.testing.assert_array_equal(read(old, "dHdT"), complete)


def test_signals_that_are_ignored_stay_ignored(miniapp, small, old):
    """As nohup wants it."""
    with miniapp.start(*QUICK, small, "--size", LARGE, "-k", "eos", "--output", old,
                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        process.wait_for(lambda: unfinished(old))
        process.send_signal(signal.SIGHUP)
        process.finish()
    assert process.returncode == DONE
    assert read(old, "dHdT").size >= 1e6


def test_two_runs_write_to_one_place(miniapp, small, old):
    words = (*QUICK, small, "--size", 65536, "-k", "eos", "--output", old)
    with miniapp.start(*words) as one, miniapp.start(*words) as other:
        for process in (one, other):
            process.finish()
            assert process.returncode == DONE
    assert os.listdir(old.parent) == [old.name]
    assert np.isfinite(read(old, "dHdT")).all()


def test_results_are_written_even_if_validation_fails(miniapp, small, reference, tmp_path):
    output = tmp_path / "output.h5"
    with h5py.File(reference, "a") as file:
        file["dHdT"][0, 0, 0] += 1
    miniapp.fails(MISMATCH, "differ", small, "-k", "eos", "--validate", reference, "--output", output)
    with h5py.File(output) as file:
        assert "dHdT" in file


def test_stored_tests_leave_nothing_behind():
    assert not list(HERE.glob("*.tmp"))
