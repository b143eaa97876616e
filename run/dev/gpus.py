"""GPUs' peaks from the vendors' documents, and the least times that follow. Nothing here was measured."""

from collections import namedtuple

# The compilers' name of its architecture; multiprocessors, or compute units; GHz; for how many threads one of
# these issues an instruction in a cycle, and for how many one of float64; and the peaks of memory, in TB/s,
# and of float64 without matrix units, in TFLOP/s.
Gpu = namedtuple("Gpu", "arch units clock lanes fp64 bandwidth rate")
GPUS = {
    "A100": Gpu("sm_80", 108, 1.41, 128, 32, 2.0, 9.7),  # the one of 80 GB, on SXM
    "H100": Gpu("sm_90", 132, 1.98, 128, 64, 3.35, 34),  # on SXM
    "H200": Gpu("sm_90", 132, 1.98, 128, 64, 4.8, 34),
    "MI250X": Gpu("gfx90a", 110, 1.7, 64, 64, 1.6, 23.9),  # one of its two dies, each of which is a device
    "MI300X": Gpu("gfx942", 304, 2.1, 64, 64, 5.3, 81.7),
}
ARCHS = {gpu.arch: gpu for gpu in GPUS.values()}  # an H100 and an H200 issue alike


def issue_times(issued, fp64, arch):
    """The ns a point to issue so many instructions, and those of float64 among them, if a thread computes a
    point and takes each instruction once."""
    gpu = ARCHS[arch]
    return issued / (gpu.units * gpu.lanes * gpu.clock), fp64 / (gpu.units * gpu.fp64 * gpu.clock)


def least_times(cost, bandwidth, rate):
    """The ns that bytes take at TB/s and flops at TFLOP/s; a point takes at least the longer."""
    moved, flops = cost
    return moved / bandwidth / 1e3, flops / rate / 1e3
