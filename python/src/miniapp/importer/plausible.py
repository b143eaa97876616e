"""Whether the fields of an input agree with each other: one line for each fault, with the first index.

Values that cannot be used at all, such as one out of its range, are refused elsewhere; this finds values that can be
used and are wrong: units, an axis that goes the other way, fields of another grid.
"""

import numpy as np

from ..ghosts import copy_round
from ..library import HALO
from . import complete, masks, table
from .problem import note

AIR = 20.0  # dbar: above sea pressure under a bar of air, or in brine
FACES = {"x": ("dxu", "maskU", "u", "u_wgrid"), "y": ("dyu", "cosu", "maskV", "v", "v_wgrid")}


def alike(values, expected):
    """Within a factor of 2, which no stretched grid comes near."""
    return (values >= expected / 2) & (values <= 2 * expected)


def fits(apart, width):
    """Which distances of T points are the mean of both widths; or, as in Veros, whose faces lie midway between T
    points, leave widths that are the mean of both distances. Steep stretching makes those distances alternate."""
    between = alike(apart, 0.5 * (width[1:] + width[:-1]))
    if len(width) < 3:
        return between
    centred = np.pad(np.isclose(width[1:-1], 0.5 * (apart[1:] + apart[:-1]), rtol=1e-5), 1, mode="edge")
    return between | (centred[1:] & centred[:-1])


def faults_of(g, cyclic, halo):
    """Lines that say what is wrong."""
    rules = (levels, pressure, upper_faces, widths, cosines, directions, columns, faces, walls, ghosts)
    return [line for rule in rules for line in rule(g, cyclic, halo)]


def first(name, bad, g, text):
    """A line about the first element that is bad, if any is."""
    places = np.argwhere(bad)
    if len(places):
        place = tuple(map(int, places[0]))
        said = text(*place) if callable(text) else text
        yield f"{complete.place_of(name, place)} is {g[name][place]:g}, {said}"


# ---- along one axis ----

def levels(g, *_):
    """The distance of two T points is dzw, and fits their dzt."""
    if "zt" not in g:
        return
    zt = g["zt"]
    apart = np.diff(zt)
    yield from first("zt", zt > 0, g, "but heights are negative below the surface")
    yield from first("zt", np.append(False, apart <= 0), g, lambda k: f"after {zt[k - 1]:g}, but heights rise")
    for name in {"dzt", "dzw"} & set(g):
        fit = alike(g[name][:-1], apart) if name == "dzw" else fits(apart, g[name])
        yield from first(name, ~fit & (apart > 0), g, lambda k: f"but zt goes from {zt[k]:g} to {zt[k + 1]:g} there")


def pressure(g, *_):
    """In dbar it is about the depth in m."""
    if not {"p", "zt"} <= set(g):
        return
    p, depth = g["p"], -g["zt"]
    yield from first("p", (p < depth / 2 - AIR) | (p > 2 * depth + AIR), g,
                     lambda k: f"but zt is {g['zt'][k]:g} there: pressure in dbar is about the depth in m")
    yield from first("p", np.append(False, np.diff(p) > 0), g,
                     lambda k: f"but {p[k - 1]:g} in the level below, where pressure is higher")


def upper_faces(g, *_):
    """A W point is the upper face of its cell, so it lies between two T points."""
    if not {"zw", "zt"} <= set(g):
        return
    zw, above = g["zw"], np.append(g["zt"][1:], np.inf)
    yield from first("zw", (zw <= g["zt"]) | (zw >= above), g,
                     lambda k: f"but zt is {g['zt'][k]:g} there, and {above[k]:g} above")
    if "dzt" in g:
        yield from first("dzt", np.append(False, ~alike(g["dzt"][1:], np.diff(zw))), g,
                         lambda k: f"but zw goes from {zw[k - 1]:g} to {zw[k]:g} there")


def widths(g, *_):
    """The distance of two T points fits the widths of their cells."""
    for name, of_cells in (("dxu", "dxt"), ("dyu", "dyt")):
        if {name, of_cells} <= set(g):
            width = g[of_cells]
            yield from first(name, ~fits(g[name][:-1], width), g,
                             lambda i, w=width, of=of_cells: f"but {of} is {w[i]:g} and {w[i + 1]:g} on its sides")


