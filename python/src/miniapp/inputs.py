"""States from files, by the library's own reader."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator
from ctypes import c_double, c_void_p

import numpy as np

from . import library as libraries
from .library import PRECISIONS, Destination, InputError, Library, UsageError, encode
from .state import State

one_at_a_time = threading.Lock()  # reads a file: HDF5 is not made for several threads


def load(path: str | os.PathLike, sequence: str, device: str = "cpu", precision: str = "float64", *,
         library: Library | None = None, **settings: float) -> State:
    """A state with what a kernel or a sequence reads, from a file in the program's format (docs/input.md):
    checked, with ghosts, and with the file's settings where no others are given. Optional fields that are absent
    are derived as the program does; for steps in time, w follows by continuity from u and v if the file has only these,
    and time steps and friction from the spacing."""
    library = library or libraries.default()
    wanted = [library.fields[name] for name in library.reads(sequence)]
    with one_at_a_time, opened(library, path, [field.handle for field in wanted]) as file:
        grid = library.c.input_grid(file)
        own = settings_of(library, file, path, sequence, precision, settings)
        if library.levels(sequence):
            own |= by_spacing(library, file, sequence, own | settings)
        state = State((grid.nz, grid.ny, grid.nx), device, precision, library.c.input_is_cyclic(file),
                      library=library, **own, **settings)
        own = library.c.state_settings(state.memory.handle)
        library.c.input_check_pairs(file, own)
        library.c.input_check_mode(file, library.find_sequence(sequence), own)
        for field in wanted:
            target = Destination(state.memory.handle, encode(field.name), False)
            library.c.input_load(file, field.handle, ctypes.byref(target), 1)
        if library.levels(sequence):
            state.call(library.c.state_make_flow, file, library.find_sequence(sequence))
    return state


@contextlib.contextmanager
def opened(library, path, wanted) -> Iterator[int]:
    file = c_void_p()
    try:
        library.c.input_open(encode_path(path), (c_void_p * len(wanted))(*wanted), len(wanted), None, file)
        library.c.input_check(file)
        yield file.value
    finally:
        library.c.input_close(file)


def encode_path(path) -> bytes:
    try:
        encoded = os.fsencode(path)
    except UnicodeError:
        encoded = b"\0"
    if b"\0" in encoded:  # which would end the path, for C
        raise UsageError(f"{path!r} is no name of a file")
    return encoded


def settings_of(library, file, path, sequence, precision, given) -> dict[str, float]:
    """The settings of the file, where no others are given; those that the sequence uses have to be valid."""
    found, value, kernels = {}, c_double(), library.find_sequence(sequence)
    for setting in library.settings.values():
        if setting.name in given or not library.c.input_setting(file, setting.handle, ctypes.byref(value)):
            continue
        try:
            library.c.setting_check(setting.handle, value, precision != PRECISIONS[0],
                                    encode_path(path), InputError.status)
        except InputError:
            if library.c.sequence_uses(kernels, setting.handle):
                raise
        else:
            found[setting.name] = value.value
    return found


def by_spacing(library, file, sequence, chosen) -> dict[str, float]:
    """The time steps and friction that nobody chose, of a sequence of steps, by the spacing (docs/input.md)."""
    kernels, water, find = library.find_sequence(sequence), library.c.input_water(file), library.c.water_setting

    def is_on(name):
        return chosen.get(name, library.settings[name].default)

    def is_used(name):
        return library.c.sequence_uses(kernels, library.settings[name].handle)

    dt = find(water, b"dt_mom", 0)
    values = {"dt_mom": dt, "dt_tracer": chosen.get("dt_mom", dt) if is_used("dt_mom") else dt}
    if is_on("enable_hor_friction"):
        values["A_h"] = find(water, b"A_h", dt)
    if is_on("enable_bottom_friction") and not is_on("enable_bottom_friction_var"):
        values["r_bot"] = find(water, b"r_bot", dt)
    return {name: value for name, value in values.items() if dt and name not in chosen and is_used(name)}
