"""What `cmake --install` leaves: a program that runs, and a library that C and C++ clients find.

The clients are those of docs/client, found by CMake and by pkg-config, where miniapp was installed
and where that folder was moved to.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from conftest import DEVICE, DONE, HERE, MISMATCH, USAGE, assert_failed
from miniapp import Library
from processes import completed

ROOT = HERE.parent
CLIENTS = ROOT / "docs" / "client"
DHDT = 0.76143607017777522  # of the clients' water, as in test_reference.py
VERSION = re.search(r"^project\(miniapp VERSION (\S+) ", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
HEADERS = sorted(str(path.relative_to(ROOT / "include")) for path in (ROOT / "include").rglob("*.h"))
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def command(*words, **options):
    done = completed([str(word) for word in words], **options)
    assert done.returncode == DONE, done
    return done.stdout


@pytest.fixture(scope="module")
def installed(miniapp, tmp_path_factory):
    if miniapp.is_sanitized:
        pytest.skip("a sanitized library needs sanitized clients")
    prefix = tmp_path_factory.mktemp("installed")
    command("cmake", "--install", miniapp.path.parent.parent, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module", params=["in place", "moved"])
def prefix(request, installed, tmp_path_factory):
    """Where it was installed, and the same under another name; nothing is left of the first then."""
    if request.param == "in place":
        yield installed
        return
    moved = tmp_path_factory.mktemp("any where") / "else"
    installed.rename(moved)
    yield moved
    moved.rename(installed)


def says_dhdt(client, device, *, library=None):
    """The client runs, on the device that it is asked for."""
    environment = {**os.environ, **({"LD_LIBRARY_PATH": str(library)} if library else {})}
    words = command(client, device, env=environment).split()
    assert abs(float(words[0]) - DHDT) < 1e-14
    assert words[1:] == ["J", "kg-1", "K-1", "on", {"cpu": "cpu", "gpu": "gpu:0"}[device]]


def refuses(client, device, code, **options):
    done = completed([client, device], **options)
    assert_failed(done, code, start="client: ")


# ---- what is there ----

def test_files(miniapp, prefix):
    found = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    major = VERSION.split(".", maxsplit=1)[0]
    wanted = {"bin/miniapp", "lib/libminiapp.a", "lib/libminiapp.so", f"lib/libminiapp.so.{major}",
              f"lib/libminiapp.so.{VERSION}", "lib/pkgconfig/miniapp.pc"}
    wanted |= {f"include/{name}" for name in HEADERS}
    wanted |= {f"lib/cmake/miniapp/miniapp{name}.cmake" for name in ("Config", "ConfigVersion", "Targets")}
    if miniapp.offload != "no":
        wanted.add("lib/miniapp-offload.so")
    wanted |= {f"lib/{path.name}" for path in (miniapp.path.parent.parent / "lib").glob("miniapp-variant-*.so")}
    if (miniapp.path.parent.parent / "lib/miniapp-libcuda.so").exists():  # NVIDIA's, by Clang
        wanted.add("lib/miniapp-libcuda.so")
    extra = found - wanted  # what CMake names by the build type
    assert found >= wanted and len(extra) == 1, extra
    assert re.fullmatch(r"lib/cmake/miniapp/miniappTargets-\w+\.cmake", extra.pop())


def test_program(miniapp, prefix):
    assert command(prefix / "bin/miniapp", "--version").startswith(f"miniapp {VERSION}")
    listing = command(prefix / "bin/miniapp", "--list-devices")
    assert ("\ngpu:0 " in f"\n{listing}") == ("gpu" in miniapp.devices), listing


# ---- clients by CMake ----

@pytest.fixture(scope="module")
def by_cmake(prefix, tmp_path_factory):
    """Clients in one folder: where the library has moved, they are configured there again."""
    build = tmp_path_factory.getbasetemp() / "by_cmake"
    command("cmake", "-S", CLIENTS, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    command("cmake", "--build", build)
    return build


@pytest.mark.parametrize("client", ["client_c", "client_cxx", "client_static"])
def test_client_by_cmake(by_cmake, client, device):
    if (client, device) == ("client_static", "gpu"):
        refuses(by_cmake / client, device, DEVICE)  # there is no module beside it
    else:
        says_dhdt(by_cmake / client, device)
    refuses(by_cmake / client, "nothing", USAGE)


@pytest.mark.parametrize("version, fits", [(VERSION, True), ("99", False)])
def test_versions(prefix, tmp_path, version, fits):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(client LANGUAGES C)\n"
        f"find_package(miniapp {version} REQUIRED)\n")
    done = completed(["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja",
                      f"-DCMAKE_PREFIX_PATH={prefix}"])
    assert (done.returncode == DONE) == fits, done


# ---- clients by pkg-config ----

def flags(prefix, *options):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    return shlex.split(command("pkg-config", *options, "miniapp", env=environment))


BUILDS = [("cc", "main.c", "-std=c99"), ("c++", "main.cpp", "-std=c++11"),
          ("clang-19", "main.c", "-std=c11"), ("clang++-19", "main.cpp", "-std=c++17")]


@pytest.mark.parametrize("prefix, build", [
    *(("in place", build) for build in BUILDS), *(("moved", build) for build in BUILDS[:2])], indirect=["prefix"],
    ids=lambda value: value if isinstance(value, str) else value[0])
def test_client_by_pkg_config(prefix, build, device, tmp_path):
    program, source, standard = build
    if not shutil.which(program):
        pytest.skip(f"{program} is missing")
    client = tmp_path / "client"
    command(program, standard, *STRICT, CLIENTS / source, *flags(prefix, "--cflags", "--libs"), "-o", client)
    says_dhdt(client, device, library=prefix / "lib")


def test_static_client_by_pkg_config(prefix, tmp_path):
    libraries = [flag.replace("-lminiapp", "-l:libminiapp.a")
                 for flag in flags(prefix, "--static", "--cflags", "--libs")]
    command("cc", CLIENTS / "main.c", *libraries, "-o", tmp_path / "client")
    assert "libminiapp" not in command("ldd", tmp_path / "client")
    says_dhdt(tmp_path / "client", "cpu")


def test_version_of_pkg_config(prefix):
    assert flags(prefix, "--modversion") == [VERSION]


# ---- headers ----

@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("language, compilers", [
    ("c", {"cc": "c99", "clang-19": "c11"}), ("c++", {"c++": "c++11", "clang++-19": "c++17"})], ids=["c", "c++"])
def test_header_alone(header, language, compilers):
    for program in filter(shutil.which, compilers):
        command(program, "-x", language, f"-std={compilers[program]}", *STRICT, "-fsyntax-only",
                "-I", ROOT / "include", "-", input=f"#include <{header}>\nint nothing;\n")


# ---- versions of the library ----

# That of the clients, and those whose fields the library names (miniapp/state/budget.c).
KERNELS = ("eos", "tke", "eke", "idemix", "tracer_advection")
PARTS = ("CMakeLists.txt", "cmake", "include", "miniapp", "physics")  # of the sources, without tests


def make_newer(tree):
    """The next minor version, with a field before those of today, and without most kernels and variants, which take
    long to compile."""
    shutil.copytree(ROOT, tree, ignore=lambda folder, names: [
        name for name in names if Path(folder) == ROOT and name not in PARTS or name == "__pycache__"])
    for path in (tree / "physics").glob("*/*.*"):
        if path.suffix == ".sequence" or path.suffix == ".kernel" and path.stem not in KERNELS:
            path.unlink()
    for path in (tree / "physics/variants").iterdir():
        if path.stem not in ("static", "distribute"):  # the default ones
            path.unlink()
    major, minor, _ = VERSION.split(".")
    replace(tree / "CMakeLists.txt", f"VERSION {VERSION}", f"VERSION {major}.{int(minor) + 1}.0")
    replace(tree / "physics/ocean.fields", "FIELD(",
            'FIELD(newer, REAL, Z_Y_X, "1", "a field of the newer version", 0, 1)\nFIELD(')


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# Clients in the project of which the newer version is a part, and what they link.
SUBDIRECTORY = {"client": "miniapp", "client_static": "miniapp_static"}

# It compiles several files at once where no names clash, which takes a third of the time.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(client LANGUAGES C)
add_compile_options(-Wall -Werror)
add_subdirectory(tree miniapp)
set_target_properties(miniapp miniapp_library_objects PROPERTIES UNITY_BUILD ON)
set_target_properties(miniapp_library_objects PROPERTIES UNITY_BUILD_MODE GROUP)
foreach(folder file state)
  file(GLOB sources tree/miniapp/${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "/(sequence|work)\\.c$")
  set_source_files_properties(${sources} TARGET_DIRECTORY miniapp_library_objects PROPERTIES UNITY_GROUP ${folder})
endforeach()
""" + "".join(f"""add_executable({client} "{CLIENTS}/main.c")
target_link_libraries({client} PRIVATE miniapp::{library})
""" for client, library in SUBDIRECTORY.items())


