#!/usr/bin/env python3
"""Proves that the tests see mistakes.

Each line of validation/mutations/KERNEL.txt breaks one line of physics/SUBJECT/KERNEL.c, or else of
a header in one of these folders, by sed. A copy of the tree is built with each, and a comparison with
the references must fail. A mutation that survives, or that changes nothing, fails this check.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTATIONS = ROOT / "validation" / "mutations"


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def build(tree):
    if not (tree / "build").exists():
        run(["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_C_COMPILER=clang-19",
             "-DMINIAPP_TESTS=OFF"], tree)
    return run(["cmake", "--build", "build", "--target", "miniapp"], tree)


def tests(tree, kernel):
    """With the default settings, with all switches each way, and in the kernel's own tests."""
    own = [name for name in (f"validation/test_{kernel}.py",) if (tree / name).exists()]
    return run(["/usr/bin/python3", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
                f"--miniapp={tree}/build/bin/miniapp",
                "-k", f"[{kernel} or cpu-{kernel}- or test_{kernel}.py",
                "validation/test_kernels.py", "validation/test_switches.py", *own], tree)


def sources(tree, kernel):
    code, = (tree / "physics").glob(f"*/{kernel}.c")
    return [code, *sorted((tree / "physics").glob("*/*.h"))]


def mutated(tree, kernel, expression):
    """The first source that a mutation changes, and what becomes of it; or None."""
    for source in sources(tree, kernel):
        text = subprocess.run(["sed", expression], input=source.read_text(), capture_output=True,
                              text=True, check=True).stdout
        if text != source.read_text():
            return source, text
    return None


def changes_nothing(kernel, expression):
    """Whether it leaves all sources as they are."""
    paths = sources(ROOT, kernel)
    text = subprocess.run(["sed", "--separate", expression, *paths], capture_output=True, text=True,
                          check=True).stdout
    return text == "".join(path.read_text() for path in paths)


def fate(tree, kernel, expression):
    """What becomes of a mutation: "caught" is what it should be."""
    found = mutated(tree, kernel, expression)
    if not found:
        return "CHANGES NOTHING"
    source, text = found
    original = source.read_text()
    source.write_text(text)
    try:
        if build(tree).returncode:
            return "DOES NOT COMPILE"
        return "caught" if tests(tree, kernel).returncode == 1 else "SURVIVES"
    finally:
        source.write_text(original)


def mutations(kernel):
    for line in (MUTATIONS / f"{kernel}.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def list_all(kernels):
    """Says what each breaks, and whether it still does."""
    bad = 0
    for kernel in kernels:
        for expression, what in mutations(kernel):
            is_bad = changes_nothing(kernel, expression)
            bad += is_bad
            print(f"{kernel}: {'CHANGES NOTHING: ' if is_bad else ''}{what}")
    return bad > 0


def main():
    known = sorted(path.stem for path in MUTATIONS.glob("*.txt"))
    parser = argparse.ArgumentParser(prog="validation/mutate.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="*", choices=[[], *known], metavar="KERNEL",
                        help=f"of {' '.join(known)} [all]")
    parser.add_argument("--list", action="store_true",
                        help="only say what each mutation breaks, and which ones change nothing")
    options = parser.parse_args()
    kernels = options.kernel or known
    if options.list:
        return list_all(kernels)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        for kernel in kernels:
            if build(tree).returncode or tests(tree, kernel).returncode:
                sys.exit(f"{kernel}: the tests do not pass before any mutation")
            for expression, what in mutations(kernel):
                result = fate(tree, kernel, expression)
                bad += result != "caught"
                print(f"{kernel}: {result}: {what}", flush=True)
    print(f"{bad} not caught")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
