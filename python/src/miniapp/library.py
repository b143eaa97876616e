"""libminiapp.so by ctypes: where it is, what it declares, its tables, and its failures as exceptions.

Fields, settings, kernels and sequences are found by name and asked by functions; nothing here depends on
how the library lays out its memory, so that this file works with later minor versions of the library.
ctypes releases the GIL while a function of the library runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import enum
import functools
import itertools
import operator
import os
import sys
import threading
import warnings
from collections.abc import Callable
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_size_t, c_void_p
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
VARIABLE = "MINIAPP_LIBRARY"
PRECISIONS = ("float64", "float32")  # enum miniapp_precision
HALO = 2  # MINIAPP_HALO: ghosts on each side of y and x
MAX_BLOCKS = 2 ** 15  # along an axis: the ranks of both fit into an int
MAX_THREADS = 4096  # as in the program: with many more, the OpenMP runtime aborts


class Type(enum.IntEnum):
    """enum miniapp_type"""
    REAL, MASK, INDEX, DOUBLE = range(4)

    @property
    def is_real(self) -> bool:
        return self in (Type.REAL, Type.DOUBLE)


class Access(enum.IntEnum):
    """enum miniapp_access"""
    READ, WRITE, UPDATE, SCRATCH = range(4)


# ---- failures ----

class Error(Exception):
    """An error of the library or of this package: one line, and the library's status."""
    status = 0

    def __str__(self):
        return " ".join(super().__str__().splitlines())  # an array that is quoted has several


class LibraryError(Error, ImportError):
    """There is no library, or not the one that this package describes."""


class MismatchError(Error):
    """A result is wrong."""
    status = 1


class UsageError(Error, ValueError):
    """A call is wrong: an unknown name, a shape that does not fit, a field that was never set."""
    status = 2


class InputError(Error, ValueError):
    """Values cannot be used."""
    status = 3


class DeviceError(Error, RuntimeError):
    """A device cannot be used: it is absent, not built in, or out of memory."""
    status = 4


class OutputError(Error):
    """A file cannot be written."""
    status = 5


FAILURES = {kind.status: kind for kind in Error.__subclasses__() if kind.status}
heard = threading.local()  # the warnings of the call that a thread is in


@ctypes.CFUNCTYPE(None, c_int, c_char_p)
def listen(status, line):
    """Failures become exceptions by their status; warnings have none."""
    if not status:
        heard.__dict__.setdefault("lines", []).append(decode(line))


def decode(text: bytes | None) -> str:
    return (text or b"").decode(errors="replace")


def encode(name: str) -> bytes:
    if not isinstance(name, str) or "\0" in name:
        raise UsageError(f"{name!r} is no name of a field, a setting, a kernel or a device")
    return name.encode(errors="backslashreplace")


