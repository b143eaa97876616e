"""The format of inputs: files in another layout are refused with the command that turns them into inputs, all
faults of a file are named at once, and outputs have the file's coordinates."""

import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import fields
from conftest import INPUT, QUICK, assert_one_line, change, read, write
from test_input import attributes, link, put, swap

COMMAND = r"'run/make-input \S+plain\.h5 -o grid\.h5' turns such a file into an input"
HALO = 2


@pytest.fixture
def plain(tmp_path, original):
    """A copy of a small ocean's file, to change."""
    return shutil.copy(original, tmp_path / "plain.h5")


@pytest.fixture(scope="module")
def expected(miniapp, original):
    return miniapp.checksums(original)


def edit(path, *edits):
    with h5py.File(path, "a") as file:
        for change_file in edits:
            change_file(file)
    return path


def attribute(name, value):
    return lambda file: file["salt"].attrs.__setitem__(name, value)


# ---- other layouts ----

@pytest.mark.parametrize("change_file, fault", [
    (lambda file: file.attrs.__delitem__("halo"), "attribute 'halo' is missing"),
    (lambda file: swap("salt", file["salt"][...][None])(file),
     r"dataset 'salt' has 4 axes, but must have 3: \(z, y, x\)"),
    (attribute("scale_factor", 0.5), "dataset 'salt' is packed"),
    (attribute("add_offset", 35.0), "dataset 'salt' is packed"),
    (attribute("_Unsigned", "true"), "dataset 'salt' is packed"),
    (attribute("units", "1"), "dataset 'salt' is in '1', but must be in 'g kg-1'"),
    (lambda file: put("zt", file["zt"][...][::-1])(file), "levels go from the bottom up"),
])
def test_files_in_another_layout(miniapp, plain, change_file, fault):
    miniapp.fails(INPUT, f"{fault}.*; {COMMAND}", edit(plain, change_file), "-k", "eos,isoneutral")


@pytest.mark.parametrize("change_file, fault", [
    (lambda file: file.move("salt", "sal"), r"dataset 'salt' \(the closest name in the file is 'sal'\) is missing"),
    (lambda file: [file.move(name, f"my_{name}x") for name in ("salt", "temp")],
     "datasets 'salt'.*, 'temp'.* are missing"),
])
def test_datasets_that_are_absent(miniapp, plain, change_file, fault):
    """A layout that is ours does not make make-input invent fields: the message says which options do."""
    miniapp.fails(INPUT, f"{fault}.*; 'run/make-input .* adds masks and, by --variable NAME=THEIRS or --default "
                  "NAME=VALUE, other fields", edit(plain, change_file), "-k", "eos,isoneutral")


def test_axes_in_another_order(miniapp, plain):
    edit(plain, swap("salt", read(plain, "salt").T))
    miniapp.fails(INPUT, r"'temp' has \d+ cells along z, but 'salt' has \d+ \(the order of axes is z, y, x\)", plain,
                  "-k", "eos")