@pytest.fixture(scope="module")
def newer(miniapp, tmp_path_factory):
    """The build of a newer version, with the kernel, field and setting of docs/site before those of today, and of
    clients with the sources as a subdirectory. The preset host-gcc shows GCC's warnings at -O3."""
    if miniapp.is_sanitized or miniapp.offload != "no":
        pytest.skip("the plain build is enough")
    folder = tmp_path_factory.mktemp("newer")
    tree, build = folder / "tree", folder / "build"
    make_newer(tree)
    (folder / "CMakeLists.txt").write_text(PROJECT)
    command("cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_C_COMPILER=gcc-12",
            "-DCMAKE_BUILD_TYPE=None", "-DMINIAPP_HOST_FLAGS=-O0", "-DMINIAPP_TESTS=OFF",
            f"-DMINIAPP_KERNELS={ROOT / 'docs/site'}",
            "-DCMAKE_C_COMPILER_LAUNCHER=")  # no ccache: nobody compiles that again
    command("cmake", "--build", build, "--target", *SUBDIRECTORY, "miniapp")
    return build / "miniapp"


@pytest.mark.parametrize("client", SUBDIRECTORY)
def test_client_with_the_sources_as_a_subdirectory(newer, client):
    says_dhdt(newer.parent / client, "cpu")


