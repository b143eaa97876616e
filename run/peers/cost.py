"""A model of the cost of a step on many ranks, fitted to runs, and its predictions.

A step of a rank takes

    points a rank   x  time a point
    + launches      x  time a launch       nests and copies of ghosts into messages and out of them
    + messages      x  latency             those that wait for each other
    + bytes         /  bandwidth           the ghosts that an inner block sends

The four factors on the right are fitted by least squares of relative errors, none below 0. Points
are those of the largest block with its ghosts. An exchange is a message along x, then one along y.
A reduction over all ranks takes a message for each doubling of their number.

The external mode of `ocean` is solved by each rank, on the whole ocean: planes come to the first rank, a message from
each other one, and go to all. Its time is not fitted: it is the solver's share of the runs, for each cell of a plane;
on GPUs, that of its launches and bytes.
"""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import safely

from . import external_mode
from .ranks import HALO
from .results import Unusable

LIMITS = Path(__file__).resolve().parents[2] / "validation/gpu/paper.json"
# Exchanges of a step between blocks, and the fields in space that they hold in all;
# validation/parallel/test_scaling.py counts both.
EXCHANGES = {"ocean_step": (2, 3), "ocean_step_eke": (3, 4), "ocean_step_forced": (3, 4), "ocean": (6, 10)}
PLANES = {"ocean": (4, 5)}  # how many more fields of two dimensions are exchanged, and gathered
# Reductions of a step over all ranks: the largest terms and the sums of advection_dissipation, and whether
# there was a signal.
REDUCTIONS = 3
FACTORS = ("time a point", "time a launch", "latency", "time a byte")
UNITS = {"time a point": (1e9, "ns"), "time a launch": (1e6, "us"), "latency": (1e6, "us"),
         "time a byte": (1e9, "ns")}
OCEANS = {"1/4 degree": (1440, 720, 50), "1/10 degree": (3600, 1800, 60)}
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


@dataclasses.dataclass
class Step:
    """A sequence, as the model sees it."""

    launches: int  # on one rank, but for those of the solver, which depend on its iterations
    exchanges: int
    fields: int
    element_bytes: int
    planes: int = 0
    gathered: int = 0


@dataclasses.dataclass
class Machine:
    """The four factors, each with where it comes from."""

    name: str
    factors: tuple
    sources: tuple
    solver: object  # seconds of a solve on so many cells


def step_of(row):
    kernel = row["kernel"]
    if kernel not in EXCHANGES:
        raise Unusable(f"the model knows {', '.join(EXCHANGES)}, not '{kernel}'")
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    return Step(limits[f"{kernel}, float64"]["launches"], *EXCHANGES[kernel],
                {"float64": 8, "float32": 4}[row["precision"]], *PLANES.get(kernel, ()))


def cells(run):
    """The cells of a plane of the whole ocean."""
    return math.prod((n - 2 * HALO) * along for n, along in zip(run.block, run.blocks))


def seconds_of_solver(run):
    return run.seconds * sum(part["share"] for part in run.row["shares"] if part["kernel"] in external_mode.KERNELS)


# ---- the model ----

def counts(step, blocks, block):
    """How many points, launches, messages in a row and bytes a step of the largest block has."""
    (along_x, along_y), (nx, ny, nz) = blocks, block
    cut_x, cut_y = along_x > 1, along_y > 1
    sides = 2 * cut_x + min(along_y - 1, 2)
    copies = 2 * step.fields * sides - step.fields * cut_x  # in place of those along x on one rank
    doublings = math.ceil(math.log2(along_x * along_y))
    together = (REDUCTIONS + (step.gathered > 0)) * doublings + step.gathered * (along_x * along_y - 1 + doublings)
    beside = 2 * cut_x * ny + min(along_y - 1, 2) * nx
    return (nx * ny * nz, step.launches + copies, step.exchanges * (cut_x + cut_y) + together,
            (step.fields * nz + step.planes) * HALO * beside * step.element_bytes)


def seconds(factors, numbers):
    return sum(factor * number for factor, number in zip(factors, numbers))


def fit(step, runs):
    """The factors that fit the runs best, none below 0."""
    import scipy.optimize  # of predictions alone
    shares = np.array([np.array(counts(step, run.blocks, run.block)) / (run.seconds - seconds_of_solver(run))
                       for run in runs])
    scale = np.maximum(shares.max(axis=0), 1e-300)
    factors, _ = scipy.optimize.nnls(shares / scale, np.ones(len(runs)))
    return tuple(map(float, factors / scale))


def split(series):
    """(runs to fit, runs to hold out): of each kind the run of the most ranks is held out."""
    held = [runs[-1] for runs in series.values() if len(runs) > 2]
    fitted = [run for runs in series.values() for run in runs if run not in held]
    if not held or len(fitted) < len(FACTORS):
        raise Unusable(f"{len(fitted)} runs to fit and {len(held)} to hold out are too few: the "
                       f"model has {len(FACTORS)} factors, and of each kind with 3 numbers of "
                       "ranks or more the largest is held out")
    return fitted, held


# ---- predictions ----

def block_of(size, ranks):
    """(blocks, the largest block with its ghosts) as miniapp/ranks/blocks.c chooses them."""
    nx, ny, nz = size
    best = None
    for along_x in (n for n in range(1, ranks + 1) if ranks % n == 0):
        along_y = ranks // along_x
        if along_x <= nx and along_y <= ny:
            block = math.ceil(nx / along_x), math.ceil(ny / along_y)
            surface = (2 * block[0] if along_y > 1 else 0) + (2 * block[1] if along_x > 1 else 0)
            if best is None or surface < best[0]:
                best = surface, (along_x, along_y), (*(n + 2 * HALO for n in block), nz)
    return best[1:]


