"""A kernel on fields by name, with or without ghosts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from .library import HALO, Field, InputError, Library
from .state import State


def run(library: Library, path: str, kernel: str, g: dict[str, np.ndarray], halo: int, cyclic: bool,
        device: str = "cpu", precision: str = "float64", check: bool = True,
        walls: Mapping[str, np.ndarray] = MappingProxyType({}), **settings: float) -> dict[str, np.ndarray]:
    """All that the kernel writes with these settings, with as many ghosts as the fields have. The path is for messages;
    walls are what fields without ghosts are on the southern wall."""
    with State(grid_of(library, g, halo), device, precision, cyclic, check, library=library, **settings) as state:
        for name in library.reads(kernel):
            field = library.fields[name]
            values = values_of(field, g, kernel, path, settings)
            if values is None:
                values = np.zeros(state.shape(name))
            elif not halo:
                values = with_ghosts(field, values, cyclic, walls.get(name))
                if name == "cosu" and "cost" in g and len(values) > 2 * HALO + 1:
                    values[HALO - 1] = cosine_of_wall(g["cost"], g["cosu"])
            state.set(name, values)
        state.run(kernel)
        return {name: state[name] if halo else without_ghosts(library.fields[name].axes, state[name])
                for name in library.writes(kernel) if name in state}


def grid_of(library, g, halo):
    """(nz, ny, nx) with ghosts, each by the first field that has the axis."""
    lengths = {}
    for name in filter(library.fields.get, g):
        for axis, length in zip(library.fields[name].axes, g[name].shape):
            lengths.setdefault(axis, length + (0 if halo or axis == "z" else 2 * HALO))
    return tuple(lengths.get(axis, least) for axis, least in (("z", 1), ("y", 5), ("x", 5)))


def values_of(field, g, kernel, path, settings):
    """The field, what stands for it, or None for zeros."""
    if field.name in g:
        return g[field.name]
    if field.stand_in in g and field.factor:
        return field.factor * g[field.stand_in]
    if field.may_be_absent(g, settings) and field.type.is_real and not field.stand_in:
        return None
    standard = f" or of standard name {field.standard_name}" if field.standard_name else ""
    raise InputError(f"{path}: '{field.name}' is missing, which {kernel} reads: {field.long_name} "
                     f"({', '.join(field.axes)}); expected a variable of that name{standard}")


def with_ghosts(field: Field, values: np.ndarray, cyclic: bool, wall: np.ndarray | None = None) -> np.ndarray:
    """Along x those of the other side where the ocean is cyclic; a closed side is land: masks are 0 there, nothing
    flows, and other values repeat those beside it, but for corners on a southern wall: these are given, or 0."""
    closed = {"mode": "constant"} if not field.type.is_real or field.is_flow else {"mode": "edge"}
    for place, axis in enumerate(field.axes):
        if axis in ("x", "y"):
            widths = [(0, 0)] * place + [(HALO, HALO)] + [(0, 0)] * (values.ndim - place - 1)
            values = np.pad(values, widths, **({"mode": "wrap"} if axis == "x" and cyclic else closed))
    if field.has_wall:
        length = values.shape[-1] - 2 * HALO
        row = np.zeros(length) if wall is None else row_of_wall(field, wall, length)
        values[HALO - 1] = np.pad(row, HALO, mode="wrap" if cyclic else "constant")
    return values


def cosine_of_wall(cost: np.ndarray, cosu: np.ndarray) -> float:
    """On the southern wall, beyond which rows go on as they begin: miniapp/file/load.c has the reason."""
    return np.clip(cost[0] * (cost[0] + cost[1]) / cosu[0] - cosu[0], 0, 1)


def row_of_wall(field: Field, wall: object, length: int) -> np.ndarray:
    """The values on the southern wall that somebody gave."""
    row = np.asarray(wall)
    if row.shape != (length,) or row.dtype.kind not in "iuf" or not field.range.holds(row).all():
        raise InputError(f"attribute 'southern_wall' of '{field.name}' must hold {length} numbers, {field.range}")
    return row


def without_ghosts(axes: tuple[str, ...], values: np.ndarray) -> np.ndarray:
    """A field on these axes, or its records."""
    return values[(..., *(slice(HALO, -HALO) if axis in ("x", "y") else slice(None) for axis in axes))]


def copy_round(values: np.ndarray) -> None:
    """Ghosts along x become those of the other side."""
    values[..., :HALO], values[..., -HALO:] = values[..., -2 * HALO:-HALO], values[..., HALO:2 * HALO]
