"""run/make-input reads the layouts of many producers, each point at its place, or says what would help."""

import dataclasses
import re

import h5py
import netCDF4
import numpy as np
import pytest

import layouts
from conftest import DONE, INPUT, assert_one_line
from test_make_input import make, undrawn  # noqa: F401  pylint: disable=unused-import

CDF5 = "NETCDF3_64BIT_DATA"

pytestmark = [pytest.mark.usefixtures("library"), pytest.mark.unsanitized("it needs a sanitized Python")]


def write(data, path, form):
    """In a format that xarray may not write."""
    data.to_netcdf(path, engine="netcdf4", format=None if form == CDF5 else form)
    if form != CDF5:
        return
    with netCDF4.Dataset("memory", diskless=True, mode="r", memory=path.read_bytes()) as old, \
            netCDF4.Dataset(path, "w", format=form) as new:
        for name, dimension in old.dimensions.items():
            new.createDimension(name, len(dimension))
        for name, one in old.variables.items():
            attributes = {key: one.getncattr(key) for key in one.ncattrs()}
            copy = new.createVariable(name, one.dtype, one.dimensions, fill_value=attributes.pop("_FillValue", None))
            copy.setncatts(attributes)
            copy[:] = one[:]


@pytest.fixture
def run(make, undrawn, tmp_path):  # noqa: F811  pylint: disable=redefined-outer-name,unused-argument
    """Reads a layout, without the picture: the exit code, and what was said."""
    def read(layout):
        paths = []
        for name, data in layout.files().items():
            paths.append(tmp_path / name)
            write(data, paths[-1], layout.form)
        return make(*paths, *layout.arguments)
    return read


def same(found, expected, tolerance):
    return found.shape == expected.shape and np.abs(found - expected).max() <= tolerance


@pytest.mark.parametrize("name", layouts.READ)
def test_read(run, tmp_path, name):
    """Water, temperature and salinity are those of the place that the grid names."""
    layout = layouts.READ[name]
    code, said = run(layout)
    assert code == DONE, said
    assert layout.said in said, said
    depth, lat, lon = layout.points
    with h5py.File(tmp_path / "grid.h5") as file:
        g = {name: file[name][()] for name in ("x", "y", "z", "temp", "salt", "maskT")}
    assert same(np.sort(g["x"] % 360), np.sort(lon % 360), 1e-3)
    assert same(g["y"], lat, 1e-4) and same(g["z"], -depth[::-1], 1e-3 * depth.max())
    temp, salt, wet = layouts.truth(np.round(g["x"], 3), np.round(g["y"], 3), depth[::-1], layout.kinds,
                                    layout.warmer)
    assert (g["maskT"] == wet).all()
    assert same(g["temp"][wet], temp[wet], layout.tolerance)
    assert same(g["salt"][wet], salt[wet], layout.tolerance)


@pytest.mark.parametrize("name", layouts.REFUSED)
def test_refused(run, name):
    pattern, layout = layouts.REFUSED[name]
    code, said = run(layout)
    assert code == INPUT and re.search(pattern, said), said
    assert_one_line(said, 1500)


@pytest.mark.parametrize("change, said", [
    (lambda d: d.isel(lon=[*range(5), *range(6, 18)]), "longitudes 90 and 130 are 40 apart, but their neighbours 20"),
    (lambda d: d.isel(lat=[0, 1, 2, 4, 5, 6, 7, 8]), "latitudes -30 and 0 are 30 apart, but their neighbours 15"),
    (lambda d: d.isel(lon=slice(1, None)), "leave a gap of 40 degrees, so they do not go round: closed in x"),
    (lambda d: d.isel(lon=slice(10, 12), lat=slice(0, 2)), "there is no land"),
    (lambda d: d.assign(maskT=d.so * 0), "maskT may be a mask, and is not used"),
    (lambda d: d.assign(mask=d.so * 0), "mask may be a mask, and is not used: --variable maskT=mask"),
    (lambda d: d.assign_coords(lat=("lat", d.lat.values)), "'lat' has no units: taken as degrees")],
    ids=["column", "row", "gap", "no land", "our mask", "mask", "units"])
