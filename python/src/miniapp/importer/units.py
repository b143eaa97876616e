"""Units as files write them: m2 s-1, m^2/s, m**2.s**-1 and cm2/s are of one kind. The few that the ocean's
fields need."""

import re
from collections import Counter

from .problem import Unusable, note

SAME = {"1/(ms)": "m-1 s-1"}  # as Veros writes that of beta
KNOWN = {  # name: factor, base units
    **{name: (1.0, "m") for name in ("m", "meter", "meters", "metre", "metres")},
    "mm": (1e-3, "m"), "cm": (1e-2, "m"), "km": (1e3, "m"),
    **{name: (1.0, "s") for name in ("s", "sec", "second", "seconds")},
    **{name: (86400.0, "s") for name in ("d", "day", "days")},
    **{name: (3600.0, "s") for name in ("h", "hr", "hour", "hours")},
    "kg": (1.0, "kg"), "g": (1e-3, "kg"),
    **{name: (1.0, "K") for name in ("K", "kelvin", "degC", "deg_C", "celsius", "degree_C", "degrees_C")},
    "Pa": (1.0, "kg m-1 s-2"), "hPa": (1e2, "kg m-1 s-2"), "kPa": (1e3, "kg m-1 s-2"),
    "bar": (1e5, "kg m-1 s-2"), "dbar": (1e4, "kg m-1 s-2"), "decibar": (1e4, "kg m-1 s-2"),
    "J": (1.0, "kg m2 s-2"), "N": (1.0, "kg m s-2"), "W": (1.0, "kg m2 s-3"),
}
CELSIUS = {"degc", "celsius", "degree_celsius", "degrees_celsius", "degree_c", "degrees_c", "deg_c",
           "degrees celsius", "degree celsius", "deg c", "degrees c", "degree c", "c", "°c",
           "degree_celcius"}  # as xmitgcm spells it
KELVIN = {"k", "kelvin", "degk", "deg_k", "degree_kelvin", "degrees_kelvin", "degree_k"}
PER_THOUSAND = {"g kg-1", "g/kg", "g.kg-1", "1e-3", "0.001", ".001", "1", "psu", "pss", "pss-78", "pss78", "ppt",
                "per mil", "practical salinity units", "practical_salinity_unit", "1e-03", "dimensionless",
                "gram/kilogram"}
FRACTION = {"kg kg-1", "kg/kg", "kg.kg-1", "kg kg**-1"}
ZERO_CELSIUS = 273.15
WORD = re.compile(r"([A-Za-z_]+)([+-]?\d+)?")


def parse(text):
    """(factor, exponents of m, s, kg and K); None where a word is not known."""
    text = SAME.get(text.strip(), text).replace("**", "").replace("^", "").replace("deg C", "degC")
    text = re.sub(r"[*·]|(?<=[A-Za-z0-9])\.(?=[A-Za-z(])", " ", text)
    factor, exponents = 1.0, Counter()
    for place, part in enumerate(text.split("/")):
        sign = -1 if place else 1
        for word in part.replace("(", " ").replace(")", " ").split():
            if re.fullmatch(r"\d*\.?\d+(e[+-]?\d+)?", word):
                factor *= float(word) ** sign
                continue
            found = WORD.fullmatch(word)
            if not found or found[1] not in KNOWN:
                return None
            power = sign * int(found[2] or 1)
            own, base = KNOWN[found[1]]
            factor *= own ** power
            for name, exponent in WORD.findall(base):
                exponents[name] += power * int(exponent or 1)
    return factor, {name: power for name, power in exponents.items() if power}


def line_between(theirs, ours):
    """(factor, offset) that turn their units into ours; None where these are of another kind."""
    if ours == "degC":
        return (1, 0) if theirs.lower() in CELSIUS else (1, -ZERO_CELSIUS) if theirs.lower() in KELVIN else None
    if ours == "g kg-1" and theirs.lower() in PER_THOUSAND | FRACTION:
        return (1 if theirs.lower() in PER_THOUSAND else 1000, 0)
    a, b = parse(theirs), parse(ours)
    return (a[0] / b[0], 0) if a and a[1] == b[1] else None


def convert(path, name, values, theirs, ours, remedy=""):
    """Values in our units; units that are absent, or have no kind, are taken for ours."""
    line = line_between(theirs, ours) if theirs and ours and theirs != ours else (1, 0)
    if not line:
        raise Unusable(f"{path}: '{name}' is in '{theirs}', expected {ours}{remedy}")
    if line == (1, 0):
        return values
    note(f"{path}: '{name}' turned from {theirs} into {ours}")
    return values * line[0] + line[1] if line[1] else values * line[0]
