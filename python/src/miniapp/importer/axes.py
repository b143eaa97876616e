"""Longitude, latitude, depth and time of a variable, by CF's attributes or by common names."""

import functools
import os
import re

import numpy as np

from . import packing
from .problem import Elsewhere, Unusable, note

NAMES = {
    "longitude": {"lon", "longitude", "nav_lon", "glamt", "xt"},
    "latitude": {"lat", "latitude", "nav_lat", "gphit", "yt"},
    "depth": {"depth", "deptht", "depthu", "depthv", "depthw", "lev", "level", "z", "zt", "zw",
              "st_ocean", "gdept_1d", "nav_lev"},
    "time": {"time", "t", "time_counter"},
}
UNITS = {
    "longitude": {"degrees_east", "degree_east", "degree_e", "degrees_e", "degreee", "degreese"},
    "latitude": {"degrees_north", "degree_north", "degree_n", "degrees_n", "degreen", "degreesn"},
}
DIMENSIONS = {"longitude": {"x", "i"}, "latitude": {"y", "j"}, "depth": {"k"}}
STANDARD_NAMES = {"longitude": "longitude", "latitude": "latitude", "time": "time",
                  "depth": "depth", "height": "depth", "altitude": "depth",
                  "height_above_mean_sea_level": "depth"}
NOMINAL = 0.05  # of a cell: the most by which 1-D and 2-D coordinates of a point differ
DEGREES = {"", "degrees", "degree", "deg"}
METRES = {"m": 1.0, "metre": 1.0, "metres": 1.0, "meter": 1.0, "meters": 1.0, "cm": 0.01,
          "centimeters": 0.01, "km": 1000.0}
DECIBARS = {"dbar", "decibar", "decibars", "db"}
NO_DEPTHS = re.compile(r"index|number|sigma|ocean_s_|hybrid|pressure|density|^atmosphere_")
ON_LEVELS = ("interpolate to levels at the same depths everywhere, for example by xgcm's "
             "Grid.transform")


def text_of(variable, attribute):
    value = variable.attrs.get(attribute)
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def role(name, variable):
    """longitude, latitude, depth or time, if it is any of them."""
    units = text_of(variable, "units").lower()
    for what, known in UNITS.items():
        if units in known:
            return what
    if text_of(variable, "standard_name").lower() in STANDARD_NAMES:
        return STANDARD_NAMES[text_of(variable, "standard_name").lower()]
    if " since " in units or text_of(variable, "axis").upper() == "T":
        return "time"
    if text_of(variable, "positive").lower() in ("up", "down") or text_of(variable, "axis").upper() == "Z":
        return "depth"
    return next((what for what, known in NAMES.items() if name.lower() in known), None)


def role_of_dimension(dimension):
    """longitude, latitude or depth, by the name that models give to such a dimension; else None."""
    name = str(dimension).lower()
    return next((what for what, known in NAMES.items() if name in known | DIMENSIONS.get(what, set())), None)


def is_time(dataset, dimension):
    return str(dimension).lower() in NAMES["time"] or any(one.dims == (dimension,) and role(str(name), one) == "time"
                                                          for name, one in dataset.variables.items())


def may_be_levels(values):
    """0 or 1 and what follows, or shares of the depth."""
    count = np.sort(np.abs(values))
    return count[-1] <= 1 or (count[0] <= 1 and (np.diff(count) == 1).all())


def kind_of_levels(one):
    """The kind of a vertical coordinate: a "length", a "pressure", the "number" of a level or neither; and what is wrong
    with it as a depth. Numbers of levels and sigma tend to have no units."""
    units, standard_name = (text_of(one, name).lower() for name in ("units", "standard_name"))
    if NO_DEPTHS.search(standard_name):
        return ("number" if "index" in standard_name or "number" in standard_name else "",
                f"is {standard_name}, expected a depth or height in m, cm or km; {ON_LEVELS}")
    if units in METRES or not units and STANDARD_NAMES.get(standard_name) == "depth":
        return "length", None
    if units in DECIBARS:
        return "pressure", None
    values = np.asarray(one, float)
    kind = "number" if units in ("", "1") and one.ndim == 1 and may_be_levels(values) else ""
    if units:
        return kind, f"is in '{units}', expected m, cm, km or dbar"
    if standard_name or str(one.name).lower() not in NAMES["depth"]:
        return kind, "has no units, expected m, cm or km, or a name such as depth"
    return kind, kind and (f"has no units, and {values[0]:g} to {values[-1]:g} may be numbers of levels or sigma, "
                           "expected units m, cm or km")


