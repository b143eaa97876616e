"""Runs of miniapp on several numbers of ranks: what was kept of them, and how they scale."""

import dataclasses
import json
import math
import re
from pathlib import Path

import safely

from .results import Unusable

HALO = 2  # ghost cells on each side
KINDS = ("strong", "weak")
ALIKE = ("kernel", "device", "precision", "threads")  # in all runs that are compared
# With a --shape, as --weak has it, the program takes steps of 10 s, which changes no kernel's work.
OF_A_KIND = ("dt_mom", "dt_tracer", "A_h", "r_bot")
COLUMNS = ("ranks", "blocks", "points a rank", "ms a step", "ns/point", "speedup", "efficiency", "exchange", "fastest")


@dataclasses.dataclass
class Run:
    """The times of a run on a number of ranks. Points are those without ghosts."""

    path: Path
    kind: str
    ranks: int
    blocks: tuple  # along x, along y
    block: tuple  # nx, ny, nz of the largest, ghosts included
    points: int  # of the whole
    seconds: float  # of the median step
    quartiles: tuple
    exchange: float  # the share of the time that the slowest rank's exchanges took
    fastest: float  # the fastest rank's time over the slowest's
    on_one_node: bool
    row: dict
    provenance: dict
    place: str  # where and when


def path_of(folder, kind, ranks):
    """Where the run of so many ranks is kept."""
    return Path(folder) / f"{kind}-{ranks:04d}.json"


def inside(nx, ny, nz):
    return (nx - 2 * HALO) * (ny - 2 * HALO) * nz


def paths_in(folder, kind):
    return sorted(Path(folder).glob(f"{kind}-*.json"))


def read(path):
    """A run; raises Unusable if the file holds no steps by that number of ranks."""
    kind, _, ranks = path.stem.partition("-")
    try:
        return parsed(path, kind, int(ranks), json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise Unusable(f"{path}: cannot be read: {error.strerror}") from error
    except safely.MALFORMED as error:
        raise Unusable(f"{path}: is not what miniapp --steps prints by --format json: remove it "
                       f"({type(error).__name__}: {error})") from error


def parsed(path, kind, ranks, whole):
    if whole["interrupted"] or len(whole["results"]) != 1:
        raise ValueError("expected one row of a run that was not interrupted")
    row, provenance = whole["results"][0], whole["provenance"]
    size = row["nx"], row["ny"], row["nz"]
    shared = row.get("processes") or {
        "count": 1, "along_x": 1, "along_y": 1, "exchange": 0, "fastest": 1,
        "largest_block": dict(zip(("nx", "ny", "nz"), size))}
    if shared["count"] != ranks:
        raise ValueError(f"it is of {shared['count']} ranks, not of {ranks}")
    if not 0 < row["p25_s"] <= row["median_s"] <= row["p75_s"] < math.inf:
        raise ValueError(f"a step of {row['median_s']} s")
    on_node = ranks if ranks == 1 else int(re.search(r"(\d+) of the processes on this node",
                                                     provenance["mpi"])[1])
    place = f"{provenance['host']}, {provenance['cpu']}, {provenance['time'][:10]}"
    run = Run(path, kind, ranks, (shared["along_x"], shared["along_y"]),
              tuple(shared["largest_block"][axis] for axis in ("nx", "ny", "nz")), inside(*size),
              row["median_s"], (row["p25_s"], row["p75_s"]), shared["exchange"],
              shared["fastest"], on_node == ranks, row, provenance, place)
    list(table(kind, [run]))  # raises an error where that would
    return run


def read_folders(folders):
    """{kind: runs by their number of ranks}, of all folders; raises Unusable if they cannot be
    compared."""
    found = []
    for folder in folders:
        here = kept_in(folder)
        if not here:
            raise Unusable(f"{folder}: holds no strong-*.json or weak-*.json, which run/scaling "
                           "--strong and --weak keep there")
        found += here
    return compared(found)


def kept_in(folder):
    """The runs of both kinds."""
    return [read(path) for kind in KINDS for path in paths_in(folder, kind)]


def compared(found):
    """{kind: runs by their number of ranks}; raises Unusable if they cannot be compared."""
    for run in found:
        check_alike(run, next(first for first in found if first.kind == run.kind))
        check_alike(run, found[0])
    series = {kind: sorted((run for run in found if run.kind == kind), key=lambda run: run.ranks)
              for kind in KINDS}
    check_sizes(series["strong"], "points", lambda run: run.points)
    check_sizes(series["weak"], "points a rank", lambda run: run.points // run.ranks)
    for runs in series.values():
        check_sizes(runs, "steps", steps_of)
    return {kind: runs for kind, runs in series.items() if runs}


def made_with(run):
    """Properties that all runs of a comparison share: {name: value}."""
    settings = dict(word.partition("=")[::2] for word in str(run.provenance.get("settings")).split())
    return {**{name: run.row.get(name) for name in ALIKE},
            "input_sha256": run.provenance.get("input_sha256"), **settings}


def check_alike(run, first):
    theirs = made_with(first)
    for name, value in made_with(run).items():
        if value != theirs.get(name) and (run.kind == first.kind or name not in OF_A_KIND):
            remedy = ("set OMP_NUM_THREADS for all runs, and remove those that differ" if name == "threads" else
                      "remove one of them, or use another folder")
            raise Unusable(f"{run.path}: its {name} is {value}, but in {first.path} it is {theirs.get(name)}: {remedy}")


def steps_of(run):
    steps = run.row.get("steps") or {"first": 0, "last": None}
    return steps["last"] and steps["last"] - steps["first"]


def check_sizes(runs, what, size):
    for run in runs:
        if size(run) != size(runs[0]):
            raise Unusable(f"{run.path}: has {size(run)} {what}, but {runs[0].path} has "
                           f"{size(runs[0])}: that is no {run.kind} scaling: remove one of them, or "
                           "use another folder")


# ---- what comes of them ----

def speedup(run, first):
    """How many times as many points a second as on the fewest ranks."""
    return (run.points / run.seconds) / (first.points / first.seconds)


def efficiency(run, first):
    return speedup(run, first) * first.ranks / run.ranks


def table(kind, runs):
    """Lines of text."""
    row = runs[0].row
    yield (f"{kind} scaling of {row['kernel']} on {row['device']} in {row['precision']}, "
           f"{row['threads'] or '-'} threads a rank: {runs[0].place}")
    yield from safely.table([COLUMNS, *(
        (str(run.ranks), "{} x {}".format(*run.blocks), f"{run.points / run.ranks:.0f}",
         f"{1e3 * run.seconds:.3f}", f"{1e9 * run.seconds / run.points:.2f}",
         f"{speedup(run, runs[0]):.2f}", f"{100 * efficiency(run, runs[0]):.1f} %",
         f"{100 * run.exchange:.1f} %", f"{100 * run.fastest:.1f} %") for run in runs)])
