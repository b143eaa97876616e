"""The GPU's code, executed without a GPU: on a mock of NVIDIA's driver, in validation/gpu/mock.

The mock runs each kernel from its PTX, in C, on the CPU. It shows that the PTX, the launches, their
arguments and the way through the offload runtime are right; it shows nothing about ptxas, about
NVIDIA's driver, about threads that really run at once, or about speed.
"""

import functools
import json
import os
import re
import shlex
import subprocess
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import pytest

from conftest import (DEVICE, DONE, GRID, GRID_REFERENCE, HERE, LONG, MISMATCH, QUICK, USAGE, assert_one_line, read)
from pairs import ALL, PAIRS
from processes import executable, load_script
from test_gpu_check import check_all_steps
from test_paper import LIMITS, NEAREST

MOCK = HERE / "gpu/mock"
ACC, ROUGH, SWITCHED = (GRID.with_name(f"{name}.h5") for name in ("acc", "rough", "switched"))
ROUGH_REFERENCE = GRID_REFERENCE.with_name("rough")
ODD = ("--shape", "37x13x9")  # nothing in it is a multiple of a warp
ENTRY = re.compile(r"(\.entry __omp_offloading_[0-9a-f]+_[0-9a-f]+_(\w+)_l\d+\(.*?\n\{\n)(.*?)(?=\n\})", re.DOTALL)

# Stands in for ptxas: it keeps the PTX.
KEEP_PTX = """#!/bin/sh
for word; do
  [ "$previous" = --output-file ] && : >"$word"
  case $word in *.s) cp "$word" "$MOCK_PTX" ;; esac
  previous=$word
done
"""


class Mock:
    """The program on the mock. Settings are the driver's, as in `gpus="70,90"`."""

    def __init__(self, miniapp, folder, is_llvm, images):
        self.miniapp, self.cache, self.log_path = miniapp, folder, folder / "log"
        self.is_llvm, self.images, self.ptx = is_llvm, images, None
        subprocess.run([MOCK / "run", "true"], check=True, env={**os.environ, "MOCK_CACHE": str(folder)})

    def environment(self, **settings):
        self.log_path.unlink(missing_ok=True)
        variables = {f"MOCK_{name.upper()}": value for name, value in settings.items() if name.islower()}
        return {"LD_LIBRARY_PATH": str(self.cache),
                # ptxas, in each process, by a Python that may be far faster to start than the first in the PATH
                "PATH": f"{MOCK}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                "MOCK_CACHE": str(self.cache), "MOCK_LOG": str(self.log_path),
                "MOCK_IMAGES": str(self.images or ""),
                "MOCK_LEAVE_OUT": "" if self.is_llvm or LONG else "_offload_float32",  # GCC's tests take float64
                # GCC starts some threads for each, and many of them wait: also in the empty kernel, which is timed
                # hundreds of times, and which LLVM's tests run
                "MOCK_MULTIPROCESSORS": "132" if self.is_llvm else "1",
                "MOCK_IDLE": "" if self.is_llvm else "empty_call",
                **(in_place_of_llvms(self.ptx) if self.ptx else {}), **variables,
                **{name: value for name, value in settings.items() if name.isupper()}}

    def keep_ptx(self):
        """Of a build with bitcode LLVM makes the same PTX at each start, which takes ten times as long
        as all else: it is made by a first run, and taken by all others."""
        self.json("-d", "gpu", "-k", "triad", GRID)
        self.ptx, = self.cache.glob("*.ptx")

    def run(self, *arguments, **settings):
        return self.miniapp.run(*QUICK, *arguments, env=self.environment(**settings))

    def json(self, *arguments, **settings):
        report = self.miniapp.json(*arguments, env=self.environment(**settings))
        assert "mock GPU (" in report["provenance"]["device"]
        return report

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def assert_memory_is_freed(self):
        """What the last run allocated."""
        allocated = re.findall(r"^# allocated \d+ at (0x\w+)", self.log(), re.MULTILINE)
        freed = re.findall(r"^# freed (0x\w+)", self.log(), re.MULTILINE)
        assert len(allocated) > 20 and sorted(allocated) == sorted(freed)

    def launches(self, nest):
        """(blocks, threads) of each launch of a nest."""
        return [(int(blocks), int(threads)) for blocks, threads in re.findall(
            rf"^# launch __omp_offloading_\w+_{nest}_l\d+: (\d+) x 1 x 1 blocks of (\d+) x 1 x 1",
            self.log(), re.MULTILINE)]


