"""Kernels of the Veros ocean model on NumPy's arrays.

    dHdT = miniapp.eos(salt, temp, p)       # each kernel is a function; help(miniapp.eos) describes it
    state = miniapp.State(salt.shape)       # an ocean that stays on a device, to run kernels and steps on

kernels(), fields() and settings() list what the library has.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from . import functions as _functions
from .inputs import load
from .library import (
    Budget, DeviceError, Error, Field, Flow, InputError, Kernel, Library, LibraryError, MismatchError,
    OutputError, Setting, UsageError)
from .library import default as _library
from .state import Plan, State

__all__ = ["Budget", "DeviceError", "Error", "Field", "Flow", "InputError", "Kernel", "Library", "LibraryError",
           "MismatchError", "OutputError", "Plan", "Setting", "State", "UsageError", "fields", "kernels",
           "load", "set_threads", "settings", "version"]


def kernels() -> dict[str, Kernel]:
    """The kernels and their arguments; miniapp.NAME(...) runs one."""
    return _library().kernels


def fields() -> dict[str, Field]:
    """The fields of a state: axes, units, valid ranges."""
    return _library().fields


def settings() -> dict[str, Setting]:
    """The settings, in Veros's names."""
    return _library().settings


def set_threads(threads: int) -> None:
    """How many threads run the kernels that the calling thread starts; 0 means the default."""
    _library().set_threads(threads)


def version() -> str:
    """The version of the library."""
    return _library().version


@functools.cache
def _function(name: str) -> Callable:
    return _functions.make(_library(), name)


def __getattr__(name: str) -> Callable:
    """Kernels are found when they are asked for, so that the package can be imported without a library."""
    if not name.startswith("_") and name in _library().kernels:
        return _function(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *kernels()]
