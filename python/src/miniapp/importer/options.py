"""The command line of run/make-input."""

import argparse
import difflib
import math
from pathlib import Path

from ..library import default
from . import table
from .problem import Usage, program

# Fields that may be given besides the grid: by --variable, by --default, or as the file's variable of that
# name.
FIELDS = ("K_iso", "tke", "kappaM", "mxl", "forc", "forc_tke_surface", "u_wgrid", "v_wgrid",
          "w_wgrid", "dtke_taum1", "tke_taup1", "K_diss_v")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything else does."""

    def error(self, message):
        raise Usage(f"{message} (--help helps)")


def make_parser(text):
    parser = Parser(prog=program(), description=text, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("files", metavar="FILE.nc", type=Path, nargs="+",
        help="netCDF; several where temperature and salinity are in files of their own")
    add("-o", "--output", metavar="GRID.h5", type=Path, required=True, help="the file to write")
    add("--figure", metavar="FILE", type=Path,
        help="the picture, its kind by its ending [the output's name with .png]; without matplotlib there is "
             "none")
    add("--time", metavar="INDEX", type=int,
        help="the record to take, from 0, or from the end where negative")
    add("--variable", metavar="NAME=THEIRS", action="append", default=[],
        help=f"take their variable for temp, salt, maskT, u, v, {', '.join(FIELDS)}, or another field "
             "on (z, y, x) or (y, x) of miniapp --list-kernels; repeatable")
    add("--tracer", metavar="NAME[=THEIRS]", action="append", default=[],
        help="take their variable, or that of the same name, as a tracer; repeatable")
    add("--default", metavar="NAME=VALUE", action="append", default=[],
        help="a constant for one of those fields, but maskT: everywhere, or where theirs is "
             "missing; repeatable")
    add("--units", metavar="NAME=UNITS", action="append", default=[],
        help="the units that their variable has, whatever the file says; repeatable")
    add("--set", metavar="NAME=VALUE", action="append", default=[],
        help="a setting for the kernels, kept in the output; repeatable")
    add("--temperature", choices=("in-situ", "potential", "conservative"),
        help="what their temperature is [by its standard name]")
    add("--salinity", choices=("practical", "absolute"),
        help="what their salinity is [by its standard name]")
    add("--holes", choices=("refuse", "fill", "land"), default="refuse",
        help="dry cells above water: end with an error, interpolate in the vertical, or make land "
             "of the water below [refuse]")
    add("--cyclic-x", metavar="0|1", type=int, choices=(0, 1),
        help="whether the last column meets the first [whether longitudes go round the globe]")
    add("--halo", metavar="0|2", type=int, choices=(0, 2),
        help="the rings of ghosts of a file that has all fields [its attribute halo]")
    add("--forcing", metavar="FILE.nc", type=Path, action="append", default=[],
        help="take wind, fluxes and targets of the surface from this file, interpolated to the grid, with all of its "
             "records in time; repeatable")
    add("--period", metavar="SECONDS", type=float,
        help="after which the records of --forcing repeat [the number of records times their spacing]")
    add("--restart", metavar="FILE.h5", type=Path,
        help="a restart of Veros, of the run whose snapshot FILE.nc is")
    return parser


def pairs(option, texts, names):
    """NAME=VALUE texts as a dictionary."""
    result = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise Usage(f"{option} {text}: expected NAME=VALUE")
        if name not in names:
            closest = difflib.get_close_matches(name, names, 1, 0)[0]
            raise Usage(f"{option} {text}: there is no '{name}'; the closest is '{closest}'")
        if name in result:
            raise Usage(f"{option} {text}: '{name}' was given before")
        result[name] = value
    return result


def numbers(option, texts, names):
    result = pairs(option, texts, names)
    for name, text in result.items():
        try:
            result[name] = float(text)
        except ValueError:
            result[name] = math.nan
        if not math.isfinite(result[name]):
            raise Usage(f"{option} {name}={text}: expected a number")
    return result


def parse(text):
    """The options, with the repeatable ones as dictionaries."""
    chosen = make_parser(text).parse_args()
    water = ("temp", "salt")
    chosen.tracer = dict(text.partition("=")[::2] for text in chosen.tracer)
    for name in chosen.tracer:
        default().find_sequence(f"ocean_step+{name}")  # from now on the table has its fields
    theirs = list(table.fields())
    chosen.variable = pairs("--variable", chosen.variable, theirs)
    chosen.variable |= {name: text or name for name, text in chosen.tracer.items()}
    reals = [name for name in theirs if table.fields()[name].type.is_real]
    chosen.default = numbers("--default", chosen.default, reals)
    chosen.units = pairs("--units", chosen.units, theirs)
    chosen.set = numbers("--set", chosen.set, table.settings())
    for name, value in chosen.set.items():
        if not (known := table.settings()[name].range).holds(value):
            raise Usage(f"--set {name}={value:g}: expected {known}")
    if ("u" in chosen.variable) != ("v" in chosen.variable):
        raise Usage("--variable: u and v belong together, but only one is given")
    if set(water) <= set(chosen.default):
        raise Usage("--default: temp and salt cannot both be constants, where would land be?")
    if not chosen.output.name:
        raise Usage(f"--output {chosen.output}: is no name of a file")
    chosen.figure = chosen.figure or chosen.output.with_suffix(".png")
    if chosen.figure == chosen.output:
        raise Usage(f"--figure {chosen.figure}: is the output itself, expected another name")
    if chosen.period is not None and not (chosen.forcing and 0 < chosen.period <= 1e12):
        raise Usage(f"--period {chosen.period:g}: expected seconds above 0, and --forcing")
    inputs = {path.resolve() for path in (*chosen.files, *chosen.forcing, chosen.restart) if path}
    for path in (chosen.output, chosen.figure):
        if path.resolve() in inputs:
            raise Usage(f"{path}: would be overwritten, expected an output that is no input")
    return chosen
