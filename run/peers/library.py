"""libminiapp.so by ctypes: an ocean on a device, its fields as NumPy's arrays, kernels that run on it.

    library = Library("build/host/lib/libminiapp.so")
    state = library.state((nz, ny, nx), device="gpu")
    state.set("salt", salt)         # and temp, and p
    state.run("eos")
    dHdT = state.get("dHdT")

Fields, settings and kernels are found by name and asked by functions; nothing here depends on how
the library lays out its memory, so that this file goes with later minor versions of the library.
"""

import ctypes
import weakref
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_size_t, c_void_p
from types import SimpleNamespace

import numpy as np

PRECISIONS = ("float64", "float32")  # enum miniapp_precision
REAL, MASK, INDEX = range(3)  # enum miniapp_type


class Status(c_int):
    """Anything but 0 becomes a LibraryError."""


OUT = POINTER(c_void_p)
# What is called of include/miniapp/*.h: the result, then the arguments.
DECLARATIONS = {
    "message": (c_char_p,),
    "last_failure": (c_int,),
    "host_set_threads": (None, c_int),
    "device_open": (Status, c_char_p, OUT),
    "device_close": (None, c_void_p),
    "device_label": (c_char_p, c_void_p),
    "axis_length": (c_size_t, c_int, c_void_p),
    "field_count": (c_size_t,),
    "field_at": (c_void_p, c_size_t),
    "field_find": (c_void_p, c_char_p),
    "field_name": (c_char_p, c_void_p),
    "field_type": (c_int, c_void_p),
    "field_rank": (c_int, c_void_p),
    "field_axis": (c_int, c_void_p, c_int),
    "setting_count": (c_size_t,),
    "setting_at": (c_void_p, c_size_t),
    "setting_name": (c_char_p, c_void_p),
    "setting_default": (c_double, c_void_p),
    "sequence_count": (c_size_t,),
    "sequence_at": (c_void_p, c_size_t),
    "sequence_find": (Status, c_char_p, OUT),
    "sequence_name": (c_char_p, c_void_p),
    "sequence_reads": (c_bool, c_void_p, c_void_p),
    "sequence_writes": (c_bool, c_void_p, c_void_p),
    "state_create": (Status, c_void_p, c_int, c_void_p, OUT),
    "state_free": (None, c_void_p),
    "state_set_setting": (Status, c_void_p, c_char_p, c_double),
    "state_add": (Status, c_void_p, c_char_p, c_char_p),
    "state_has": (c_bool, c_void_p, c_char_p),
    "state_set": (Status, c_void_p, c_char_p, c_void_p),
    "state_get": (Status, c_void_p, c_char_p, c_void_p),
    "state_read": (c_void_p, c_void_p, c_char_p),
    "state_write": (c_void_p, c_void_p, c_char_p),
    "state_rotate": (Status, c_void_p, POINTER(c_char_p), c_size_t),
    "plan_create": (Status, c_void_p, c_void_p, c_char_p, OUT),
    "plan_free": (None, c_void_p),
    "plan_run": (Status, c_void_p),
}


class Mismatch(Exception):
    """The library is not the one that this file describes."""


class LibraryError(Exception):
    """A call that failed: the library's line, and its status."""

    def __init__(self, status, text):
        self.status = status
        super().__init__(text)


def declare(library, path):
    """The functions by their names without "miniapp_"."""
    functions = {}
    for name, (result, *arguments) in DECLARATIONS.items():
        try:
            function = functions[name] = library[f"miniapp_{name}"]
        except AttributeError as error:
            raise Mismatch(f"{path}: is no libminiapp.so of this version: it has no "
                           f"miniapp_{name}") from error
        function.argtypes = arguments
        function.restype = c_int if result is Status else result
        if result is Status:
            function.errcheck = raise_failure(functions["message"])
    return SimpleNamespace(**functions)


def raise_failure(message):
    def check(status, _function, _arguments):
        if status:
            raise LibraryError(status, message().decode())
    return check


