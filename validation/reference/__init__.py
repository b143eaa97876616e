"""Independent references of the kernels, one module a kernel.

A kernel's module offers NAME, INPUTS and OPTIONAL (names of fields), OUTPUTS (name, axes, units,
long name) and reference(fields, settings), which returns {name: array} for fields with ghost cells;
and SAMPLED where samples.py makes what a file lacks.
Nothing here shares code or derivation with the C kernels: a reference that repeats the kernel's
formulas repeats its mistakes.
"""

from typing import NamedTuple

import numpy as np


class Field(NamedTuple):
    """An output variable and what describes it in a file."""

    values: np.ndarray
    axes: tuple
    units: str
    long_name: str