def whole(what: str, value: int, least: int, most: int) -> int:
    """A number for C, which would take the lowest bits of one that is too large."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise UsageError(f"{what}: takes a number from {least} to {most}, not {value!r}")
    return number


class Status(c_int):
    """The status of a call: anything but 0 becomes an exception."""


def raise_failure(message):
    def check(status, _function, _arguments):
        for line in heard.__dict__.pop("lines", ()):
            warnings.warn(line, RuntimeWarning, stacklevel=5)
        if status:
            raise FAILURES.get(status, Error)(message())
    return check


# ---- functions ----

class Grid(ctypes.Structure):
    """struct miniapp_grid"""
    _fields_ = [(name, c_size_t) for name in ("nx", "ny", "nz")]


class Destination(ctypes.Structure):
    """struct miniapp_destination"""
    _fields_ = [("state", c_void_p), ("name", c_char_p), ("resample", c_bool)]


BUDGETS, GAINS = 73, 20  # MINIAPP_BUDGETS, MINIAPP_GAINS


class Gain(ctypes.Structure):
    """struct miniapp_gain"""
    _fields_ = [("name", c_char_p), ("value", c_double)]


class BudgetNumbers(ctypes.Structure):
    """struct miniapp_budget"""
    _fields_ = [("name", c_char_p), ("units", c_char_p), ("is_kept", c_bool), ("is_of_all_steps", c_bool),
                ("before", c_double), ("steps", c_size_t),
                *((name, c_double) for name in ("change", "gain", "residual", "bound", "size", "gross")),
                ("gain_count", c_size_t), ("gains", Gain * GAINS)]


class FlowNumbers(ctypes.Structure):
    """struct miniapp_flow"""
    _fields_ = [("is_there", c_bool), ("is_from_rest", c_bool), ("courant", c_double * 3),
                *((name, c_double) for name in ("below", "top", "gained", "through", "time_step")),
                ("tolerated", c_double * 2),
                ("excess", c_double), ("cell", c_size_t * 3), ("leaks", c_bool), ("beside", c_size_t * 3),
                ("unfit", c_double), ("transport", c_double * 2), ("is_of_v", c_bool), ("face", c_size_t * 3)]


OUT = POINTER(c_void_p)
LISTENER = type(listen)
# The functions of include/miniapp/*.h and program.h that are called, by their result and arguments.
DECLARATIONS = {name: types for types, names in {
    (c_char_p,): "message version",
    (c_int,): "last_failure host_threads",
    (LISTENER, LISTENER): "listen",
    (Status, c_int): "host_set_threads join",
    (Status, c_char_p, OUT): "device_open sequence_find",
    (None, c_void_p): "device_close state_free input_close plan_free plan_restart",
    (c_char_p, c_void_p): "device_label field_name field_units field_long_name field_standard_name "
                          "field_surface_units field_surface_name setting_name "
                          "setting_units setting_long_name kernel_name kernel_summary kernel_citation sequence_name",
    (c_char_p, c_int): "axis_name",
    (c_size_t, c_int, c_void_p): "axis_length",
    (c_size_t,): "field_count setting_count kernel_count sequence_count",
    (c_void_p, c_size_t): "field_at setting_at kernel_at sequence_at",
    (c_int, c_void_p): "field_type field_rank",
    (c_bool, c_void_p): "field_is_optional field_is_extended field_is_flow field_has_wall setting_is_whole "
                        "input_is_cyclic",
    (None, c_void_p, c_void_p, c_void_p): "field_range field_limits setting_range",
    (c_void_p, c_void_p): "input_water field_wet field_partner state_settings",
    (c_void_p, c_void_p, c_void_p): "field_stand_in",
    (c_char_p, c_void_p, c_size_t): "field_needed_by argument_name",
    (c_int, c_void_p, c_int): "field_axis",
    (c_double, c_void_p): "field_surface_most setting_default state_bytes",
    (Status, c_void_p, c_double, c_int, c_char_p, Status): "setting_check",
    (c_size_t, c_void_p): "kernel_argument_count kernel_setting_count sequence_level_count sequence_step_count",
    (c_void_p, c_void_p, c_size_t): "argument_field kernel_setting sequence_kernel",
    (c_int, c_void_p, c_size_t): "argument_access",
    (c_int, c_void_p, c_size_t, c_int): "argument_ghosts",
    (c_void_p, c_void_p, c_size_t, c_bool): "sequence_level",
    (c_void_p, c_void_p, c_size_t, c_size_t): "sequence_field",
    (c_bool, c_void_p, c_size_t, c_void_p): "sequence_runs",
    (c_bool, c_void_p, c_void_p): "sequence_reads sequence_writes sequence_carries sequence_uses "
                                        "sequence_is_at_surface",
    (c_void_p,): "settings_create",
    (c_double, c_void_p, c_char_p, c_double): "water_setting",
    (Status, c_void_p, c_int, c_void_p, OUT): "state_create",
    (None, c_void_p, c_bool): "state_set_checks state_set_cyclic",
    (Status, c_void_p, c_int, c_int): "state_share",
    (Status, c_void_p, c_char_p): "state_exchange",
    (Status, c_void_p, c_char_p, c_double): "state_set_setting",
    (c_double, c_void_p, c_char_p): "settings_get",
    (Status, c_void_p, c_char_p, c_char_p): "state_add",
    (Status, c_void_p, c_char_p, c_char_p, c_char_p): "state_add_up",
    (c_bool, c_void_p, c_char_p): "state_has",
    (Status, c_void_p, c_char_p, c_void_p): "state_set",
    (c_void_p, c_void_p, c_char_p): "state_read state_write",
    (Status, c_void_p, POINTER(c_char_p), c_size_t): "state_rotate",
    (Status, c_char_p, OUT, c_size_t, c_void_p, OUT): "input_open",
    (Status, c_void_p): "input_check plan_run plan_advance",
    (Status, c_void_p, c_void_p): "input_check_pairs snapshot_settle",
    (Grid, c_void_p): "input_grid",
    (c_bool, c_void_p, c_void_p, c_void_p): "input_setting",
    (Status, c_void_p, c_void_p, c_void_p): "state_make_flow budgets_open flow_measure input_check_mode",
    (Status, c_void_p, c_void_p, c_void_p, c_size_t): "input_load",
    (Status, c_void_p, c_void_p, c_size_t, c_void_p): "budgets_close",
    (Status, c_void_p, c_size_t, c_char_p, c_char_p): "flow_judge",
    (Status, c_void_p, c_void_p, c_char_p, OUT): "plan_create",
}.items() for name in names.split()}


def declare(library, path):
    """The functions by their names without "miniapp_"; those that return text return str."""
    functions = {}
    for name, (result, *arguments) in DECLARATIONS.items():
        try:
            function = functions[name] = library[f"miniapp_{name}"]
        except AttributeError as error:
            raise LibraryError(f"{path}: is no libminiapp.so of this version: it has no "
                               f"miniapp_{name}") from error
        function.argtypes = arguments
        function.restype = c_int if result is Status else result
        if result is Status:
            function.errcheck = raise_failure(functions["message"])
        if result is c_char_p:
            function.errcheck = lambda text, _function, _arguments: decode(text)
    return SimpleNamespace(**functions)


# ---- tables ----

@dataclasses.dataclass(frozen=True)
class Range:
    """From least to most, where a least value of DBL_MIN means above 0."""
    least: float
    most: float
    is_whole: bool = False

    def __str__(self):
        text = (f"above 0, to {self.most:g}" if self.least == sys.float_info.min
                else f"{self.least:g} to {self.most:g}")
        return f"{text}, whole" if self.is_whole else text

    def holds(self, values):
        """Whether a number lies in it, or each of an array; NaN does not."""
        return (values >= self.least) & (values <= self.most) & (not self.is_whole or values % 1 == 0)


class Flow(NamedTuple):
    """The largest Courant numbers of a step in time, and the largest share of its volume that a cell gains or loses
    in it: below the top level, and in the top level, without what goes through the surface."""
    courant_x: float
    courant_y: float
    courant_z: float
    divergence_below: float
    divergence_in_top_level: float


class Budget(NamedTuple):
    """One budget of steps in time, in `units`: `residual` is `change` less `gain`, at most `bound` where only rounding
    is left, and `gains` are the terms of `gain`."""
    units: str
    change: float
    gain: float
    residual: float
    bound: float
    gains: dict[str, float]

    @classmethod
    def of(cls, numbers: BudgetNumbers) -> Budget:
        gains = {decode(gain.name): gain.value for gain in numbers.gains[:numbers.gain_count]}
        return cls(decode(numbers.units), numbers.change, numbers.gain, numbers.residual, numbers.bound, gains)


@dataclasses.dataclass(frozen=True)
class Field:
    """A row of the library's table of fields."""
    name: str
    units: str
    long_name: str
    standard_name: str
    type: Type
    axes: tuple[str, ...]
    least: float
    most: float
    limits: tuple[float, float] = dataclasses.field(repr=False)
    handle: int = dataclasses.field(repr=False)
    axis_numbers: tuple[int, ...] = dataclasses.field(repr=False)
    is_optional: bool = dataclasses.field(repr=False)
    wet: str = dataclasses.field(repr=False)  # the mask, or kbot, of the cells where it has a meaning; "": of all
    stand_in: str = dataclasses.field(repr=False)  # the field that stands for an absent one; "": zeros
    factor: float = dataclasses.field(repr=False)  # of the stand-in
    partner: str = dataclasses.field(repr=False)  # makes no sense without this field; "": none
    needed_by: tuple[str, ...] = dataclasses.field(repr=False)  # settings that need it, unless they are all 0
    is_extended: bool = dataclasses.field(repr=False)  # land holds the value of the lowest water above
    is_flow: bool = dataclasses.field(repr=False)  # a velocity or stress: 0 in the ghosts of a closed side
    has_wall: bool = dataclasses.field(repr=False)  # on corners: the last ghosts in the south are those of a wall
    surface_units: str = dataclasses.field(repr=False)  # where it is the pressure at a free surface; "": never
    surface_name: str = dataclasses.field(repr=False)  # its long name there

    @property
    def range(self) -> Range:
        return Range(self.least, self.most, not self.type.is_real)

    @property
    def meaning(self) -> str:
        at_surface = f"; at a free surface in {self.surface_units}, {self.surface_name}" if self.surface_units else ""
        return self.long_name + at_surface

    def may_be_absent(self, given, settings) -> bool:
        """Beside these fields and settings."""
        is_needed = any(settings.get(name, not self.is_optional) for name in self.needed_by)
        return (self.is_optional or bool(self.needed_by)) and self.partner not in given and not is_needed


