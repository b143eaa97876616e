"""run/dev/show prints loop nests under the directives that the table of docs/design.md lists."""

import re
import shutil
import subprocess
import sys

import pytest

from conftest import DEVICE, HERE, USAGE
from processes import completed, executable

ROOT = HERE.parent
TARGETS = {"host": "clang-19", "gpu": "clang-19", "gpu-gcc": "gcc-12"}
LAUNCH = "omp target teams distribute parallel for defaultmap(firstprivate:pointer)"


def show(*words, **options):
    return completed([sys.executable, ROOT / "run" / "dev" / "show", *words], **options)


def nests(target, *words):
    if not shutil.which(TARGETS[target]):
        pytest.skip(f"needs {TARGETS[target]}")
    done = show(*words, "--for", target)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def dense(text):
    return "".join(text.split())


def table():
    """(word, target, text) for the cells of the table."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| `([A-Z].*?)` \| (.*) \|$", page, re.MULTILINE):
        for target, text in zip(TARGETS, row[1].split(" | "), strict=True):
            yield row[0], target, "" if text == "nothing" else text.strip("`").replace("LAUNCH", LAUNCH)


@pytest.mark.parametrize("word, target, text", table())
def test_table_of_directives(word, target, text, tmp_path):
    if not shutil.which(TARGETS[target]):
        pytest.skip(f"needs {TARGETS[target]}")
    (tmp_path / "word.c").write_text(f'#include "sums.h"\nBEGIN {word} END\n')
    words = [] if target == "host" else ["-DPHYSICS_OFFLOAD"]
    done = subprocess.run([TARGETS[target], "-E", "-P", "-fopenmp", f"-I{ROOT}/physics/common", *words,
                           tmp_path / "word.c"], text=True, capture_output=True, check=True)
    becomes = dense(done.stdout.split("BEGIN")[1].split("END")[0])
    assert becomes.removeprefix("#pragma").strip("()") == dense(text).strip("()")


def test_table_is_found():
    assert {word for word, _, _ in table()} >= {"PARALLEL_ROWS", "PARALLEL_COLUMNS", "ALONG_X", "ONCE"}


@pytest.mark.parametrize("target, launch, lanes", [
    ("host", "#pragma omp parallel for collapse(2) schedule(static)", 1),
    ("gpu", f"#pragma {LAUNCH} collapse(3)", 0),
    ("gpu-gcc", f"#pragma {LAUNCH} collapse(2)", 1)])
def test_nest_of_a_kernel(target, launch, lanes):
    """Without the list of all descriptions, so a new description compiles no other kernel again."""
    said = dense(nests(target, "eos", "--precision", "float32"))
    variant = "host" if target == "host" else "offload"
    begin = f'voideos_{variant}_float32(conststructkernel_call*call){{#include"unpack.h"'
    assert f"{begin}{dense(launch)}for(" in said
    assert said.count("#pragmaompsimd") == lanes and "eos_row(" in said and "call->argument" not in said


def test_variant():
    assert "#pragmaompparallelforcollapse(2)schedule(guided)for(" in dense(nests("host", "eos", "--variant", "guided"))


def test_functions_of_headers():
    """tke's points are in a header: shown are those with a directive, or all."""
    some, everything = nests("host", "tke"), nests("host", "tke", "--all")
    assert "physics/mixing/wgrid_step.h */" in some and "square_root(real" not in some
    assert "square_root(real" in everything and len(everything) > len(some)


def test_what_is_wrong(tmp_path):
    done = show("tkes")
    assert done.returncode == USAGE and "invalid choice: 'tkes'" in done.stderr, done
    executable(tmp_path / "clang-19", "#!/bin/sh\necho 'error: no good' >&2\nexit 1\n")
    for path, why in ((tmp_path, "clang-19 failed: error: no good"),
                      (tmp_path / "absent", "clang-19: cannot be run: No such file or directory")):
        done = show("tke", env={"PATH": str(path)})
        assert (done.returncode, done.stderr) == (DEVICE, f"run/dev/show: {why}\n"), done
