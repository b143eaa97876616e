#!/usr/bin/env python3
"""Proves that the tests see mistakes.

Each line of validation/mutation/KERNEL.txt breaks one line of physics/SUBJECT/KERNEL.c, or else of
a header in one of these folders, by sed. A copy of the tree is built with each, and a test must
fail. A mutation that survives, or that changes nothing, fails this check. The parts of a line, between
tabs, are the expression, what it breaks and, if a compiler other than Clang has to see it, the preset.
"""

import argparse
import dataclasses
import functools
import itertools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MUTATIONS = ROOT / "validation" / "mutation"
UNITS = ("unit_tile", "unit_tridiagonal", "unit_eos")
# What looks at physics beyond one kernel and its reference, by the time it takes.
PHYSICS = ("velocities", "sources", "vertical", "veros_step", "tke", "eke", "idemix", "invariants", "advection",
           "density", "isoneutral", "tracers", "external", "forcing", "steps")


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def is_built(tree, preset, stored):
    if not (tree / "build" / preset).exists():
        run(["cmake", "--preset", preset, "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF"], tree)
    targets = ["miniapp"] if stored else ["miniapp", "libminiapp_shared", *UNITS]
    return run(["cmake", "--build", "--preset", preset, "--target", *targets], tree).returncode == 0


def tests(kernel, preset, stored):
    """Commands for the root of a built tree, the cheapest first: the numbers that kernels are made of;
    the kernel beside its reference, with the default settings and with all switches each way; and what
    has to hold whatever the reference says. Or only what users run: the comparison with stored references."""
    if stored:
        yield ("run/validate", "--miniapp", f"build/{preset}/bin/miniapp")
        return
    pytest = ("/usr/bin/python3", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
              f"--miniapp=build/{preset}/bin/miniapp")
    yield from ((f"build/{preset}/bin/{unit}",) for unit in UNITS)
    yield (*pytest, "-k", f"[{kernel} or cpu-{kernel}-", "validation/physics/test_kernels.py",
           "validation/physics/test_switches.py")
    yield (*pytest, *(f"validation/physics/test_{name}.py" for name in PHYSICS))


def fails(tree, command):
    return run(command, tree).returncode != 0


@functools.cache
def original(path):
    return path.read_text()


@functools.cache
def sources(tree, kernel):
    """Their texts, before any mutation."""
    code, = (tree / "physics").glob(f"*/{kernel}.c")
    return {path: original(path) for path in [code, *sorted((tree / "physics").glob("*/*.h"))]}


def edited(text, expressions):
    """The text after each of sed's expressions, by one process: each of them has a copy of all its lines."""
    lines = text.count("\n")
    script = "\n".join(f"{i * lines + 1},{(i + 1) * lines}{{\n{one}\n}}" for i, one in enumerate(expressions))
    return subprocess.run(["sed", script], input=text * len(expressions), capture_output=True, text=True,
                          check=True).stdout


def mutated(texts, expressions):
    """For each mutation, the first source that it changes, the kernel's own where it can, and what becomes of it; or
    None."""
    own, *headers = texts
    found = dict.fromkeys(expressions)
    for paths in ([own], headers):
        left = [one for one in expressions if not found[one]]
        pieces = iter(edited("".join(texts[path] + "\0\n" for path in paths), left).split("\0\n"))
        for one in left:
            changed = [(path, text) for path, text in zip(paths, pieces) if text != texts[path]]
            found[one] = changed[0] if changed else None
    return [found[one] for one in expressions]


def fate(tree, mutation, stored):
    """What becomes of a mutation: "caught" is what it should be."""
    found, = mutated(sources(tree, mutation.kernel), [mutation.expression])
    if not found:
        return "CHANGES NOTHING"
    source, text = found
    source.write_text(text)
    try:
        if not is_built(tree, mutation.preset, stored):
            return "DOES NOT COMPILE"
        commands = tests(mutation.kernel, mutation.preset, stored)
        return "caught" if any(fails(tree, command) for command in commands) else "SURVIVES"
    finally:
        source.write_text(original(source))


def check_that_all_passes(tree, mutations, stored):
    """Before any of the mutations."""
    for preset in dict.fromkeys(mutation.preset for mutation in mutations):
        if not is_built(tree, preset, stored):
            sys.exit(f"{preset} does not build before any mutation")
    for command in dict.fromkeys(command for mutation in mutations
                                 for command in tests(mutation.kernel, mutation.preset, stored)):
        if fails(tree, command):
            sys.exit(f"before any mutation this fails: {' '.join(command)}")


@dataclasses.dataclass
class Mutation:
    kernel: str
    expression: str
    what: str
    preset: str = "host"


def read_mutations(kernels):
    for kernel in kernels:
        for line in (MUTATIONS / f"{kernel}.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                yield Mutation(kernel, *line.split("\t"))


def list_all(mutations):
    """Says what each breaks, and whether it still does."""
    bad = 0
    for kernel, group in itertools.groupby(mutations, lambda mutation: mutation.kernel):
        of_kernel = list(group)
        found = mutated(sources(ROOT, kernel), [mutation.expression for mutation in of_kernel])
        bad += found.count(None)
        for mutation, change in zip(of_kernel, found):
            print(f"{kernel}: {'' if change else 'CHANGES NOTHING: '}{mutation.what}")
    return bad > 0


def main():
    known = sorted(path.stem for path in MUTATIONS.glob("*.txt"))
    parser = argparse.ArgumentParser(prog="validation/mutation/mutate.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="*", choices=[[], *known], metavar="KERNEL",
                        help=f"of {' '.join(known)} [all]")
    parser.add_argument("--list", action="store_true",
                        help="only say what each mutation breaks, and which ones change nothing")
    parser.add_argument("--stored", action="store_true", help="by run/validate alone, in the place of the tests")
    options = parser.parse_args()
    mutations = list(read_mutations(options.kernel or known))
    if options.list:
        return list_all(mutations)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        check_that_all_passes(tree, mutations, options.stored)
        for mutation in mutations:
            result = fate(tree, mutation, options.stored)
            bad += result != "caught"
            print(f"{mutation.kernel}: {result}: {mutation.what}", flush=True)
    print(f"{bad} of {len(mutations)} not caught")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
