"""The cases of a comparison: a kernel on inputs of some kind, size and precision; and the tolerances."""

import dataclasses
import math
import sys

import numpy as np
from safely import ROOT

from . import pyhpc

OCEAN = ("eos", "isoneutral", "tke")
CALIBRATION = ("expsum", "matmul")
LARGEST_SQUARE = 2048  # of matmul, whose time grows with the third power of it
OBLONG = (512, 1024, 2048)  # 1024 x 2048 by 2048 x 512

# The largest difference from ours, relative to the variable's largest value, with which a result is
# consistent. Theirs differ among themselves by up to 1e-9 (the closed form of the equation of
# state); how accurate a sum of millions of numbers is in float32 depends on its order.
TOLERANCE = {("expsum", "float32"): 1e-3, ("matmul", "float32"): 1e-5}
TOLERANCE_FLOAT64 = 1e-8


@dataclasses.dataclass(frozen=True)
class Case:
    kernel: str
    inputs: str  # pyhpc or plausible; uniform for calibration kernels
    precision: str
    shape: tuple  # nx, ny, nz; of matmul the product of ny x nz by nz x nx
    size: int  # as pyhpc-benchmarks counts it

    @property
    def tolerance(self):
        return TOLERANCE.get((self.kernel, self.precision), TOLERANCE_FLOAT64)

    @property
    def not_compared(self):
        """Why the results of this case are not compared; empty where they are."""
        if self.kernel == "tke" and self.inputs == "pyhpc":
            return f"not compared: {pyhpc.TKE_IS_MEANINGLESS}"
        return ""


def ocean_shape(size):
    """pyhpc-benchmarks' shape of about so many points."""
    side = size ** (1 / 3)
    return math.ceil(2 * side), math.ceil(2 * side), math.ceil(0.25 * side)


def products(sizes):
    """Squares whose matrices hold about so many numbers each; and the oblong product, if its
    matrices hold no more than the largest of these."""
    sides = sorted({min(math.isqrt(size), LARGEST_SQUARE) for size in sizes})
    return [(n, n, n) for n in sides] + [OBLONG] * (max(sizes) >= OBLONG[1] * OBLONG[2])


def all_cases(kernels, sizes, inputs, precisions):
    for kernel in kernels:
        if kernel in OCEAN:
            for kind in inputs:
                for size in sizes:
                    yield Case(kernel, kind, "float64", ocean_shape(size), size)
            continue
        shapes = [(ocean_shape(size), size) for size in sizes]
        if kernel == "matmul":
            shapes = sorted(((shape, math.prod(shape)) for shape in products(sizes)),
                            key=lambda s: s[1])
        for precision in precisions:
            for shape, size in shapes:
                yield Case(kernel, "uniform", precision, shape, size)


def make(case, checkout):
    """The arguments of a peer's function by name, and the datasets of our input file."""
    if case.inputs == "pyhpc":
        values = pyhpc.package(checkout, case.kernel).generate_inputs(case.size)
        arguments = dict(zip(pyhpc.ARGUMENTS[case.kernel], values))
        return arguments, pyhpc.our_fields(case.kernel, arguments)
    if case.inputs == "plausible":
        sys.path.insert(0, str(ROOT / "validation"))
        import fields
        ours, _ = fields.make(*case.shape, seed=17, dt_mom=1.0, dt_tracer=1.0, cfl=1e-4)
        arguments = pyhpc.their_arguments(case.kernel, ours)
        return arguments, pyhpc.our_fields(case.kernel, arguments)
    nx, ny, nz = case.shape
    random = np.random.default_rng(17)
    if case.kernel == "expsum":
        x = random.random((nz, ny, nx)).astype(case.precision)
        return {"x": x}, {"sample": x}
    a = random.uniform(-1, 1, (ny, nz)).astype(case.precision)
    b = random.uniform(-1, 1, (nz, nx)).astype(case.precision)
    return {"a": a, "b": b}, {"factor_a": a.T, "factor_b": b}


def interior(kernel, value):
    """The cells that a kernel defines: an ocean without its ghost cells."""
    return value[..., 2:-2, 2:-2] if kernel in OCEAN else value


def largest_difference(kernel, theirs, ours):
    """Over all variables, relative to each one's largest value; not finite if any of them is
    not."""
    worst = 0.0
    for name, value in theirs.items():
        if value.shape != ours[name].shape:
            return math.nan
        mine, value = interior(kernel, ours[name][...]), interior(kernel, value)
        scale = np.abs(mine).max() or 1
        worst = max(worst, float(np.abs(mine - value).max() / scale), key=lambda x: (x != x, x))
    return worst
