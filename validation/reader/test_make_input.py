"""run/make-input: what is read gives a right and complete input; what is not says why."""

import collections.abc
import errno
import fcntl
import io
import os
import re
import shutil
import signal
import subprocess
import sys

import gsw
import h5py
import netCDF4
import numpy as np
import pytest
import xarray

import make_example
import make_reference
from conftest import DONE, GRID, HERE, INPUT, OUTPUT, USAGE, assert_one_line, copied, program_of, read, read_of
from miniapp.importer import command

ROOT = HERE.parent
pytestmark = [pytest.mark.usefixtures("library"), pytest.mark.unsanitized("it needs a sanitized Python")]

SCRIPT = ROOT / "run" / "make-input"
EXAMPLE = ROOT / "inputs" / "example.nc"
SNAPSHOT = HERE / "physics/veros" / "run.snapshot.nc"
RESTART = HERE / "physics/veros" / "run.restart.h5"
EXPECTED = HERE / "physics/veros" / "expected.h5"
RADIUS = 6370e3
FILL = -1e34
QUICKLY = "NETCDF3_64BIT"  # the form that takes least time, where a test is about the ocean in the file alone


# ---- running it ----

@pytest.fixture
def make(monkeypatch, capsys, tmp_path):
    """Runs the script in this process; gives its exit code and what it said."""
    def run(*arguments, output=tmp_path / "grid.h5"):
        monkeypatch.setattr(sys, "argv", ["make-input", *map(str, arguments), "-o", str(output)])
        monkeypatch.setenv("HDF5_USE_FILE_LOCKING", "FALSE")  # as it does itself; undone after the test
        capsys.readouterr()
        code = command.main()
        said = capsys.readouterr()
        if code == DONE:
            files = [output, output.with_suffix(".png")]  # without K_iso and more there is no picture
            assert said.out.split() == [str(path) for path in files if path.exists()]
            assert all(line.startswith("run/make-input: ") for line in said.err.splitlines())
        return code, said.err
    of_pytest = signal.getsignal(signal.SIGTERM)
    yield run
    signal.signal(signal.SIGTERM, of_pytest)


def script(*arguments, **options):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=120, **options)


@pytest.fixture
def drawn(make, tmp_path, request):
    """The datasets of a run that is done, by name; `said` is what it said. The program takes them
    all."""
    program = program_of(request.config)

    def run(*arguments):
        code, said = make(*arguments)
        assert code == DONE, said
        if program:
            checked = program.run("--check", tmp_path / "grid.h5")
            assert checked.returncode == DONE and not checked.stderr, checked
        return Datasets(tmp_path / "grid.h5", said=said)
    return run


@pytest.fixture
def undrawn(monkeypatch):
    """Runs without the picture, which takes most of one, and without matplotlib, which takes as long to import."""
    monkeypatch.setattr("miniapp.importer.figure.find_matplotlib", lambda _: True)
    monkeypatch.setattr("miniapp.importer.figure.draw", lambda _, __, path, *___: path.write_bytes(b"a picture"))


@pytest.fixture
def made(undrawn, drawn):  # pylint: disable=unused-argument
    """An ocean like one that is drawn, without its picture."""
    return drawn


class Datasets(collections.abc.Mapping):
    """Those of a file and its attributes, each read when it is asked for, whatever becomes of the file."""

    def __init__(self, path, **more):
        with open(path, "rb") as file:
            self.file = h5py.File(io.BytesIO(file.read()))
        self.known = {"attributes": dict(self.file.attrs), **more}
        self.names = (*self.file, *self.known)

    def __getitem__(self, name):
        if name not in self.known:
            self.known[name] = self.file[name][()]
        return self.known[name]

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)


@pytest.fixture
def fails(make, tmp_path):
    """A run that ends with one line and leaves no file."""
    def run(code, pattern, *arguments, **options):
        before = set(tmp_path.iterdir())
        got, said = make(*arguments, **options)
        assert got == code, said
        assert_one_line(said, 1500)
        assert said.startswith("run/make-input: ") and re.search(pattern, said), said
        assert set(tmp_path.iterdir()) == before
    return run


# ---- oceans ----

def ocean(lon=np.arange(0, 360, 30.0), lat=np.arange(-60, 61, 20.0), depth=(10.0, 40.0, 100.0, 250.0, 600.0)):
    """CT and SA with hills, an island, and columns of one level; surface first, as usual."""
    depth = np.array(depth)
    z, y, x = np.meshgrid(depth, lat, lon, indexing="ij")
    temp = 2 + 20 * np.exp(-z / 300) * np.cos(np.radians(y)) + np.sin(np.radians(x + y))
    salt = 35 + 0.5 * np.exp(-z / 200) * np.cos(np.radians(2 * y)) + 0.1 * np.cos(np.radians(x))
    floor = depth[-1] * (0.75 + 0.5 * np.sin(np.radians(2 * x[0])) * np.cos(np.radians(3 * y[0])))
    land = z > np.maximum(floor, depth[0])
    land[:, 1, 2] = True
    land[1:, 3, 4] = True
    dims = ("depth", "lat", "lon")
    values = {"temp": (temp, "sea_water_conservative_temperature", "degC"),
              "salt": (salt, "sea_water_absolute_salinity", "g kg-1")}
    return xarray.Dataset(
        {name: (dims, np.where(land, np.nan, data), {"standard_name": standard, "units": units})
         for name, (data, standard, units) in values.items()},
        coords={"lon": ("lon", lon, {"units": "degrees_east"}),
                "lat": ("lat", lat, {"units": "degrees_north"}),
                "depth": ("depth", depth, {"units": "m", "positive": "down"})})


