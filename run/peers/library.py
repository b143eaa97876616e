"""libphysics.so by ctypes: the structures of include/physics/*.h, and a call on NumPy's arrays.

Fields and kernels are found by name in the library's own tables, and structures are as large as
the library says: a new field or kernel needs no change here.
"""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_void_p

import numpy as np

MAX_RANK = 5
REAL, MASK, INDEX = range(3)  # enum physics_type
PRECISIONS = ("float64", "float32")  # enum physics_precision


class Layout(ctypes.Structure):
    _fields_ = [(name, c_size_t) for name in (
        "fields", "settings", "kernel_fields", "field_bytes", "setting_bytes", "kernel_bytes",
        "call_bytes")]


class Grid(ctypes.Structure):
    _fields_ = [("nx", c_size_t), ("ny", c_size_t), ("nz", c_size_t)]


class Mismatch(Exception):
    """The library is not the one that this file describes."""


def structure(path, name, members, size):
    """A structure that begins with these members, as large as the library says that it is."""
    plain = type(name, (ctypes.Structure,), {"_fields_": members})
    rest = size - ctypes.sizeof(plain)
    if rest < 0:
        raise Mismatch(f"{path}: its struct physics_{name} has {size} bytes, but the members that "
                       f"are known take {size - rest}")
    return type(name, (plain,), {"_fields_": [("rest", ctypes.c_char * rest)]})


class Library:
    """The kernels for host threads."""

    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        try:
            self.layout = Layout.in_dll(self.c, "physics_layout")
        except ValueError as error:
            raise Mismatch(f"{path}: is no libphysics.so of this version") from error
        self.declare_structures(path)
        self.c.physics_host_kernels.restype = POINTER(self.Kernel)
        self.c.physics_find_kernel.restype = POINTER(self.Kernel)
        self.c.physics_find_kernel.argtypes = [POINTER(self.Kernel), c_char_p]
        self.c.physics_run.argtypes = [POINTER(self.Kernel), POINTER(self.Call)]
        self.c.physics_default_settings.argtypes = [POINTER(self.Call)]
        self.c.physics_default_settings.restype = None
        self.fields = (self.Field * self.layout.fields).in_dll(self.c, "physics_fields")
        self.settings = (self.Setting * self.layout.settings).in_dll(self.c, "physics_settings")

    def declare_structures(self, path):
        """Of tables, the members that are used here; of a call, all."""
        of, layout = ctypes.c_int * self.layout.kernel_fields, self.layout
        self.Field = structure(path, "field", [
            ("name", c_char_p), ("axes", c_int * (MAX_RANK + 1)), ("type", c_int)],
            layout.field_bytes)
        self.Setting = structure(path, "setting", [("name", c_char_p), ("value", c_double)],
                                 layout.setting_bytes)
        self.Kernel = structure(path, "kernel", [
            ("name", c_char_p), ("summary", c_char_p), ("source", c_char_p), ("inputs", of),
            ("outputs", of)], layout.kernel_bytes)
        self.Call = structure(path, "call", [
            ("grid", Grid), ("setting", c_double * layout.settings),
            ("input", c_void_p * layout.fields), ("output", c_void_p * layout.fields)],
            layout.call_bytes)
        if ctypes.sizeof(self.Call.__base__) != layout.call_bytes:
            raise Mismatch(f"{path}: its struct physics_call has members that are not known here")

    def set_threads(self, threads):
        self.c.omp_set_num_threads(threads)  # of the OpenMP runtime that the library brings

    def kernel(self, name, precision="float64"):
        table = self.c.physics_host_kernels(PRECISIONS.index(precision))
        found = self.c.physics_find_kernel(table, name.encode())
        if not found:
            raise KeyError(f"the library has no kernel '{name}'")
        return found

    def dtype(self, field, precision):
        return {REAL: precision, MASK: "uint8", INDEX: "int32"}[self.fields[field].type]

    def prepare(self, name, inputs, outputs, precision="float64"):
        """A call of the kernel on arrays by field name, with the default settings. Inputs are
        converted to what the kernel reads; outputs must be contiguous, and are written to."""
        kernel = self.kernel(name, precision)
        call = self.Call()
        self.c.physics_default_settings(call)
        kept = []  # the arrays, which must live as long as the function below
        for field in until_zero(kernel.contents.inputs):
            word = self.fields[field].name.decode()
            array = np.ascontiguousarray(inputs[word], dtype=self.dtype(field, precision))
            kept.append(array)
            call.input[field] = array.ctypes.data
            if array.ndim == 3:
                call.grid = Grid(*reversed(array.shape))
        for field in until_zero(kernel.contents.outputs):
            word = self.fields[field].name.decode()
            array = outputs[word]
            if array.dtype != precision or not array.flags.c_contiguous:
                raise ValueError(f"{word}: is not contiguous {precision}")
            kept.append(array)
            call.output[field] = array.ctypes.data

        def run():
            status = self.c.physics_run(kernel, call)
            if status:
                raise ValueError(f"{name}: physics_run came to status {status}")
            return outputs

        run.kept = kept
        return run


def until_zero(numbers):
    """The numbers of a list that 0 ends."""
    for number in numbers:
        if number == 0:
            return
        yield number
