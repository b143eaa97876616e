#!/usr/bin/env python3
"""Writes the seed corpus of the fuzzer: small valid files, inputs and references in one.

    validation/make_seeds.py build/fuzz/seeds

They differ in what HDF5 has several forms of: the format's version, layouts, filters, number types.
"""

import argparse
from pathlib import Path

import h5py
import numpy as np

import fields

SHAPE = (5, 5, 2)  # x, y, z; also the grid that fuzz_input.c expects of a reference
INPUTS = {
    "eos": ["salt", "temp", "p", "zt"],
    "isoneutral": ["salt", "temp", "zt", "dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu",
                   "maskT", "maskU", "maskV", "maskW", "K_iso"],
    "tke": ["dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "maskU", "maskV", "maskW",
            "kbot", "u_wgrid", "v_wgrid", "w_wgrid", "kappaM", "mxl", "forc", "forc_tke_surface",
            "tke", "tke_taup1", "dtke_taum1"],
}
OUTPUTS = {"eos": {"dHdT": 3}, "isoneutral": {"K_11": 3, "Ai_ez": 5}, "tke": {"tke_surf_corr": 2}}
OLD, NEW = ("earliest", "v110"), ("v110", "v110")


def chunked(**filters):
    return lambda value: {"chunks": value.shape, **filters}


def split(value):
    return {"chunks": tuple(max(1, n // 2) for n in value.shape)}


def contiguous(_):
    return {}


FORMS = {  # of a file: the format's version, the options of a dataset, the type of its reals
    "old": (OLD, contiguous, "<f8"),
    "new": (NEW, contiguous, "<f8"),
    "summed": (NEW, chunked(fletcher32=True), "<f8"),
    "packed": (NEW, chunked(shuffle=True, compression=6, fletcher32=True), "<f8"),
    "old-packed": (OLD, chunked(shuffle=True, compression=6), ">f4"),
    "old-split": (OLD, split, "<f8"),
    "new-split": (NEW, split, ">f4"),
    "growing": (NEW, lambda value: {**split(value), "maxshape": (None,) + value.shape[1:]}, "<f8"),
    "netcdf": (NEW, chunked(shuffle=True, compression=6), "<f4"),
    "scaled": (NEW, chunked(scaleoffset=3), "<f8"),
    "parts": (NEW, split, "<f8"),
    "old-parts": (OLD, split, "<f8"),
}


def dress(file, values):
    """As netCDF-4 has it: scales, fill values, a packed and renamed variable, time, no masks."""
    for name, cells in zip("zyx", values["salt"].shape):
        file[name] = np.arange(cells, dtype=float)
        file[name].make_scale(name)
    for clock, units in (("time", "days since 2000-01-01"), ("t", "Hours since 1900-1-1 0:0:0.0 UTC")):
        file[clock] = [31.0]
        file[clock].make_scale(clock)
        file[clock].attrs.update(units=units, calendar="noleap")
    for name, data in list(file.items()):
        if name in ("maskT", "maskU", "maskV", "maskW", "kbot"):
            del file[name]
        elif data.ndim == 3:
            data.attrs["_FillValue"] = data.dtype.type(np.nan)
            for place, axis in enumerate("zyx"):
                data.dims[place].attach_scale(file[axis])
    if "tke" in file:
        file["tke"][0, 2, 2] = np.nan
    if "K_iso" in file:
        values = file["K_iso"][...]
        del file["K_iso"]
        file["K_iso"] = values[None]
        file["K_iso"].dims[0].attach_scale(file["t"])
    if "salt" in file:
        file["absso"] = file["salt"][...][None]
        file["absso"].dims[0].attach_scale(file["time"])
        file["absso"][0, 0, 2, 2] = np.nan
        file["absso"].attrs.update(standard_name="sea_water_absolute_salinity", scale_factor=1.0,
                                   missing_value=np.array([-1e34, np.nan]), units="g kg-1")
        del file["salt"]
    del file.attrs["halo"]


def take_apart(file):
    """What lies elsewhere or nowhere: missing chunks, with and without a fill value, virtual datasets,
    raw data and links of other files; units to be converted, and labels for scales."""
    reals = [name for name, data in file.items() if data.ndim == 3 and data.dtype.kind == "f"]
    ways = (half_written, half_filled, shown, moved_out, linked)
    for number, name in enumerate(reals):
        values = file[name][...]
        del file[name]
        ways[number % len(ways)](file, name, values)
    for name, units in (("dxt", "km"), ("dzt", "cm"), ("p", "Pa")):
        if name in file:
            file[name].attrs["units"] = units
    for name in ("maskU", "temp"):
        if name in file:
            for place, axis in enumerate("zyx"):
                file[name].dims[place].label = axis


def half_written(file, name, values):
    file.create_dataset(name, values.shape, values.dtype, chunks=(1, 5, 5))[1:] = values[1:]


def half_filled(file, name, values):
    file.create_dataset(name, values.shape, values.dtype, chunks=(1, 5, 5), fillvalue=1.0,
                        compression=6)[1:] = values[1:]


def shown(file, name, values):
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    for level, part in enumerate(values):
        file[f"parts/{name}{level}"] = part
        layout[level] = h5py.VirtualSource(".", f"parts/{name}{level}", part.shape)
    file.create_virtual_dataset(name, layout)


def moved_out(file, name, values):
    file.create_dataset(name, values.shape, values.dtype,
                        external=[("absent.raw", 0, 8), ("absent.raw", 8, h5py.h5f.UNLIMITED)])


def linked(file, name, _):
    file[name] = h5py.ExternalLink("absent.h5", name)


def make(path, kernel, libver, options, real, values, settings):
    """One file. Masks are booleans, which HDF5 stores as an enumeration, in the old format."""
    generator = np.random.default_rng(1)
    with h5py.File(path, "w", libver=libver) as file:
        file.attrs.update({**settings, "halo": 2, "cyclic_x": 0})
        for name in INPUTS[kernel]:
            value = np.asarray(values[name])
            if value.dtype.kind == "f":
                value = value.astype(real)
            elif name.startswith("mask") and libver == OLD:
                value = value.astype(bool)
            file.create_dataset(name, data=value, track_times=False,
                                **({} if value.dtype.kind == "b" else options(value)))
        for name, rank in OUTPUTS[kernel].items():
            shape = (2, 2, *SHAPE[::-1])[5 - rank:]
            value = generator.standard_normal(shape)
            data = file.create_dataset(name, data=value, track_times=False, **options(value))
            data.attrs.update(rtol=1e-10, atol=1e-12)
        if path.stem.endswith("netcdf"):
            dress(file, values)
        if path.stem.endswith("parts"):
            take_apart(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="where the files go; made where it is missing")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    values, settings = fields.make(*SHAPE, seed=1)
    for form, (libver, options, real) in FORMS.items():
        for kernel in INPUTS:
            make(folder / f"{kernel}-{form}.h5", kernel, libver, options, real, values, settings)


if __name__ == "__main__":
    main()