@dataclasses.dataclass(frozen=True)
class Setting:
    """A row of the library's table of settings."""
    name: str
    units: str
    long_name: str
    default: float
    is_whole: bool
    least: float
    most: float
    handle: int = dataclasses.field(repr=False)

    @property
    def range(self) -> Range:
        return Range(self.least, self.most, self.is_whole)


def run_of(settings: str, steps: float) -> tuple[dict[str, float], float]:
    """The settings of a run and the time that it came to, by the attributes `settings` and `itt` of its output."""
    values = {name: float(value) for name, value in (pair.split("=") for pair in settings.split())}
    return values, values["start_time"] + steps * values["dt_tracer"]


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a kernel, and the field that it is bound to by default."""
    name: str
    field: Field
    access: Access
    ghosts: tuple[int, int, int, int] = dataclasses.field(repr=False)  # in the west, east, south and north


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A row of the library's table of kernels."""
    name: str
    summary: str
    citation: str
    arguments: tuple[Argument, ...]
    settings: tuple[Setting, ...]

    def reads(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.access in (Access.READ, Access.UPDATE)]

    def writes(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.access in (Access.WRITE, Access.UPDATE)]


@dataclasses.dataclass(frozen=True)
class Step:
    """A kernel of a sequence, and the names of the fields that its arguments are bound to."""
    kernel: Kernel
    fields: dict[Argument, str]

    @property
    def text(self) -> str:
        """The text by which the library finds the kernel with the same bindings."""
        return f"{self.kernel.name}:{','.join(f'{key.name}={field}' for key, field in self.fields.items())}"

    def reads(self) -> list[str]:
        return [self.fields[argument] for argument in self.kernel.reads()]

    def writes(self) -> list[str]:
        return [self.fields[argument] for argument in self.kernel.writes()]


