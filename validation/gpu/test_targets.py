"""Targets of offload: devices by their kind, and the images that check_image.py reads."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import check_image as images_of
from conftest import DEVICE, DONE, MISMATCH, USAGE
from processes import completed, load_script

ROOT = Path(__file__).resolve().parents[2]
CHECK_IMAGE = ROOT / "validation" / "gpu" / "check_image.py"
LIMITS = ROOT / "validation" / "gpu" / "paper.json"


@pytest.fixture
def targets(miniapp):
    """What the build under test holds code for."""
    if miniapp.offload == "no":
        pytest.skip("this build has no offload")
    listing = miniapp.run("--version").stdout
    return re.search(r"^offload_target +(\S+)", listing, re.MULTILINE)[1].split(",")


def test_device_by_its_kind(miniapp, targets, small):
    kind = targets[0].partition(":")[0]
    if "gpu" in miniapp.devices:
        miniapp.passes("-k", "eos", "-d", kind, small)
        miniapp.passes("-k", "eos", "-d", kind, "-d", f"{kind}:0", small, warning="given already")
    else:
        miniapp.fails(DEVICE, f"'{kind}' cannot be used: the runtime finds 0 devices that this "
                      f"build's {','.join(targets)} code fits", small, "-d", kind)


def test_device_of_another_kind(miniapp, targets, small):
    kind = targets[0].partition(":")[0]
    other = {"nvidia": "amd", "amd": "emulated", "emulated": "nvidia"}[kind]
    miniapp.fails(DEVICE, f"'{other}' cannot be used: the devices of this build are of the kind "
                  f"'{kind}'", small, "-d", other)


# ---- images ----

def check_image(module, *targets):
    done = completed([sys.executable, CHECK_IMAGE, module, *targets])
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture
def module(miniapp, targets):
    """An offload module for GPUs, and what it holds code for."""
    if miniapp.offload != "yes":
        pytest.skip("this build has no code for GPUs")
    return miniapp.path.parent.parent / "lib" / "miniapp-offload.so"


def test_images_hold_what_a_gpu_needs(module, targets):
    done = check_image(module, *targets)
    assert done.returncode == DONE and done.stdout.count(" fits\n") == len(targets), done


def test_images_for_another_gpu(module):
    done = check_image(module, "amd:gfx700")
    assert done.returncode == MISMATCH, done
    assert check_image(module, "sm_80").returncode == USAGE


# ---- whole programs ----

NEST = """
static void nest(double *a, int n) {
#pragma omp target teams distribute parallel for map(tofrom : a[0:n])
  for (int i = 0; i < n; i++) a[i] += 1;
}
void %s(double *a) { nest(a, 1); }
"""
WHOLE_PROGRAM = ROOT / "cmake" / "whole_program" / "compile"


@pytest.fixture
def compile_as_a_whole(miniapp, targets):
    """Compiles a file for a GPU, with any ptxas."""
    ptxas, _ = load_script("dev/paper").find_tool("ptxas")
    if not targets[0].startswith("nvidia:") or miniapp.is_gcc or not ptxas:
        pytest.skip("needs a build by Clang for NVIDIA's GPUs, and a ptxas")

    def run(source):
        return completed([WHOLE_PROGRAM, "env", "clang-19", "-O3", "-fPIC", "-fopenmp", "-fopenmp-cuda-mode",
                          "--offload-arch=sm_90", f"--cuda-path={Path(ptxas).parent.parent}",
                          "--libomptarget-nvptx-bc-path=/usr/lib/llvm-19/lib", "-fnoopenmp-relocatable-target",
                          "-fno-crash-diagnostics", "-c", source, "-o", source.with_suffix(".o")])
    return run


def test_each_file_is_a_whole_program(compile_as_a_whole, tmp_path):
    """Each has an image of its own, in which nothing is left to link, and registers its own nests."""
    folder = tmp_path / "clang files"
    folder.mkdir()
    for name in "one", "two":
        (folder / f"{name}.c").write_text(NEST % name)
        done = compile_as_a_whole(folder / f"{name}.c")
        assert done.returncode == 0, done.stderr
    subprocess.run(["clang-19", "-shared", "-fopenmp", "one.o", "two.o", "-o", "both.so"], cwd=folder, check=True)
    module = (folder / "both.so").read_bytes()
    found = images_of.images(module)
    assert list(found) == ["sm_90"] and len(found["sm_90"]) == 2
    assert [image[16] for image in found["sm_90"]] == [images_of.ET_EXEC] * 2
    nests = [images_of.nests_of_image(image) for image in found["sm_90"]]
    assert all(len(one) == 1 for one in nests) and nests[0] != nests[1]
    assert images_of.nests_of_host(module, found) == nests[0] | nests[1]
    sections = images_of.llvm("llvm-readelf", module, "--section-headers")
    assert len(re.findall(r"omp_offloading_entries_\w", sections)) == 2


def test_a_file_that_is_no_whole_program(compile_as_a_whole, tmp_path):
    """The compiler's complaint ends the build, and leaves no object."""
    source = tmp_path / "part.c"
    source.write_text("#pragma omp declare target\nint elsewhere(void);\n"
                      "#pragma omp end declare target\n" + (NEST % "part").replace("+= 1", "= elsewhere()"))
    done = compile_as_a_whole(source)
    assert done.returncode and "Unresolved extern function 'elsewhere'" in done.stderr, done
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("function", ["density_offload_float64$_omp_fn$1", "sum_columns_offload_float64$_omp_fn$1"])
def test_too_little_memory_for_a_lane(module, miniapp, targets, tmp_path, function):
    """What GCC 12 reserves if it is not told (cmake/offload.cmake), in one function."""
    if not miniapp.is_gcc:
        pytest.skip("needs a build by GCC")
    before, start, after = module.read_bytes().partition(f"FUNCTION DEF: {function}\n".encode())
    reserved = b"%simtstack_ar[520];"
    assert reserved in after
    (tmp_path / "module.so").write_bytes(before + start + after.replace(reserved, reserved.replace(b"520", b"136"), 1))
    done = check_image(tmp_path / "module.so", *targets)
    assert done.returncode == MISMATCH and f": {function} needs " in done.stdout, done
    assert done.stdout.endswith(" for a lane and reserves 136\n")