def in_place_of_llvms(ptx):
    """The variable that gives LLVM's runtime the PTX that it would make of the bitcode."""
    return {"LIBOMPTARGET_JIT_REPLACEMENT_OBJECT": str(ptx)}


def compile_to_ptx(one, path):
    """The PTX that a command of the build hands to ptxas, for one of its GPUs."""
    words = [word for word in shlex.split(one["command"]) if not word.startswith("--offload-arch=")]
    words[words.index("-o") + 1] = path.with_suffix(".o")
    subprocess.run([*words, "--offload-arch=sm_90", f"--ptxas-path={path.parent / 'ptxas'}"],
                   check=True, cwd=one["directory"], env={**os.environ, "MOCK_PTX": str(path)})
    return path


def make_image(files):
    """Makes an image of files of PTX, and gives it the names of the kernels in it."""
    image = files[0].with_suffix(".image")
    subprocess.run([MOCK / "ptxas", "-o", image, *files], check=True,
                   env={**os.environ, "MOCK_CACHE": str(image.parent)})
    for file in files:
        for entry in ENTRY.finditer(file.read_text(encoding="utf-8")):
            name = re.search(r"__omp_offloading_\w+", entry[1])[0]
            (image.parent / f"{name}.so").hardlink_to(image)


def images_of(miniapp, folder, is_linked):
    """A folder with what runs in the place of a build's machine code for sm_90: its PTX, of the same
    commands."""
    commands = json.loads((miniapp.path.parent.parent / "compile_commands.json").read_text())
    ours = [one for one in commands if re.search("-D(PHYSICS|MINIAPP)_OFFLOAD", one["command"])]
    executable(folder / "ptxas", KEEP_PTX)
    with ThreadPool(os.cpu_count()) as pool:
        files = pool.starmap(compile_to_ptx, [(one, folder / f"{number}.ptx") for number, one in enumerate(ours)])
        pool.map(make_image, [files] if is_linked else [[file] for file in files])
    return folder


@pytest.fixture(scope="module")
def mock(miniapp, tmp_path_factory):
    version = miniapp.run("--version").stdout
    if " nvidia:" not in version:
        pytest.skip("needs a build for NVIDIA's GPUs")
    folder = tmp_path_factory.mktemp("mock")
    images = None
    if "(machine code" in version:
        images = images_of(miniapp, folder, is_linked="whole program" not in version)
    made = Mock(miniapp, folder, "(PTX" not in version, images)
    if "(bitcode" in version:
        made.keep_ptx()
    return made


@pytest.fixture(scope="module")
def llvm(mock):
    """The same, of a build by Clang."""
    if not mock.is_llvm:
        pytest.skip("looks at what LLVM's runtime does, and PTX that ptxas may not contract")
    return mock


@pytest.fixture(scope="module")
def bitcode(llvm):
    """The same, of a build that holds bitcode."""
    if llvm.images:
        pytest.skip("looks at how bitcode is compiled at start")
    return llvm


# ---- results ----

@pytest.mark.parametrize("pair, precision", [
    pytest.param(pair, precision, id=f"{pair.name}, {precision}") for pair in PAIRS for precision in pair.precisions])
def test_every_output_validates(mock, miniapp, pair, precision):
    if pair.name == "grid" and not LONG:
        pytest.skip("the other inputs are smaller, and have more settings: MINIAPP_TEST_LONG=1 takes this one")
    if not (mock.is_llvm or LONG):
        if pair.name != "rough" or precision == "float32":
            pytest.skip("GCC's lanes go in step, which takes long: MINIAPP_TEST_LONG=1 takes all inputs")
        pair = pair._replace(kernels=ALL)
    words = () if pair.steps else QUICK
    done = miniapp.run(*words, "-d", "gpu", "--format", "json", *pair.arguments(precision), pair.input,
                       env=mock.environment())  # which may warn of more threads than CPUs
    assert done.returncode == DONE, done
    verdicts = json.loads(done.stdout)["validation"]
    assert verdicts and all(verdict["passed"] for verdict in verdicts)
    if pair.name in ("grid", "rough"):
        assert {verdict["kernel"] for verdict in verdicts} == {
            kernel.name for kernel in miniapp.kernels if not kernel.by_name or pair.kernels != ALL}
    mock.assert_memory_is_freed()


