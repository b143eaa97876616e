"""The numbers that stand in for fields of the calibration kernels which a file lacks."""

import numpy as np


def samples(shape):
    """Fractions of multiples of the golden ratio, in the program's own arithmetic."""
    multiples = (np.arange(np.prod(shape)) + 1.0) * 0.6180339887498949
    return (multiples % 1).reshape(shape)


def missing(fields, wanted):
    """{name: samples} for those of `wanted` ({name: axes of temp}) that are not in the fields."""
    return {name: samples([fields["temp"].shape[axis] for axis in axes])
            for name, axes in wanted.items() if name not in fields}