def test_what_may_be_a_mistake_is_said(run, change, said):
    code, printed = run(layouts.Layout(lambda: {"ocean.nc": change(layouts.ocean())}))
    assert code == DONE and said in printed, printed


def test_a_mask_that_disagrees_is_said(run):
    """Water by the mask where values are missing."""
    layout = dataclasses.replace(layouts.READ["a mask without coordinates"], files=lambda: {
        "ts.nc": layouts.ocean(), "mask.nc": layouts.xarray.Dataset({"wet": (("lat", "lon"), np.ones((9, 18)))})})
    code, said = run(layout)
    count = np.sum(~layouts.wet())
    assert code == DONE and f"{count} cells are water by the mask, but have no value" in said, said


WEST = np.arange(-170.0, 180, 20)
FACES = np.array([0, 12.5, 35, 80, 165, 310])


def smooth(depth, lat, lon):
    """A function of the place in a closed ocean."""
    return 1e-3 * (2 + np.sin(np.radians(lon)) + 1e-2 * lat + 1e-4 * depth)


def field(name, points, units):
    """That function at points from the dateline, from the north, of more levels."""
    depth, lat, lon = layouts.grid_of(points[2], points[1], points[0])
    return layouts.xarray.Dataset({name: (("depth", "lat", "lon"), smooth(depth, lat, lon), {"units": units})}, {
        axis: (axis, values, attributes) for axis, values, attributes in zip(
            ("depth", "lat", "lon"), points, (layouts.DOWN, layouts.LAT_NORTH, layouts.LON_EAST))})


@pytest.mark.parametrize("ours, theirs, units, shift", [
    (("K_iso",), {"K_iso": (np.append(layouts.DEPTH, 600), layouts.LAT[::-1], WEST)}, "m2 s-1", (0, 0, 0)),
    (("tke",), {"tke": (FACES, layouts.LAT[::-1], WEST)}, "m2 s-2", (0, 0, 0)),
    (("forc_tke_surface",), {"forc_tke_surface": (layouts.DEPTH[:2], layouts.LAT, WEST)}, "m3 s-3", (0, 0, 0)),
    (("u", "v"), {"u": (layouts.DEPTH, layouts.LAT[::-1], WEST + 10), "v": (layouts.DEPTH, layouts.LAT + 7.5, WEST)},
     "m s-1", (0, 7.5, 10))], ids=str)
def test_fields_are_matched_by_place(run, tmp_path, ours, theirs, units, shift):
    files = {f"{name}.nc": field(name, points, units) for name, points in theirs.items()}
    arguments = [word for name in ours for word in ("--variable", f"{name}={name}")]
    code, said = run(layouts.Layout(lambda: {"ts.nc": layouts.ocean(), **files}, arguments))
    assert code == DONE, said
    with h5py.File(tmp_path / "grid.h5") as file:
        for name in ours:
            values, wet = file[name][()], file[{"u": "maskU", "v": "maskV"}.get(name, "maskT")][()] == 1
            z = file["zw" if name == "tke" else "zt"][()]
            east, north = shift[2] * (name == "u"), shift[1] * (name == "v")
            depth, lat, lon = layouts.grid_of(file["x"][()] + east, file["y"][()] + north, -z)
            if values.ndim == 2:
                depth, lat, lon, wet = depth[-1], lat[-1], lon[-1], wet[-1]
            assert same(values[wet], smooth(depth, lat, lon)[wet], 1e-12), name


def test_there_are_many():
    """The layouts of producers alone, without calendars, formats and units."""
    own = [name for name in layouts.READ if not re.match("calendar|NETCDF|temperature in|salinity in", name)]
    assert len(own) + len(layouts.REFUSED) >= 30