def save(dataset, path, form=None, **encoding):
    """A file whose missing values are fill values, of netCDF-4 unless another form is named."""
    each = {name: {"_FillValue": FILL, **encoding} for name in dataset.data_vars if dataset[name].dtype.kind == "f"}
    dataset.to_netcdf(path, encoding=each, engine="netcdf4", format=form)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The file of that ocean."""
    return save(ocean(), tmp_path_factory.mktemp("plain") / "plain.nc")


@pytest.fixture(scope="module")
def usual(plain):
    """What is made of it, with what was said, in a process of its own."""
    grid = plain.with_name("grid.h5")
    done = script(plain, "-o", grid)
    assert done.returncode == DONE and done.stdout == f"{grid}\n{grid.with_suffix('.png')}\n"
    assert all(line.startswith("run/make-input: ") for line in done.stderr.splitlines())
    return Datasets(grid, said=done.stderr)


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def of_example(made, known, tmp_path, tmp_path_factory):
    """The input that is made of a record of the example, once for all tests, and the path of a copy."""
    def run(index):
        if index not in known:
            g = made(EXAMPLE, "--time", index)
            known[index] = g, shutil.copy(tmp_path / "grid.h5", tmp_path_factory.mktemp("example"))
        return known[index]
    return run


def bottom_first(dataset, name):
    return dataset[name].values[::-1]


# ---- the result ----

def test_example_becomes_the_grid_that_it_was_made_of(of_example):
    """Coordinates, metrics and masks are those of grid.h5; CT and SA but for their packing."""
    g, _ = of_example(0)
    with h5py.File(GRID) as grid:
        for name in ("kbot", "maskT", "maskU", "maskV", "maskW", "x", "y", "z", "zt"):
            assert (g[name] == grid[name][()]).all(), name
        for name in ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu"):
            assert np.allclose(g[name], grid[name][()], rtol=1e-8, atol=0), name
        assert np.allclose(g["p"], grid["p"][()], rtol=5e-3)
        assert np.abs(g["salt"] - grid["salt"][()]).max() < 0.0006
        deep = grid["zt"][()] < -700  # the season is above
        assert np.abs((g["temp"] - grid["temp"][()])[deep]).max() < 0.0006
    assert g["attributes"]["halo"] == 0 and g["attributes"]["cyclic_x"] == 1
    for word in ("potential temperature", "practical salinity", "from K", "begins at the surface",
                 "begins at the north", "record 0 of 2", "cyclic in x", "K_iso: default"):
        assert word in g["said"], word


def test_season_of_the_example(of_example):
    february, august = (of_example(index)[0]["temp"][-1] for index in (0, 1))
    north, south = np.s_[30], np.s_[8]
    wet = february != 0
    assert ((august - february)[north][wet[north]] > 2).all()
    assert ((august - february)[south][wet[south]] < -2).all()


def test_example_is_what_its_script_makes(monkeypatch, tmp_path):
    path = tmp_path / "example.nc"
    monkeypatch.setattr(sys, "argv", ["make_example.py", "-o", str(path)])
    make_example.main()
    with h5py.File(path) as fresh, h5py.File(EXAMPLE) as stored:
        assert set(fresh) == set(stored)
        for name in fresh:
            assert (fresh[name][()] == stored[name][()]).all(), name
    assert EXAMPLE.stat().st_size < 400_000


def test_all_kernels_run_and_agree_with_their_references(miniapp, made, plain, tmp_path):
    made(plain)
    grid, reference = tmp_path / "grid.h5", tmp_path / "reference.h5"
    assert make_reference.main([str(grid), "-o", str(reference)]) == DONE
    # without velocities and sources some outputs are 0 everywhere: there is nothing to compare
    kernels = [kernel for kernel in miniapp.ocean if any(
        read_of(kernel, reference, output.name).any() for output in kernel.made())]
    assert len(kernels) >= 14
    printed = miniapp.passes("--kernel", ",".join(map(str, kernels)), "--validate", reference, grid)
    outputs = sum(len(kernel.made()) for kernel in kernels)
    assert f"validation PASSED: {outputs} of {outputs}" in printed


def test_kernels_on_the_example(miniapp, of_example, tmp_path):
    """Finite everywhere; dHdT is gsw's derivative of the dynamic enthalpy, by other polynomials."""
    g, grid = of_example(1)
    miniapp.passes(grid, "-o", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as out:
        outputs = {name: out[name][()] for kernel in miniapp.ocean
                   for name in (output.name for output in kernel.made())}
    assert all(np.isfinite(values).all() for values in outputs.values())
    _, by_temp = gsw.enthalpy_first_derivatives(g["salt"], g["temp"], g["p"][:, None, None])
    dynamic = by_temp - 3991.86795711963
    wet = g["maskT"] == 1
    assert np.abs((outputs["dHdT"] - dynamic)[wet]).max() < 5e-3 * np.abs(dynamic[wet]).max()
    gentle = 1000 * 0.5 * (1 + np.tanh(0.25))  # K_iso, tapered by iso_slopec and iso_dslope
    assert 0.99 * gentle < outputs["K_11"].max() <= gentle


def test_circumference_and_volume(made, tmp_path):
    """Rows go once round the globe; a shell of water has the volume of one."""
    data = ocean(lon=np.arange(-175.0, 180, 10), lat=np.arange(-89, 90, 2.0))
    data = data.fillna({"temp": 5.0, "salt": 35.0})
    g = made(save(data, tmp_path / "shell.nc"))
    assert np.allclose(g["dxt"].sum() * g["cost"], 2 * np.pi * RADIUS * g["cost"], rtol=1e-13)
    assert np.isclose(g["dyt"].sum(), np.pi * RADIUS, rtol=1e-13)
    cells = (g["maskT"] * g["dzt"][:, None, None] * (g["cost"] * g["dyt"])[:, None] * g["dxt"])
    assert np.isclose(cells.sum(), 4 * np.pi * RADIUS**2 * 775, rtol=np.radians(2)**2 / 20)
    assert g["attributes"]["cyclic_x"] == 1 and g["maskU"].all() and not g["maskV"][:, -1].any()


@pytest.fixture(scope="module")
def region(tmp_path_factory):
    """The file of a part of the globe, all water."""
    lon, lat = np.array([350.0, 352, 355, 359, 4, 8]), np.array([30.0, 31, 33, 36, 40])
    data = ocean(lon=lon, lat=lat).fillna({"temp": 5.0, "salt": 35.0})
    return save(data, tmp_path_factory.mktemp("region") / "region.nc")


def test_region(made, region):
    """Closed at its sides, with the volume between its edges; uneven spacing follows the points."""
    g = made(region)
    assert g["attributes"]["cyclic_x"] == 0 and "closed in x" in g["said"]
    assert (g["x"] == [350, 352, 355, 359, 364, 368]).all()
    assert not g["maskU"][:, :, -1].any() and g["maskU"][:, :, :-1].all()
    degree = RADIUS * np.pi / 180
    assert np.allclose(g["dxt"], degree * np.array([2, 2.5, 3.5, 4.5, 4.5, 4]), rtol=1e-13)
    assert np.allclose(g["dxu"], degree * np.array([2, 3, 4, 5, 4, 4]), rtol=1e-13)
    assert np.allclose(g["dyt"], degree * np.array([1, 1.5, 2.5, 3.5, 4]), rtol=1e-13)
    assert np.allclose(g["cosu"], np.cos(np.radians([30.5, 32, 34.5, 38, 42])), rtol=1e-14)
    cells = (g["maskT"] * g["dzt"][:, None, None] * (g["cost"] * g["dyt"])[:, None] * g["dxt"])
    exact = RADIUS**2 * np.radians(21) * (np.sin(np.radians(42)) - np.sin(np.radians(29.5))) * 775
    assert np.isclose(cells.sum(), exact, rtol=2e-3)


def test_levels_follow_veros(usual):
    """A W point midway between T points, the surface on top: so dzw of two cells is twice dzt."""
    g = usual
    assert (g["zt"] == [-600, -250, -100, -40, -10]).all()
    assert np.allclose(g["dzt"], [350, 250, 105, 45, 25])
    assert np.allclose(g["dzw"], [350, 150, 60, 30, 20])
    assert np.allclose(g["dzw"][1:] + g["dzw"][:-1], 2 * g["dzt"][1:])


def test_levels_that_begin_in_the_deep(made, tmp_path):
    g = made(save(ocean(depth=(100.0, 150.0)), tmp_path / "deep.nc"))
    assert (g["dzt"] == [50, 125]).all() and "its cell reaches the surface" in g["said"]


@pytest.mark.parametrize("depth, faces", [
    ((0, 5, 10, 50, 100, 500), [-170, -75, -17, -7.5, -3.125, 0]),
    ((10, 100, 1830), [-226, -55, 0]), ((2, 5, 5000), [-9.2, -3.5, 0]),
    ((20, 28, 100, 1000), [-200.8, -30.4, -24, 0])])
def test_levels_that_are_spaced_unevenly(made, tmp_path, depth, faces):
    """Faces midway would leave points far from the middle of their cells."""
    g = made(save(ocean(depth=np.array(depth, float)), tmp_path / "uneven.nc"))
    assert np.allclose(g["zw"], faces) and "some faces between them" in g["said"]
    assert np.isclose(g["dzt"].sum(), depth[-1] + (depth[-1] - depth[-2]) / 2)
    assert np.allclose(np.diff(g["zw"]), g["dzt"][1:]) and (np.diff(g["zt"]) == g["dzw"][:-1]).all()


def test_a_channel_is_cyclic_if_the_user_says_so(made, tmp_path):
    path = save(ocean(lon=np.arange(0.0, 60, 10)), tmp_path / "channel.nc")
    g = made(path, "--cyclic-x", "1")
    assert g["attributes"]["cyclic_x"] == 1 and len(set(g["dxt"])) == len(set(g["dxu"])) == 1
    assert (g["maskU"][-1, :, -1] == (g["maskT"][-1, :, -1] & g["maskT"][-1, :, 0])).all()
    assert made(path)["attributes"]["cyclic_x"] == 0


def test_a_level_at_the_surface(made, tmp_path):
    g = made(save(ocean(depth=(0.0, 10.0, 30.0)), tmp_path / "levels.nc"))
    assert (g["zt"] == [-30, -10, -2.5]).all() and "the level at 0 m" in g["said"]
    assert np.allclose(g["dzw"][1:] + g["dzw"][:-1], 2 * g["dzt"][1:]) and (g["dzw"] > 0).all()


def test_masks_and_kbot(usual):
    """maskT is where there are values, kbot the deepest of them, the others by Veros's rule."""
    g, wet = usual, np.isfinite(bottom_first(ocean(), "temp"))
    assert (g["maskT"] == wet).all()
    assert (g["kbot"] == np.where(wet.any(axis=0), 6 - wet.sum(axis=0), 0)).all()
    assert {0, 1, 5} <= set(g["kbot"].flat)
    assert (g["maskU"] == (wet & np.roll(wet, -1, axis=2))).all()
    assert (g["maskV"][:, :-1] == (wet[:, :-1] & wet[:, 1:])).all()
    assert (g["maskW"] == g["maskT"]).all()


def test_pressure_is_the_mean_over_the_oceans_surface(usual):
    g = usual
    p = gsw.p_from_z(g["zt"][:, None], g["y"])
    assert (g["p"] > p.min(axis=1)).all() and (g["p"] < p.max(axis=1)).all()


def test_file_is_netcdf_with_axes_and_provenance(made, plain, tmp_path):
    made(plain, "--set", "dt_tracer=3600")
    data = xarray.open_dataset(tmp_path / "grid.h5")
    assert data.temp.dims == ("z", "y", "x")
    assert float(data.temp.sel(x=30, y=-20, z=-10)) == pytest.approx(float(ocean().temp.sel(lon=30, lat=-20, depth=10)))
    assert data.x.units == "degrees_east" and data.z.positive == "up"
    assert data.temp.standard_name == "sea_water_conservative_temperature"
    assert "plain.nc sha256:" in data.source and data.history.startswith("run/make-input ")
    assert data.dt_tracer == 3600 and data.halo == 0 and data.cyclic_x == 1
    with netCDF4.Dataset(tmp_path / "grid.h5") as file:
        assert file.data_model == "NETCDF4" and file["salt"].units == "g kg-1"


@pytest.mark.usefixtures("usual")
def test_same_bytes_again_and_nothing_left_behind(make, plain):
    """As another process made before."""
    files = [plain.with_name("grid.h5"), plain.with_name("grid.png")]
    first = [path.read_bytes() for path in files]
    assert make(plain, output=files[0])[0] == DONE
    assert [path.read_bytes() for path in files] == first
    assert first[1].startswith(b"\x89PNG")
    assert set(plain.parent.iterdir()) == {plain, *files}


# ---- the same ocean in other clothes ----

def with_time(dataset):
    return dataset.expand_dims({"time": ("time", [3.0], {"units": "days since 2000-01-01"})[1]})


def two_dimensional(dataset):
    """As NEMO has it: nav_lon and nav_lat on y and x, which have no coordinates."""
    lon, lat = np.meshgrid(dataset.lon, dataset.lat)
    bare = dataset.rename(lon="x", lat="y", depth="deptht").drop_vars(["x", "y"])
    return bare.assign(nav_lon=(("y", "x"), lon, {"units": "degrees_east"}),
                       nav_lat=(("y", "x"), lat, {"units": "degrees_north"}))


def upwards(dataset):
    height = dataset.assign_coords(depth=-dataset.depth)
    height.depth.attrs = {"units": "m", "positive": "up"}
    return height


CLOTHES = {
    "x y z": lambda d: d.transpose("lon", "lat", "depth"),
    "y z x": lambda d: d.transpose("lat", "depth", "lon"),
    "bottom first": lambda d: d.isel(depth=slice(None, None, -1)),
    "north first": lambda d: d.isel(lat=slice(None, None, -1)),
    "east first": lambda d: d.isel(lon=slice(None, None, -1)),
    "height": upwards,
    "negative height without positive": lambda d: d.assign_coords(
        depth=("depth", -d.depth.values, {"units": "m", "axis": "Z"})),
    "centimetres": lambda d: d.assign_coords(
        depth=("depth", 100 * d.depth.values, {"units": "cm", "positive": "down"})),
    "one time": with_time,
    "numbers of levels": lambda d: d.rename(depth="k").assign_coords(
        k=("k", np.arange(5), {"standard_name": "z_grid_index", "axis": "Z"}),
        Z=("k", -d.depth.values, {"units": "m", "standard_name": "depth", "positive": "up"})),
    "numbers of levels, declared depths": lambda d: d.rename(depth="lev").assign_coords(
        lev=("lev", np.arange(5)), d=("lev", d.depth.values, {"units": "m", "axis": "Z"})),
    "a sea floor": lambda d: d.assign(floor=(("lat", "lon"), np.full((7, 12), 9.0), {
        "units": "m", "positive": "down"})),
    "standard name without units": lambda d: d.rename(depth="q").assign_coords(
        q=("q", d.depth.values, {"standard_name": "depth"})),
    "a member": lambda d: d.expand_dims("member"),
    "2-D coordinates": two_dimensional,
    "names without attributes": lambda d: d.assign_coords(
        {name: (name, d[name].values) for name in ("lon", "lat", "depth")}),
    "beyond 360 degrees": lambda d: xarray.concat(
        [d, d.isel(lon=slice(0, 2)).assign_coords(lon=[360.0, 390.0])], "lon"),
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_clothes(made, usual, tmp_path, clothes):
    """The same datasets bit for bit, whatever order, direction and names the axes have."""
    dressed = CLOTHES[clothes](ocean())
    for name in ("temp", "salt"):
        dressed[name].attrs = ocean()[name].attrs
    if "lon" in dressed.coords and "units" not in dressed.lon.attrs and "names" not in clothes:
        dressed.lon.attrs["units"] = "degrees_east"
    path = save(dressed, tmp_path / "dressed.nc")
    expected, found = usual, made(path)
    for name in set(expected) - {"said", "attributes"}:
        assert np.array_equal(expected[name], found[name]), name


def test_longitudes_from_the_dateline(made, usual, tmp_path):
    """Columns that begin elsewhere are the same ocean, turned."""
    turned = ocean().assign_coords(lon=(ocean().lon + 180) % 360 - 180).sortby("lon")
    turned.lon.attrs["units"] = "degrees_east"
    found, expected = made(save(turned, tmp_path / "turned.nc")), usual
    assert (found["x"] == np.arange(-180, 180, 30)).all()
    for name in ("temp", "salt", "maskT", "maskU", "kbot"):
        assert np.allclose(np.roll(found[name], 6, axis=-1), expected[name], rtol=1e-15), name


def test_packed(made, usual, tmp_path):
    path = save(ocean(), tmp_path / "packed.nc", dtype="i2", scale_factor=1e-3, add_offset=20.0,
                **{"_FillValue": -32768})
    found, expected = made(path), usual
    assert (found["maskT"] == expected["maskT"]).all()
    assert np.abs(found["temp"] - expected["temp"]).max() < 0.0006


def classic(path, form="NETCDF3_CLASSIC"):
    """As netCDF-3 files often have it: another attribute, single precision."""
    with netCDF4.Dataset(path, "w", format=form) as file:
        for name, values in ocean().coords.items():
            file.createDimension(name, len(values))
            file.createVariable(name, "f8", (name,))[:] = values.values
            file[name].setncatts(values.attrs)
        for name, values in ocean().data_vars.items():
            variable = file.createVariable(name, "f4", values.dims)
            variable.setncatts({**values.attrs, "missing_value": np.float32(-999)})
            variable[:] = np.where(np.isnan(values), -999, values)
    return path


def test_missing_value_and_classic_format(made, usual, tmp_path):
    found, expected = made(classic(tmp_path / "classic.nc")), usual
    assert (found["maskT"] == expected["maskT"]).all()
    assert np.abs(found["temp"] - expected["temp"]).max() < 1e-5


def test_temperature_and_salinity_in_files_of_their_own(made, usual, tmp_path):
    """As WOA has it, beside variables of the same standard name."""
    data = ocean()
    temp = data[["temp"]].rename(temp="t_an")
    temp["t_mn"] = temp.t_an + 1
    temp.t_mn.attrs = temp.t_an.attrs
    files = [save(temp, tmp_path / "t.nc"), save(data[["salt"]], tmp_path / "s.nc")]
    found, expected = made(*files), usual
    assert (found["temp"] == expected["temp"]).all() and (found["salt"] == expected["salt"]).all()


PACKED = {"dtype": "i2", "scale_factor": 1e-3, "add_offset": 20.0, "_FillValue": -32768}
TURNED = {**PACKED, "scale_factor": -1e-3}


@pytest.mark.parametrize("encoding, limits", [
    ({}, {"valid_min": -5.0, "valid_max": 40.1}), ({}, {"valid_range": [-5.0, 40.1]}),
    ({"dtype": "f4"}, {"valid_range": [-5.0, 40.1]}),
    (PACKED, {"valid_range": np.array([-25000, 20100], "i2")}),
    (PACKED, {"valid_min": -25000, "valid_max": 20100}),
    (PACKED, {"valid_min": np.float32(-5), "valid_max": np.float32(40.1)}),
    (TURNED, {"valid_min": np.int16(-20100), "valid_max": np.int16(25000)})], ids=str)
def test_what_the_file_calls_invalid_is_missing(made, tmp_path, encoding, limits):
    """Limits of packed integers are packed themselves, unless they are no integers; limits are
    valid."""
    data = ocean()
    data.temp.values[0, 2:4, 0] = -5.0, 40.1
    data.temp.attrs.update(limits)
    found = made(save(data, tmp_path / "valid.nc", **encoding))
    assert found["maskT"][-1, 2:4, 0].all() and "its own" not in found["said"]
    data.temp.values[0, 2:4, 0] = -5.002, 40.102
    found = made(save(data, tmp_path / "invalid.nc", **encoding), "--holes", "land")
    assert not found["maskT"][:, 2:4, 0].any() and found["maskT"][-1, 2:4, 1].all()
    assert "2 values of 'temp' lie beyond its own valid_" in found["said"]


@pytest.mark.parametrize("limits, excluded", [((0, -56), False), ((-57, -1), True)])
def test_limits_of_unsigned_bytes(made, usual, tmp_path, limits, excluded):
    """They are stored as signed ones, and so are their limits: -56 is 200."""
    data = ocean()
    data["wet"] = (data.temp.dims, np.where(np.isfinite(data.temp), -56, 0).astype("i1"),
                   {"_Unsigned": "true", "valid_range": np.array(limits, "i1"),
                    "scale_factor": 1 / 256})
    found = made(save(data, tmp_path / "bytes.nc"), "--variable", "maskT=wet")
    assert (found["maskT"] == usual["maskT"]).all() and ("its own" in found["said"]) == excluded


def test_nothing_is_valid(fails, tmp_path):
    data = ocean()
    data.temp.attrs["valid_min"] = 273.15
    fails(INPUT, "all values of 'temp' lie beyond its own valid_min 273.15, expected some within",
          save(data, tmp_path / "kelvin.nc"))


def with_attribute(plain, path, name, value):
    """A copy whose salinity says so."""
    with copied(plain, path) as file:
        file["salt"].attrs[name] = value
    return path


@pytest.mark.parametrize("name, value", [
    ("valid_min", "0"), ("valid_range", 3.0), ("valid_max", [3.0, 4.0]), ("missing_value", "-999")])
def test_limits_that_are_none(fails, plain, tmp_path, name, value):
    path = with_attribute(plain, tmp_path / "limits.nc", name, value)
    fails(INPUT, rf"limits\.nc: {name} of 'salt' is .*, expected (a number|2 numbers|numbers)", path)


# ---- what temperature and salinity are ----

def disguised(temp, salt):
    """The ocean with its water told by other quantities: name -> (standard name, units)."""
    data = ocean()
    p = gsw.p_from_z(-data.depth.values[:, None, None], data.lat.values[:, None])
    sa, ct = data.salt.values, data.temp.values
    values = {
        "sea_water_conservative_temperature": ct,
        "sea_water_potential_temperature": gsw.pt_from_CT(sa, ct),
        "sea_water_temperature": gsw.t_from_CT(sa, ct, p),
        "sea_water_absolute_salinity": sa,
        "sea_water_practical_salinity": gsw.SP_from_SA(sa, p, data.lon.values,
                                                       data.lat.values[:, None]),
    }
    for name, (standard_name, units) in (("temp", temp), ("salt", salt)):
        data[name].values = values[standard_name]
        data[name].attrs = {"standard_name": standard_name, "units": units}
    return data


@pytest.mark.parametrize("temp, units", [
    ("conservative_temperature", "degrees_celsius"), ("potential_temperature", "K"),
    ("temperature", "degC")])
@pytest.mark.parametrize("salt", ["absolute_salinity", "practical_salinity"])
def test_kinds_of_water(made, usual, tmp_path, temp, salt, units):
    data = disguised((f"sea_water_{temp}", units), (f"sea_water_{salt}", "1"))
    if units == "K":
        data.temp.values = data.temp.values + 273.15
    found, expected = made(save(data, tmp_path / "water.nc")), usual
    assert np.abs(found["temp"] - expected["temp"]).max() < 1e-9
    assert np.abs(found["salt"] - expected["salt"]).max() < 1e-9


def test_kinds_by_options(made, usual, tmp_path):
    data = disguised(("sea_water_temperature", "degC"), ("sea_water_practical_salinity", "psu"))
    data.temp.attrs, data.salt.attrs = {}, {"units": "psu"}
    data = data.rename(temp="T", salt="S")
    found = made(save(data, tmp_path / "bare.nc"), "--variable", "temp=T", "--variable", "salt=S",
                 "--units", "temp=degC", "--temperature", "in-situ", "--salinity", "practical")
    expected = usual
    assert np.abs(found["temp"] - expected["temp"]).max() < 1e-9
    assert np.abs(found["salt"] - expected["salt"]).max() < 1e-9


def test_salinity_as_a_fraction(made, usual, tmp_path):
    data = ocean()
    data["salt"] = (data.salt / 1000).assign_attrs(data.salt.attrs, units="kg/kg")
    found = made(save(data, tmp_path / "kg.nc"))
    assert np.allclose(found["salt"], usual["salt"], rtol=1e-14)


def test_salinity_of_an_old_standard_name(made, tmp_path):
    data = disguised(("sea_water_conservative_temperature", "degC"), ("sea_water_practical_salinity", "psu"))
    data.salt.attrs["standard_name"] = "sea_water_salinity"
    g = made(save(data, tmp_path / "old.nc"))
    assert "taken as practical salinity" in g["said"]
    assert np.allclose(g["salt"], np.nan_to_num(bottom_first(ocean(), "salt")), rtol=1e-9)


def at_times(data, name, times, units):
    """One variable, with as many records."""
    return data[[name]].expand_dims(time=len(times)).assign_coords(time=("time", times, {"units": units}))


@pytest.mark.parametrize("units, calendar, origin, known", [
    ("days since 2000-01-01", None, b"2000-03-01 00:00:00", b"standard"),
    ("hours since 1999-12-31 12:00", "gregorian", b"2000-01-02 12:30:00", b"standard"),
    ("days since 2000-01-01", "365_day", b"2000-03-02 00:00:00", b"noleap"),
    ("days since 1999-12-30", "360_day", b"2000-02-30 00:00:00", b"360_day"),
    ("months since 2000-01-01", None, None, None), ("days", "noleap", None, None)])
def test_dates(miniapp, made, tmp_path, units, calendar, origin, known):
    """Attributes give the program dates for its snapshots: the run begins at the record's, whatever start_time is."""
    times = {"units": units, **({"calendar": calendar} if calendar else {})}
    data = ocean().expand_dims(time=2).assign_coords(time=("time", [0.0, 60.5], times))
    g = made(save(data, tmp_path / "t.nc"), "--time", 1, "--set", "start_time=43200")
    assert (g["attributes"].get("time_origin"), g["attributes"].get("calendar")) == (origin, known)
    if calendar == "360_day":
        miniapp.passes(tmp_path / "grid.h5", "--steps", 1, "--every", 1, "-o", tmp_path / "end.nc", "--set",
                       "dt_tracer=43200", quick=False)
        with xarray.open_dataset(tmp_path / "end.000001.nc", use_cftime=True) as snapshot:
            assert (str(snapshot.Time.values[0]), snapshot.Time.values[0].calendar) == ("2000-03-01 00:00:00", calendar)


@pytest.mark.parametrize("times, units, warning", [
    ([0.0, 31.0], "days since 2001-01-01", None), ([24.0, 768.0], "hours since 2000-12-31", None),
    ([31.0, 59.0], "days since 2001-01-01", "'temp' of .*t.nc is of 2001-02-01 00:00:00, 'salt' of "
     ".*s.nc is of 2001-03-01 00:00:00"),
    ([1.0, 2.0], "months since 2001-01-01", "'salt' of .*s.nc is of 2 months since 2001-01-01")])
def test_files_of_other_times(made, tmp_path, times, units, warning):
    """The last record of each; numbers may differ, but not dates."""
    temp = at_times(ocean(), "temp", [0.0, 31.0], "days since 2001-01-01")
    salt = at_times(ocean(), "salt", times, units)
    g = made(save(temp, tmp_path / "t.nc"), save(salt, tmp_path / "s.nc"), "--time", "-1")
    assert "record 1 of 2" in g["said"]
    assert re.search(f"warning: not all of one time: .*{warning}", g["said"]) if warning else (
        "warning" not in g["said"])


def test_one_salinity_everywhere(made, tmp_path):
    g = made(save(ocean()[["temp"]], tmp_path / "t.nc"), "--default", "salt=34.5")
    assert (g["salt"] == np.where(g["maskT"], 34.5, 0)).all()


# ---- land ----

def with_hole(at=1):
    data = ocean()
    assert np.isfinite(data.temp.values[:3, 2, 0]).all()
    data.temp.values[at, 2, 0] = np.nan
    return data


def test_holes_are_refused_filled_or_land(made, fails, tmp_path):
    path = save(with_hole(), tmp_path / "hole.nc")
    fails(INPUT, r"hole\.nc: 1 dry cells lie above water, .* row 2, column 0.*--holes", path)
    expected = bottom_first(ocean(), "temp")
    filled = made(path, "--holes", "fill")
    assert filled["kbot"][2, 0] == 6 - np.isfinite(expected[:, 2, 0]).sum()
    above, below = filled["temp"][[4, 2], 2, 0]
    assert filled["temp"][3, 2, 0] == pytest.approx(above + (below - above) * 30 / 90)
    land = made(path, "--holes", "land")
    assert land["kbot"][2, 0] == 5 and land["maskT"][:, 2, 0].tolist() == [0, 0, 0, 0, 1]


def test_a_dry_surface(made, tmp_path):
    path = save(with_hole(at=0), tmp_path / "ice.nc")
    assert made(path, "--holes", "land")["kbot"][2, 0] == 0
    filled = made(path, "--holes", "fill")
    assert filled["temp"][4, 2, 0] == filled["temp"][3, 2, 0]


def test_filling_keeps_what_is_measured(made, tmp_path):
    """Where only temperature is missing, salinity stays, and what lies below, too."""
    data = with_hole()
    data.salt.values[1, 2, 0] = 36.5
    data.salt.values[2, 2, 0] = np.nan
    filled = made(save(data, tmp_path / "hole.nc"), "--holes", "fill")
    salt, temp = (bottom_first(data, name)[:, 2, 0] for name in ("salt", "temp"))
    assert filled["salt"][3, 2, 0] == 36.5 and filled["temp"][2, 2, 0] == temp[2]
    assert filled["salt"][2, 2, 0] == pytest.approx(36.5 + (salt[1] - 36.5) * 60 / 210)
    assert filled["temp"][3, 2, 0] == pytest.approx(temp[4] + (temp[2] - temp[4]) * 30 / 90)


@pytest.mark.parametrize("missing", [np.s_[:0], np.s_[:, 1, 2]], ids=["none", "a column"])
@pytest.mark.parametrize("units, zero", [("degC", 0.0), ("K", 0.0), ("K", np.float32(273.15))])
def test_zeros_are_land(made, usual, tmp_path, missing, units, zero):
    """In both fields, be anything else missing or not, and whatever 0 is in K."""
    data = ocean()
    data["temp"] = (data.temp + 273.15 * (units == "K")).assign_attrs(data.temp.attrs, units=units)
    zeros = data.fillna({"temp": zero, "salt": 0.0})
    for name in ("temp", "salt"):
        zeros[name].values[missing] = np.nan
    found = made(save(zeros, tmp_path / "zeros.nc"))
    assert (found["maskT"] == usual["maskT"]).all()
    assert re.search("salinity is exactly 0 in [0-9]+ cells, and temperature, too", found["said"])


@pytest.mark.parametrize("rest", [ocean(), ocean().fillna({"temp": 9.0, "salt": 35.0})], ids=["land", "water"])
def test_fresh_water_is_no_land(made, tmp_path, rest):
    """But what is 0 above water is a hole in both fields."""
    rest = rest.copy(deep=True)
    rest.salt.values[:2, 2, 0] = 0.0
    found = made(save(rest, tmp_path / "river.nc"))
    assert found["maskT"][-2:, 2, 0].all() and (found["salt"][-2:, 2, 0] == 0).all()
    assert "salinity is exactly 0 in 2 cells, but not temperature: they are" in found["said"]


def test_a_zero_above_water_is_a_hole(fails, tmp_path):
    data = ocean()
    data.salt.values[1, 2, 0] = data.temp.values[1, 2, 0] = 0
    fails(INPUT, "1 dry cells lie above water", save(data, tmp_path / "zero.nc"))


def test_zeros_of_salinity_alone(made, usual, tmp_path):
    data = ocean()[["salt"]].fillna(0.0)
    found = made(save(data, tmp_path / "salt.nc"), "--default", "temp=4")
    assert (found["maskT"] == usual["maskT"]).all()


def test_a_mask_of_the_user(made, usual, tmp_path):
    data = ocean()
    data["tmask"] = np.isfinite(data.temp).astype("i1")
    data = data.fillna({"temp": 0.0, "salt": 0.0})
    found = made(save(data, tmp_path / "mask.nc"), "--variable", "maskT=tmask")
    assert (found["maskT"] == usual["maskT"]).all()
    data["tmask"] = data.tmask.isel(depth=0)
    data["salt"] = data.salt.where(data.salt > 0, 35.0).assign_attrs(data.salt.attrs)
    found = made(save(data, tmp_path / "surface.nc"), "--variable", "maskT=tmask")
    assert set(found["kbot"].flat) == {0, 1}


def test_one_of_both_is_missing(made, tmp_path):
    data = ocean()
    data.salt.values[:, 2, 0] = np.nan
    g = made(save(data, tmp_path / "half.nc"))
    assert g["kbot"][2, 0] == 0 and "only one of temperature and salinity" in g["said"]


def test_rows_at_the_poles_are_left_out(made, tmp_path):
    g = made(save(ocean(lat=np.arange(-90, 91, 30.0)), tmp_path / "poles.nc"))
    assert (g["y"] == [-60, -30, 0, 30, 60]).all() and "2 rows left out at a pole" in g["said"]


# ---- the other fields ----

def test_defaults(usual):
    """Stated, and such that TKE's sources balance what it dissipates."""
    g = usual
    wet = g["maskT"] == 1
    assert (g["K_iso"] == 1000).all()
    for name in ("u_wgrid", "v_wgrid", "w_wgrid", "dtke_taum1"):
        assert (g[name] == 0).all(), name
    assert np.allclose(g["forc"][wet], 0.7 * g["tke"][wet]**1.5 / g["mxl"][wet])
    assert (g["mxl"][wet] > 0).all() and (g["kappaM"] >= 2e-4).all()
    assert g["attributes"]["eq_of_state_type"] == 5
    for name in ("K_iso", "tke", "kappaM", "mxl", "forc", "forc_tke_surface", "w_wgrid"):
        assert f"run/make-input: {name}: " in g["said"], name


def test_the_earth_turns(usual, made, plain):
    latitude = np.radians(usual["y"])[:, None] + 0 * usual["x"]
    omega, radius = np.pi / 43082, 6370e3
    assert np.allclose(usual["coriolis_t"], 2 * omega * np.sin(latitude), rtol=1e-14)
    assert np.allclose(usual["beta"], 2 * omega * np.cos(latitude) / radius, rtol=1e-14)
    assert np.allclose(usual["tantr"], np.tan(latitude[:, 0]) / radius, rtol=1e-14)
    assert (made(plain, "--default", "coriolis_t=1e-4")["coriolis_t"] == 1e-4).all()


def test_constants_and_settings(made, plain):
    g = made(plain, "--default", "K_iso=500", "--default", "tke=1e-4", "--default", "forc=-1e-9",
             "--set", "eq_of_state_type=3", "--set", "K_h_tke=0", "--default", "tke_taup1=2")
    assert (g["K_iso"] == 500).all() and (g["tke"] == 1e-4).all() and (g["forc"] == -1e-9).all()
    assert (g["tke_taup1"] == 2).all()
    assert g["attributes"]["eq_of_state_type"] == 3 and g["attributes"]["K_h_tke"] == 0


def test_a_setting_that_only_the_program_knows(made, plain):
    assert made(plain, "--set", "eke_lmin=50")["attributes"]["eke_lmin"] == 50
    assert "eke_lmin" not in made(plain)["attributes"]


def with_fields():
    """K_iso by CF's name on T points, on y and x only; tke under its own name on upper faces."""
    data = ocean()
    shape = data.temp.shape
    flat = np.arange(shape[1] * shape[2]).reshape(shape[1:]) + 1.0
    data["eddies"] = (("lat", "lon"), flat, {
        "units": "m^2/s", "standard_name": "ocean_tracer_epineutral_laplacian_diffusivity"})
    faces = np.array([0.0, 25.0, 70.0, 175.0, 425.0])
    data = data.assign_coords(depthw=("depthw", faces, {"units": "m", "positive": "down"}))
    data["tke"] = (("depthw", "lat", "lon"), np.arange(np.prod(shape)).reshape(shape) * 1e-7, {"units": "m2/s2"})
    data["stir"] = (("depth", "lat", "lon"), data.temp.values * 1e-3, {"units": "m2.s-1"})
    return data


def test_fields_of_the_file(made, tmp_path):
    data = with_fields()
    g = made(save(data, tmp_path / "fields.nc"), "--variable", "kappaM=stir")
    assert (g["K_iso"] == data.eddies.values).all() and "K_iso: from 'eddies'" in g["said"]
    assert (g["tke"] == bottom_first(data, "tke")).all() and "tke: from 'tke'" in g["said"]
    wet = g["maskT"] == 1
    assert (g["kappaM"][wet] == bottom_first(data, "stir")[wet]).all()
    assert (g["kappaM"][~wet] == 0).all() and "kappaM: 'stir' lies on T points" in g["said"]


def test_constants_fill_what_is_missing(made, fails, tmp_path):
    data = with_fields()
    data.eddies.values[2, 0] = np.nan
    path = save(data, tmp_path / "gap.nc")
    fails(INPUT, r"'eddies' for K_iso is missing in \d wet cells.*--default K_iso=", path)
    g = made(path, "--default", "K_iso=7")
    assert g["K_iso"][4, 2, 0] == 7 and g["K_iso"][4, 2, 1] == data.eddies.values[2, 1]


def with_flow(east, north):
    """A flow whose transport is the same through all faces of a row: no water piles up."""
    data = ocean().fillna({"temp": 5.0, "salt": 35.0})
    for name, value, axes in (("u", 0.1, {"lon": east}), ("v", 0.0, {"lat": north})):
        data[name] = (("depth", "lat", "lon"), np.full(data.temp.shape, value), {"units": "m s-1"})
        (axis, shift), = axes.items()
        if shift:
            points = data[axis].values + shift
            data = data.assign_coords({f"{axis}_{name}": (f"{axis}_{name}", points, data[axis].attrs)})
            data[name] = ((*[d if d != axis else f"{axis}_{name}" for d in data.temp.dims],),
                          data[name].values, {"units": "m/s"})
    return data


@pytest.mark.parametrize("east, north", [(0, 0), (15, 10)])
def test_velocities(made, tmp_path, east, north):
    g = made(save(with_flow(east, north), tmp_path / "flow.nc"), "--variable", "u=u", "--variable", "v=v", "--set",
             "dt_tracer=43200")
    ratio = (0.5 * (g["dzt"][1:] + g["dzt"][:-1]) / g["dzw"][:-1])[1:, None, None]
    assert np.allclose(g["u_wgrid"][1:-1], 0.1 * ratio)
    transport = (g["u_wgrid"] * g["dzw"][:, None, None]).sum(axis=0)
    assert np.allclose(transport, 0.1 * g["dzt"].sum())  # see veros-physics: sums agree
    assert np.abs(g["w_wgrid"]).max() < 1e-18 and (g["v_wgrid"] == 0).all()
    assert ("on faces" if east else "on T points") in g["said"] and "Courant" in g["said"]


@pytest.mark.parametrize("name, left_out", [("AB_eps", "dt_mom, dt_tracer"), ("dt_mom", "dt_tracer")])
def test_time_steps_that_nobody_chose(miniapp, made, plain, tmp_path, name, left_out):
    """Steps follow from the spacing then."""
    g = made(plain, "--set", f"{name}=0.125")
    assert f" {left_out}: left out, so that steps follow from the spacing; --set gives others" in g["said"]
    assert {"dt_mom", "dt_tracer"} & set(g["attributes"]) == {name} - {"AB_eps"} and "Courant" not in g["said"]
    table = miniapp.passes(tmp_path / "grid.h5", "-k", "ocean", "--check", "--steps", 1, quick=False)
    assert " by the spacing), ".join(f"{step} (" for step in left_out.split(", ")) in re.sub(r"\(\d\S+ ", "( ", table)


@pytest.mark.parametrize("names, units", [
    (("u", "v"), "m s-1"), (("uo", "vo"), "cm/s"),
    (("a", "b"), "eastward_sea_water_velocity northward_sea_water_velocity"),
    (("a", "b"), "sea_water_x_velocity sea_water_y_velocity")])
def test_velocities_that_the_file_has(made, tmp_path, names, units):
    """Nobody has to name them, and a file of our own gives its own ones."""
    data = with_flow(0, 0)
    data.u.values[:, 1:3, 4:6] = 0.3  # not the same as its mean with its neighbours
    data = data.rename(dict(zip("uv", names)))
    for name, standard_name in zip(names, units.split()):
        data[name].attrs = {"standard_name": standard_name, "units": "m s-1"}
    if units == "cm/s":
        data = data.assign(uo=(100 * data.uo).assign_attrs(units=units))
    for name in ("temp", "salt"):
        data[name].attrs = ocean()[name].attrs
    g = made(save(data, tmp_path / "flow.nc"))
    assert sorted({round(value, 9) for value in g["u"].flat}) == [0.1, 0.2, 0.3]
    assert g["u_wgrid"].any()
    assert f"u: from '{names[0]}'" in g["said"]
    assert ("turned from cm/s into m s-1" in g["said"]) == (units == "cm/s")
    if names == ("u", "v"):
        (tmp_path / "grid.h5").rename(tmp_path / "own.nc")
        again = made(tmp_path / "own.nc")
        for name in ("u", "u_wgrid", "w_wgrid"):
            assert np.allclose(again[name], g[name], rtol=1e-15, atol=1e-20), name


@pytest.mark.parametrize("east, faces", [(0, 2), (15, 1)], ids=["T points", "faces"])
def test_velocities_that_are_missing(made, fails, tmp_path, east, faces):
    """In water they are refused or filled, of a cell both of its faces; on land they are 0."""
    data = with_flow(east, 10 if east else 0)
    for name in ("temp", "salt"):
        data[name] = ocean()[name]
    wet = np.isfinite(ocean().temp.values)
    data.u.values[~wet] = np.nan
    eastern = wet & np.roll(wet, -1, axis=2)
    if east:
        data.u.values[~eastern] = np.nan
    k, j, i = np.argwhere(eastern & np.roll(eastern, 1, axis=2))[0]
    path = save(data, tmp_path / "land.nc")
    whole = made(path)
    assert (whole["u"] == np.where(whole["maskU"], 0.1, 0)).all()
    data.u.values[k, j, i] = np.nan
    path = save(data, tmp_path / "gap.nc")
    (tmp_path / "grid.h5").unlink()
    (tmp_path / "grid.png").unlink()
    fails(INPUT, f"'u' for u is missing in {faces} wet faces, expected .*--default u=VALUE", path)
    filled = made(path, "--default", "u=0.25")
    assert (filled["u"] == 0.25).sum() == faces and f"{faces} missing faces" in filled["said"]
    assert ((filled["u"] == whole["u"]) | (filled["u"] == 0.25)).all()


def test_constant_velocities(made, plain):
    g = made(plain, "--default", "u=0.2")
    assert (g["u"] == 0.2 * g["maskU"]).all() and not g["v"].any() and g["u_wgrid"].any()
    assert "u: 0.2, by --default; v: 0" in g["said"]


@pytest.mark.parametrize("change, reason", [
    (lambda d: d.drop_vars("v"), "'u' is not taken, since the other"),
    (lambda d: d.assign(u=d.u.isel(depth=0)), "not taken: .* must have longitude, latitude and"),
    (lambda d: d.assign(u=(("q", "lat", "lon"), d.u.values)), "not taken: .* axis 'q' of 'u'")])
def test_velocities_elsewhere_are_not_taken(made, tmp_path, change, reason):
    g = made(save(change(with_flow(0, 0)), tmp_path / "flow.nc"))
    assert not g["u"].any() and not g["u_wgrid"].any() and re.search(reason, g["said"])


# ---- Veros ----

def rebuilt(g, names):
    """Compares with Veros's own arrays: all the same bits, but where a cosine is in it, since
    NumPy's versions differ in its last bit, and where a kernel made it in another order of operations."""
    with h5py.File(EXPECTED) as expected:
        for name in names:
            theirs = expected[name][()]
            if name in ("cost", "cosu", "mxl", "kappaM", "u_wgrid", "v_wgrid", "w_wgrid", "eke_len", "K_gm", "K_iso"):
                assert np.allclose(g[name], theirs, rtol=1e-14, atol=1e-15 * np.abs(theirs).max())
            else:
                assert np.array_equal(g[name], theirs), name


def names_in_memory():
    with h5py.File(EXPECTED) as expected:
        return set(expected) - {"outputs", "forc", "tke_taup1", "dtke_taum1"}


def test_snapshot_of_veros(made):
    """Grid, masks, kbot, K_iso, mxl, kappaM, velocities: what Veros had in memory."""
    g = made(SNAPSHOT, "--time", "1")
    rebuilt(g, names_in_memory())
    wet = g["maskT"] == 1
    assert (g["forc"][wet] == read(EXPECTED, "forc")[wet]).all()
    assert (g["dtke_taum1"] == 0).all() and "tke_taup1" not in g
    assert g["attributes"]["cyclic_x"] == 1 and g["attributes"]["eq_of_state_type"] == 3
    assert g["attributes"]["dt_tracer"] == 21600 and g["attributes"]["K_iso_steep"] == 500
    assert g["attributes"]["start_time"] == 7 * 21600 == read(RESTART, "core/time")


def test_restart_of_veros(made):
    """The state of the restart, with both of its other time levels."""
    g = made(SNAPSHOT, "--time", "1", "--restart", RESTART)
    rebuilt(g, names_in_memory() | {"tke_taup1", "dtke_taum1"})
    wet = g["maskT"] == 1
    assert (g["forc"][wet] == read(EXPECTED, "forc")[wet]).all()
    g = made(SNAPSHOT, "--time", "0", "--restart", RESTART)
    rebuilt(g, names_in_memory())
    assert g["attributes"]["start_time"] == 7 * 21600
    assert "not of the restart's step" in g["said"]


def test_kernels_repeat_the_step_of_veros(miniapp, made, tmp_path):
    """On what was rebuilt, the program does what Veros's own kernels did in that step."""
    made(SNAPSHOT, "--time", "1", "--restart", RESTART)
    miniapp.passes(tmp_path / "grid.h5", "-o", tmp_path / "out.h5")
    with h5py.File(EXPECTED) as expected, h5py.File(tmp_path / "out.h5") as out:
        for name, theirs in expected["outputs"].items():
            theirs, ours = theirs[...], out[name][...]
            assert np.abs(theirs).max() > 0, name
            assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max(), name


def altered(tmp_path, change):
    """A copy of the snapshot with something changed."""
    path = tmp_path / "altered.nc"
    with copied(SNAPSHOT, path) as file:
        change(file)
    return path


def set_settings(**changes):
    def change(file):
        text = file.attrs["setup_settings"]
        for name, value in changes.items():
            text = re.sub(rf'"{name}": [^,}}]*', f'"{name}": {value}', text)
        file.attrs["setup_settings"] = text
    return change


def drop(*names):
    def change(file):
        for name in names:
            del file[name]
    return change


def test_snapshot_without_sources_and_without_advection(made, tmp_path):
    def change(file):
        drop("K_diss_v")(file)
        set_settings(enable_tke_superbee_advection="false", enable_tke_hor_diffusion="false",
                     enable_eke_isopycnal_diffusion="false")(file)
    g = made(altered(tmp_path, change), "--time", "1")
    assert "forc: not all of its parts are in the snapshot (missing: K_diss_v)" in g["said"]
    assert "forc: default" in g["said"] and (g["K_iso"] == 1000).all()
    assert g["attributes"]["enable_tke_superbee_advection"] == 0
    assert g["attributes"]["enable_tke_hor_diffusion"] == 0


def test_snapshot_without_eke(made, tmp_path):
    """Other sources make up forc then."""
    def change(file):
        set_settings(enable_eke="false")(file)
        for name, like in (("K_diss_gm", "eke_diss_iw"), ("K_diss_h", "K_diss_v"), ("P_diss_skew", "P_diss_v")):
            if name in file:
                del file[name]
            file.copy(like, name)
    g = made(altered(tmp_path, change), "--time", "1")
    with h5py.File(SNAPSHOT) as file:
        part = {name: file[name][1] for name in ("K_diss_v", "K_diss_bot", "P_diss_v", "P_diss_adv",
                                                 "P_diss_nonlin", "eke_diss_iw")}
    forc = (2 * part["K_diss_v"] - 2 * part["P_diss_v"] - part["P_diss_adv"] - part["P_diss_nonlin"]
            + part["eke_diss_iw"] + part["K_diss_bot"])
    wet = g["maskT"] == 1
    assert np.allclose(g["forc"][wet], forc[wet], rtol=1e-9, atol=1e-20)
    assert (g["K_iso"] == 1000).all()


def test_snapshot_of_one_column(drawn, tmp_path):
    path = tmp_path / "column.nc"
    data = xarray.open_dataset(SNAPSHOT, decode_times=False)
    data.isel(xt=[3], xu=[3], yt=[2], yu=[2]).to_netcdf(path, engine="netcdf4")
    g = drawn(path, "--time", "1")
    assert g["temp"].shape == (6, 1, 1) and g["kbot"][0, 0] == read(EXPECTED, "kbot")[2, 3]


def test_snapshot_in_another_order(fails, tmp_path):
    path = tmp_path / "turned.nc"
    data = xarray.open_dataset(SNAPSHOT, decode_times=False).transpose("Time", "xt", "yt", ...)
    for name in data.variables:
        data[name].encoding = {}
    data.to_netcdf(path, engine="netcdf4")
    fails(INPUT, r"salt has axes .* expected \(Time, zt, yt, xt\)", path, "--time", "1")


def test_snapshot_on_metres(drawn, tmp_path):
    def change(file):
        set_settings(coord_degree="false", tke_mxl_choice=1)(file)
        file["coriolis_t"] = np.full(file["beta"].shape[-2:], 1e-4)
        file["coriolis_t"].dims[0].attach_scale(file["yt"])
        file["coriolis_t"].dims[1].attach_scale(file["xt"])
    g = drawn(altered(tmp_path, change), "--time", "1")
    assert (g["cost"] == 1).all() and (g["cosu"] == 1).all()
    assert g["x"][0] == -3500 and (g["coriolis_t"] == 1e-4).all()


def another_shape(name):
    def change(file):
        del file[name]
        file[name] = np.zeros((3, 4))
    return change


@pytest.mark.parametrize("pattern, change, arguments", [
    ("2 records along 'Time', expected a choice", None, []),
    ("2 records along 'Time', expected --time from 0 to 1", None, ["--time", "2"]),
    ("missing: dxt, dzw, expected in Veros's snapshot", drop("dxt", "dzw"), ["--time", "1"]),
    ("missing: tke, eke, expected", drop("tke", "eke"), ["--time", "1"]),
    ("missing: beta", drop("beta"), ["--time", "1"]),
    ("u is not finite everywhere", lambda file: file["u"].write_direct(
        np.full(file["u"].shape, np.inf)), ["--time", "1"]),
    ("missing: forc_tke_surface", drop("forc_tke_surface"), ["--time", "1"]),
    ("'setup_settings' cannot be read", lambda file: file.attrs.modify("setup_settings", "{"),
     ["--time", "1"]),
    (r"beta has shape \(3, 4\), expected \(11, 7\), as salt has", another_shape("beta"), ["--time", "1"]),
    (r"u has shape \(3, 4\), expected \(6, 11, 7\), as salt has", another_shape("u"), ["--time", "1"]),
    ("not a restart of Veros", None, ["--time", "1", "--restart", SNAPSHOT]),
    ("No such file|not a restart", None, ["--time", "1", "--restart", "none.h5"]),
])
def test_snapshot_that_cannot_be_used(fails, tmp_path, pattern, change, arguments):
    fails(INPUT, pattern, altered(tmp_path, change) if change else SNAPSHOT, *arguments)


@pytest.mark.parametrize("pattern, change", [
    ("missing: dtke", lambda core: core.pop("dtke")),
    ("missing: eke", lambda core: core.pop("eke")),
    ("has shape .* expected .* of the snapshot's run",
     lambda core: core.update(salt=core["salt"][1:])),
    ("land is not the snapshot's", lambda core: core.update(salt=0 * core["salt"])),
])
def test_restart_of_another_run(fails, tmp_path, pattern, change):
    with h5py.File(RESTART) as file:
        core = {name: values[()] for name, values in file["core"].items()}
    change(core)
    path = tmp_path / "restart.h5"
    with h5py.File(path, "w") as file:
        for name, values in core.items():
            file[f"core/{name}"] = values
    fails(INPUT, r"restart\.h5: .*" + pattern, SNAPSHOT, "--time", "1", "--restart", path)


def test_a_field_of_the_snapshot_by_name(made):
    g = made(SNAPSHOT, "--time", "1", "--variable", "kappaM=kappaM")
    wet = g["maskT"] == 1
    assert (g["kappaM"][wet] == read(EXPECTED, "kappaM")[wet]).all()
    assert (g["kappaM"][~wet] == 0).all() and "from 'kappaM'" in g["said"]


def test_options_that_a_snapshot_has_no_use_for(fails):
    fails(USAGE, "--temperature, --cyclic-x, --default temp or salt: of no use", SNAPSHOT, "--time",
          "1", "--temperature", "potential", "--cyclic-x", "1", "--default", "temp=3")
    fails(USAGE, "--default u or v: of no use", SNAPSHOT, "--time", "1", "--default", "v=1")


def test_restart_beside_something_else(fails, plain):
    fails(INPUT, "is no snapshot of Veros", plain, "--restart", RESTART)


# ---- what is refused ----

def attribute(variable, name, value):
    def change(data):
        data[variable].attrs[name] = value
        return data
    return change


def value(variable, index, number):
    def change(data):
        data[variable].values[index] = number
        return data
    return change


def curvilinear(data):
    bent = two_dimensional(data)
    bent.nav_lat.values[:, 3] += 2
    return bent


def other_levels(data):
    data = data.assign_coords(lev=("lev", data.depth.values + 5, data.depth.attrs))
    data["salt"] = (("lev", "lat", "lon"), data.salt.values, data.salt.attrs)
    return data


def nominal(bend, declared=True, missing=False):
    """1-D longitudes and latitudes, beside 2-D ones that may be bent in the north."""
    def change(data):
        lon, lat = np.meshgrid(data.lon, data.lat)
        lat = lat + np.where(lat > 30, bend * np.sin(np.radians(2 * lon)), 0)
        if missing:
            lon[1, 2] = lat[1, 2] = np.nan
        data = data.assign(geolon=(("lat", "lon"), lon - 360, {"units": "degrees_E"}),
                           geolat=(("lat", "lon"), lat, {"units": "degrees_N"}))
        for name in ("temp", "salt") if declared else ():
            data[name].encoding["coordinates"] = "geolon geolat"
        return data
    return change


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("missing", [True, False])
def test_nominal_coordinates(made, usual, tmp_path, declared, missing):
    """They are taken if the 2-D ones agree, which may be missing on land."""
    g = made(save(nominal(0.1, declared, missing)(ocean()), tmp_path / "nominal.nc"))
    assert np.array_equal(g["y"], usual["y"]) and np.array_equal(g["temp"], usual["temp"])


def test_2_d_coordinates_of_other_points(made, usual, tmp_path):
    """As NEMO's glamu beside glamt: undeclared, they may be of corners."""
    data = nominal(0, declared=False)(ocean())
    data["a"] = (data.geolon + 15).assign_attrs(data.geolon.attrs)
    assert (made(save(data, tmp_path / "nominal.nc"))["x"] == usual["x"]).all()


def test_coordinates_that_the_file_lacks(made, tmp_path):
    path = save(ocean(), tmp_path / "nominal.nc")
    with h5py.File(path, "a") as file:
        file["temp"].attrs["coordinates"] = "geolon geolat"
    assert "'temp' is said to have coordinates geolon, geolat" in made(path)["said"]


def levels(values, name="lev", **attributes):
    return lambda data: data.drop_vars("depth").rename(
        {"depth": name} if name != "depth" else {}).assign_coords({name: (name, values, attributes)})


def follow_the_floor(data):
    """As ROMS: heights of its levels, which differ from place to place, beside an s-coordinate."""
    data = levels(np.linspace(-0.1, -0.9, 5))(data)
    z = -data.lev.values[:, None, None] * np.full((1, 7, 12), 500.0)
    return data.assign_coords(z_rho=(("lev", "lat", "lon"), -z, {"units": "m", "positive": "up"}))


def test_depths_without_units(made, usual, tmp_path):
    data = levels(ocean().depth.values, "depth")(ocean())
    found = made(save(data, tmp_path / "bare.nc"))
    assert (found["z"] == usual["z"]).all() and "'depth' has no units: taken as m" in found["said"]


REFUSED = {
    "nothing there": (r"missing: temp \(.*--variable temp=THEIRS.*; salt \(.*--default salt=VALUE.*"
                      "there is: a, b", lambda d: xarray.Dataset(
                          {"a": d.temp.assign_attrs(standard_name="none"),
                           "b": d.salt.assign_attrs(standard_name="none")}), []),
    "no axes": (r"missing: longitude of temp .*; depth of temp",
                lambda d: d.isel(lon=0, depth=0).drop_vars(["lon", "depth"]), []),
    "unknown axis": ("axis 'q' of 'temp' is none of longitude",
                     lambda d: d.expand_dims({"q": 2}), []),
    "two records": ("'temp' has 2 records along 'time', expected a choice: --time 0 to 1",
                    lambda d: d.expand_dims({"time": 2}), []),
    "record beyond": ("2 records along 'time', expected --time from 0 to 1",
                      lambda d: d.expand_dims({"time": 2}), ["--time", "7"]),
    "record before": ("2 records along 'time', expected --time from 0 to 1, or from -2 to -1",
                      lambda d: d.expand_dims({"time": 2}), ["--time", "-3"]),
    "no record": ("'temp' has no record along 'time'", lambda d: d.expand_dims({"time": 1}).isel(
        time=slice(0, 0)), []),
    "members": ("axis 'member' of 'temp' is none of", lambda d: d.expand_dims({"member": [0, 1]}),
                ["--time", "0"]),
    "no time": ("no variable has a time axis, expected no --time", None, ["--time", "0"]),
    "no such variable": (r"there is no variable 'T'.*there is: temp, salt", None,
                         ["--variable", "temp=T"]),
    "no standard name": ("'temp' does not say which temperature it holds: add --temperature in-situ, potential or conservative",
                         attribute("temp", "standard_name", ""), []),
    "no kind of salinity": ("'salt' does not say which salinity it holds: add --salinity practical or absolute",
                            attribute("salt", "standard_name", "sea_water_knudsen_salinity"), []),
    "units of temperature": (r"'temp' is in 'degF', expected degC, for temp; .*--units temp='degC'",
                             attribute("temp", "units", "degF"), []),
    "no units of temperature": (r"'temp' has no units, expected degC or K; .*--units temp=degC",
                                attribute("temp", "units", ""), []),
    "units of salinity": (r"'salt' is in 'mol', expected g kg-1",
                          attribute("salt", "units", "mol"), []),
    "longitude in metres": ("longitude 'lon' is in 'm', expected degrees",
                            lambda d: d.assign_coords(lon=("lon", d.lon.values, {
                                "units": "m", "standard_name": "longitude"})), []),
    "3-D longitude": ("coordinate 'nav_lon' has 3 axes, expected 1, or 2 on a regular grid",
                      lambda d: two_dimensional(d).assign(nav_lon=lambda b: b.nav_lon.expand_dims(
                          {"deptht": d.depth.values}).assign_attrs(b.nav_lon.attrs)), []),
    "2-D depth": ("depth 'depth' has 2 axes, expected 1", lambda d: d.rename(
        depth="k").drop_vars("k").assign_coords(depth=(
            ("k", "lat"), np.outer(d.depth.values, np.ones(7)), d.depth.attrs)), []),
    "a track": ("two of longitude, latitude and depth of 'temp' lie along 'lon', expected a grid",
                lambda d: d.isel(lat=0, drop=True).assign_coords(
                    lat=("lon", np.linspace(0, 50, 12), d.lat.attrs)), []),
    "depth in feet": ("coordinate 'depth' is in 'ft', expected m", attribute("depth", "units", "ft"), []),
    "depth above": ("has a level 600 m above the surface", 
                    attribute("depth", "positive", "up"), []),
    "axis that turns": ("'lat' neither rises nor falls", lambda d: d.assign_coords(
        lat=("lat", [-60.0, -40, -20, 0, 20, 10, 5], d.lat.attrs)), []),
    "axis with a gap": ("coordinate 'lat' has missing values", lambda d: d.assign_coords(
        lat=("lat", [-60.0, -40, np.nan, 0, 20, 40, 60], d.lat.attrs)), []),
    "latitude beyond": ("latitude -120, expected -90 to 90", lambda d: d.assign_coords(
        lat=("lat", 2 * d.lat.values, d.lat.attrs)), []),
    "curvilinear": ("the grid is curvilinear: 'nav_lat' varies by 2", curvilinear, []),
    "nominal coordinates": ("curvilinear: 'geolat' differs from 'lat' by 4.33 degrees, expected",
                            nominal(5.0), []),
    "nominal and undeclared": ("curvilinear: 'geolat' differs from 'lat' by 1.73 degrees",
                               nominal(2.0, declared=False, missing=True), []),
    "level numbers": ("'lev' is model_level_number, expected a depth or height in m",
                      levels(np.arange(1.0, 6), standard_name="model_level_number"), []),
    "index": ("'k' is z_grid_index", levels(np.arange(5.0), "k", standard_name="z_grid_index",
                                            axis="Z"), []),
    "s-coordinate": ("'s_rho' is ocean_s_coordinate_g2", levels(
        np.linspace(-0.1, -0.9, 5), "s_rho", standard_name="ocean_s_coordinate_g2", positive="up"),
                     []),
    "sigma": ("'z' is ocean_sigma_coordinate", levels(
        np.linspace(-0.1, -0.9, 5), "z", standard_name="ocean_sigma_coordinate", units="m"), []),
    "pressure": ("'depth' is sea_water_pressure", levels(
        np.arange(10.0, 60, 10), "depth", standard_name="sea_water_pressure"), []),
    "another standard name": ("'depth' has no units, expected m", levels(
        np.arange(10.0, 60, 10), "depth", standard_name="distance"), []),
    "no depth by name": ("'k' has no units, expected m, cm or km, or a name such as depth", levels(
        np.arange(10.0, 60, 10), "k", positive="down"), []),
    "bare numbers": ("'lev' has no units, and 1 to 5 may be numbers of levels or sigma", levels(
        np.arange(1.0, 6)), []),
    "bare sigma": ("'lev' has no units, and -0.1 to -0.9 may be", levels(
        np.linspace(-0.1, -0.9, 5)), []),
    "levels along the floor": ("depth 'z_rho' has 3 axes, expected 1", follow_the_floor, []),
    "sigma levels": ("axis 'sigma' of 'temp' is none of longitude", lambda d: d.assign_coords(
        depth=("depth", d.depth.values, {"units": "1"})).rename(depth="sigma"), []),
    "one column": ("one longitude has no spacing", lambda d: d.isel(lon=[0]), []),
    "levels in the deep": ("levels -600 and -500 are 100 apart, .* 325 wide.*or the surface",
                           lambda d: d.isel(depth=[0, 1]).assign_coords(
                               depth=("depth", [500.0, 600.0], d.depth.attrs)), []),
    "a gap in the levels": ("levels -10 and -5 are 5 apart, but their cells would be 246.5 wide",
                            lambda d: d.isel(depth=[0, 1, 2, 3]).assign_coords(
                                depth=("depth", [5.0, 10, 500, 505], d.depth.attrs)), []),
    "a gap in longitude": ("longitudes 0 and 1 are 1 apart, but their cells would be 38 wide",
                           lambda d: d.isel(lon=[0, 1, 2]).assign_coords(
                               lon=("lon", [0.0, 1.0, 150.0], d.lon.attrs)), []),
    "a gap in latitude": ("latitudes 0 and 1 are 1 apart", lambda d: d.isel(
        lat=[0, 1, 2]).assign_coords(lat=("lat", [0.0, 1.0, 40.0], d.lat.attrs)), []),
    "one level at the surface": ("the only level is at 0 m", lambda d: d.isel(
        depth=[0]).assign_coords(depth=("depth", [0.0], d.depth.attrs)), []),
    "other levels": ("'salt' for salt has other levels than temperature", other_levels, []),
    "hot": (r"temperature in degC is 1e\+20 at level 4, row 2, column 0",
            value("temp", (0, 2, 0), 1e20), []),
    "kelvin as celsius": (r"temperature in degC is 2\d\d", lambda d: d.assign(
        temp=(d.temp + 273.15).assign_attrs(d.temp.attrs)), []),
    "salty": (r"salinity is 99 at level 4", value("salt", (0, 2, 0), 99.0), []),
    "salinity as a fraction": ("salinity is at most 0.0.*--units salt=kg/kg", lambda d: d.assign(
        salt=(d.salt / 1000).assign_attrs(d.salt.attrs)), []),
    "no water": ("no cell has temperature and salinity", lambda d: d * np.nan, []),
    "a mask that does not fit": ("'m' for maskT has another longitude", lambda d: d.assign(
        m=(("lat", "lon"), np.ones((7, 12)))).isel(depth=slice(0, 4)).assign(
            n=("lat", np.ones(7))).assign(m=(("lon2",), np.ones(5))).assign_coords(
                lon2=("lon2", np.arange(5.0), {"units": "degrees_east"})),
        ["--variable", "maskT=m"]),
    "units of a field": (r"'k' is in 'cm2', expected m2 s-1, for K_iso; .* --units K_iso=", lambda d: d.assign(
        k=(("lat", "lon"), np.ones((7, 12)), {"units": "cm2"})), ["--variable", "K_iso=k"]),
    "field elsewhere": ("'k' for K_iso has another longitude", lambda d: d.assign(
        k=(("l",), np.ones(12))).assign_coords(l=("l", d.lon.values + 9, d.lon.attrs)),
        ["--variable", "K_iso=k"]),
    "field on other levels": ("'k' for tke has other levels", lambda d: d.assign(
        k=(("l",), np.ones(5))).assign_coords(l=("l", 2 * d.depth.values, d.depth.attrs)),
        ["--variable", "tke=k"]),
    "negative diffusivity": (r"K_iso is -1 in a wet cell, expected 0 to 1e\+06", None,
                             ["--default", "K_iso=-1"]),
    "no mixing length": ("mxl is 0 in a wet cell, expected above 0, to", None,
                         ["--default", "mxl=0"]),
    "much diffusivity": (r"K_iso is 1e\+09 in a wet cell, expected 0 to 1e\+06", None,
                         ["--default", "K_iso=1e9"]),
    "pressure beyond": (r"zt is -60000, expected -12000 to 12000; the first is zt\[0\]",
                        lambda d: d.assign_coords(depth=(
                            "depth", 100 * d.depth.values, d.depth.attrs)), []),
    "fast": ("u is 500 in a wet cell, expected -100 to 100", lambda d: d.assign(
        {name: (d.temp.dims, np.full(d.temp.shape, 500.0)) for name in "uv"}), []),
    "velocity on a plane": ("'k' for u must have longitude, latitude and depth", lambda d: d.assign(
        k=(("lat", "lon"), np.ones((7, 12)))), ["--variable", "u=k", "--variable", "v=k"]),
    "velocity elsewhere": ("'k' for u has another longitude", lambda d: d.assign(
        k=(("l",), np.ones(5))).assign_coords(l=("l", np.arange(5.0), d.lon.attrs)),
        ["--variable", "u=k", "--variable", "v=k"]),
    "two of a standard name": ("warm, hot all have the standard name", lambda d:
        d.rename(temp="warm").assign(hot=d.temp), []),
    "text": ("'temp' holds no numbers", lambda d: d.assign(
        temp=("lat", list("abcdefg"), d.temp.attrs)), []),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(fails, tmp_path, what):
    pattern, change, arguments = REFUSED[what]
    data = ocean()
    data = change(data) if change else data
    for name in ("temp", "salt"):
        if name in data and not data[name].attrs:
            data[name].attrs = ocean()[name].attrs
    path = save(data, tmp_path / "bad.nc", QUICKLY)
    fails(INPUT, pattern, path, *arguments)


def test_no_rows(fails, tmp_path):
    fails(INPUT, "'lat' has no point along 'lat', expected one or more",
          save(ocean().isel(lat=slice(0, 0)), tmp_path / "bad.nc"))


@pytest.mark.parametrize("content", [b"", b"CDF\x01", b"\x89HDF\r\n\x1a\n", b"a,b\n1,2\n"])
def test_no_netcdf(fails, tmp_path, content):
    path = tmp_path / "bad.nc"
    path.write_bytes(content)
    fails(INPUT, r"bad\.nc: not a netCDF file", path)


def test_damage_that_ends_the_library(fails, plain, tmp_path, monkeypatch):
    """This attribute ends netCDF's by a signal, and so do numbers of 16 bytes; some changed bytes end HDF5's."""
    path = tmp_path / "bad.nc"
    with copied(plain, path) as file:
        file["temp"].attrs["DIMENSION_LIST"] = [1, 2]
    fails(INPUT, r"bad\.nc: not a netCDF file that can be read, or a damaged one", path)
    monkeypatch.setattr("miniapp.importer.source.opened", lambda _: os.kill(os.getpid(), signal.SIGSEGV))
    fails(INPUT, r"plain\.nc: not a netCDF file .* it ends the libraries of netCDF and HDF5 by signal 11", plain)


def test_no_file(fails, tmp_path):
    fails(INPUT, r"none\.nc: No such file", tmp_path / "none.nc")
    fails(INPUT, "Not a file", tmp_path)


@pytest.mark.parametrize("pattern, arguments", [
    ("expected NAME=VALUE", ["--default", "K_iso"]),
    ("there is no 'K_is'; the closest is 'K_iso'", ["--default", "K_is=3"]),
    ("expected a number", ["--default", "K_iso=much"]),
    ("expected a number", ["--set", "dt_mom=inf"]),
    ("'K_iso' was given before", ["--default", "K_iso=1", "--default", "K_iso=2"]),
    ("there is no 'halo'", ["--set", "halo=2"]),
    ("--set iso_slopec=-1: expected 0 to 100", ["--set", "iso_slopec=-1"]),
    ("--set enable_eke=0.5: expected 0 to 1, whole", ["--set", "enable_eke=0.5"]),
    ("u and v belong together", ["--variable", "u=u"]),
    ("temp and salt cannot both be constants", ["--default", "temp=1", "--default", "salt=35"]),
    ("'temp' was given before", ["--variable", "temp=a", "--variable", "temp=temp"]),
    ("invalid choice: 'maybe'", ["--holes", "maybe"]),
    ("invalid int value", ["--time", "now"]),
    ("unrecognized arguments", ["--nonsense"]),
])
def test_usage(fails, plain, pattern, arguments):
    fails(USAGE, pattern, plain, *arguments)


@pytest.mark.parametrize("error, code, pattern", [
    (MemoryError("8 TB"), INPUT, r"plain\.nc: is too large .*: 8 TB"),
    (KeyboardInterrupt(), 130, "interrupted")])
def test_ends_in_order(fails, plain, monkeypatch, error, code, pattern):
    def stop(*_):
        raise error
    fails(USAGE, "expected", plain, "--default", "no")  # imports what is patched now
    monkeypatch.setattr("miniapp.importer.ocean.make", stop)
    fails(code, pattern, plain)


@pytest.mark.parametrize("place", ["figure.draw", "store.write"])
@pytest.mark.parametrize("end, code, pattern", [
    (lambda: os.kill(os.getpid(), signal.SIGTERM), 130, "interrupted"),
    (lambda: "ö".encode("ascii"), OUTPUT, r"grid\.(h5|png): cannot be written")],
    ids=["SIGTERM", "error"])
def test_leaves_both_outputs_or_none(undrawn, fails, plain, monkeypatch, place, end, code, pattern):
    fails(USAGE, "expected", plain, "--default", "no")  # imports what is patched now
    monkeypatch.setattr(f"miniapp.importer.{place}", lambda *_: end())
    fails(code, pattern, plain)


def test_stdout_cannot_be_written(tmp_path):
    """Fields without a grid, since a picture would take as long as all else."""
    path = tmp_path / "eos.nc"
    with h5py.File(GRID) as grid, h5py.File(path, "w") as file:
        for name in ("temp", "salt", "p", "zt"):
            file[name] = grid[name][...]
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([sys.executable, SCRIPT, path, "--halo", "0", "-o", tmp_path / "grid.h5"], stdout=full,
                              check=False, stderr=subprocess.PIPE, text=True)
    assert done.returncode == OUTPUT
    assert done.stderr.endswith("standard output: cannot be written: No space left on device\n")


def test_names_that_are_not_ascii(make, region, tmp_path):
    """Nor mathematics, to matplotlib; grid.h5 shows that other files keep their bits."""
    path, output = tmp_path / "größe$_$.nc", tmp_path / "aus-größe.h5"
    path.write_bytes(region.read_bytes())
    assert make(path, output=output)[0] == DONE
    assert xarray.open_dataset(output).title == "Input of miniapp, made of größe$_$.nc"


def test_damaged_data(fails, tmp_path):
    """HDF5's checksum tells; the file opens, since only data is hit."""
    with h5py.File(EXAMPLE) as file:
        chunk = file["thetao"].id.get_chunk_info(0)
    content = bytearray(EXAMPLE.read_bytes())
    content[chunk.byte_offset + chunk.size // 2] ^= 0xFF
    path = tmp_path / "damaged.nc"
    path.write_bytes(content)
    fails(INPUT, r"damaged\.nc: 'thetao' cannot be read", path, "--time", "0")


def test_classic_file_that_is_cut_off(fails, tmp_path):
    """What is beyond its end would be read as zeros."""
    path = classic(tmp_path / "cut.nc")
    path.write_bytes(path.read_bytes()[:-2000])
    fails(INPUT, r"cut\.nc: is cut off: it has \d+ bytes, but its variables \d+", path)


def test_a_file_that_is_being_written(fails, plain, tmp_path):
    """HDF5 locks it; that some file systems have no locks is no reason to refuse a file. Here it is a copy, since
    HDF5 may still hold a lock of its own on a file that this process has read."""
    path = shutil.copy(plain, tmp_path / "locked.nc")
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fails(INPUT, "another program has locked it to write, expected a file that is closed", path)


def test_a_file_system_without_locks(made, plain, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    monkeypatch.setattr(fcntl, "flock", flock)
    made(plain)


@pytest.mark.parametrize("name, packing", [
    ("scale_factor", "much"), ("scale_factor", 0.0), ("add_offset", "1"), ("add_offset", np.nan)])
def test_packing_that_is_none(fails, plain, tmp_path, name, packing):
    path = with_attribute(plain, tmp_path / "packed.nc", name, packing)
    fails(INPUT, rf"packed\.nc: {name} of 'salt' is .*, expected a finite number", path)


def show(path, name, sources):
    """Makes a dataset virtual: a level each of (file, dataset)."""
    with h5py.File(path, "a") as file:
        old = file[name]
        layout = h5py.VirtualLayout(old.shape, old.dtype)
        for k, source in enumerate(sources):
            layout[k] = h5py.VirtualSource(*source, shape=old.shape[1:])
        attributes = {key: value for key, value in old.attrs.items() if key != "DIMENSION_LIST"}
        del file[name]
        new = file.create_virtual_dataset(name, layout, fillvalue=FILL)
        new.attrs.update(attributes)
        for i, axis in enumerate(("depth", "lat", "lon")):
            new.dims[i].attach_scale(file[axis])


def test_virtual_datasets(fails, plain, tmp_path):
    """HDF5 reads what is not there as fill values or zeros."""
    path = tmp_path / "outer.nc"
    path.write_bytes(plain.read_bytes())
    show(path, "temp", [("inner.h5", f"level{k}") for k in range(5)])
    fails(INPUT, r"outer\.nc: 'temp' is virtual, so it may lack parts, expected data in the file", path)



def test_an_output_without_a_name(fails, plain):
    fails(USAGE, "--output .: is no name of a file", plain, output="")


def test_inputs_are_not_overwritten(fails, plain, tmp_path):
    fails(USAGE, "would be overwritten", plain, output=plain)
    fails(USAGE, "would be overwritten", plain, "--figure", plain)
    fails(USAGE, "is the output itself", plain, "--figure", tmp_path / "grid.h5")


def test_what_cannot_be_written(fails, plain, tmp_path):
    fails(OUTPUT, r"none/grid\.h5: cannot be written: No such file", plain, output=tmp_path / "none" / "grid.h5")
    fails(OUTPUT, r"none/a\.png: cannot be written: No such file", plain, "--figure", tmp_path / "none" / "a.png")
    fails(OUTPUT, "cannot be written: .*format", plain, "--figure", tmp_path / "grid.nothing")
    fails(OUTPUT, "cannot be written: Is a directory", plain, "--figure", tmp_path)


# ---- the script itself ----

def test_help_and_usage(make, capsys, monkeypatch):
    with pytest.raises(SystemExit) as end:
        make("--help")
    said = capsys.readouterr()
    assert not end.value.code and "--variable NAME=THEIRS" in said.out and not said.err
    monkeypatch.setattr(sys, "argv", ["make-input"])
    assert command.main() == USAGE
    assert_one_line(capsys.readouterr().err)