def test_kernel_of_a_site(newer, tmp_path):
    """Validates against its own reference, also with its setting changed."""
    program = newer / "bin/miniapp"
    command(sys.executable, HERE / "physics/make_reference.py", "--kernels", ROOT / "docs/site", ROOT / "inputs/grid.h5",
            "-o", tmp_path / "stored")
    assert [path.name for path in (tmp_path / "stored").iterdir()] == ["heat.h5"]
    words = (program, ROOT / "inputs/grid.h5", "-r", "1", "-k", "heat", "--validate", tmp_path / "stored",
             "--precision", "float64,float32")
    assert "validation PASSED: 2 of 2" in command(*words)
    done = completed([*words, "--set", "heat_capacity=4e6"])
    assert done.returncode == MISMATCH and "validation FAILED: 0 of 2" in done.stdout, done
    assert "heat: heat content of the water" in command(program, "--list-kernels").split("\n\n")[0]


@pytest.mark.parametrize("names, why", [
    ([], "holds no description, NAME.kernel"), (["heat.kernel"], "heat.kernel has no heat.c beside it"),
    (["eos.kernel", "eos.c"], "miniapp has a kernel 'eos', too")])
def test_kernels_of_a_site_that_are_none(tmp_path, tmp_path_factory, names, why):
    site = tmp_path / "site"
    site.mkdir()
    for name in names:
        shutil.copy(ROOT / "docs/site" / name.replace("eos", "heat"), site / name)
    build = tmp_path_factory.getbasetemp() / "none"  # which looks at the compiler once
    done = completed(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_C_COMPILER=clang-19", f"-DMINIAPP_KERNELS={site}"])
    assert done.returncode and why in " ".join(done.stderr.split()), done.stderr


def test_client_of_an_older_version(miniapp, newer, tmp_path):
    """It was compiled against today's headers, and runs with a library that has more."""
    client, build = tmp_path / "client", newer
    command("cc", CLIENTS / "main.c", "-I", ROOT / "include", "-L",
            miniapp.path.parent.parent / "lib", "-lminiapp", "-o", client)
    says_dhdt(client, "cpu", library=build / "lib")
    # that it is the newer library, as Python sees it
    library = Library(build / "lib/libminiapp.so")
    assert {"newer", "heat"} < set(library.fields) and "heat_capacity" in library.settings
    assert library.sequences[0] == "heat"
