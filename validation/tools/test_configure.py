"""What configure refuses, in one line."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import LONG
from processes import completed, executable

ROOT = Path(__file__).resolve().parents[2]


def configure(build, *words, source=ROOT):
    return completed(["cmake", "-S", source, "-B", build, "-G", "Ninja", *words])


def refuses(complaint, *words, **options):
    done = configure(*words, **options)
    assert done.returncode, done
    assert complaint in " ".join(done.stderr.split()), done.stderr


@pytest.fixture(scope="module")
def build_by(tmp_path_factory):
    """A folder of a compiler's builds, which looks at the compiler once: what is refused can be corrected there."""
    return functools.cache(tmp_path_factory.mktemp)


@pytest.mark.parametrize("compiler,targets,complaint", [
    ("clang-19", "sm_80;sm_90a", "'sm_80;sm_90a' is spelled 'nvidia:sm_80;nvidia:sm_90a'"),
    ("clang-19", "x86_64", "'x86_64' is spelled 'emulated'"),
    ("clang-19", "gfx90a", "'gfx90a' is no target; there are nvidia:sm_90, amd:gfx90a, emulated"),
    ("clang-19", "", "'' has to name targets of one kind"),
    ("clang-19", "nvidia:sm_80;amd:gfx90a", "targets of one kind, since OpenMP does not tell"),
    ("clang-19", "nvidia:sm_9999", "No target region was built for nvidia:sm_9999"),
    ("clang-19", "amd:gfx999", "No target region was built for amd:gfx999"),
    ("gcc-12", "amd:gfx90a", "Offload for amd:gfx90a is built by Clang: install clang-19"),
    ("gcc-12", "nvidia:sm_9999", "install gcc-12-offload-nvptx for GCC 12, and name one target"),
])
def test_configure_refuses(build_by, compiler, targets, complaint):
    refuses(complaint, build_by(compiler), f"-DCMAKE_C_COMPILER={compiler}", f"-DMINIAPP_OFFLOAD={targets}")


@pytest.mark.parametrize("compiler,flags,advice", [
    ("clang-19", "-Wno-builtin-macro-redefined -D__clang_major__=16", "install libomp-16-dev"),
    ("gcc-12", "", "choose clang-19 or gcc"),
])
def test_advice_without_openmp(tmp_path, monkeypatch, compiler, flags, advice):
    """It names the package of the compiler's own version."""
    monkeypatch.setenv("CFLAGS", flags)
    done = configure(tmp_path, f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON")
    assert done.returncode and "the build needs is missing" in done.stderr, done
    assert re.search(f"host threads: OpenMP +missing: {advice}$", done.stdout, re.MULTILINE), done


def test_variants(tmp_path):
    """None that there is not, but one's own: one file. It is built once its first line says what it is for."""
    source, build = tmp_path / "source", tmp_path / "build"
    source.mkdir()
    for path in ROOT.iterdir():
        if path.name not in ("physics", "build", ".git"):
            (source / path.name).symlink_to(path)
    shutil.copytree(ROOT / "physics", source / "physics")
    words = [build, "-DCMAKE_C_COMPILER=clang-19", "-DMINIAPP_TESTS=OFF"]
    refuses("there is no variant 'statik'; there are distribute, dynamic", *words,
            "-DMINIAPP_VARIANTS=dynamic;statik", source=source)
    words.append("-DMINIAPP_VARIANTS=fours")
    header = source / "physics/variants/fours.h"
    header.write_text('#define SCHEDULE schedule(static, 4)\n#include "static.h"\n')
    refuses("fours.h: the first line has to be /* host: PURPOSE */ or", *words, source=source)
    header.write_text("/* host: four rows at a time */\n" + header.read_text())
    done = configure(*words, source=source)
    assert done.returncode == 0 and "miniapp-variant-fours.so for --variant fours" in done.stdout, done
    target = "physics/CMakeFiles/physics_fours_float64.dir/eos/eos.c.o"
    subprocess.run(["cmake", "--build", build, "--target", target], check=True)
    assert b"eos_fours_float64" in (build / target).read_bytes()


@pytest.mark.skipif(not LONG, reason="MINIAPP_TEST_LONG=1 builds kernels that count beyond 1e9 points")
def test_wide_count(tmp_path):
    """Its kernels agree with the host's, also beyond 2^31 points."""
    subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_C_COMPILER=clang-19", "-DMINIAPP_OFFLOAD=emulated", "-DMINIAPP_WIDE_COUNT=ON"],
                   check=True)
    subprocess.run(["cmake", "--build", tmp_path, "--target", "unit_offload"], check=True)
    done = completed([tmp_path / "bin" / "unit_offload"])
    assert done.returncode == 0 and "SKIPPED" not in done.stderr + done.stdout, done


# ---- whole programs: cmake/whole_program ----

# In Clang's place: it keeps its words and where it would look for programs, and writes what it is to
# make; it fails at the step in FAILS.
COMPILER = """#!/bin/sh
printf '%s\\n' "${COMPILER_PATH:-}" "$@" . >>"$0.words"
step=compile
for word; do
  [ "$word" != -r ] || step=link
  [ "${before:-}" != -o ] || echo "$step" >"$word"
  before=$word
done
[ "${FAILS:-}" != $step ]
"""


@pytest.fixture
def whole_program(tmp_path):
    """Compiles a file in a folder whose name has a space and a compiler's name in it."""
    folder = tmp_path / "of clang-19"
    folder.mkdir()
    compiler = folder / "cc"
    executable(compiler, COMPILER)

    def run(**environment):
        words = ("env", compiler, "-O3", f"--cuda-path={folder}", "--offload-arch=sm_80", "--offload-arch=sm_90",
                 "-o", "clang.o", "-c", folder / "clang.c")
        return subprocess.run([ROOT / "cmake/whole_program/compile", *words], cwd=folder, check=False,
                              env={"PATH": "/usr/bin:/bin", "target": "x", "object": "y", **environment})
    run.folder = folder
    return run


def test_a_file_is_compiled_and_linked(whole_program):
    assert whole_program().returncode == 0
    folder = whole_program.folder
    assert (folder / "clang.o").read_text() == "link\n"
    _, linked, _ = (folder / "cc.words").read_text().split("\n.\n")
    assert linked.split("\n") == [
        str(ROOT / "cmake/whole_program"), "-r", "-nostdlib", "-fopenmp", f"--cuda-path={folder}",
        "--offload-arch=sm_80", "--offload-arch=sm_90", "clang.o", "-o", "clang.o.linked"]
    assert sorted(path.name for path in folder.iterdir()) == ["cc", "cc.words", "clang.o"]


def test_a_link_that_fails_leaves_no_object(whole_program):
    assert whole_program(FAILS="link").returncode == 1
    assert sorted(path.name for path in whole_program.folder.iterdir()) == ["cc", "cc.words"]


def test_a_compilation_that_fails_is_not_linked(whole_program):
    assert whole_program(FAILS="compile").returncode == 1
    assert (whole_program.folder / "cc.words").read_text().count("\n.\n") == 1


def test_a_finished_file_is_its_image(tmp_path):
    (tmp_path / "a b.o").write_text("machine code")
    subprocess.run([ROOT / "cmake/whole_program/clang-nvlink-wrapper", "-o", "image", "-arch", "sm_90",
                    "--cuda-path=/none", "-L/none", "a b.o", "-L/none"], cwd=tmp_path, check=True)
    assert (tmp_path / "image").read_text() == "machine code"