def coordinates_of(path, dataset, variable):
    """For each role the coordinate that suits best: one with the name of a dimension, else one that
    the attribute `coordinates` declares, else the one with the fewest axes. A depth comes before
    the number of its level, whose axis may be a dimension."""
    declared = (text_of(variable, "coordinates")  # if it names what the file lacks
                or str(variable.encoding.get("coordinates", ""))).split()
    candidates = {}
    for name in dataset.variables:
        one = dataset[name]
        what = role(str(name), one) if one.dtype.kind in "iuf" else None
        if what and one.ndim and set(one.dims) <= set(variable.dims) and name != variable.name:
            is_level = what == "depth" and not (kind_of_levels(one)[0] == "length"
                                                and (one.ndim == 1 or name in declared))
            rank = (is_level, name not in variable.dims, name not in declared, one.ndim, str(name))
            candidates.setdefault(what, []).append((rank, one))
    found = {what: [one for _, one in sorted(pairs, key=lambda pair: pair[0])] for what, pairs in candidates.items()}
    for what in ("longitude", "latitude"):
        if what in found:
            check_nominal(path, found[what], declared)
    if lacking := [name for name in declared if name not in dataset.variables]:
        note(f"{path}: '{variable.name}' is said to have coordinates {', '.join(lacking)}, but the "
             "file lacks them, so those of its dimensions are taken")
    return {what: ones[0] for what, ones in found.items()}


def curvilinear(path, reason):
    return Elsewhere(f"{path}: the grid is curvilinear: {reason}, expected a regular grid of "
                     "longitudes and latitudes; regrid it, for example by cdo remapbil,r360x180")


def farthest(values, others):
    """The largest angle between them in degrees, where both are there."""
    return np.nanmax(np.abs((values - others + 180) % 360 - 180), initial=0)


def spacing_of(points):
    return np.nanmin(np.abs(np.diff(points)), initial=360) if len(points) > 1 else 1.0


def check_nominal(path, coordinates, declared):
    """A 1-D longitude or latitude may be nominal. If the file has 2-D ones of the same points, one
    of those has to agree with it, of those that are declared, if any is."""
    line, *others = coordinates
    if line.ndim > 1:
        return
    points, dimension = values_of(path, line), line.dims[0]
    others = [one for one in others if one.ndim > 1 and dimension in one.dims]
    others = [one for one in others if one.name in declared] or others
    apart = {}
    for one in others:
        values = load(path, one.transpose(..., dimension))
        apart[one.name] = farthest(values, points)
    if apart and min(apart.values()) > NOMINAL * spacing_of(points):
        name = min(apart, key=apart.get)
        raise curvilinear(path, f"'{name}' differs from '{line.name}' by {apart[name]:.3g} degrees")


@functools.lru_cache(maxsize=16)
def odd_in(path, _changed):
    """A file's datasets of text of a fixed length, which end netCDF's library by a signal, and the virtual ones. The
    file is opened once as long as it has not changed."""
    import h5py  # pylint: disable=import-outside-toplevel
    if not h5py.is_hdf5(path):
        return [], set()
    with h5py.File(path) as file:
        found = {name: one for name in file if isinstance(one := file.get(name), h5py.Dataset)}
        kinds = {name: one.id.get_type() for name, one in found.items()}
        return ([name for name, kind in kinds.items() if kind.get_class() == h5py.h5t.STRING
                 and kind.get_size() > 1 and not kind.is_variable_str()],
                {name for name, one in found.items() if one.is_virtual})