def predictions(step, machine, size):
    """(ranks, blocks, block, the four parts of a step's seconds) for each number of ranks."""
    for ranks in RANKS:
        blocks, block = block_of(size, ranks)
        parts = [factor * number for factor, number in zip(machine.factors, counts(step, blocks, block))]
        yield ranks, blocks, block, parts + [machine.solver(size[0] * size[1])] * (step.gathered > 0)


def time_of_kernels(row, bandwidth, rate):
    """Seconds a point as in run/dev/paper: for each kernel the larger of the times for its bytes and
    for its flops."""
    times = (max(share["bytes"] / bandwidth, share["flops"] / rate) for share in row["shares"]
             if share["kernel"] not in external_mode.KERNELS)
    return sum(times) / (row["nx"] * row["ny"] * row["nz"])


@dataclasses.dataclass
class Prediction:
    """All that comes of a fit."""

    step: Step
    fitted: list
    held: list
    factors: tuple
    machines: list
    bytes_a_point: float  # that a rank holds

    @property
    def basis(self):
        """The runs that it was fitted to, in one line."""
        places = sorted({run.place for run in self.fitted})
        names = ", ".join(f"{run.kind} {run.ranks}" for run in self.fitted)
        worst = max(abs(self.error(run)) for run in self.held)
        return (f"fitted to {self.fitted[0].row['kernel']} on ranks {names} of {'; '.join(places)}; "
                f"off by {100 * worst:.0f} % at most where held out")

    def modelled(self, run):
        return seconds(self.factors, counts(self.step, run.blocks, run.block)) + self.machines[0].solver(cells(run))

    def error(self, run):
        """How far the model is off, by the run's own time."""
        return self.modelled(run) / run.seconds - 1


def predict(series, options):
    """A Prediction from {kind: runs}; the options are run/scaling's."""
    fitted, held = split(series)
    row, block = fitted[0].row, fitted[0].block
    step = step_of(row)
    factors = fit(step, fitted)
    a_cell = min(seconds_of_solver(run) / cells(run) for run in fitted)  # of the largest plane, or the least disturbed
    network = 1e-6 * options.latency, 1e-9 / options.bandwidth
    on_one_node = all(run.on_one_node for run in fitted)
    ours = Machine(
        "ranks like those measured", factors[:2] + (network if on_one_node else factors[2:]),
        ("fitted", "fitted", *["stated: the runs were on one node" if on_one_node else "fitted"] * 2),
        lambda number: a_cell * number)
    launch, bandwidth = 1e-6 * options.launch, 1e12 * options.memory_bandwidth
    kernels = time_of_kernels(row, bandwidth, 1e12 * options.rate)
    gpus = Machine(
        "GPUs", (kernels, launch, network[0] + 2 * launch, network[1] + 1e-9 / options.copy),
        (f"stated: {options.memory_bandwidth:g} TB/s, {options.rate:g} TFLOP/s", "stated",
         f"stated: {options.latency:g} us, and two copies as long as a launch",
         f"stated: {options.bandwidth:g} GB/s, and copies at {options.copy:g}"),
        lambda number: external_mode.expected_seconds(number, launch, bandwidth))
    return Prediction(step, fitted, held, factors, [ours, gpus],
                      row["device_bytes"] / math.prod(block))


# ---- text ----

def report(found):
    """Lines of text, each table of which says what it is."""
    yield f"prediction, not measured; {found.basis}"
    yield ""
    yield "fitted: " + ", ".join(written(*pair) for pair in zip(FACTORS, found.factors))
    yield from quality(found)
    for machine in found.machines:
        yield ""
        yield f"prediction for {machine.name}, by"
        for name, factor, source in zip(FACTORS, machine.factors, machine.sources):
            yield f"  {written(name, factor)} ({source})"
        for ocean, size in OCEANS.items():
            yield from table(found, machine, ocean, size)


def written(name, factor):
    scale, unit = UNITS[name]
    return f"{name} {scale * factor:.4g} {unit}" if factor else f"{name} 0: too little to be seen"


def quality(found):
    return safely.table([("run", "", "measured ms", "of the model", "off by"), *(
        (f"{run.kind} {run.ranks}", what, f"{1e3 * run.seconds:.3f}", f"{1e3 * found.modelled(run):.3f}",
         f"{100 * found.error(run):.1f} %")
        for runs, what in ((found.fitted, "fitted"), (found.held, "held out")) for run in runs)])


def table(found, machine, ocean, size):
    yield f"prediction: {ocean}, {' x '.join(map(str, size))} points, {machine.name}"
    lines = [("ranks", "blocks", "GB a rank", "ms a step", "efficiency",
              "points, launches, latency, bytes" + ", solver" * (found.step.gathered > 0))]
    first = None
    for ranks, blocks, block, parts in predictions(found.step, machine, size):
        time = sum(parts)
        first = first or time
        shares = ", ".join(f"{100 * part / time:.0f} %" for part in parts)
        lines.append((str(ranks), "{} x {}".format(*blocks), f"{1e-9 * found.bytes_a_point * math.prod(block):.2f}",
                      f"{1e3 * time:.3f}", f"{100 * first / time / ranks:.1f} %", shares))
    yield from safely.table(lines)