class Library:
    """The kernels, sequences, fields and settings of one libminiapp.so."""

    def __init__(self, path: str | os.PathLike):
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError as error:
            raise LibraryError(str(error)) from error
        self.path = path
        self.c = declare(loaded, path)
        self.c.listen(listen)
        self.known_fields: dict[str, Field] = {}

    @property
    def version(self) -> str:
        return self.c.version()

    def rows(self, table: str) -> list[int]:
        """The handles of one of the library's tables."""
        row = getattr(self.c, f"{table}_at")
        return [row(place) for place in range(getattr(self.c, f"{table}_count")())]

    @property
    def fields(self) -> dict[str, Field]:
        """The fields, of which there are more once a sequence with tracers has been found."""
        for place in range(len(self.known_fields), self.c.field_count()):
            row = self.field_row(self.c.field_at(place))
            self.known_fields[row.name] = row
        return self.known_fields

    @functools.cached_property
    def settings(self) -> dict[str, Setting]:
        return {row.name: row for row in map(self.setting_row, self.rows("setting"))}

    @functools.cached_property
    def kernels(self) -> dict[str, Kernel]:
        return {row.name: row for row in map(self.kernel_row, self.rows("kernel"))}

    @functools.cached_property
    def sequences(self) -> list[str]:
        """The names of the kernels, then those of sequences of several."""
        return [self.c.sequence_name(row) for row in self.rows("sequence")]

    def field_row(self, handle):
        c = self.c
        axes = tuple(c.field_axis(handle, place) for place in range(c.field_rank(handle)))
        factor = c_double()
        stand_in = c.field_stand_in(handle, ctypes.byref(factor))
        return Field(c.field_name(handle), c.field_units(handle), c.field_long_name(handle),
                     c.field_standard_name(handle), Type(c.field_type(handle)), tuple(map(c.axis_name, axes)),
                     *bounds(c.field_range, handle), bounds(c.field_limits, handle), handle, axes,
                     c.field_is_optional(handle), self.name_of(c.field_wet(handle)), self.name_of(stand_in),
                     factor.value, self.name_of(c.field_partner(handle)), self.needed_by(handle),
                     c.field_is_extended(handle), c.field_is_flow(handle), c.field_has_wall(handle),
                     c.field_surface_units(handle), c.field_surface_name(handle))

    def needed_by(self, handle):
        most = self.c.setting_count()
        names = (self.c.field_needed_by(handle, place) for place in range(most + 1))
        found = tuple(itertools.takewhile(bool, names))
        if len(found) > most:  # in older libraries the function takes no place
            raise LibraryError(f"{self.path}: is a libminiapp.so of another version than this package")
        return found

    def name_of(self, handle):
        return self.c.field_name(handle) if handle else ""

    def setting_row(self, handle):
        c = self.c
        return Setting(c.setting_name(handle), c.setting_units(handle), c.setting_long_name(handle),
                       c.setting_default(handle), c.setting_is_whole(handle), *bounds(c.setting_range, handle), handle)

    @functools.cached_property
    def defaults(self) -> int:
        """The handle of the settings' defaults, which are never freed."""
        return self.c.settings_create()

    def field_of(self, handle, place):
        """That of a kernel's argument: the pressure, where the kernel is of a free surface."""
        c = self.c
        field = self.fields[c.field_name(c.argument_field(handle, place))]
        if field.surface_units and c.sequence_is_at_surface(self.find_sequence(c.kernel_name(handle)), self.defaults):
            most = c.field_surface_most(field.handle)
            return dataclasses.replace(field, units=field.surface_units, long_name=field.surface_name, surface_units="",
                                       least=-most, most=most)
        return field

    def kernel_row(self, handle):
        c = self.c
        arguments = (Argument(c.argument_name(handle, place), self.field_of(handle, place),
                              Access(c.argument_access(handle, place)),
                              tuple(c.argument_ghosts(handle, place, side) for side in range(4)))
                     for place in range(c.kernel_argument_count(handle)))
        settings = (self.settings[c.setting_name(c.kernel_setting(handle, place))]
                    for place in range(c.kernel_setting_count(handle)))
        return Kernel(c.kernel_name(handle), c.kernel_summary(handle), c.kernel_citation(handle), tuple(arguments),
                      tuple(settings))

    def find_sequence(self, text: str) -> int | None:
        found = c_void_p()
        self.c.sequence_find(encode(text), found)
        return found.value

    def reads(self, sequence: str) -> list[str]:
        """The fields that a kernel or a sequence reads before it writes them."""
        return self.fields_that(self.c.sequence_reads, sequence)

    def writes(self, sequence: str) -> list[str]:
        return self.fields_that(self.c.sequence_writes, sequence)

    def carries(self, sequence: str) -> list[str]:
        """The fields in which a step in time needs what the step before has left."""
        return self.fields_that(self.c.sequence_carries, sequence)

    def levels(self, sequence: str) -> list[tuple[str, str]]:
        """The pairs of fields that change places after a step in time."""
        c, found = self.c, self.find_sequence(sequence)
        return [tuple(c.field_name(c.sequence_level(found, place, after)) for after in (False, True))
                for place in range(c.sequence_level_count(found))]

    def steps(self, sequence: str, settings: int | None = None) -> list[Step]:
        """Its kernels, each bound to the sequence's fields; with the settings of a state, those that run by them."""
        c, found, steps = self.c, self.find_sequence(sequence), []
        for step in range(c.sequence_step_count(found)):
            if settings and not c.sequence_runs(found, step, settings):
                continue
            kernel = self.kernels[c.kernel_name(c.sequence_kernel(found, step))]
            steps.append(Step(kernel, {
                argument: c.field_name(c.sequence_field(found, step, place))
                for place, argument in enumerate(kernel.arguments) if argument.access is not Access.SCRATCH}))
        return steps

    def fields_that(self, question: Callable, sequence: str) -> list[str]:
        found = self.find_sequence(sequence)
        return [field.name for field in list(self.fields.values()) if question(found, field.handle)]

    def set_threads(self, threads: int) -> None:
        """How many threads run the kernels that the calling thread starts; 0 means the default."""
        self.c.host_set_threads(whole("set_threads", threads, 0, MAX_THREADS))

    def check_device(self, name: str) -> None:
        """Raises an error if the device cannot be used."""
        device = c_void_p()
        try:
            self.c.device_open(encode(name), device)
        finally:
            self.c.device_close(device)


def bounds(ask, handle) -> tuple[float, float]:
    least, most = c_double(), c_double()
    ask(handle, ctypes.byref(least), ctypes.byref(most))
    return least.value, most.value


# ---- the one that is used ----

def find() -> list[Path]:
    """Paths of the library: $MINIAPP_LIBRARY; those in the package, for the newest processors first; or the
    builds of the source tree."""
    if named := os.environ.get(VARIABLE):
        return [Path(named)]
    built = HERE.parents[2] / "build/host/lib/libminiapp.so"
    found = sorted(HERE.glob("lib/*/libminiapp.so"), reverse=True) or ([built] if built.exists() else [])
    if not found:
        raise LibraryError(f"there is no libminiapp.so in {HERE / 'lib'}, and no {built}: "
                           f"name one by ${VARIABLE}")
    return found


@functools.cache
def default() -> Library:
    """The library of the package's functions, the first that fits this processor."""
    *better, last = find()
    for path in better:
        library = Library(path)
        with contextlib.suppress(DeviceError):
            library.check_device("cpu")
            return library
    return Library(last)
