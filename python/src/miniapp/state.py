"""An ocean on a device: its fields as NumPy's arrays, and the kernels and steps that run on them."""

from __future__ import annotations

import ctypes
import functools
import math
import operator
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from ctypes import c_char_p, c_void_p

import numpy as np

from . import library as libraries
from .library import (
    HALO, PRECISIONS, Budget, Field, Flow, Grid, InputError, Library, MismatchError, Type, UsageError, decode, encode)


# ---- arrays ----

def as_array(name: str, values) -> np.ndarray:
    """Numbers of any type, as they are; the name is for the message."""
    if np.ma.is_masked(values):
        raise UsageError(f"{name}: has masked values; give them one, such as by .filled(0)")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}: is no array: {error}") from error
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{name}: takes numbers, not {array.dtype}")
    return array


def as_double(name: str, values, shape: tuple[int, ...], axes: tuple[str, ...]) -> np.ndarray:
    """An array for the library: the argument itself if it is contiguous and in double."""
    array = as_array(name, values)
    if array.shape != shape:
        raise UsageError(f"{name}: the shape is {array.shape}, not {shape} of ({', '.join(axes)})")
    return np.require(array, np.float64, ["C", "A"])


def check_values(name: str, array: np.ndarray, most: float) -> None:
    """Refuses numbers that are not finite or above `most`. Two passes over the array are mostly enough:
    its minimum and maximum are NaN if any of its values is."""
    if not (np.isfinite(array.min()) and array.max() <= most):
        first = tuple(map(int, np.argwhere(~(np.isfinite(array) & (array <= most)))[0]))
        raise InputError(f"{name}{list(first)} is {array[first]:g}, not a number of at most {most:g}; "
                         "land, too, takes one, such as 0")


@functools.cache
def memory_of(size: int) -> type:
    """Kept, because ctypes takes longer to make a type than to find a field."""
    return ctypes.c_char * size


def as_grid(shape: Sequence[int]) -> Grid:
    try:
        lengths = [operator.index(length) for length in shape]
    except TypeError:
        lengths = []
    if len(lengths) != 3 or not all(0 <= length <= 2 ** 31 for length in lengths):
        raise UsageError(f"grid: takes (nz, ny, nx) with two ghosts on each side of y and x, not {shape!r}")
    return Grid(*reversed(lengths))


# ---- the state ----

class Lock:
    """Lets one thread after the other in, and nobody in a child that was forked while one was inside: what that
    thread had begun stays undone there, and so would its lock."""

    def __init__(self):
        self.inner, self.is_broken = threading.RLock(), False
        locks.add(self)

    def __enter__(self):
        if self.is_broken:
            raise UsageError("the process was forked while another thread was in a call on this state: "
                             "make another state here")
        self.inner.acquire()

    def __exit__(self, *_error):
        self.inner.release()

    def look_after_fork(self):
        if self.inner.acquire(blocking=False):
            self.inner.release()
        else:
            self.is_broken = True


locks: weakref.WeakSet[Lock] = weakref.WeakSet()
os.register_at_fork(after_in_child=lambda: [lock.look_after_fork() for lock in locks])


class Memory:
    """The library's part of a state. It is freed when no state, plan or array refers to it."""

    def __init__(self, library, grid, device, precision):
        self.lock = Lock()
        c, handle, opened = library.c, c_void_p(), c_void_p()
        weakref.finalize(self, release, c, handle, opened)  # first: a warning may be raised once it is open
        c.device_open(encode(device), opened)
        c.state_create(opened, PRECISIONS.index(precision), ctypes.byref(grid), handle)
        self.handle, self.device = handle.value, c.device_label(opened)

    def call(self, function, *arguments):
        """A function of the library on the state, from one thread at a time."""
        with self.lock:
            return function(self.handle, *arguments)


def release(c, handle, device):
    c.state_free(handle)
    c.device_close(device)