def bits(report, device):
    return {tuple(one[key] for key in ("kernel", "variable", "nx", "ny", "nz", "precision")):
            one["sha256"] for one in report["checksums"] if one["device"].startswith(device)}


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_bits_of_the_host(llvm, miniapp, order):
    """In any order of blocks, and of threads in a block. A sum depends on its order; TEOS-10's integrals
    are rounded in another way on a GPU, where each point moves its polynomials to the middle pressure."""
    kernels = [kernel.name for kernel in miniapp.kernels if not (kernel.by_name or kernel.name in ("expsum", "eos"))]
    report = llvm.json("-d", "cpu", "-d", "gpu", "-k", ",".join(kernels), "--checksums",
                       "--precision", "float64", "--precision", "float32", *ODD, GRID, order=order)
    host = bits(report, "cpu")
    assert len(host) == 2 * sum(len(kernel.made()) for kernel in miniapp.kernels if kernel.name in kernels)
    assert host == bits(report, "gpu")


@pytest.mark.parametrize("precision, rounding", [("float64", 4e-15), ("float32", 2e-6)])
def test_eos_is_rounded_in_one_way(llvm, miniapp, tmp_path, precision, rounding):
    """In any order the bits are the same, and they are near the host's."""
    words = ("-k", "eos", *ODD, "--precision", precision, GRID, "-o")
    miniapp.json("-d", "cpu", *words, tmp_path / "cpu.h5")
    host = read(tmp_path / "cpu.h5", "dHdT")
    found = []
    for order in ("forward", "reverse", "random"):
        llvm.json("-d", "gpu", *words, tmp_path / f"{order}.h5", order=order)
        found.append(read(tmp_path / f"{order}.h5", "dHdT"))
        np.testing.assert_array_equal(found[0], found[-1])
    assert np.abs(found[0] - host).max() <= rounding * np.abs(host).max()


def test_sum_in_any_order_of_blocks(llvm, miniapp, tmp_path):
    """LLVM's reduction has 1,024 places: blocks beyond would wait for those before them."""
    words = ("-k", "expsum", "--shape", "100x100x14", GRID, "-o")
    miniapp.json("-d", "cpu", *words, tmp_path / "cpu.h5")
    host = read(tmp_path / "cpu.h5", "expsum")
    for order in ("reverse", "random"):
        llvm.json("-d", "gpu", *words, tmp_path / "gpu.h5", order=order)
        assert read(tmp_path / "gpu.h5", "expsum") == pytest.approx(host, rel=1e-14), order
        assert llvm.launches("expsum_offload_float64")[0] == (1024, 128)


@pytest.mark.parametrize("name, field", [("surface_pressure", "psi_taup1"), ("streamfunction", "dpsi_taup1")])
def test_external_mode(llvm, miniapp, tmp_path, name, field):
    """A small sea agrees with its reference; the finest level of a larger one, alone, is too large for one block. Most
    of its aggregates have four cells, so it has seven sweeps. A step after a cycle takes a launch, and a second one
    where the residual follows it. The only reduction is a maximum, so in any order the bits are the same."""
    done = llvm.json("-d", "gpu", "-k", name, "--validate", ROUGH_REFERENCE, ROUGH, order="random")
    assert all(verdict["passed"] for verdict in done["validation"])
    assert {blocks for blocks, _ in llvm.launches("sweep_by_team_offload_float64")} == {1}
    assert_launches(llvm, 0)
    words = ("-k", name, "--shape", "120x80x2", "--set", "solver_tolerance=1e-1", ROUGH, "-o")
    miniapp.json("-d", "cpu", *words, tmp_path / "cpu.h5")
    host, first = read(tmp_path / "cpu.h5", field), None
    for order in ("forward", "reverse"):
        llvm.json("-d", "gpu", *words, tmp_path / f"{order}.h5", order=order)
        found = read(tmp_path / f"{order}.h5", field)
        assert np.abs(found - host).max() <= 1e-8 * np.abs(host).max()
        np.testing.assert_array_equal(found, found if first is None else first)
        first = found
    assert_launches(llvm, 7)


