"""The bundle runs where there is nothing but glibc: no Clang, no LLVM, no HDF5.

`run/bundle` packs the build under test; a folder that holds a shell, a few tools and glibc becomes
the root of the file system, with the bundle in it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DEVICE, DONE, LONG, MISMATCH
from processes import completed, executable

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "dirname", "readlink")
LEVELS = "x86-64-v3", "x86-64-v4"
RUN = "mount --rbind /proc proc && mount --rbind /dev dev && mount --rbind /sys sys && exec chroot . \"$@\""
VALIDATE = ("-r", "1", "--kernel", "all", "--precision", "float64", "--set", "enable_eddy_streamfunction=1",
            "--validate", "validation/stored/rough", "inputs/rough.h5")


def make_root(folder):
    """A root with the tools that the bundle's script needs, and the libraries that those need."""
    for name in ("proc", "dev", "sys", "tmp", "bin"):
        (folder / name).mkdir()
    libraries = set()
    for tool in TOOLS:
        path = Path(shutil.which(tool)).resolve()
        shutil.copy(path, folder / "bin" / tool)
        listing = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
        libraries.update(re.findall(r"/\S+", listing))
    glibc = Path(next(library for library in libraries if "/libc.so" in library)).parent
    libraries.update(str(glibc / f"{name}.so.{number}") for name, number in (
        ("libm", 6), ("libmvec", 1), ("libdl", 2), ("librt", 1), ("libpthread", 0),
        ("libresolv", 2)))
    for library in libraries:
        target = folder / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)


@pytest.fixture(scope="module")
def packed(miniapp, tmp_path_factory):
    """Packs the build; gives the folder of the bundle, in a folder with all that was used."""
    if miniapp.offload == "no":
        pytest.skip("this build has no offload, so it is not bundled")
    if re.search("^offload_target +amd:", miniapp.run("--version").stdout, re.MULTILINE):
        pytest.skip("the bundle for NVIDIA's GPUs by the same compiler has the same libraries")
    if not shutil.which("patchelf"):
        pytest.skip("patchelf is missing")
    folder = tmp_path_factory.mktemp("bundle")
    (pack_what_is_compiled if LONG else pack_the_program)(miniapp, folder)
    bundle, = folder.glob("bundle/miniapp-*-linux-x86_64")
    return bundle


def pack_what_is_compiled(miniapp, folder):
    """The sources lie beside it, of which ccache knows all but kernels by their paths below the folder. Kernels are not
    optimised, since that takes minutes."""
    build = miniapp.path.parent.parent
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build", ".*"), dirs_exist_ok=True)
    cache, found = re.subn("^(MINIAPP_HOST_FLAGS:STRING=).*", r"\g<1>-O0", (build / "CMakeCache.txt").read_text(),
                           flags=re.MULTILINE)
    assert found == 1
    (folder / "CMakeCache.txt").write_text(cache)
    (folder / "lib").symlink_to(build / "lib")
    subprocess.run([folder / "run/bundle", "--unpacked", folder], check=True,
                   env={**os.environ, "CCACHE_BASEDIR": str(folder)})


def pack_the_program(miniapp, folder):
    """In the place of those that it would compile the build's own program. The words of each call of CMake are kept;
    the build with the emulated device configures once, too, and keeps the commands that it would compile with."""
    build, configure, look = miniapp.path.parent.parent, ":", ":"
    if miniapp.offload == "emulated":
        configure = f'[ -e {folder}/commands ] || {shutil.which("cmake")} "$@"'
        look = f'[ -e {folder}/commands ] || ninja -C "$2" -t commands miniapp >{folder}/commands'
    executable(folder / "cmake", f"""#!/bin/sh
set -e
printf '%s\\n' "$@" "" >>{folder}/words
if [ "$1" = --build ]; then
  {look}
  mkdir -p "$2/bin"
  cp {build}/bin/miniapp "$2/bin"
else
  {configure}
fi
""")
    for name in ("CMakeCache.txt", "lib"):
        (folder / name).symlink_to(build / name)
    subprocess.run([ROOT / "run/bundle", "--unpacked", folder], check=True,
                   env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})