class State:
    """The fields of an ocean in the memory of a device, and the kernels that run on them.

    Parameters
    ----------
    grid : (nz, ny, nx)
        nx and ny include two ghost cells on each side; level 0 is the bottom.
    device : "cpu", "gpu", "gpu:N" or "auto"
    precision : "float64" or "float32"
        What the device computes in.
    cyclic_x : bool
        Whether ghosts along x come from the other side. All other ghosts are land.
    check : bool
        Whether fields have to be in their ranges on water, when they are set and when they are used, and
        steps have to keep their budgets and lead to an ocean.
    **settings
        By name, such as dt_tracer=43200; miniapp.settings() has them all.

    Fields are arrays in the order (z, y, x), ghosts included; miniapp.fields() has them all.
    Threads may share a state: its calls wait for each other.

        with miniapp.State(salt.shape) as state:
            state["salt"], state["temp"], state["p"] = salt, temp, p
            state.run("eos")
            dHdT = state["dHdT"]
    """

    def __init__(self, grid: Sequence[int], device: str = "cpu", precision: str = "float64",
                 cyclic_x: bool = False, check: bool = True, *, library: Library | None = None, **settings: float):
        if precision not in PRECISIONS:
            raise UsageError(f"precision: takes {' or '.join(PRECISIONS)}, not {precision!r}")
        self.library = library or libraries.default()
        self.c = self.library.c
        self.grid, self.precision = as_grid(grid), precision
        self.added: dict[str, Field] = {}
        self.steps: dict[str, Plan] = {}
        self.budgets: dict[str, Budget] = {}
        self.memory: Memory | None = Memory(self.library, self.grid, device, precision)
        self.device, self.lock = self.memory.device, self.memory.lock
        self.check = bool(check)
        self.c.state_set_cyclic(self.memory.handle, cyclic_x)
        self.c.state_set_checks(self.memory.handle, self.check)
        for name, value in settings.items():
            self.set_setting(name, value)

    def __reduce_ex__(self, _protocol):
        raise TypeError("a State cannot be copied or pickled: make another, and set its fields")

    def call(self, function, *arguments):
        memory = self.memory
        if memory is None:
            raise UsageError("the state is closed")
        return memory.call(function, *arguments)

    def close(self) -> None:
        """Lets go of the memory, which plans and the arrays of `read` keep as long as they are in use."""
        with self.lock:
            self.memory = None
            self.steps.clear()

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_error) -> None:
        self.close()

    # -- settings --

    def set_setting(self, name: str, value: float) -> None:
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{name}: takes a number, not {value!r}") from error
        except OverflowError as error:
            raise UsageError(f"{name}: takes a number that float64 holds") from error
        self.call(self.c.state_set_setting, encode(name), number)

    def setting(self, name: str) -> float:
        word = encode(name)
        if name not in self.library.settings:
            self.set_setting(name, 0)  # fails, and names the closest
        return self.call(lambda state: self.c.settings_get(self.c.state_settings(state), word))

    # -- fields --

    def field(self, name: str) -> Field:
        """The row of the table that describes the field."""
        word = encode(name)
        field = self.added.get(name) or self.library.fields.get(name)
        if field is None:
            self.call(self.c.state_rotate, (c_char_p * 1)(word), 1)  # fails, and names the closest
        return field

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.c.axis_length(axis, ctypes.byref(self.grid))
                     for axis in self.field(name).axis_numbers)

    def dtype(self, name: str) -> np.dtype:
        """The type in which the state holds the field."""
        return np.dtype({Type.REAL: self.precision, Type.MASK: "uint8", Type.INDEX: "int32", Type.DOUBLE: "float64"}[
            self.field(name).type])

    def add(self, name: str, like: str) -> None:
        """Adds a field, such as a tracer, with the shape and units of another."""
        with self.lock:
            self.call(self.c.state_add, encode(name), encode(like))
            self.added[name] = self.field(like)

    def has(self, name: str) -> bool:
        """Whether the field holds something."""
        return self.call(self.c.state_has, encode(name))

    def set(self, name: str, values) -> None:
        """Copies an array, ghosts included, into the field; contiguous doubles are not copied a second time."""
        field = self.field(name)
        array = as_double(name, values, self.shape(name), field.axes)
        check_values(name, array, self.grid.nz if field.type is Type.INDEX else np.finfo(np.float64).max)
        with self.lock:
            self.call(self.c.state_set, encode(name), array.ctypes.data)
            self.restart_steps([name])

    def get(self, name: str) -> np.ndarray:
        """A copy of the field, ghosts included, in the type that the state holds it in."""
        with self.lock:
            return self.read(name).copy()

    __setitem__, __getitem__, __contains__ = set, get, has

    def __iter__(self) -> Iterator[str]:
        """The names of the fields that hold something."""
        return iter([name for name in (*self.library.fields, *self.added) if self.has(name)])

    def read(self, name: str) -> np.ndarray:
        """The field as the host has it, not a copy; it is valid until the state changes next."""
        return self.view(name, self.c.state_read, writeable=False)

    def write(self, name: str) -> np.ndarray:
        """The host's memory of the field: fill all of it, ghosts included, before the state's next call."""
        with self.lock:
            self.restart_steps([name])
            return self.view(name, self.c.state_write, writeable=True)

    def view(self, name, find, writeable):
        shape, dtype = self.shape(name), self.dtype(name)
        with self.lock:
            address = self.call(find, encode(name))
            if not address:
                raise libraries.FAILURES[self.c.last_failure()](self.c.message())
            memory = memory_of(math.prod(shape) * dtype.itemsize).from_address(address)
            memory.owner = self.memory  # the array keeps the memory
        array = np.frombuffer(memory, dtype).reshape(shape)
        array.flags.writeable = writeable
        return array

    def rotate(self, *names: str) -> None:
        """Each field takes what the next one holds, and the last what the first held; nothing is copied."""
        words = (c_char_p * len(names))(*map(encode, names))
        with self.lock:
            self.call(self.c.state_rotate, words, len(names))
            self.restart_steps(names)

    def add_up(self, name: str, first: str, second: str | None = None) -> None:
        """Adds a field of the same shape, or two of them one after the other, to a field."""
        with self.lock:
            self.call(self.c.state_add_up, encode(name), encode(first), None if second is None else encode(second))
            self.restart_steps([name])

    # -- several processes --

    def share(self, along_x: int, along_y: int) -> None:
        """Makes it this process's own block of an ocean of along_x times along_y blocks of one size, before its first
        field is set; MPI's ranks number them along x first. The library has to be built with MPI, which somebody, such
        as mpi4py, has started. Ghosts then come from the other blocks, and all processes have to make the same calls
        in the same order."""
        along_x, along_y = (libraries.whole("share", blocks, 1, libraries.MAX_BLOCKS) for blocks in (along_x, along_y))
        self.c.join(along_x * along_y)
        self.call(self.c.state_share, along_x, along_y)

    def exchange(self, name: str) -> None:
        """Makes all ghosts of the field current."""
        self.call(self.c.state_exchange, encode(name))

    @property
    def bytes(self) -> int:
        """How much of the device's memory the state holds."""
        return int(self.call(self.c.state_bytes))

    # -- running --

    def plan(self, sequence: str, bindings: str = "") -> Plan:
        """A kernel or a sequence, bound to the fields of this state, to be run often. `bindings` are
        FIELD=OTHER,... where another field, such as an added one, takes a field's place."""
        return Plan(self, sequence, bindings)

    def run(self, sequence: str) -> None:
        """Runs a kernel or a sequence once. A plan saves finding and binding the fields each time."""
        self.plan(sequence).run()

    def step(self, n: int = 1, sequence: str = "ocean_step", tracers: Sequence[str] = ()) -> None:
        """Makes n steps in time, like `miniapp --steps`: the first ones start from the fields as they were
        set, and so do those after one of the prognostic fields was set again. Tracers are fields that were
        added like "tracer"; nothing comes in through their surface unless it was set. Unless the state was made
        with check=False, an InputError says where the flow is not free of divergence or not that of psi, and a
        MismatchError what the steps have made that is not finite, is beyond the limits of an ocean, or is lost or
        gained against a budget. `budgets` are those of the last call."""
        n = operator.index(n)
        if n < 0:
            raise UsageError(f"step: takes a number of steps, not {n}")
        try:
            whole = "+".join([sequence, *tracers])
        except TypeError as error:
            raise UsageError(f"step: takes names, not {sequence!r} and {tracers!r}") from error
        with self.lock:
            if whole not in self.steps:
                self.steps[whole] = self.begin_steps(sequence, whole)
            plan = self.steps[whole]
            if self.check and n:
                self.c.flow_judge(ctypes.byref(self.measure(plan.sequence)), HALO, b"", b"check=False")
            budgets = self.open_budgets(plan) if self.check and n else None
            for _ in range(n):
                plan.advance()
            if budgets:
                self.check_steps(plan, n, budgets)

    def flow(self, sequence: str = "ocean_step") -> Flow:
        """How fast the flow is in which the sequence's steps would be made, and how far it is from being free
        of divergence."""
        numbers = self.measure(self.library.find_sequence(sequence))
        if not numbers.is_there:
            raise UsageError(f"'{sequence}' takes no flow")
        return Flow(*numbers.courant, numbers.below, numbers.top)

    def measure(self, sequence):
        numbers = libraries.FlowNumbers()
        self.call(self.c.flow_measure, sequence, ctypes.byref(numbers))
        return numbers

    def open_budgets(self, plan):
        budgets = (libraries.BudgetNumbers * libraries.BUDGETS)()
        self.call(self.c.budgets_open, plan.sequence, budgets)
        return budgets

    def check_steps(self, plan, n, budgets):
        for name in sorted(plan.carried):
            array, (least, most) = self.read(name), self.field(name).limits
            if not (array.min() >= least and array.max() <= most):
                first = tuple(map(int, np.argwhere(~((array >= least) & (array <= most)))[0]))
                raise MismatchError(f"{name}{list(first)} is {array[first]:g} after the steps, which is no ocean's")
        self.call(self.c.budgets_close, plan.sequence, n, budgets)
        self.budgets = {decode(budget.name): Budget.of(budget) for budget in budgets if budget.is_kept}
        for name, budget in self.budgets.items():
            if not abs(budget.residual) <= budget.bound:
                raise MismatchError(f"the budget of {name} is not kept: its residual is {budget.residual:.3g} "
                                    f"{budget.units}, where rounding makes {budget.bound:.3g} at most")

    def begin_steps(self, sequence, whole):
        plan = self.plan(whole)
        for name in set(self.library.reads(whole)) - set(self.library.reads(sequence)):
            if not self.has(name) and self.library.fields[name].is_optional:
                self.set(name, np.zeros(self.shape(name)))
        if not self.c.sequence_level_count(plan.sequence):
            raise UsageError(f"'{sequence}' is no step in time")
        self.call(self.c.snapshot_settle, plan.sequence)
        return plan

    def restart_steps(self, names):
        """Lets those steps in time that carry one of the fields on start anew."""
        self.steps = {sequence: plan for sequence, plan in self.steps.items() if plan.carried.isdisjoint(names)}


class Plan:
    """A sequence of kernels, or one kernel, bound to the fields of a state."""

    def __init__(self, state: State, sequence: str, bindings: str = ""):
        self.c, self.memory = state.c, state.memory
        self.sequence = state.library.find_sequence(sequence)
        self.carried = frozenset(state.library.carries(sequence))
        handle = c_void_p()
        weakref.finalize(self, self.c.plan_free, handle)
        state.call(self.c.plan_create, self.sequence, encode(bindings), handle)
        self.handle = handle.value

    def call(self, function):
        with self.memory.lock:
            function(self.handle)

    def run(self) -> None:
        """Runs it once. For a step in time, the first run also makes what later ones find."""
        self.call(self.c.plan_run)

    def advance(self) -> None:
        """Runs it as one step in time: afterwards time levels change places."""
        self.call(self.c.plan_advance)

    def restart(self) -> None:
        """Lets the next run count as the first, after new fields to start from were set."""
        self.call(self.c.plan_restart)