def odd_datasets(path):
    of_file = os.stat(path)
    return odd_in(path, (of_file.st_ino, of_file.st_size, of_file.st_mtime_ns))


def check_stored(path, name):
    """HDF5 reads what the sources of a virtual dataset lack as zeros, without a word."""
    if not os.path.isfile(path):  # but a Dataset
        return
    if name in odd_datasets(path)[1]:
        raise Unusable(f"{path}: '{name}' is virtual, so it may lack parts, expected data in the "
                       "file itself: xarray.open_dataset(OLD).to_netcdf(NEW) copies it")


def load(path, variable):
    """All values of a variable, NaN where they are missing; only now is its data read."""
    packing.check(path, variable)  # first: newer xarrays turn values into text by a scale_factor of text
    if variable.dtype.kind not in "iufb":
        raise Unusable(f"{path}: '{variable.name}' holds no numbers")
    if empty := [name for name, length in variable.sizes.items() if length == 0]:
        raise Unusable(f"{path}: '{variable.name}' has no point along '{empty[0]}', expected one or more")
    check_stored(path, variable.name)
    try:
        values = np.asarray(variable.values, float)
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        raise Unusable(f"{path}: '{variable.name}' cannot be read ({error})") from error
    return packing.only_valid(path, variable, values)


def values_of(path, coordinate):
    values = load(path, coordinate)
    if not np.isfinite(values).all():
        raise Unusable(f"{path}: coordinate '{coordinate.name}' has missing values, expected numbers")
    return values


def date_of(coordinate):
    """The date of a single time; None where its number and units give none."""
    import cftime  # pylint: disable=import-outside-toplevel
    try:
        return cftime.num2date(float(coordinate), text_of(coordinate, "units"),
                               text_of(coordinate, "calendar") or "standard")
    except (ValueError, TypeError, OverflowError):
        return None


def check_degrees(path, coordinate, values, what):
    units = text_of(coordinate, "units").lower()
    if units not in UNITS[what] | DEGREES:
        raise Unusable(f"{path}: {what} '{coordinate.name}' is in '{units}', expected degrees")
    if units:
        return
    if what == "latitude" and len(values) > 1 and np.nanmax(np.abs(values)) <= np.pi / 2:
        raise Unusable(f"{path}: latitude '{coordinate.name}' has no units, and {np.nanmin(values):g} "
                       f"to {np.nanmax(values):g} may be radians, expected units degrees_north")
    note(f"{path}: '{coordinate.name}' has no units: taken as degrees")


def horizontal(path, name, found):
    """The dimension and the values of longitude and latitude."""
    roles = [what for what in ("longitude", "latitude") if what in found]
    pair = [found[what] for what in roles]
    if len(pair) == 2 and pair[0].ndim == 1 and pair[0].dims == pair[1].dims:
        raise Elsewhere(f"{path}: two of longitude, latitude and depth of '{name}' lie "
                        f"along '{pair[0].dims[0]}', expected a grid; if that is an unstructured one, "
                        "regrid it, for example by cdo remapdis,r360x180")
    values = [(values_of if one.ndim == 1 else load)(path, one) for one in pair]
    if len(pair) == 2 and pair[0].ndim == 2 and pair[0].dims == pair[1].dims:
        # what models write for land that no process has
        nowhere = (values[0] == 0) & (values[1] == 0)
        if nowhere.sum() > 1:
            values = [np.where(nowhere, np.nan, one) for one in values]
    return {what: along_one(path, found[what], one, what) for what, one in zip(roles, values)}


def first_known(values, axis):
    index = np.expand_dims(np.isfinite(values).argmax(axis), axis)
    return np.take_along_axis(values, index, axis)


