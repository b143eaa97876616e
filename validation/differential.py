#!/usr/bin/python3
"""Compare what the program reads with what an independent reader reads, on random files.

Each seed is a file of random_inputs.py, valid or with a fault. Either both refuse it, or both take it
and the outputs agree: those of the triad, which show what was read, bit for bit, and those of a kernel
of the ocean within the tolerances of its reference.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import h5py
import numpy as np

import independent_reader
import random_inputs
from independent_reader import HALO, Refused

DONE, FAILED, BAD_INPUT = 0, 1, 3  # the exit codes of the program
DEADLINE_S = 120
# Tolerances are those of larger grids, where the largest value is larger; how accurate kernels are is
# not asked here, and what is read wrong is wrong by far more.
SLACK = 100


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--miniapp", type=Path, required=True, metavar="PATH")
    parser.add_argument("--seed", type=int, metavar="N", help="run one seed and say all about it")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where the file of --seed stays")
    parser.add_argument("--count", type=int, default=100, metavar="N", help="seeds [100]")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="N",
                        help="the first seed [0]")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes [1]")
    options = parser.parse_args(arguments)
    if options.seed is not None:
        return run_one(options.miniapp, options.seed, options.keep)
    results = run(options.miniapp, range(options.first, options.first + options.count),
                  options.jobs)
    return summarise(results)


def run_one(program, seed, keep):
    with tempfile.TemporaryDirectory() as folder:
        result = compare(program, seed, Path(folder))
        if keep:
            shutil.copy(Path(folder) / "input.h5", keep)
    print(f"command: {' '.join(result.command)} {keep or ''}\nkinds: {', '.join(result.kinds)}\n"
          f"reader: {result.reader}\nprogram: {result.program}")
    return summarise([result])


def run(program, seeds, jobs=1):
    """A result for each seed."""
    if jobs == 1:
        yield from map(compare_in_scratch, itertools.repeat(program), seeds)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(compare_in_scratch, itertools.repeat(program), seeds, chunksize=10)


def summarise(results):
    counts, kinds = collections.Counter(), collections.Counter()
    for result in results:
        counts[result.verdict] += 1
        kinds.update((kind, result.verdict) for kind in set(result.kinds))
        if result.difference:
            print(f"seed {result.seed}: {result.difference}", flush=True)
    for kind in sorted({kind for kind, _ in kinds}):
        print(f"  {kind:20} accepted {kinds[kind, 'accepted']:5}  refused {kinds[kind, 'refused']:5}")
    total = sum(counts.values())
    print(f"{total} files: {counts['accepted']} accepted, {counts['refused']} refused, "
          f"{counts['different']} different")
    return FAILED if counts["different"] else DONE


class Result:
    def __init__(self, seed, kinds, command):
        self.seed, self.kinds, self.command = seed, kinds, command
        self.reader = self.program = self.difference = ""
        self.verdict = "different"


def compare_in_scratch(program, seed):
    with tempfile.TemporaryDirectory() as folder:
        return compare(program, seed, Path(folder))


def compare(program, seed, folder):
    """One file through both."""
    path, output = folder / "input.h5", folder / "output.h5"
    case = random_inputs.make(seed, path)
    command = [str(program), "--repetitions", "1", "--burnin", "0", *case.arguments(),
               "--output", str(output), str(path)]
    result = Result(seed, case.kinds, command)
    done = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape",
                          timeout=DEADLINE_S, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    result.program = f"exit code {done.returncode}: {done.stderr.strip()}"
    try:
        ocean, settings = read(path, case)
        result.reader = "accepted"
    except Refused as error:
        ocean, result.reader = None, f"refused: {error}"
    except Exception as error:  # a seed is worth more than a traceback
        result.difference = f"the reader crashed: {error!r}"
        return result
    if case.allow_invalid and ocean is not None and "outputs are not finite" in done.stderr:
        result.verdict = "accepted"  # a density of salt = -1e34 is NaN, and the program says so
    elif done.returncode not in (DONE, BAD_INPUT):
        result.difference = result.program
    elif (done.returncode == DONE) != (ocean is not None):
        result.difference = f"reader {result.reader}; program {result.program}"
    elif ocean is None:
        result.verdict = "refused"
        result.difference = trouble_in_message(done)
    else:
        result.verdict = "accepted"
        result.difference = (difference_of_land(case, ocean, done.stderr)
                             or difference_of_outputs(case, ocean, settings, output))
    if result.difference:
        result.verdict = "different"
    return result


def read(path, case):
    options = independent_reader.Options(case.time, case.variables, case.allow_nonfinite,
                                         case.allow_invalid)
    used = getattr(random_inputs.MODULES[case.kernel], "SETTINGS", {}).keys()
    settings = independent_reader.read_settings(path, used - case.settings.keys())
    return independent_reader.read(path, case.wanted(), options), {**settings, **case.settings}


def trouble_in_message(done):
    """A refusal is some lines of ours, each once, of which one at least is no warning."""
    lines = done.stderr.splitlines()
    if (not all(line.startswith("miniapp: ") for line in lines) or len(set(lines)) < len(lines)
            or all(line.startswith("miniapp: warning: ") for line in lines)):
        return f"not what a user reads: {done.stderr!r}"
    return ""


def difference_of_land(case, ocean, said):
    """The program has to say that nothing is water, by what the kernel reads."""
    masks = [ocean.fields[name] for name in {"maskT", "maskW", "kbot"}.intersection(case.wanted())]
    is_land = bool(masks) and not any(mask.any() for mask in masks) and not case.allow_invalid
    if is_land == ("all of the ocean is land by" in said):
        return ""
    return f"all is land: reader {is_land}, program {said!r}"


def difference_of_outputs(case, ocean, settings, path):
    with h5py.File(path, "r") as file:
        for name, (b, c) in case.copies.items():
            expected = in_file(ocean, copies(ocean, b, c))
            if where := first_inexact(file[name][...], *expected, {b, c} & ocean.converted):
                return f"{b} + 3 {c} {where}"
        if case.allow_nonfinite or case.allow_invalid:
            return ""  # the tolerances are for numbers that mean something
        module = random_inputs.MODULES[case.kernel]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # where p stands for the depth, no height is read
            heights = {"zt": -ocean.fields["p"]} if "p" in ocean.fields else {}
            computed = module.reference({**heights, **ocean.fields}, settings)
        for name, axes, *_ in module.OUTPUTS:
            expected, = in_file(ocean, [np.asarray(computed[name], float)], "z" in axes)
            if where := first_outside(file[name][...], expected, module.TOLERANCES[name]["float64"]):
                return f"{name} {where}"
    return ""


def copies(ocean, b, c):
    """b + 3 c in two steps, and exactly to 11 more bits, as it comes out where they are fused."""
    b, c = (ocean.fields.get(name) for name in (b, c))
    shape = next(values.shape for values in (*ocean.fields.values(),) if values.ndim == 3)
    b, c = (np.zeros(shape) if values is None else values for values in (b, c))
    with np.errstate(all="ignore"):
        return [b + 3 * c, np.asarray(b, np.longdouble) + 3 * np.asarray(c, np.longdouble)]


def in_file(ocean, arrays, has_levels=True):
    """In the order of the file, without the ghosts that it lacks."""
    inner = slice(None) if ocean.has_ghosts else slice(HALO, -HALO)
    for array in arrays:
        array = array[..., inner, inner]
        yield np.flip(array, -3) if ocean.surface_first and has_levels else array


def first_inexact(found, stepwise, exact, is_converted):
    """Conversion of units may round in another order."""
    if found.shape != stepwise.shape:
        return f"has the shape {found.shape}, not {stepwise.shape}"
    with np.errstate(all="ignore"):
        fused = abs(found - exact) <= (1e-13 * (abs(found) + 300) if is_converted
                                       else np.spacing(abs(found)) * 0.5001)
    good = fused | (found == stepwise) | (np.isnan(found) & np.isnan(stepwise))
    return first(~good, found, stepwise)


def first_outside(found, expected, tolerance):
    if found.shape != expected.shape:
        return f"has the shape {found.shape}, not {expected.shape}"
    largest = np.max(abs(expected), initial=0)
    with np.errstate(all="ignore"):
        good = abs(found - expected) <= SLACK * (tolerance.atol_rel * largest
                                                 + tolerance.rtol * abs(expected))
    return first(~(good | (~np.isfinite(expected) & ~np.isfinite(found))), found, expected)


def first(bad, found, expected):
    if not bad.any():
        return ""
    place = tuple(int(index) for index in np.argwhere(bad)[0])
    return f"at {list(place)}: program {found[place]!r}, reader {expected[place]!r}"


if __name__ == "__main__":
    sys.exit(main())