def assert_launches(llvm, of_finest):
    """So many of a cycle are those of the finest level, one at a time."""
    large, small = (len(llvm.launches(f"sweep_by_{who}_offload_float64")) for who in ("all", "team"))
    assert 0 < (of_finest + 1) * small <= large <= (of_finest + 2) * small


@pytest.mark.parametrize("sequence, more", [("ocean_step_forced", ("dye",)), ("ocean", ("dye", "u", "v", "psi"))])
def test_steps_in_time(mock, miniapp, tmp_path, sequence, more):
    """They keep their budgets, or fail, and end near the host's."""
    if not (mock.is_llvm or LONG) and sequence != "ocean":
        pytest.skip("GCC's lanes go in step, which takes long: MINIAPP_TEST_LONG=1 takes two sequences")
    path, steps = (ACC, 2) if mock.is_llvm else (SWITCHED, 1)  # GCC's lanes go in step
    words = ("--steps", steps, "-k", sequence, "--tracer", "dye=temp", path, "-o")
    miniapp.json("-d", "gpu", *words, tmp_path / "gpu.h5", quick=False, env=mock.environment())
    miniapp.json("-d", "cpu", *words, tmp_path / "cpu.h5", quick=False)
    for name in ("temp", "salt", "tke", "eke", *more):
        ours, theirs = (read(tmp_path / f"{device}.h5", name) for device in ("gpu", "cpu"))
        assert np.abs(ours - theirs).max() <= 1e-11 * np.abs(theirs).max(), name


# ---- what the runtime does ----