@pytest.mark.parametrize("version", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"])
def test_netcdf_classic(miniapp, tmp_path, version):
    netCDF4 = pytest.importorskip("netCDF4")
    path = tmp_path / "plain.h5"
    netCDF4.Dataset(path, "w", format=version).close()
    miniapp.fails(INPUT, f"a netCDF classic file, not HDF5; {COMMAND}", path)


@pytest.mark.parametrize("value", [1.0, [1, 2], ["K", "K"]], ids=repr)
def test_units_that_are_no_text(miniapp, plain, value):
    miniapp.fails(INPUT, "attribute 'units' of dataset 'salt' must be a single text",
                  edit(plain, attribute("units", value)), "-k", "eos")


# ---- storage ----

def test_virtual_dataset(miniapp, plain, tmp_path):
    source = shutil.copy(plain, tmp_path / "source.h5")
    with h5py.File(plain, "a") as file:
        layout = h5py.VirtualLayout(file["salt"].shape, "f8")
        layout[...] = h5py.VirtualSource(source, "salt", file["salt"].shape)
        del file["salt"]
        file.create_virtual_dataset("salt", layout)
    miniapp.fails(INPUT, "dataset 'salt' is virtual, .*'h5repack -l CONTI'", plain, "-k", "eos")
    repacked = tmp_path / "repacked.h5"
    if shutil.which("h5repack"):
        subprocess.run(["h5repack", "-l", "CONTI", plain, repacked], check=True)
        miniapp.passes(repacked, "-k", "eos")


def test_dataset_in_another_file(miniapp, plain, tmp_path):
    edit(plain, link("salt", h5py.ExternalLink(shutil.copy(plain, tmp_path / "other.h5"), "salt")))
    miniapp.fails(INPUT, f"dataset 'salt' lies in another file; {COMMAND}", plain, "-k", "eos")


def test_some_chunks_that_nobody_wrote(miniapp, plain):
    values = read(plain, "salt")
    edit(plain, swap("salt", shape=values.shape, dtype="f8", chunks=(1, *values.shape[1:])),
         put("salt", values[1:], slice(1, None)))
    miniapp.fails(INPUT, "dataset 'salt' was never written, or not all of it", plain, "-k", "eos")


def test_a_file_that_is_open_elsewhere(miniapp, plain):
    """To read is possible, since no lock is asked for; what another program writes is named."""
    with h5py.File(plain, "r"):
        miniapp.passes(plain, "-k", "eos")
    with h5py.File(plain, "a", libver=("v110", "v110")):
        miniapp.fails(INPUT, f"{plain}: another program is writing it, or .*'h5clear -s {plain}'", plain, "-k", "eos")


def test_a_file_of_a_newer_hdf5(miniapp, plain):
    """Whose superblock has a version that this HDF5 does not know."""
    content = bytearray(plain.read_bytes())
    content[8] = 9
    plain.write_bytes(content)
    miniapp.fails(INPUT, r"not an HDF5 file, or a damaged one \(bad superblock version.*newer HDF5", plain)


# ---- masks ----

def test_land_above_water(miniapp, plain):
    y, x = np.argwhere(read(plain, "kbot") == 1)[0]
    change(plain, "maskT", (3, y, x), 0)
    miniapp.fails(INPUT, rf"maskT\[3, {y}, {x}\] is land, but maskT\[2, {y}, {x}\] below it is water", plain, "-k",
                  "density")


@pytest.mark.parametrize("mask", ["maskT", "maskW"])
def test_kbot_contradicts_a_mask(miniapp, plain, mask):
    y, x = np.argwhere(read(plain, "kbot") == 2)[0]
    change(plain, "kbot", (y, x), 3)
    kernels = {"maskT": "tempsalt_sources", "maskW": "tke_diffusivities"}[mask]
    miniapp.fails(INPUT, rf"maskT\[1, {y}, {x}\] is water by '{mask}', but land by 'kbot'", plain, "-k", kernels)


@pytest.mark.parametrize("name, axis", [("maskU", 2), ("maskV", 1)])
def test_faces_open_beside_land(miniapp, plain, name, axis):
    cells = read(plain, "maskT")
    for shift, word in ((0, "the cell before"), (-1, "the cell beyond")):
        land, water = np.roll(cells, shift, axis) == 0, np.roll(cells, -1 - shift, axis) == 1
        inner = np.ones_like(land)
        np.moveaxis(inner, axis, 0)[-1] = False
        z, y, x = np.argwhere(land & water & inner & (read(plain, name) == 0))[0]
        kept = read(plain, name)
        change(plain, name, (z, y, x), 1)
        miniapp.fails(INPUT, rf"{name}\[{z}, {y}, {x}\] is open, but {word} it is land by 'maskT'", plain, "-k",
                      "isoneutral")
        change(plain, name, ..., kept)


@pytest.mark.parametrize("name, index, end", [
    ("maskU", (..., -1), ", unless the attribute cyclic_x is 1"), ("maskV", (slice(None), -1), "")])
def test_faces_open_in_a_wall(miniapp, plain, name, index, end):
    change(plain, name, index, read(plain, "maskT")[index])
    miniapp.fails(INPUT, rf"{name}\[.*\] is open, but the wall beyond it is land by 'maskT'{end}$", plain, "-k",
                  "isoneutral")


def test_thin_walls_are_legal_but_odd(miniapp, plain):
    z, y, x = np.argwhere(read(plain, "maskU") == 1)[0]
    change(plain, "maskU", (z, y, x), 0)
    miniapp.passes(plain, "-k", "isoneutral", warning=rf"1 faces of 'maskU' are closed between cells of water: "
                   rf"the first is maskU\[{z}, {y}, {x}\]")


@pytest.mark.parametrize("name, wall", [("maskU", np.s_[..., -3]), ("maskV", np.s_[..., -3, :])])
def test_walls_before_ghosts_of_water(miniapp, tmp_path, name, wall):
    values, settings = fields.make(12, 9, 6, seed=5, islands=False)
    path = write(tmp_path / "in.h5", values, settings, halo=HALO)
    for mask in ("maskT", "maskU", "maskV", "maskW", "kbot"):
        change(path, mask, ..., 1)
    change(path, name, wall, 0)
    miniapp.passes(path, "-k", "isoneutral")


def test_all_of_it_is_land(miniapp, plain):
    land = [put(name, 0) for name in ("maskT", "maskU", "maskV", "maskW", "kbot")]
    miniapp.passes(edit(plain, *land), "-k", "tke", warning="all of the ocean is land")


@pytest.mark.parametrize("name", ["salt", "temp", "dxt"])
def test_ghosts_that_are_no_copies(miniapp, tmp_path, name):
    values, settings = fields.make(12, 9, 6, seed=5, islands=False)
    for field in ("salt", "temp", "maskT", "dxt"):
        values[field] = values[field][..., (np.arange(12) - HALO) % 8 + HALO]
    path = write(tmp_path / "in.h5", {key: values[key] for key in (
        "salt", "temp", "maskT", "maskW", "dzw", "p", "dxt")}, settings, halo=HALO, cyclic_x=1)
    miniapp.passes(path, "-k", "density,eos")
    index = {"salt": (3, 4, 0), "temp": (0, 4, 11), "dxt": (1,)}[name]
    change(path, name, index, {"salt": 30.0, "temp": 1.25, "dxt": 7.0}[name])
    if name == "dxt":  # which these kernels do not read
        miniapp.passes(path, "-k", "density,eos")
        return
    place = ", ".join(map(str, index))
    miniapp.fails(INPUT, rf"cyclic_x is 1, but the ghost {name}\[{place}\] is", path, "-k", "density")


# ---- all at once ----

def test_all_faults_at_once(miniapp, plain):
    edit(plain, put("salt", np.nan, (0, 0, 0)), put("p", -5, 1), swap("maskW"), attributes(cyclic_x=0.0),
         lambda file: file["temp"].attrs.__setitem__("units", "K"))
    done = miniapp.run(*QUICK, plain, "-k", "density")
    assert done.returncode == INPUT and not done.stdout
    assert len(done.stderr.splitlines()) == 4, done.stderr
    for pattern in (r"salt\[0, 0, 0\] is nan", r"p\[1\] is -5", "'temp' is in 'K'", "dataset 'maskW' is missing"):
        assert len(re.findall(pattern, done.stderr)) == 1, (pattern, done.stderr)


def test_check_runs_nothing(miniapp, plain):
    said = miniapp.passes("--check", plain, "-k", "tke", quick=False)
    assert re.match(r"\S+plain\.h5: can be used by tke: 12 x 9 x 6 points, no ghosts", said)
    change(plain, "mxl", ..., -1)
    miniapp.fails(INPUT, r"mxl\[0, 0, 0\] is -1", "--check", plain, "-k", "tke", quick=False)


# ---- what is taken ----

@pytest.mark.parametrize("change_file", [
    lambda file: file["salt"].attrs.update(units="g kg-1", standard_name="sea_water_salinity", _FillValue=0.0),
    lambda file: file.update({"extra/salt": np.zeros(3), "history": "made by hand"}),
    attributes(cyclic_x=np.bool_(False), title="a small ocean"),
], ids=["attributes", "datasets", "booleans"])
def test_what_is_ignored_or_means_the_same(miniapp, plain, expected, change_file):
    assert miniapp.checksums(edit(plain, change_file)) == expected


def add_coordinates(path):
    """Dimension scales, as netCDF-4 has them."""
    with h5py.File(path, "a") as file:
        nz, ny, nx = file["salt"].shape
        for name, values in (("lon", np.arange(nx) * 2.0), ("lat", np.arange(ny) - 30.0), ("depth", file["zt"][...])):
            file[name] = values
            file[name].make_scale(name)
        file["lon"].attrs["units"] = "degrees_east"
        for dataset in (file["salt"], file["temp"]):
            for i, name in enumerate(("depth", "lat", "lon")):
                dataset.dims[i].attach_scale(file[name])


def test_outputs_have_the_coordinates(miniapp, plain, expected, tmp_path):
    """Of a file that xarray wrote, too."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    add_coordinates(plain)
    again, out = tmp_path / "again.h5", tmp_path / "out.h5"
    with xarray.open_dataset(plain, engine="h5netcdf", decode_cf=False, phony_dims="sort") as file:
        file.to_netcdf(again, engine="h5netcdf")
    for path in (plain, again):
        assert miniapp.checksums(path) == expected
        miniapp.passes(path, "-k", "eos", "-o", out)
        with xarray.open_dataset(out) as made:
            assert made.dHdT.dims == ("depth", "lat", "lon") and made.lon.units == "degrees_east"
            np.testing.assert_array_equal(made.lat, read(plain, "lat"))
            np.testing.assert_array_equal(made.depth, read(plain, "zt"))


def test_the_one_line_of_a_file_of_somebody_else(miniapp, tmp_path):
    """Which has neither our names nor our attributes."""
    path = tmp_path / "plain.h5"
    with h5py.File(path, "w") as file:
        file["thetao"] = np.zeros((2, 3, 4, 5))
    assert_one_line(miniapp.fails(INPUT, COMMAND, path))
