#!/usr/bin/env python3
"""Writes the seed corpus of the fuzzer: small valid files, each an input and a reference, which differ in what HDF5
has several forms of: the format's version, layouts, filters, number types."""

import argparse
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fields  # noqa: E402  pylint: disable=wrong-import-position

SHAPE = (5, 5, 2)  # x, y, z; also the grid that fuzz_input.c expects of a reference
MASKS = ["maskT", "maskU", "maskV", "maskW", "kbot"]
INPUTS = {  # of a kernel, besides the masks
    "eos": ["salt", "temp", "p", "zt"],
    "isoneutral": ["salt", "temp", "zt", "dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "K_iso"],
    "tke": ["dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "u_wgrid", "v_wgrid", "w_wgrid", "kappaM", "mxl",
            "forc", "forc_tke_surface", "tke", "tke_taup1", "dtke_taum1"],
}
OUTPUTS = {"eos": {"dHdT": 3}, "isoneutral": {"K_11": 3, "Ai_ez": 5}, "tke": {"tke_surf_corr": 2}}
OLD, NEW = ("earliest", "v110"), ("v110", "v110")


FORMS = {  # of a file: the format's version, the chunks along an axis, their options, the type of its reals
    "old": (OLD, 0, {}, "<f8"),
    "new": (NEW, 0, {}, "<f8"),
    "summed": (NEW, 1, {"fletcher32": True}, "<f8"),
    "packed": (NEW, 1, {"shuffle": True, "compression": 6, "fletcher32": True}, "<f8"),
    "old-packed": (OLD, 1, {"shuffle": True, "compression": 6}, ">f4"),
    "old-split": (OLD, 2, {}, "<f8"),
    "new-split": (NEW, 2, {}, ">f4"),
    "growing": (NEW, 2, {"maxshape": None}, "<f8"),
    "scaled": (NEW, 1, {"scaleoffset": 3}, "<f8"),
}


def storage(shape, parts, options):
    """A dataset that can grow does so along its first axis."""
    found = {"chunks": tuple(max(1, cells // parts) for cells in shape)} if parts else {}
    return found | options | ({"maxshape": (None, *shape[1:])} if "maxshape" in options else {})


def make(path, kernel, libver, parts, options, real, values, settings):
    """One file. Masks are booleans, which HDF5 stores as an enumeration, in the old format; the
    new one has scales and units."""
    generator = np.random.default_rng(1)
    with h5py.File(path, "w", libver=libver) as file:
        file.attrs.update({**settings, "halo": 2, "cyclic_x": 0})
        for name, cells in zip("zyx", SHAPE[::-1]):
            file[name] = np.arange(cells, dtype=float)
            file[name].make_scale(name)
        for name in INPUTS[kernel] + MASKS:
            value = np.asarray(values[name])
            if value.dtype.kind == "f":
                value = value.astype(real)
            elif name in MASKS[:4] and libver == OLD:
                value = value.astype(bool)
            data = file.create_dataset(name, data=value, track_times=False,
                                       **({} if value.dtype == bool else storage(value.shape, parts, options)))
            if libver == NEW and value.ndim == 3:
                for place, axis in enumerate("zyx"):
                    data.dims[place].attach_scale(file[axis])
            if name == "temp":
                data.attrs["units"] = "degC"
        for name, rank in OUTPUTS[kernel].items():
            value = generator.random((2, 2, *SHAPE[::-1])[5 - rank:])
            data = file.create_dataset(name, data=value, track_times=False, **storage(value.shape, parts, options))
            data.attrs.update(rtol=1e-10, atol=1e-12)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="where the files go; made where it is missing")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    values, settings = fields.make(*SHAPE, seed=1)
    for form, how in FORMS.items():
        for kernel in INPUTS:
            make(folder / f"{kernel}-{form}.h5", kernel, *how, values, settings)


if __name__ == "__main__":
    main()