def along_one(path, coordinate, values, what):
    """The dimension and the values of a horizontal coordinate; one with two axes has to be
    regular, and may be missing on land."""
    check_degrees(path, coordinate, values, what)
    if coordinate.ndim == 1:
        return coordinate.dims[0], values
    if coordinate.ndim != 2:
        raise Unusable(f"{path}: coordinate '{coordinate.name}' has {coordinate.ndim} axes, "
                       "expected 1, or 2 on a regular grid")
    lines = [first_known(values, axis) for axis in (0, 1)]
    spread = [farthest(values, line) for line in lines]
    across = int(np.argmin(spread))
    line = lines[across].squeeze(across)
    if spread[across] > 0.01 * spacing_of(line):
        raise curvilinear(path, f"'{coordinate.name}' varies by {spread[across]:.3g} degrees along "
                          f"'{coordinate.dims[across]}'")
    note(f"{path}: 2-D '{coordinate.name}' is regular and taken as an axis")
    return coordinate.dims[1 - across], without_gaps(path, coordinate, line)


def without_gaps(path, coordinate, line):
    """An axis whose points are missing where all is land: evenly spaced there."""
    known = np.flatnonzero(np.isfinite(line))
    if len(known) == len(line):
        return line
    if len(known) < 2:
        raise Unusable(f"{path}: coordinate '{coordinate.name}' has missing values, expected numbers")
    note(f"{path}: '{coordinate.name}' is missing at {len(line) - len(known)} of {len(line)} places "
         "along its axis: they are spaced evenly")
    points, places = np.unwrap(line[known], period=360), np.arange(len(line))
    slopes = [(points[a + 1] - points[a]) / (known[a + 1] - known[a]) for a in (0, -2)]
    return (np.interp(places, known, points) + slopes[0] * np.minimum(places - known[0], 0)
            + slopes[1] * np.maximum(places - known[-1], 0))


def by_pressure(path, coordinate, values, lat):
    """The heights at which the pressure is that of the levels, at the mean latitude."""
    import gsw  # pylint: disable=import-outside-toplevel
    middle = 0.0 if lat is None else np.mean(lat)
    note(f"{path}: '{coordinate.name}' is a pressure in dbar: z by gsw.z_from_p at latitude "
         f"{middle:.3g}, the same everywhere")
    return gsw.z_from_p(values, middle)


def heights(path, coordinate, lat):
    """z in m, negative below the surface, of a 1-D depth or height."""
    if coordinate.ndim != 1:
        raise Unusable(f"{path}: depth '{coordinate.name}' has {coordinate.ndim} axes, expected 1: "
                       f"levels at the same depths everywhere; {ON_LEVELS}")
    values = values_of(path, coordinate)
    kind, complaint = kind_of_levels(coordinate)
    if complaint:
        raise Unusable(f"{path}: vertical coordinate '{coordinate.name}' {complaint}")
    if kind == "pressure":
        return by_pressure(path, coordinate, values, lat)
    if not text_of(coordinate, "units"):
        note(f"{path}: '{coordinate.name}' has no units: taken as m")
    values = values * METRES.get(text_of(coordinate, "units").lower(), 1.0)
    positive = text_of(coordinate, "positive").lower()
    down = positive == "down" or (positive != "up" and values.sum() > 0)
    if down and (values <= 0).all() and values.any():
        note(f"{path}: '{coordinate.name}' is positive down, but its values are negative: taken as heights")
        down = False
    z = -values if down else values
    if (z > 0).any():
        raise Unusable(f"{path}: depth '{coordinate.name}' has a level {z.max():g} m above the "
                       "surface, expected levels below it; is its attribute 'positive' right?")
    if down:
        note(f"{path}: '{coordinate.name}' is a depth, positive down; z is its negative")
    return z + 0.0  # no negative zero


def ascending(path, name, points, what):
    """Whether points rise along their axis; neither rising nor falling is an error."""
    if len(points) < 2 or (np.diff(points) > 0).all():
        return True
    if not (np.diff(points) < 0).all():
        raise Unusable(f"{path}: coordinate '{name}' neither rises nor falls throughout, expected "
                       "one direction and no value twice")
    start = {"depth": "the surface", "latitude": "the north", "longitude": "the east"}[what]
    note(f"{path}: '{name}' begins at {start}: turned round")
    return False
