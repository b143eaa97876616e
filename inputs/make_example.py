#!/usr/bin/python3
"""Make example.nc: temperature and salinity as many ocean data sets store them.

    make_example.py [-o example.nc]     write the file

The ocean of make_grid.py, as a user would have it: two records in time, levels from the surface
down, rows from the north, 16-bit integers with scale_factor and add_offset, fill values on land;
potential temperature in K and practical salinity, under their CF standard names. The second record
is warmer at the surface in the north and cooler in the south, as in August. Nothing is an
observation. The file is the same bit for bit on every run; of the stored one, contents and compressed
data are the same, but not all bytes, as make_grid.py explains.
"""

import argparse
import os
import sys

import make_grid  # which names packages that are missing

import gsw
import numpy as np

FILL = np.int16(-32768)
AXES = {"time": ("time",), "depth": ("depth",), "lat": ("lat",), "lon": ("lon",),
        "thetao": ("time", "depth", "lat", "lon"), "so": ("time", "depth", "lat", "lon")}
ATTRIBUTES = {
    "time": {"units": "days since 2000-01-01", "calendar": "standard", "standard_name": "time",
             "long_name": "time", "axis": "T"},
    "depth": {"units": "m", "standard_name": "depth", "long_name": "depth of the level",
              "axis": "Z", "positive": "down"},
    "lat": {"units": "degrees_north", "standard_name": "latitude", "long_name": "latitude",
            "axis": "Y"},
    "lon": {"units": "degrees_east", "standard_name": "longitude", "long_name": "longitude",
            "axis": "X"},
    "thetao": {"units": "K", "standard_name": "sea_water_potential_temperature",
               "long_name": "potential temperature", "scale_factor": 0.001, "add_offset": 293.15,
               "_FillValue": FILL},
    "so": {"units": "1e-3", "standard_name": "sea_water_practical_salinity",
           "long_name": "practical salinity", "scale_factor": 0.001, "add_offset": 20.0,
           "_FillValue": FILL},
}
ROOT = {"Conventions": "CF-1.8", "title": "Idealised global ocean on a 4-degree grid",
        "source": "make_example.py: real coastlines, idealised depth and fields"}


def pack(name, values, wet):
    """16-bit integers; rounded twice, so that the last bits of another gsw do not show."""
    scale, offset = (ATTRIBUTES[name][key] for key in ("scale_factor", "add_offset"))
    packed = np.rint(np.round((values - offset) / scale, 3))
    return np.where(wet, packed, FILL).astype("<i2")


def make_fields():
    g = make_grid.make_fields()
    wet = g["maskT"].astype(bool)
    p = gsw.p_from_z(g["zt"][:, None, None], g["y"][:, None])
    potential = gsw.pt_from_CT(g["salt"], g["temp"]) + 273.15
    practical = gsw.SP_from_SA(g["salt"], p, g["x"], g["y"][:, None])
    season = 3.0 * np.sin(np.radians(g["y"]))[:, None] * np.exp(g["zt"] / 60)[:, None, None]
    from_north_and_surface = np.s_[::-1, ::-1]
    fields = {"time": np.array([45.0, 227.0]), "depth": -g["zt"][::-1], "lat": g["y"][::-1],
              "lon": g["x"]}
    freezing = 271.25
    for name, records in (("thetao", (np.maximum(potential - season, freezing),
                                      np.maximum(potential + season, freezing))),
                          ("so", (practical, practical))):
        fields[name] = np.stack([pack(name, record, wet)[from_north_and_surface]
                                 for record in records])
    return {name: np.ascontiguousarray(values) for name, values in fields.items()}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default=os.path.join(here, "example.nc"),
                        help="the file to write [example.nc beside this script]")
    options = parser.parse_args()
    try:
        make_grid.store.write(options.output, make_fields(), AXES.get, ATTRIBUTES.get, ROOT)
    except OSError as error:
        sys.exit(f"make_example.py: {options.output}: {error}")


if __name__ == "__main__":
    main()