class Library:
    """What there is, and the states that are made of it."""

    def __init__(self, path):
        self.c = declare(ctypes.CDLL(str(path)), path)

    def set_threads(self, threads):
        self.c.host_set_threads(threads)

    def fields(self):
        return [self.c.field_name(field).decode() for field in self.rows("field")]

    def settings(self):
        """{name: default}"""
        return {self.c.setting_name(setting).decode(): self.c.setting_default(setting)
                for setting in self.rows("setting")}

    def sequences(self):
        """The kernels, then the sequences of several."""
        return [self.c.sequence_name(sequence).decode() for sequence in self.rows("sequence")]

    def reads(self, sequence):
        return self.fields_that(self.c.sequence_reads, sequence)

    def writes(self, sequence):
        return self.fields_that(self.c.sequence_writes, sequence)

    def fields_that(self, question, sequence):
        found = self.find_sequence(sequence)
        return [self.c.field_name(field).decode() for field in self.rows("field")
                if question(found, field)]

    def rows(self, table):
        """Of one of the library's tables."""
        row = getattr(self.c, f"{table}_at")
        return [row(place) for place in range(getattr(self.c, f"{table}_count")())]

    def find_sequence(self, text):
        found = c_void_p()
        self.c.sequence_find(text.encode(), found)
        return found.value

    def open_device(self, name):
        device = c_void_p()
        self.c.device_open(name.encode(), device)
        return device.value

    def check_device(self, name):
        """Raises where it cannot be used."""
        self.c.device_close(self.open_device(name))

    def state(self, shape, device="cpu", precision="float64", **settings):
        """An ocean of the shape (nz, ny, nx), ghosts included, that holds nothing yet."""
        return State(self, shape, device, precision, settings)


def release(c, state, device):
    c.state_free(state)
    c.device_close(device)


class State:
    """The fields of an ocean in the memory of a device. It is freed when neither it nor one of its
    arrays or plans is in use."""

    def __init__(self, library, shape, device, precision, settings):
        self.library, self.c, self.precision = library, library.c, precision
        self.grid = (c_size_t * 3)(*reversed(shape))  # struct miniapp_grid
        self.like = {}  # what stands in the table for fields that were added
        handle, device = c_void_p(), library.open_device(device)
        try:
            self.c.state_create(device, PRECISIONS.index(precision), self.grid, handle)
        except LibraryError:
            self.c.device_close(device)
            raise
        self.handle = handle.value
        self.device = self.c.device_label(device).decode()
        weakref.finalize(self, release, self.c, self.handle, device)
        for name, value in settings.items():
            self.c.state_set_setting(self.handle, name.encode(), value)

    def add(self, name, like):
        """Another field, such as a tracer or a time level."""
        self.c.state_add(self.handle, name.encode(), like.encode())
        self.like[name] = like

    def has(self, name):
        """Whether the field holds something."""
        return self.c.state_has(self.handle, name.encode())

    def field(self, name):
        found = self.c.field_find(self.like.get(name, name).encode())
        if not found:
            raise KeyError(f"there is no field '{name}'")
        return found

    def shape(self, name):
        field = self.field(name)
        return tuple(self.c.axis_length(self.c.field_axis(field, place), self.grid)
                     for place in range(self.c.field_rank(field)))

    def dtype(self, name):
        """As the state holds it."""
        return np.dtype({REAL: self.precision, MASK: "uint8", INDEX: "int32"}[
            self.c.field_type(self.field(name))])

    def set(self, name, values):
        """Copies an array, ghosts included, to the device."""
        values = np.asarray(values, np.float64, order="C")
        if values.shape != self.shape(name):
            raise ValueError(f"{name}: has the shape {values.shape}, not {self.shape(name)}")
        self.c.state_set(self.handle, name.encode(), values.ctypes.data)

    def get(self, name):
        """A copy of the field, in double."""
        values = np.empty(self.shape(name))
        self.c.state_get(self.handle, name.encode(), values.ctypes.data)
        return values

    def read(self, name):
        """The field as the host has it, not a copy: to be read until the state changes next."""
        return self.view(name, self.c.state_read, writeable=False)

    def write(self, name):
        """The host's memory of the field, to be filled before the state is used next."""
        return self.view(name, self.c.state_write, writeable=True)

    def view(self, name, find, writeable):
        shape, dtype = self.shape(name), self.dtype(name)
        address = find(self.handle, name.encode())
        if not address:
            raise LibraryError(self.c.last_failure(), self.c.message().decode())
        memory = (ctypes.c_char * (int(np.prod(shape)) * dtype.itemsize)).from_address(address)
        memory.state = self  # the array keeps the memory, and so the state
        array = np.frombuffer(memory, dtype).reshape(shape)
        array.flags.writeable = writeable
        return array

    def rotate(self, *names):
        """Each field gets what the next one holds, the last what the first held: no copy."""
        words = (c_char_p * len(names))(*(name.encode() for name in names))
        self.c.state_rotate(self.handle, words, len(names))

    def plan(self, sequence, bindings=""):
        return Plan(self, sequence, bindings)

    def run(self, sequence):
        """Once; a plan does without finding and binding the fields again."""
        self.plan(sequence).run()


class Plan:
    """A sequence of kernels, or one kernel, bound to the fields of a state."""

    def __init__(self, state, sequence, bindings):
        self.state, self.c = state, state.c
        handle = c_void_p()
        self.c.plan_create(state.handle, state.library.find_sequence(sequence), bindings.encode(),
                           handle)
        self.handle = handle.value
        weakref.finalize(self, self.c.plan_free, self.handle)

    def run(self):
        self.c.plan_run(self.handle)