def cache_of(packed):
    """The variables of the build's CMake."""
    return dict(re.findall(r"^(\w+):\w+=(.*)", (packed.parent.parent / "CMakeCache.txt").read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def unpacked(packed, tmp_path_factory):
    """The folder of the bundle, inside a root of its own."""
    if os.getuid() != 0:
        pytest.skip("only root may change the root of the file system")
    root = tmp_path_factory.mktemp("root")
    make_root(root)
    probe = completed(["unshare", "--mount", "sh", "-c", RUN, "sh", "/bin/sh", "-c", ":"], cwd=root)
    if probe.returncode:
        pytest.skip(f"no root of one's own here: {probe.stderr}")
    return packed.rename(root / "any where")


@pytest.fixture
def run(unpacked):
    """Runs the bundle's program, or another, in its folder and root."""
    def run_there(*arguments, program="bin/miniapp", env=None):
        command = ["unshare", "--mount", "sh", "-c", RUN, "sh", "/bin/sh", "-c",
                   f'cd "/any where" && exec {program} "$@"', "sh", *arguments]
        return completed(command, cwd=unpacked.parent, env={"PATH": "/bin:/usr/bin:/sbin:/usr/sbin", **(env or {})})

    return run_there


def test_flags(miniapp, packed, run):
    """The host's kernels are compiled with the flags of the build, for the first of two processors (test_settings)."""
    if LONG:
        done = run("--version")
        assert re.search(" -O0 -march=x86-64-v[34] ", done.stdout), done
        return
    if miniapp.offload != "emulated":
        pytest.skip("the bundle of the emulated device's build shows it: MINIAPP_TEST_LONG=1 compiles in each")
    flags = cache_of(packed)["MINIAPP_HOST_FLAGS"]
    commands = (packed.parent.parent / "commands").read_text().splitlines()
    kernels = [command for command in commands if "-DPHYSICS_VARIANT=host_" in command]
    assert len(kernels) > 2 * len(miniapp.kernels) - 1
    assert all(f" {flags} -march={LEVELS[0]} " in command for command in kernels)


def test_settings(packed):
    """A program for each of two processors, which the compiler knows, has the settings of the build."""
    if LONG:
        pytest.skip("test_flags looks at what they make")
    calls = [call.split("\n") for call in (packed.parent.parent / "words").read_text().split("\n\n")[:-1]]
    cache = cache_of(packed)
    for level, configure, make in zip(LEVELS, calls[::2], calls[1::2], strict=True):
        given = dict(re.findall("-D(\\w+)=(.*)", "\n".join(configure)))
        assert given.pop("MINIAPP_ARCH") == level and configure[configure.index("-S") + 1] == str(ROOT)
        assert given.pop("MINIAPP_TESTS") == "OFF" and given.pop("MINIAPP_WITHOUT_MODULES") == "ON"
        assert {*given.pop("MINIAPP_VARIANTS").split(";")} <= {"", *cache["MINIAPP_VARIANTS"].split(";")}
        assert given == {name: cache[name] for name in (
            "CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "MINIAPP_HOST_FLAGS", "MINIAPP_OFFLOAD", "MINIAPP_CUDA",
            "MINIAPP_WHOLE_PROGRAMS", "MINIAPP_WIDE_COUNT")}
        assert make == ["--build", configure[configure.index("-B") + 1], "--target", "miniapp"]
        subprocess.run([given["CMAKE_C_COMPILER"], f"-march={level}", "-E", "-x", "c", os.devnull], check=True,
                       stdout=subprocess.DEVNULL)


@pytest.fixture
def same_in_all(miniapp):
    """Bundles of all builds have the same scripts, and what their code for the host does other presets test."""
    if miniapp.offload != "emulated":
        pytest.skip("the bundle of the emulated device's build shows it")


@pytest.mark.parametrize("program", ["bin/miniapp", "bin/miniapp-v3"])
def test_host(same_in_all, run, program):
    """The program for this processor validates, and the one that asks for less (the same one where there is no
    AVX-512)."""
    done = run("--device", "cpu", *VALIDATE, program=program)
    assert done.returncode == DONE and done.stderr == "", done


def test_job_script(same_in_all, run):
    done = run("-r", "1", program="run/jobs/slurm/cpu", env={"SLURM_CPUS_PER_TASK": "1"})
    assert done.returncode == DONE and done.stderr == "", done
    assert "validation PASSED" in done.stdout


def test_regress(same_in_all, unpacked, tmp_path):
    """By the Python of this machine, on the bundle's program and files."""
    baseline = tmp_path / "baseline.json"
    words = ("--processes", "5", "--seconds", "0.0001", "--device", "gpu", "--precision", "float64",
             "--kernel", "triad", "--input", "inputs/rough.h5", "--reference", "validation/stored/rough")
    for action, codes in (("save", (DONE,)), ("check", (DONE, MISMATCH))):  # "slower" is a mismatch
        done = completed([sys.executable, "run/regress", action, baseline, *words], cwd=unpacked)
        assert done.returncode in codes and done.stderr == "", done
    assert str(unpacked / "bin/miniapp") in json.loads(baseline.read_text())["provenance"]["command_line"]


def test_gpu(miniapp, run):
    done = run("--device", "gpu", *VALIDATE)
    if "gpu" in miniapp.devices:
        assert done.returncode == DONE and done.stderr == "", done
    else:
        assert done.returncode == DEVICE, done
        assert re.fullmatch("miniapp: device 'gpu' cannot be used: .*\n", done.stderr), done
