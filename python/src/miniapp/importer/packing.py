"""The attributes that define how numbers are packed, and which are valid.

xarray unpacks, and takes _FillValue and missing_value for missing; valid_min, valid_max and
valid_range are left to its users.
"""

import numpy as np

from .problem import Unusable, note


def refuse(path, variable, attribute, value, expected):
    raise Unusable(f"{path}: {attribute} of '{variable.name}' is {value.tolist()!r}, expected {expected}")


def check(path, variable):
    """Scale and offset, as the program has them, and what stands for a missing value."""
    for name in ("scale_factor", "add_offset"):
        value = np.asarray(variable.encoding.get(name, 1.0))
        is_number = value.dtype.kind in "iuf" and value.size == 1 and np.isfinite(value).all()
        if not is_number or (name == "scale_factor" and value == 0):
            refuse(path, variable, name, value, "a finite number, and a scale_factor other than 0")
    value = np.asarray(variable.encoding.get("missing_value", 0.0))
    if value.dtype.kind not in "iuf":
        refuse(path, variable, "missing_value", value, "numbers")


def limits(path, variable):
    """(attribute, limit, whether from below or above: -1 or 1)"""
    for attribute, sides in {"valid_min": (-1,), "valid_max": (1,), "valid_range": (-1, 1)}.items():
        if attribute in variable.attrs:
            values = np.atleast_1d(variable.attrs[attribute])
            if values.dtype.kind not in "iuf" or len(values) != len(sides):
                refuse(path, variable, attribute, values, "2 numbers" if len(sides) == 2 else "a number")
            yield from ((attribute, value, side) for value, side in zip(values, sides))


def beyond(variable, values, limit, side):
    """Where values lie below or above a limit. CF has it in the units of packed integers, unless it
    is no integer itself."""
    packed = np.dtype(variable.encoding.get("dtype", float))
    scale = variable.encoding.get("scale_factor", 1.0)
    if packed.kind != "f" and limit.dtype.kind == "f":
        return side * (values - limit) > abs(scale) / 2
    numbers = (values - variable.encoding.get("add_offset", 0.0)) / scale
    if packed.kind == "f":
        return side * (numbers - limit.astype(packed)) > 0
    if limit < 0 and variable.encoding.get("_Unsigned") == "true":
        limit = int(limit) + 2 ** (8 * packed.itemsize)
    return side * (np.rint(numbers) - limit) > 0


def only_valid(path, variable, values):
    """The values, but those missing that the file's own limits exclude."""
    found = list(limits(path, variable))
    excluded = np.zeros(values.shape, bool)
    for _, limit, side in found:
        excluded |= beyond(variable, values, limit, side)
    if not excluded.any():
        return values
    text = "its own " + ", ".join(f"{attribute} {limit:g}" for attribute, limit, _ in found)
    if excluded[np.isfinite(values)].all():
        raise Unusable(f"{path}: all values of '{variable.name}' lie beyond {text}, expected some within")
    note(f"{path}: {excluded.sum()} values of '{variable.name}' lie beyond {text}, so they are missing")
    return np.where(excluded, np.nan, values)
