"""Each kernel as a function of arrays, made from what the library says of it."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable

import numpy as np

from . import ghosts
from .library import HALO, Kernel, Library, Type, UsageError
from .state import as_array


def is_optional(kernel, argument, given):
    """Whether a call may leave it out: it is 0 then or, if another argument stands in for it, that one."""
    field = argument.field
    needed = {other.field.name for other in kernel.reads() if not other.field.is_optional}
    return field.may_be_absent(given, given) and (not field.stand_in or field.stand_in in needed)


def make(library: Library, name: str) -> Callable:
    kernel = library.kernels[name]
    signature = make_signature(kernel)
    outputs = kernel.writes()
    results = namedtuple(kernel.name, [argument.name for argument in outputs])

    def function(*args, **kwargs):
        given = bind(kernel, signature, args, kwargs)
        fields = {argument.field.name: array_of(argument, given.pop(argument.name))
                  for argument in kernel.reads() if argument.name in given}
        fields = ghosts.run(library, name, name, fields, HALO, False, **given)
        made = results(*(fields.get(argument.field.name) for argument in outputs))
        return made if len(made) > 1 else made[0]

    function.__name__ = function.__qualname__ = kernel.name
    function.__module__ = __package__
    function.__doc__ = describe(kernel)
    function.__signature__ = signature
    function.__annotations__ = {parameter.name: parameter.annotation
                                for parameter in signature.parameters.values()}
    return function


def bind(kernel, signature, args, kwargs):
    """{name: value} of what is given."""
    try:
        read = {argument.name: argument for argument in kernel.reads()}
        given = {name: value for name, value in signature.bind_partial(*args, **kwargs).arguments.items()
                 if value is not None or name not in read}
        for name, argument in read.items():
            if name not in given and not is_optional(kernel, argument, given):
                raise TypeError(f"missing a required argument: '{name}'")
    except TypeError as error:
        raise TypeError(f"{kernel.name}: {error}") from None
    return given


def make_signature(kernel: Kernel) -> inspect.Signature:
    kind, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    outputs = kernel.writes()
    return inspect.Signature(
        [inspect.Parameter(argument.name, kind, annotation=np.ndarray) for argument in kernel.reads()]
        + [inspect.Parameter("device", keyword, default="cpu", annotation=str),
           inspect.Parameter("precision", keyword, default="float64", annotation=str),
           inspect.Parameter("check", keyword, default=True, annotation=bool)]
        + [inspect.Parameter(setting.name, keyword, default=kind_of(setting)(setting.default),
                             annotation=kind_of(setting))
           for setting in kernel.settings],
        return_annotation=np.ndarray if len(outputs) == 1 else tuple)


def kind_of(setting) -> type:
    return int if setting.is_whole else float


def array_of(argument, values) -> np.ndarray:
    array, axes = as_array(argument.name, values), argument.field.axes
    if array.ndim != len(axes):
        raise UsageError(f"{argument.name}: the shape is {array.shape}, not one of ({', '.join(axes)})")
    return array


# ---- docstrings ----

def describe(kernel: Kernel) -> str:
    """A docstring in NumPy's style."""
    lines = [f"{kernel.summary[:1].upper()}{kernel.summary[1:]}.", "",
             "Arrays have the order (z, y, x), level 0 at the bottom, and two ghost cells on each side of y",
             "and x. Cells that the kernel does not write, such as ghosts, are 0. An output that the settings leave",
             "untouched is None.", "",
             "Parameters", "----------"]
    for argument in kernel.reads():
        lines += describe_argument(argument, is_optional(kernel, argument, {}))
    lines += ['device : "cpu", "gpu", "gpu:N" or "auto"', 'precision : "float64" or "float32"',
              "check : bool", "    whether arrays have to be in their ranges on water, by the mask if there is one"]
    for setting in kernel.settings:
        lines += [f"{setting.name} : {kind_of(setting).__name__}, {setting.units}, "
                  f"default {setting.default:g}",
                  f"    {setting.long_name}; {setting.range}"]
    lines += ["", "Returns", "-------"]
    for argument in kernel.writes():
        lines += describe_argument(argument, False)
    return "\n".join([*lines, "", "References", "----------", kernel.citation, ""])


def describe_argument(argument, may_be_absent) -> list[str]:
    field = argument.field
    axes = f"array ({', '.join(field.axes)})" if field.axes else "number"
    standard = f"; CF: {field.standard_name}" if field.standard_name else ""
    values = "0 to nz" if field.type is Type.INDEX else field.range
    stand_in = f"{field.factor:g} {field.stand_in}".removeprefix("1 ") if field.stand_in else "0"
    optional = f"; None: {stand_in}" if may_be_absent else ""
    return [f"{argument.name} : {axes}, {field.units}",
            f"    {field.meaning}; {values} on water{standard}{optional}"]
