#!/usr/bin/python3
"""Write eos_check_points.h: seawater at points for the C unit tests, from 50-digit arithmetic.

SA, CT and p are the doubles that the header's decimals stand for, exactly.
"""

import argparse
import itertools
import random
import sys
from pathlib import Path

import mpmath as mp

from reference import teos10

HEADER = Path(__file__).resolve().parents[1] / "unit" / "eos_check_points.h"

# (name, SA, CT, p, number of points beside the corners)
RANGES = (
    ("the range in which the kernel must hold", (0, 42), (-2, 40), (0, 8000), 140),
    ("the ocean", (33, 37.5), (-2, 30), (0, 6000), 40),
    ("deeper than any sea", (0, 42), (-2, 40), (8000, 11000), 25),
    ("the uppermost levels", (0, 42), (-2, 40), (0, 20), 15),
    ("the inputs of pyhpc-benchmarks", (0.01, 10), (-12, 20), (0, 1000), 70),
    ("around CT = -15.5, where the published closed form is 0/0", (0, 40), (-16, -15), (0, 4000),
     10),
    ("the ends of the quadrature's rules", (0, 42), (-2, 40), (1400, 4300), 0),
    ("the ends of the rules with more nodes", (0, 42), (-2, 40), (7000, 9000), 0),
    ("the ends of the rules with 3 and 5 nodes", (0, 42), (-2, 40), (400, 2800), 0),
    ("the ends of the rules with 7 and 16 nodes", (0, 42), (-2, 40), (5700, 12000), 0),
)
DIFFERENCE_ALLOWED = mp.mpf(10) ** -40


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=HEADER)
    parser.parse_args().output.write_text(header())
    return 0


def header():
    lines = [
        "/*",
        " * Seawater by the TEOS-10 48-term equation of state in 50-digit arithmetic, rounded to 20.",
        " * Made by validation/physics/make_eos_points.py: do not edit.",
        " */",
        "#ifndef EOS_CHECK_POINTS_H",
        "#define EOS_CHECK_POINTS_H",
        "",
        "struct eos_check_point {",
        "\tdouble salt; /* Absolute Salinity, g kg-1 */",
        "\tdouble temp; /* Conservative Temperature, degC */",
        "\tdouble p;    /* sea pressure, dbar */",
        "\tdouble dHdT; /* J kg-1 K-1 */",
        "\tdouble dHdS; /* J g-1 */",
        "\tdouble Hd;   /* J kg-1, less the part of 1024 kg m-3 */",
        "\tdouble rho;  /* kg m-3 */",
        "};",
        "",
        "static const struct eos_check_point eos_check_points[] = {",
    ]
    generator = random.Random(17)
    for name, *extent, number in RANGES:
        lines.append(f"\t/* {name} */")
        for sa, ct, p in points(generator, *extent, number):
            values = ", ".join(mp.nstr(value, 20) for value in seawater(sa, ct, p))
            lines.append(f"\t{{{sa!r}, {ct!r}, {p!r}, {values}}},")
    lines += ["};", "", "#endif"]
    return "\n".join(lines) + "\n"


def points(generator, sa, ct, p, number):
    """The corners of the box, then points inside and on its faces and edges."""
    yield from itertools.product(*(map(float, extent) for extent in (sa, ct, p)))
    for _ in range(number):
        yield tuple(coordinate(generator, *extent) for extent in (sa, ct, p))


def coordinate(generator, low, high):
    """One time in five an extreme; rounded for a readable table."""
    x = generator.random()
    if x < 0.2:
        return float(low if x < 0.1 else high)
    return round(generator.uniform(low, high), 4)


def seawater(sa, ct, p):
    """dHdT, dHdS, Hd and rho; of each integral two evaluations, which must agree."""
    with mp.workdps(teos10.DIGITS):
        enthalpy = teos10.dynamic_enthalpy(sa, ct, p) - teos10.PA_PER_DBAR * mp.mpf(p) / 1024
    return (agreed(teos10.dhdt_closed_form(sa, ct, p), teos10.dhdt_quadrature(sa, ct, p)),
            agreed(teos10.dhds_quadrature(sa, ct, p), teos10.dhds_difference(sa, ct, p)),
            enthalpy,
            teos10.rho(sa, ct, p))


def agreed(value, other):
    if abs(value - other) > DIFFERENCE_ALLOWED:
        raise ArithmeticError(f"the references disagree: {value} and {other}")
    return value


if __name__ == "__main__":
    sys.exit(main())