def cosines(g, *_):
    """A face lies between two T points, and its cosine about between theirs."""
    if {"cost", "cosu"} <= set(g):
        a, b = g["cost"][:-1], g["cost"][1:]
        cosu = g["cosu"][:-1]
        yield from first("cosu", (cosu < np.minimum(a, b) / 2) | (cosu > 2 * np.maximum(a, b)), g,
                         lambda j: f"but cost is {a[j]:g} and {b[j]:g} on its sides")


def directions(g, *_):
    """Fields on eastern and northern faces would lie on the wrong side."""
    for axis, rise, fall in (("x", "west to east", "east to west"), ("y", "south to north", "north to south")):
        apart = np.diff(g[axis]) if axis in g else np.zeros(0)
        if apart.size and np.median(apart) < 0 and any(name in g for name in FACES[axis]):
            yield (f"{axis} goes from {fall}, from {g[axis][0]:g} to {g[axis][-1]:g}, but has to go from {rise}, "
                   "since fields lie on faces")


# ---- water ----

def columns(g, *_):
    """Masks and kbot agree, and no land lies above water."""
    if not {"maskT", "kbot"} <= set(g):
        return
    wet = g["maskT"].astype(bool)
    yield from first("maskT", np.maximum.accumulate(wet, axis=0) & ~wet, g, "but water lies below it")
    yield from first("kbot", g["kbot"] != masks.kbot_of(wet), g,
                     lambda j, i: f"but by maskT it is {masks.kbot_of(wet)[j, i]}")


def inner(values, halo):
    """Without the last row and column of ghosts, whose faces lead out."""
    return values[:, :-1, :-1] if halo else values


def faces(g, cyclic, halo):
    """A face may be open between cells of water only."""
    if "maskT" not in g:
        return
    wet = g["maskT"].astype(bool)
    made = masks.masks_of(wet, cyclic and not halo)
    for name in {"maskU", "maskV"} & set(g):
        given = g[name].astype(bool)
        yield from first(name, inner(given & ~made[name], halo), g, "so open, but a cell beside it is land")
        closed = inner(made[name] & ~given, halo)
        if halo:
            closed = closed[:, HALO:-1, HALO:-1]
        if closed.any():
            note(f"warning: {closed.sum()} faces of {name} are closed between cells of water")
    if "maskW" in g:
        yield from first("maskW", g["maskW"].astype(bool) != made["maskW"], g, "but by maskT it is the other")


def walls(g, cyclic, halo):
    """Nothing flows through a wall."""
    if halo:
        return
    for name in ("u", "v", "u_wgrid", "v_wgrid"):
        if name in g and name[0] == "v":
            yield from first(name, wall(g[name], 1), g, "but lies in the northern wall, which is closed")
        elif name in g and not cyclic:
            yield from first(name, wall(g[name], 2), g, "but lies in the eastern wall, which is closed: the "
                             "attribute cyclic_x = 1 would open it")


def wall(values, axis):
    there = np.zeros(values.shape, bool)
    np.moveaxis(there, axis, 0)[-1] = True
    return there & (values != 0)


def ghosts(g, cyclic, halo):
    """In a cyclic ocean they repeat the cells at the other side; one line for all fields."""
    odd = {}
    for name, field in table.fields().items():
        if not (halo and cyclic and name in g and "x" in field.axes):
            continue
        copied = g[name].copy()
        copy_round(copied)
        rows = masks.where(g, field)
        if "y" in field.axes:
            rows = rows.copy()
            rows[..., :halo, :] = rows[..., -halo:, :] = False
        bad = np.argwhere(rows & ~np.isclose(g[name], copied, rtol=1e-6, atol=0))
        if bad.size:
            place = tuple(bad[0])
            odd[name] = (f"{complete.place_of(name, place)} is {g[name][place]:g}, but {copied[place]:g} at the "
                         "other side")
    if odd:
        yield ("cyclic_x is 1, so ghost cells have to repeat the cells at the other side, but those of "
               f"{', '.join(odd)} do not: {next(iter(odd.values()))}")