@pytest.fixture
def amd(module, targets):
    """run/dev/paper, with its limits, and what the image says of each nest."""
    if not targets[0].startswith("amd:"):
        pytest.skip("needs a build for AMD's GPUs")
    script, arch = load_script("dev/paper"), targets[0].partition(":")[2]
    image, = images_of.images(module.read_bytes())[arch]
    return script, script.read_limits(LIMITS), arch, images_of.amd_kernels(image)


def test_image_holds_what_run_paper_shows(amd, tmp_path):
    """run/dev/paper links each kernel alone, and these two are within their limits."""
    script, limits, arch, found = amd
    built = {script.plain(name): numbers for name, numbers in found.items()}
    rows = [row for kernel in ("tke", "isoneutral_mixing")
            for row in script.rows_of(kernel, "float64", arch, tmp_path, None)]
    assert len(rows) == 4 and script.compare(rows, limits, LIMITS) == 0
    for row in rows:
        shown = [row[key] for key in ("registers", "AGPRs", "SGPRs", "SGPR spills", "stack", "spilled")]
        numbers = built[row["entry"]]
        assert shown == [numbers[key] for key in ("vgpr", "agpr", "sgpr", "sgpr spills", "scratch", "vgpr spills")], row


def test_limits_of_nests(amd):
    """Registers, stack and spills; to compile the kernels by run/dev/paper takes much longer."""
    script, limits, arch, found = amd
    limits = {re.sub(".*: ", "", name): limit for name, limit in limits.items()}
    rows, seen = [], Counter()
    for name in sorted(found, key=lambda name: int(name.rsplit("_l", 1)[1])):
        if nest := re.search(r"_[0-9a-f]+_[0-9a-f]+_(\w+)_offload_(float\d\d)_l", name):
            seen[nest.groups()] += 1
            rows.append({"nest": f"{nest[1]} {seen[nest.groups()]}", "precision": nest[2], "arch": arch, "mode": "SPMD",
                         "registers": found[name]["vgpr"], "stack": found[name]["scratch"],
                         "spilled": found[name]["vgpr spills"]})
    own = {name for name in limits if re.search(" [0-9], .*, AMD", name)}
    assert len(own) > 20 and own <= {f"{row['nest']}, {row['precision']}, AMD" for row in rows}
    assert script.compare(rows, limits, LIMITS) == 0


# An image that begins otherwise, is of another machine, or has a nest of another name.
@pytest.mark.parametrize("old,new,complaint", [
    (b"\x7fELF", b"\x7fElf", "neither machine code nor bitcode"),
    (b"\xe0\0\1\0\0\0", b"\x3e\0\1\0\0\0", "machine code for another machine"),
    (b"triad_offload_float32_l", b"triad_offload_float23_l", "it lacks __omp_offloading_"),
])
def test_damaged_images(module, targets, tmp_path, old, new, complaint):
    if not targets[0].startswith("amd:"):
        pytest.skip("needs a build for AMD's GPUs")
    data = module.read_bytes()
    start = data.index(b"\x10\xff\x10\xad")
    size = int.from_bytes(data[start + 8:start + 16], "little")
    image = data[start:start + size]
    assert old in image
    (tmp_path / "module.so").write_bytes(data.replace(image, image.replace(old, new)))
    done = check_image(tmp_path / "module.so", *targets)
    assert done.returncode == MISMATCH and complaint in done.stdout, done
