"""Independent references of the kernels, one module a kernel.

A kernel's module has the kernel's name and offers it as NAME, INPUTS and OPTIONAL (names of fields),
OUTPUTS (name, axes, units, long name), TOLERANCES (by output and precision) and
reference(fields, settings), which returns {name: array} for fields with ghost cells; and SAMPLED
where samples.py makes what a file lacks. It is found here, and named nowhere else.
Nothing here shares code or derivation with the C kernels: a reference that repeats the kernel's
formulas repeats its mistakes.
"""

import importlib
import pkgutil
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

Real = np.longdouble


class Tolerance(NamedTuple):
    """What an output may be off in a precision, and why so much."""

    atol_rel: float  # of its largest value
    why: str
    rtol: float = 0.0  # of each value, in addition


def alike(outputs, **of_precision):
    """TOLERANCES of a kernel all of whose outputs have these."""
    return {name: of_precision for name, *_ in outputs}


def chosen(defaults, settings):
    """The settings, or else their defaults, by name."""
    return SimpleNamespace(**{name: Real(settings.get(name, default)) for name, default in defaults.items()})


class Field(NamedTuple):
    """An output variable and what describes it in a file."""

    values: np.ndarray
    axes: tuple
    units: str
    long_name: str


def kernels(site=None):
    """The modules of all kernels, in the order of their names, or of those of a site: DIR/reference/NAME.py."""
    folders = __path__
    if site:
        folders = [str(site / "reference")]
        __path__.extend(folders)
    modules = (importlib.import_module(f"{__name__}.{found.name}")
               for found in pkgutil.iter_modules(folders))
    return [module for module in modules if hasattr(module, "NAME")]