def test_a_thread_a_point(llvm):
    listing = llvm.run("--list-devices").stdout
    assert "; 1048576 points take 8192 blocks of 128 threads; an empty kernel takes " in listing
    llvm.json("-d", "gpu", "-k", "triad", "--shape", "100x100x48", "--allow-nonfinite", GRID, idle="triad")
    assert set(llvm.launches("triad_offload_float64")) == {(100 * 100 * 48 // 128, 128)}


def test_launches_of_steps(bitcode, miniapp, tmp_path, monkeypatch, capsys):
    """No step has more launches than paper.json allows, and none has fewer than it says. run/dev/paper finds the
    nest of each launch in the PTX that LLVM made at start: a compilation of every kernel takes much longer."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    steps = {name.split(",")[0]: limit["launches"] for name, limit in limits.items() if "launches" in limit}
    assert len(steps) == 5
    script = load_script("dev/paper")

    def compile_to_ptx(kernel, *_):
        source = script.SOURCES[kernel]
        texts = (path.read_text(encoding="utf-8") for path in (source, *source.parent.glob("*.h")))
        functions = re.findall(r"VARIANT\((\w+)\)", "".join(texts))
        return entries_of(bitcode, rf"_({kernel}|{'|'.join(functions)})_offload_float64_l", tmp_path / "kernel.ptx")

    monkeypatch.setattr(os, "environ", miniapp.environment(bitcode.environment()))
    monkeypatch.setattr(script, "compile_to_ptx", compile_to_ptx)
    monkeypatch.setattr(script, "find_tool", lambda _: (None, None))  # test_limits_of_nests has ptxas look at all
    monkeypatch.setattr("sys.argv", ["paper", "--check", str(LIMITS), "--program", str(miniapp.path),
                                     *(word for step in steps for word in ("--step", step))])
    assert script.main() == 0
    said = re.findall(r"^(\w+), float64.*?^sum: (\d+) launches", capsys.readouterr().out, re.DOTALL | re.MULTILINE)
    assert said == [(step, str(launches)) for step, launches in steps.items()]


def test_blocks_that_are_used_again(llvm):
    """Who sets LLVM's variable gets what it says."""
    llvm.json("-d", "gpu", "-k", "triad", "--shape", "100x100x48", "--allow-nonfinite", GRID, idle="triad",
              LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT="true")
    assert set(llvm.launches("triad_offload_float64")) == {(3200, 128)}


@pytest.mark.parametrize("variables,expected", [({}, "1"), ({"MINIAPP_SPIN": "0"}, "4")])
def test_contexts_that_spin(llvm, variables, expected):
    """LLVM's runtime makes contexts that wait."""
    llvm.json("-d", "gpu", "-k", "triad", GRID, gpus="90,90", **variables)
    flags = re.findall(r"^# context of GPU (\d): flags (\d)", llvm.log(), re.MULTILINE)
    assert {"0", "1"} == {number for number, _ in flags}
    assert {expected} == {flag for _, flag in flags}


def test_memory_is_freed(mock):
    """A sequence's is freed; test_every_output_validates looks at that of kernels."""
    mock.json("-d", "gpu", "-k", "mixing", *ODD, GRID)
    mock.assert_memory_is_freed()


# ---- controls: the mock sees what is wrong ----

def test_kernels_that_do_nothing(mock):
    """A field that no kernel has written is NaN."""
    done = mock.run("-d", "gpu", "-k", "all", "-k", "calibration", "--set", "enable_eddy_streamfunction=1",
                    "--validate", ROUGH_REFERENCE, "--format", "json", ROUGH, idle="empty_call,_offload_float")
    assert done.returncode == MISMATCH
    assert not any(verdict["passed"] for verdict in json.loads(done.stdout)["validation"])


def changed(mock, tmp_path, kept, change):
    """The build's PTX with one of the nests that are kept changed; all others are empty."""

    def entry(found):
        if found[2] == kept[0]:
            body = change(found[3])
            assert body != found[3]
            return found[1] + body
        return found[1] + (found[3] if found[2] in kept or "_offload_" not in found[2] else "ret;")

    (tmp_path / "changed.ptx").write_text(ENTRY.sub(entry, mock.ptx.read_text()))
    return in_place_of_llvms(tmp_path / "changed.ptx")


def double_constants(body):
    """All: a bound of pressure alone would only choose another rule of quadrature."""
    return re.sub(r"(?<=, 0d)[0-9A-F]{16}(?=[^\n]*;)", lambda found: f"{int(found[0], 16) + (1 << 52):016X}", body)


def test_changed_constants(bitcode, tmp_path):
    """It fails its own kernel, and no other."""
    object_of = changed(bitcode, tmp_path, ("eos_offload_float64", "triad_offload_float64"), double_constants)
    done = bitcode.run("-d", "gpu", "-k", "eos", "-k", "triad", "--validate", GRID_REFERENCE,
                    "--format", "json", GRID, **object_of)
    assert done.returncode == MISMATCH, done
    passed = {one["kernel"]: one["passed"] for one in json.loads(done.stdout)["validation"]}
    assert passed == {"eos": False, "triad": True}


@pytest.mark.parametrize("offset,complaint", [
    (8, "access to memory that is not allocated"), (4, "misaligned access"),
    (1 << 43, "access outside the device's memory")])
def test_shifted_index(bitcode, tmp_path, offset, complaint):
    object_of = changed(bitcode, tmp_path, ("triad_offload_float64",), lambda body: re.sub(
        r"(st\.global\.f64\s+\[%\w+)\]", rf"\g<1>+{offset}]", body))
    output = tmp_path / "out.h5"
    done = bitcode.run("-d", "gpu", "-k", "triad", "-o", output, GRID, **object_of)
    assert done.returncode == DEVICE and not output.exists(), done
    assert "median" not in done.stdout
    assert re.search(rf"triad_offload_float64_l\d+: {complaint}, address 0x", done.stderr), done
    assert done.stderr.endswith("miniapp: the offload runtime gave up on the device\n")


@pytest.mark.parametrize("offset", [-8, 16])
def test_local_memory_that_is_too_small(bitcode, tmp_path, offset):
    """As of GCC 12, unless it is told how much to reserve (cmake/offload.cmake)."""
    object_of = changed(bitcode, tmp_path, ("triad_offload_float64",), lambda body: (
        f".local .align 8 .b8 small[16];\nst.local.u64 [small+{offset}], 7;\n{body}"))
    done = bitcode.run("-d", "gpu", "-k", "triad", GRID, **object_of)
    assert done.returncode == DEVICE, done
    assert re.search(r"triad_offload_float64_l\d+: write beside a variable in local memory", done.stderr), done


# ---- GPUs that cannot be used ----

@pytest.mark.parametrize("function", ["cuLaunchKernel", "cuModuleLoadData", "cuLinkAddData"])
def test_call_that_fails(mock, function):
    if mock.is_llvm and function == "cuLinkAddData":
        pytest.skip("LLVM's runtime does not call it")
    done = mock.run("-d", "gpu", "-k", "triad", GRID, fail=function)
    assert done.returncode == DEVICE and not done.stdout, done
    assert done.stderr.endswith("miniapp: the offload runtime gave up on the device\n")


@pytest.mark.parametrize("settings", [{"fail": "cuInit"}, {"gpus": "70"}])
def test_auto_where_no_gpu_can_be_used(mock, settings):
    """Neither where the driver does not start nor where the GPU is too old."""
    done = mock.run("-d", "auto", "-k", "triad", GRID, **settings)
    assert done.returncode == DONE and "cpu" in done.stdout, done
    assert_one_line(done.stderr)
    assert done.stderr.startswith("miniapp: warning: device 'auto' is the cpu: ")


def test_gpu_that_is_too_old(mock):
    done = mock.run("-d", "gpu", "-k", "triad", GRID, gpus="70")
    assert done.returncode == DEVICE and not done.stdout
    assert_one_line(done.stderr)
    assert re.search("code (does not fit|fits).* GPU 0,? .*is mock GPU .*, nvidia:sm_70$", done.stderr)


def test_two_gpus_of_which_one_fits(mock):
    """It has the second number, but with machine code, of which LLVM counts only GPUs that fit."""
    listing = mock.run("--list-devices", gpus="70,90").stdout
    unfit, = re.findall("^(gpu:[01])  cannot be used: .* nvidia:sm_70, .* DOES NOT FIT", listing, re.MULTILINE)
    fits, = re.findall("^(gpu:[01])  mock GPU .*, nvidia:sm_90, .* an empty kernel takes", listing, re.MULTILINE)
    assert (unfit, fits) == (("gpu:1", "gpu:0") if mock.images else ("gpu:0", "gpu:1"))
    assert mock.json("-d", fits, "-k", "triad", GRID, gpus="70,90")["results"]
    assert mock.run("-d", unfit, "-k", "triad", GRID, gpus="70,90").returncode == DEVICE


def test_memory_that_is_short(mock):
    done = mock.run("-d", "gpu", "-k", "triad", GRID, memory="1000000")
    assert done.returncode == DEVICE and "median" not in done.stdout, done
    assert "out of memory" in done.stderr
    if mock.is_llvm:  # GCC's runtime ends the process, in its own words
        assert_one_line(done.stderr)


def test_auto_takes_the_gpu(mock):
    report = mock.json("-d", "auto", "-k", "triad", GRID)
    assert {row["device"] for row in report["results"]} == {"gpu:0"}


def test_cache_of_a_gpu(mock):
    """The driver says how large it is; a row that fits names it, and memory is beyond it."""
    report = mock.json("-d", "gpu", "-k", "triad", "-s", 1000, "-s", "memory", GRID, l2="65536")
    assert report["provenance"]["device_caches"] == "gpu:0: L2 64 KiB"
    fits, large = report["results"]
    assert fits["cache"] == "L2" and large["cache"] == "" and 4 <= large["bytes"] / 65536 < 5
    done = mock.run("-d", "gpu", "-k", "triad", "-s", "memory", GRID, l2="0")
    assert done.returncode == USAGE and "the caches of 'gpu:0' are not known" in done.stderr


# ---- the PTX ----

# Bytes of stack, and of spills, that nests take beyond the limits of machine code.
BEYOND = {"idemix_parameters 1": 8, "momentum 2": 24}


@functools.cache
def parts_of(path):
    """The entries of a file of PTX, and what lies between them."""
    return re.split(r"(\.(?:visible|weak) \.entry \w+\(.*?\n\}\n)", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def entries_of(bitcode, names, path, arch="sm_90"):
    """A file of the PTX that LLVM makes at start, without the entries that have other names. PTX for another GPU
    differs in the name of the target alone (test_paper.py)."""
    ptx = "".join(part for part in parts_of(bitcode.ptx)
                  if not (entry := re.match(r"\.\w+ \.entry (\w+)", part)) or re.search(names, entry[1]))
    path.write_text(ptx.replace(".target sm_90", f".target {arch}"), encoding="utf-8")
    return path


@pytest.mark.parametrize("precision, arch, kernels", [
    ("float64", "sm_90", ("",)), *((precision, arch, NEAREST) for precision, arch in (
        ("float32", "sm_90"), ("float64", "sm_80"), ("float32", "sm_80")))])
def test_limits_of_nests(bitcode, tmp_path, monkeypatch, precision, arch, kernels):
    """The PTX that LLVM makes at start stays within the limits of machine code, but for a few bytes. It is there; a
    compilation of every kernel by run/dev/paper takes much longer."""
    script = load_script("dev/paper")
    path = entries_of(bitcode, rf"({'|'.join(kernels)})_offload_{precision}_l", tmp_path / "some.ptx", arch)
    monkeypatch.setattr(script, "compile_to_ptx", lambda *_: path)
    limits = script.read_limits(LIMITS)
    for nest, beyond in BEYOND.items():
        limits[f"{nest}, {precision}"] = {**limits["any nest"], "stack": beyond, "spilled": beyond}
    tools = script.Tools(script.find_tool("ptxas")[0], None, ())
    rows = [{**row, "nest": row["nest"].removeprefix("exchange: ") if f"{row['nest']}, {precision}" not in limits
             else row["nest"]} for row in script.rows_of("exchange", precision, arch, tmp_path, tools)]
    assert script.compare(rows, limits, LIMITS) == 0
    assert len(rows) > (len(kernels) if any(kernels) else len(script.SOURCES))  # many have several


# ---- ptxas at start ----

@pytest.mark.skipif(not LONG, reason="it is about LLVM alone: MINIAPP_TEST_LONG=1 takes it")
def test_the_same_ptx_at_each_start(bitcode):
    """And for each kernel: what the other tests run is what LLVM makes."""
    made = set(bitcode.cache.glob("*.ptx"))
    bitcode.json("-d", "gpu", "-k", "eos", GRID, LIBOMPTARGET_JIT_REPLACEMENT_OBJECT=None)
    assert set(bitcode.cache.glob("*.ptx")) == made


@pytest.mark.parametrize("variables, expected", [({}, "true"), ({"LIBOMPTARGET_JIT_SKIP_OPT": "false"}, "false")])
def test_bitcode_is_not_optimised_again(bitcode, tmp_path, variables, expected):
    """Who sets LLVM's variable gets what it says."""
    executable(tmp_path / "ptxas", f"#!/bin/sh\necho $LIBOMPTARGET_JIT_SKIP_OPT >{tmp_path}/found\nexit 1\n")
    bitcode.run("-d", "gpu", "-k", "triad", GRID, PATH=f"{tmp_path}:{os.environ['PATH']}", **variables)
    assert (tmp_path / "found").read_text() == f"{expected}\n"


@pytest.mark.parametrize("name", ["gpu", "auto"])
def test_ptxas_that_is_missing(bitcode, tmp_path, name):
    done = bitcode.run("-d", name, "-k", "triad", GRID, PATH=str(tmp_path))
    assert done.returncode == (DEVICE if name == "gpu" else DONE), done
    assert_one_line(done.stderr)
    assert "no ptxas is in the PATH" in done.stderr and "install a CUDA toolkit" in done.stderr
    assert "cannot be used" in bitcode.run("--list-devices", PATH=str(tmp_path)).stdout


def test_ptxas_that_fails(bitcode, tmp_path):
    executable(tmp_path / "ptxas", "#!/bin/sh\necho 'made up' >&2\nexit 1\n")
    done = bitcode.run("-d", "gpu", "-k", "triad", GRID, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == DEVICE and not done.stdout, done
    assert done.stderr.endswith("miniapp: the offload runtime gave up on the device\n")


# ---- the whole way ----

@pytest.mark.skipif(not LONG, reason="the emulated device shows it (test_gpu_check.py): MINIAPP_TEST_LONG=1 repeats it")
def test_gpu_check(llvm, miniapp, tmp_path):
    result = check_all_steps(miniapp, tmp_path, llvm.environment())
    listing = next(step["data"] for step in result["steps"] if step["name"] == "devices")
    assert "gpu:0  mock GPU" in listing
