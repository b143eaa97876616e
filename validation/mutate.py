#!/usr/bin/env python3
"""Prove that the tests see mistakes: validation/mutate.py [KERNEL...]

Each line of validation/mutations/KERNEL.txt breaks one line of physics/SUBJECT/KERNEL.c, or else of
a header in one of these folders, by sed. A copy of the tree is built with each, and the comparison with the
references must fail. A mutation that survives, or that changes nothing, fails this check.
"""

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
    return run(["/usr/bin/python3", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
                f"--miniapp={tree}/build/bin/miniapp", "-k", f"[{kernel}",
                "validation/test_kernels.py"], tree)


def sources(tree, kernel):
    code, = (tree / "physics").glob(f"*/{kernel}.c")
    return [code, *sorted((tree / "physics").glob("*/*.h"))]


def fate(tree, kernel, expression):
    """What becomes of a mutation: "caught" is what it should be."""
    for source in sources(tree, kernel):
        original = source.read_text()
        mutated = subprocess.run(["sed", expression], input=original, capture_output=True,
                                 text=True, check=True).stdout
        if mutated != original:
            break
    else:
        return "CHANGES NOTHING"
    source.write_text(mutated)
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


def main():
    kernels = sys.argv[1:] or sorted(path.stem for path in MUTATIONS.glob("*.txt"))
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
