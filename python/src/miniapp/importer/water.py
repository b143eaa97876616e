"""Absolute Salinity and Conservative Temperature from what a file has, and where there is water."""

import re

import gsw
import numpy as np

from . import axes
from .problem import Unusable, note
from .source import COMMON_NAMES, STANDARD_NAMES
from .units import ZERO_CELSIUS

ROUNDING = 1e-5  # of a 0 that was packed, or turned into K, in single precision
NOUNS = {"temp": ("temperature", ("in-situ", "potential", "conservative")),
         "salt": ("salinity", ("practical", "absolute"))}


def kind_of(name, path, variable, chosen):
    noun, kinds = NOUNS[name]
    option = getattr(chosen, noun)
    standard_name = axes.text_of(variable, "standard_name")
    long_name = axes.text_of(variable, "long_name").lower().replace("in situ", "in-situ")
    kind = option or STANDARD_NAMES[name].get(standard_name)
    if not kind and len(said := [kind for kind in kinds if kind in long_name]) == 1:
        kind = said[0]
    if not kind:
        raise Unusable(f"{path}: '{variable.name}' does not say which {noun} it holds: add --{noun} "
                       f"{', '.join(kinds[:-1])} or {kinds[-1]}")
    if not option and standard_name == "sea_water_salinity":
        note(f"{path}: '{variable.name}' is sea_water_salinity, taken as practical salinity "
            "(--salinity absolute says otherwise)")
    note(f"{path}: {name} from '{variable.name}', {kind} {noun}")
    return kind


def read(name, source, chosen):
    """(Placed, kind, path, variable), or None where there is no such variable."""
    found = source.find(name, STANDARD_NAMES[name])
    if not found:
        return None
    path, variable = found
    kind = kind_of(name, path, variable, chosen)
    if name == "temp" and not source.units_of(name, variable):
        raise Unusable(f"{path}: '{variable.name}' has no units, expected degC or K; say which by --units temp=degC")
    placed = source.place(path, variable)
    placed.values = source.in_units(name, path, variable, placed.values)
    return placed, kind, path, variable


def what_would_do(name):
    noun, _ = NOUNS[name]
    return (f"{name} (a variable of standard name {' or '.join(STANDARD_NAMES[name])}, or named "
            f"{', '.join(COMMON_NAMES[name])}; or --variable {name}=THEIRS, or --default "
            f"{name}=VALUE for one {noun} everywhere)")


def missing_axes(name, placed):
    return [f"{what} of {name} (a coordinate with {hint})" for what, values, hint in (
        ("longitude", placed.lon, "units degrees_east"), ("latitude", placed.lat, "units degrees_north"),
        ("depth", placed.z, "attribute positive, or standard name depth or height")) if values is None]


def check_range(source, what, values, wet, least, most, hint):
    """The first value out of range ends the run."""
    bad = wet & ~((values >= least) & (values <= most))
    if bad.any():
        k, j, i = np.argwhere(bad)[0]
        raise Unusable(f"{source.name}: {what} is {values[k, j, i]:g} at level {k}, row {j}, column {i} (from the "
                       f"bottom, south and west), expected {least:g} to {most:g}; {hint}")


def close_holes(source, wet, fields, z, holes):
    """Treats dry cells above water, of which Veros's masks have none."""
    below = np.maximum.accumulate(wet, axis=0)
    dry = below & ~wet
    if not dry.any():
        return wet
    columns = np.argwhere(dry.any(axis=0))
    text = (f"{np.sum(dry)} dry cells lie above water, in {len(columns)} columns, the first in row "
            f"{columns[0][0]}, column {columns[0][1]} (from south and west)")
    if holes == "refuse":
        raise Unusable(f"{source.name}: {text}, expected water from the sea floor to the surface; "
                       "--holes fill interpolates them, --holes land makes land of what lies below")
    if holes == "land":
        note(f"{source.name}: {text}: what lies below them is land now")
        return np.logical_and.accumulate(wet[::-1], axis=0)[::-1]
    note(f"{source.name}: {text}: interpolated in the vertical")
    for values in fields:
        for j, i in columns:
            known = np.isfinite(values[:, j, i])  # in a dry cell, too, one of both may be measured
            gap = dry[:, j, i] & ~known
            values[gap, j, i] = np.interp(z[gap], z[known], values[known, j, i])
    return below


def marked_land(source, temp, salt, mask):
    """Where the mask is 0 or, without one, where temperature and salinity are both 0."""
    if mask is not None:
        return mask == 0
    if salt is None:
        return np.zeros(temp.shape, bool)
    too = "" if temp is None else ", and temperature, too"
    temp = np.zeros_like(salt) if temp is None else temp  # a constant tells nothing
    is_zero = abs(salt) < ROUNDING
    land = is_zero & ((abs(temp) < ROUNDING) | (abs(temp + ZERO_CELSIUS) < ROUNDING))
    fresh = is_zero & ~land & np.isfinite(temp)
    for cells, what in ((land, f"{too}: they are land"), (fresh, ", but not temperature: they are fresh water")):
        if cells.any():
            note(f"{source.name}: salinity is exactly 0 in {np.sum(cells)} cells{what} "
                "(--variable maskT=THEIRS says otherwise)")
    return land


MASK = re.compile(r"mask|^lsm$|^wet|^hfacc$|^land|_binary_mask$|_area_fraction$", re.IGNORECASE)


def note_other_masks(source):
    """Says which variables may be masks, since nobody named one."""
    names = [str(name) for _, dataset in source.datasets for name, one in dataset.data_vars.items() if one.ndim > 1
             and (MASK.search(str(name)) or MASK.search(axes.text_of(one, "standard_name")))]
    if names:
        note(f"warning: {', '.join(names)} may be a mask, and is not used: --variable "
             f"maskT={names[0]} makes land where it is 0")


def where_wet(source, fields):
    """Water is where both have values."""
    present = [np.isfinite(values) for values in fields]
    if len(present) == 2 and (present[0] != present[1]).any():
        note(f"{source.name}: {np.sum(present[0] != present[1])} cells have only one of "
            "temperature and salinity: they are dry")
    wet = np.logical_and.reduce(present)
    if wet.all():
        note(f"warning: {source.name}: there is no land, since no value is missing and no mask says where it is")
    if not wet.any():
        raise Unusable(f"{source.name}: no cell has temperature and salinity, expected water")
    return wet


def convert(temp, temp_kind, salt, salt_kind, lon, lat, z):
    """CT and SA by TEOS-10, at the pressure of each level and latitude."""
    p = gsw.p_from_z(z[:, None, None], lat[:, None])
    if salt_kind == "practical":
        salt = gsw.SA_from_SP(salt, p, np.mod(lon, 360), lat[:, None])
        note("salt: Absolute Salinity from practical salinity, by gsw.SA_from_SP")
    if temp_kind == "potential":
        temp = gsw.CT_from_pt(salt, temp)
        note("temp: Conservative Temperature from potential temperature, by gsw.CT_from_pt")
    elif temp_kind == "in-situ":
        temp = gsw.CT_from_t(salt, temp, p)
        note("temp: Conservative Temperature from in-situ temperature, by gsw.CT_from_t")
    return temp, salt
