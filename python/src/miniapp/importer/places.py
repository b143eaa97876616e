"""Values at the points of temperature: matched by their coordinates, whatever their order."""

import numpy as np

from .problem import Elsewhere

NEAR = 0.05  # of the distance to the next point: how far a point may lie from its place
NOUNS = {"z": "other levels", "lat": "another latitude", "lon": "another longitude"}


def reach(points):
    """The distance of each point to the nearer one of its neighbours."""
    if len(points) == 1:
        return np.ones(1)
    apart = np.abs(np.diff(points))
    return np.minimum(np.append(apart, apart[-1]), np.insert(apart, 0, apart[0]))


def index_of(points, wanted, tolerance, period):
    """For each of wanted the index of the point next to it, and which of wanted have none."""
    if period:  # begin just before the first one
        start = wanted[0] - tolerance[0]
        points = (points - start) % period + start
    order = np.argsort(points)
    place = np.searchsorted(points[order], wanted - tolerance)
    index = order[np.minimum(place, len(points) - 1)]
    return index, np.flatnonzero(np.abs(points[index] - wanted) > tolerance)


def match(name, path, variable, what, points, wanted, tolerance=None):
    """Where the points of an axis are among those wanted."""
    tolerance = NEAR * reach(wanted) if tolerance is None else tolerance
    period = 360 if what == "lon" else None
    index, lacking = index_of(points, wanted, tolerance, period)
    if lacking.size:
        first = wanted[lacking[0]]
        turn = np.abs(points - first)
        nearest = points[np.argmin(np.minimum(turn % 360, -turn % 360) if period else turn)]
        raise Elsewhere(f"{path}: '{variable.name}' for {name} has {NOUNS[what]} than temperature: {len(lacking)} of "
                        f"{len(wanted)} are not there, the first is {first:g}, the nearest to it {nearest:g}, expected "
                        "the same points, not those of another grid")
    return index


def at(name, path, variable, placed, first, **wanted):
    """The values at the points of `first`, or at others that are named; an axis that the variable
    lacks has length 1."""
    values = placed.values
    for axis, what in enumerate(NOUNS):
        points = getattr(placed, what)
        if points is not None:
            index = match(name, path, variable, what, points, *wanted.get(what, (getattr(first, what),)))
            values = values.take(index, axis)
    return values
