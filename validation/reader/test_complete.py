"""run/make-input of files that have all fields by name: in any order and direction, packed, in other units, without
masks; snapshots of miniapp; and fields that contradict each other."""

import locale
import os
import tempfile

import h5py
import numpy as np
import pytest
import xarray

from conftest import DONE, GRID, INPUT, USAGE, copied
from test_make_input import (  # pylint: disable=unused-import
    QUICKLY, Datasets, drawn, fails, make, made, plain, save, undrawn)

import miniapp
from miniapp.importer import build, figure, plausible, units  # pylint: disable=wrong-import-order

pytestmark = [pytest.mark.usefixtures("library"), pytest.mark.unsanitized("it needs a sanitized Python")]


# Fields that are compared with each other, and others that the program needs.
COMPARED = ["dxt", "dxu", "dyt", "dyu", "cost", "cosu", "dzt", "dzw", "zt", "zw", "p", "maskT", "maskU", "maskV",
            "maskW", "kbot", "temp", "salt", "u", "v"]
OTHERS = ["K_iso", "beta", "coriolis_t", "tke", "dtke_taum1", "forc", "forc_tke_surface", "kappaM", "mxl", "Nsqr",
          "K_diss_v", "u_wgrid", "v_wgrid", "w_wgrid"]


@pytest.fixture(scope="module")
def whole():
    """A part of grid.h5, closed in x, as a Dataset of xarray: how a field is read depends on its axes alone, and
    test_an_input_stays_what_it_is reads all fields."""
    data = xarray.load_dataset(GRID, engine="netcdf4")[COMPARED + OTHERS].assign_attrs(cyclic_x=0)
    data = data.isel(y=slice(5, 20), x=slice(40, 52))
    for name in ("maskU", "u", "u_wgrid"):
        data[name].values[:, :, -1] = 0
    for name in ("maskV", "v", "v_wgrid"):
        data[name].values[:, -1] = 0
    return data


@pytest.fixture(scope="module")
def same(whole, tmp_path_factory):
    """What is made of its file."""
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    whole.to_netcdf(path, engine="netcdf4")
    return path


def surface_first(data):
    turned = data.isel(z=slice(None, None, -1))
    nz = data.sizes["z"]
    return turned.assign(kbot=data.kbot.where(data.kbot == 0, nz + 1 - data.kbot).assign_attrs(data.kbot.attrs))


def in_units(**units):
    return lambda data: data.assign({
        name: (data[name].dims, factor * data[name].values.astype(float) + offset, {"units": text})
        for name, (factor, offset, text) in units.items()})


def missing_on_land(data):
    wet = data.maskT == 1
    return data.assign({name: data[name].where(wet).assign_attrs(data[name].attrs) for name in ("temp", "salt")})


@pytest.mark.parametrize("wall", ["text", np.zeros(3), np.full(12, np.nan), np.zeros(12)], ids=repr)
def test_a_row_of_the_southern_wall(whole, make, undrawn, tmp_path, wall):
    """It is kept if it is one."""
    path = tmp_path / "in.nc"
    data = whole.assign(psi=(("y", "x"), np.zeros((15, 12)), {"southern_wall": wall}))
    data.to_netcdf(path, engine="netcdf4")
    code, said = make(path)
    if np.array_equal(wall, np.zeros(12)):
        assert code == DONE
        with h5py.File(tmp_path / "grid.h5") as file:
            assert file["psi"].attrs["southern_wall"].tolist() == 12 * [0]
    else:
        assert code == INPUT and said.count("\n") == 1
        assert "in.nc: attribute 'southern_wall' of 'psi' must hold 12 numbers, -1e+12 to 1e+12" in said


@pytest.mark.parametrize("unit, long_name", [
    ("m2 s-2", "surface pressure over rho_0 at tau"), ("m3 s-1", "barotropic streamfunction at tau"),
    (None, "barotropic streamfunction at tau")])
def test_the_unit_of_the_external_mode(whole, make, undrawn, tmp_path, unit, long_name):
    """It stays what it is, so that steps can refuse the other kind."""
    data = whole.assign(psi=(("y", "x"), np.zeros((15, 12)), {"units": unit} if unit else {}))
    data.to_netcdf(tmp_path / "in.nc", engine="netcdf4")
    assert make(tmp_path / "in.nc")[0] == DONE
    with h5py.File(tmp_path / "grid.h5") as file:
        assert [file["psi"].attrs[key].decode() for key in ("units", "long_name")] == [unit or "m3 s-1", long_name]


CLOTHES = {
    "as it is": lambda d: d,
    "x first": lambda d: d.transpose("x", "y", "z"),
    "y first, other names": lambda d: d.transpose("y", "z", "x").rename(x="i", y="j", z="k"),
    "one time": lambda d: d.assign(temp=d.temp.expand_dims("time"), salt=d.salt.expand_dims("member")),
    "surface first": surface_first,
    "without masks of faces": lambda d: d.drop_vars(["maskU", "maskV", "maskW", "kbot"]),
    "only kbot": lambda d: d.drop_vars(["maskT", "maskU", "maskV", "maskW"]),
    "only missing values": lambda d: missing_on_land(d).drop_vars(["maskT", "maskU", "maskV", "maskW", "kbot"]),
    "other units": in_units(temp=(1, 273.15, "K"), dzt=(100, 0, "cm"), p=(1e4, 0, "Pa"), u=(86.4, 0, "km/day"),
                            beta=(1, 0, "1/(ms)")),  # of beta as Veros writes it
    "bool masks": lambda d: d.assign(maskT=d.maskT.astype(bool)),
    "Cartesian": lambda d: d.assign(cost=d.cost.copy(data=np.ones(15)), cosu=d.cosu.copy(data=np.ones(15)))
                            .assign_coords(x=("x", np.arange(12.0) * 5e3, {"units": "m"})),
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_clothes(made, whole, tmp_path, clothes):
    """The same fields, to the bit unless units were converted."""
    dressed = CLOTHES[clothes](whole.copy(deep=True))
    dressed.to_netcdf(tmp_path / "dressed.nc", engine="netcdf4")
    found = made(tmp_path / "dressed.nc")
    for name in set(whole.variables) - {"x", "y", "z"} - ({"cost", "cosu"} if clothes == "Cartesian" else set()):
        wanted = whole[name].values.astype(float)
        np.testing.assert_allclose(found[name], wanted, rtol=1e-9, atol=1e-9, err_msg=name)
    assert found["attributes"]["dt_tracer"] == 43200 and found["attributes"]["halo"] == 0
    if clothes == "Cartesian":
        with h5py.File(tmp_path / "grid.h5") as file:
            assert file["x"].attrs["units"] == b"m" and (found["x"] == np.arange(12) * 5e3).all()


def test_records_in_time_are_kept(made, whole, tmp_path):
    """Levels begin at the surface, without horizontal coordinates; and, in another file, there are ghosts."""
    rng = np.random.default_rng(1)
    source, stress = rng.uniform(-1e-3, 1e-3, (3, *whole.temp.shape)), rng.uniform(-1, 1, (4, *whole.kbot.shape))
    data = whole.drop_vars(["x", "y"]).assign(
        surface_taux=whole.kbot * 0.0, temp_source=(("month", "z", "y", "x"), source, {"period": 9.0}))
    surface_first(data).to_netcdf(tmp_path / "ocean.nc", engine="netcdf4")
    ghosts = np.pad(stress, ((0, 0), (2, 2), (2, 2)))
    xarray.Dataset({"surface_taux": (("month", "y", "x"), ghosts, {"period": 8.0})}, attrs={"halo": 2}).to_netcdf(
        tmp_path / "wind.nc", engine="netcdf4")
    made(tmp_path / "ocean.nc", tmp_path / "wind.nc")
    with xarray.open_dataset(tmp_path / "grid.h5", engine="h5netcdf") as found:
        for name, dims, values, period in (("temp_source", ("record_3", "z", "y", "x"), source, 9),
                                           ("surface_taux", ("record_4", "y", "x"), stress, 8)):
            assert found[name].dims == dims and found[name].period == period
            assert np.array_equal(found[name], values), name


def test_packed(made, whole, tmp_path):
    whole.to_netcdf(tmp_path / "packed.nc", engine="netcdf4", encoding={
        "temp": {"dtype": "i2", "scale_factor": 1e-3, "add_offset": 10.0, "_FillValue": -32768}})
    assert np.abs(made(tmp_path / "packed.nc")["temp"] - whole.temp.values).max() < 6e-4


@pytest.mark.parametrize("name", ["grid.h5", "acc.h5"])
def test_an_input_stays_what_it_is(made, name):
    """Without ghosts and with them."""
    path = GRID.with_name(name)
    found, wanted = made(path), Datasets(path)
    for key in set(miniapp.fields()) & set(wanted):
        assert np.array_equal(found[key], wanted[key]), key
    assert found["attributes"]["halo"] == wanted["attributes"]["halo"]
    assert {key: found["attributes"][key] for key in miniapp.settings() if key in wanted["attributes"]} == {
        key: wanted["attributes"][key] for key in miniapp.settings() if key in wanted["attributes"]}


def test_a_snapshot_goes_on(miniapp, made, fails, tmp_path):
    """With the bits of the run that wrote it, from its time on; its input has the grid."""
    whole, rest, grid = tmp_path / "whole.nc", tmp_path / "rest.nc", tmp_path / "acc.h5"
    dates = {"time_origin": b"1999-12-31 12:00:00", "calendar": b"noleap"}
    with copied(GRID.with_name("acc.h5"), grid) as file:
        file.attrs.update(dates, start_time=100.0)
    miniapp.passes(grid, "--steps", 4, "--every", 2, "-o", whole, quick=False)
    snapshot = tmp_path / "whole.000002.nc"
    fails(INPUT, "a snapshot of miniapp has no grid, expected the input", snapshot)
    other = tmp_path / "other.h5"
    with copied(grid, other) as file:
        file.attrs["title"] = "another"
    assert f"warning: {snapshot}: a snapshot of a run from another input, {grid}" in made(other, snapshot)["said"]
    said = made(grid, snapshot)["said"]
    assert "from another input" not in said and "chosen fields" not in said
    attributes = Datasets(tmp_path / "grid.h5")["attributes"]
    assert attributes["start_time"] == 100 + 2 * attributes["dt_tracer"] and dates.items() <= attributes.items()
    miniapp.passes(tmp_path / "grid.h5", "--steps", 2, "-o", rest, quick=False)
    a, b = Datasets(whole), Datasets(rest)
    for name in ("temp", "salt", "tke"):
        np.testing.assert_array_equal(b[name], a[name][..., 2:-2, 2:-2])
    with h5py.File(snapshot, "a") as file:
        file.attrs["chosen_fields"] = "temp"
    assert f"warning: {snapshot}: a snapshot of chosen fields alone" in made(grid, snapshot)["said"]
    assert made(grid, whole)["attributes"]["start_time"] == 100 + 4 * attributes["dt_tracer"]
    with h5py.File(whole, "a") as file:
        file.attrs["settings"] = "dt_tracer=1h"
    fails(INPUT, "attribute settings cannot be read, expected those of a run", grid, whole)


def test_land_holds_what_averages_need(made, whole, tmp_path):
    """0, but in K_iso the value of the lowest water above."""
    wet = whole.maskT == 1
    data = whole.assign({name: whole[name].where(wet, fill).assign_attrs(whole[name].attrs)
                         for name, fill in (("temp", np.nan), ("salt", 1e20), ("K_iso", np.nan))})
    data.to_netcdf(tmp_path / "land.nc", engine="netcdf4")
    found, wet = made(tmp_path / "land.nc"), wet.values
    assert (found["temp"][~wet] == 0).all() and (found["salt"][~wet] == 0).all()
    wanted = np.where(wet, whole.K_iso.values, 0)
    for k in reversed(range(len(wanted) - 1)):
        wanted[k] = np.where(wet[k], wanted[k], wanted[k + 1])
    np.testing.assert_array_equal(found["K_iso"], wanted)


def test_one_of_several_records(made, fails, whole, tmp_path):
    data = whole.assign(temp=xarray.concat([whole.temp, whole.temp + 1], "time").assign_attrs(whole.temp.attrs))
    data.to_netcdf(tmp_path / "records.nc", engine="netcdf4")
    assert np.array_equal(made(tmp_path / "records.nc", "--time", "1")["temp"], whole.temp + 1)
    (tmp_path / "grid.h5").unlink()
    (tmp_path / "grid.png").unlink()
    fails(INPUT, "'temp' has 2 records along 'time', expected a choice", tmp_path / "records.nc")


def test_records_of_other_times(made, whole, tmp_path):
    for name, day in (("temp", 3.0), ("salt", 4.0)):
        dated = whole[[name]].expand_dims("time").assign_coords(
            time=("time", [day], {"units": "days since 2000-01-01"}))
        dated.to_netcdf(tmp_path / f"{name}.nc", engine="netcdf4")
    whole.drop_vars(["temp", "salt"]).to_netcdf(tmp_path / "rest.nc", engine="netcdf4")
    said = made(tmp_path / "rest.nc", tmp_path / "temp.nc", tmp_path / "salt.nc")["said"]
    assert "warning: not all of one time: 'temp' of" in said
    assert Datasets(tmp_path / "grid.h5")["attributes"]["time_origin"] == b"2000-01-04 00:00:00"


def test_tracers(made, whole, fails, tmp_path):
    path = tmp_path / "dye.nc"
    data = whole.assign(ink=whole.salt.assign_attrs(units="mol kg-1"), age=2 * whole.temp)
    data.to_netcdf(path, engine="netcdf4")
    found = made(path, "--tracer", "dye=ink", "--tracer", "age")
    assert np.array_equal(found["dye"], whole.salt) and np.array_equal(found["age"], 2 * whole.temp)
    fails(USAGE, "'temp'", path, "--tracer", "temp=ink")
    fails(INPUT, "there is no variable 'none'", path, "--tracer", "dye=none")


def change(name, place, value):
    def changed(data):
        data[name].values[place] = value
        return data
    return changed


IMPLAUSIBLE = {
    "zt": (r"zt\[3\] is -\d+, after -\d+", lambda d: change("zt", 3, float(d.zt[1]))(d.drop_vars("z"))),
    "dzw": (r"dzw\[2\] is 1, but zt goes from", change("dzw", 2, 1.0)),
    "dzt": (r"dzt\[\d+\] is 4000, but z[tw] goes from", change("dzt", 2, 4000.0)),
    "p": (r"p\[0\] is 11000, but zt is .* about the depth in m", change("p", 0, 11000.0)),
    "p up": (r"p\[19\] is 90, but 30\.248 in the level below", change("p", 19, 90.0)),
    "zw": (r"zw\[4\] is -1, but zt is", change("zw", 4, -1.0)),
    "dxu": (r"dxu\[3\] is 1, but dxt is", change("dxu", 3, 1.0)),
    "dyu": (r"dyu\[3\] is 1, but dyt is", change("dyu", 3, 1.0)),
    "cosu": (r"cosu\[3\] is 0.01, but cost is", change("cosu", 3, 0.01)),
    "rows": ("y goes from north to south", lambda d: d.assign_coords(y=d.y[::-1].values)),
    "columns": ("x goes from east to west", lambda d: d.assign_coords(x=d.x[::-1].values)),
    "a hole": (r"maskT\[19, .*\] is 0, but water lies below it", lambda d: change(
        "maskT", (19, *np.argwhere(d.maskT.values[-2])[0]), 0)(d)),
    "kbot": (r"kbot\[.*\] is 1, but by maskT it is", lambda d: change(
        "kbot", tuple(np.argwhere(d.kbot.values > 3)[0]), 1)(d)),
    "a face": (r"maskU\[.*\] is 1, so open, but a cell beside it is land", lambda d: change(
        "maskU", tuple(np.argwhere(d.maskT.values == 0)[0]), 1)(d)),
    "an upper face": (r"maskW\[19, .*\] is 0, but by maskT it is the other", lambda d: change(
        "maskW", (19, *np.argwhere(d.maskT.values[-1])[0]), 0)(d)),
    "a wall": (r"v\[.*\] is 0.5, but lies in the northern wall", lambda d: change("v", (19, 14, 3), 0.5)(d)),
    "a range": ("salt is 99 in a wet cell, expected 0 to 50; the first is salt", lambda d: change(
        "salt", tuple(np.argwhere(d.maskT.values)[0]), 99.0)(d)),
    "missing": (r"temp\[.*\] is missing in water, like 0 others", lambda d: change(
        "temp", tuple(np.argwhere(d.maskT.values)[0]), np.nan)(d)),
    "a mask of 2": (r"maskT\[0, 0, 0\] is 2, expected 0 or 1", change("maskT", (0, 0, 0), 2)),
    "kbot beyond": (r"kbot\[0, 0\] is 21, expected a whole number from 0 to 20", change("kbot", (0, 0), 21)),
    "another length": ("dyt has 14 points along y, but .* has 15", lambda d: d.assign(
        dyt=("j", d.dyt.values[:14], d.dyt.attrs))),
    "ghosts": ("dyt has 19 points along y, but .* has 15: one may have ghosts, then add --halo 2", lambda d: d.assign(
        dyt=("j", np.pad(d.dyt.values, 2, mode="edge"), d.dyt.attrs))),
    "an axis more": (r"'temp' has axes \(n, z, y, x\)", lambda d: d.assign(temp=d.temp.expand_dims(n=2))),
    "other columns": ("'x' is 160 at 0, but 'lon' is 240, expected the same points along x", lambda d: d.assign(
        salt=d.salt.rename(x="lon").assign_coords(lon=("lon", d.x.values + 80, d.x.attrs)))),
    "a point twice": ("'x' is 0 at 0 and at 1, expected no point along x twice", lambda d: d.assign_coords(
        x=("x", 5.0 * (np.arange(d.sizes["x"]) // 2), d.x.attrs))),
    "other levels": ("'deep' is 690 at 12, but 'zt' is 490, expected", lambda d: d.assign(
        salt=d.salt.rename(z="deep").assign_coords(deep=("deep", 200 - d.z.values, {"units": "m"})))),
    "units": ("'dxt' is in 'kg', expected m", lambda d: d.assign(dxt=d.dxt.assign_attrs(units="kg"))),
    "a height": ("zt is 10, expected heights, negative below", change("zt", 19, 10.0)),
    "halo": ("attribute halo is '3', expected a number in its range", lambda d: d.assign_attrs(halo=3)),
    "no halo, copies": ("attribute 'halo' is missing, and the outer two rings may be", lambda d: xarray.Dataset(
        {name: value for name, value in d.data_vars.items() if name not in ("maskU", "maskV", "maskW", "kbot")}
        | {"maskT": (d.z < 0) & (d.y > d.y[1]) & (d.y < d.y[-2]) & (d.x > 0)})),
    "no halo": ("attribute 'halo' is missing, and the outer two rings may be", lambda d: xarray.Dataset(
        {name: value for name, value in d.data_vars.items() if name not in ("maskU", "maskV", "maskW", "kbot")}
        | {"maskT": d.maskT.where((d.y > d.y[1]) & (d.y < d.y[-2]) & (d.x > d.x[1]) & (d.x < d.x[-2]), 0)})),
    "few ghosts": ("has 4 points along x, expected 5 or more, since 4 of them are ghosts", lambda d: d.isel(
        x=slice(0, 4)).assign_attrs(halo=2, cyclic_x=1)),
    "a calendar": ("bad.nc: attribute 'calendar' is 'lunar', but must be one of CF's", lambda d: d.assign_attrs(
        calendar="lunar")),
    "a setting": ("attribute dt_mom is '-1.0', expected", lambda d: d.assign_attrs(dt_mom=-1.0)),
}


@pytest.mark.parametrize("what", IMPLAUSIBLE)
def test_implausible(fails, whole, tmp_path, what):
    pattern, changed = IMPLAUSIBLE[what]
    data = changed(whole[COMPARED].copy(deep=True))
    data.to_netcdf(tmp_path / "bad.nc", engine="netcdf4", format=QUICKLY)
    fails(INPUT, pattern, tmp_path / "bad.nc")


def test_ghosts_that_are_no_copies(fails, made, tmp_path):
    path = tmp_path / "acc.h5"
    with copied(GRID.with_name("acc.h5"), path) as file:
        file["temp"][-1, 20, 1] += 1
        file["salt"][-1, 20, 1] += 1
    fails(INPUT, "repeat the cells at the other side, but those of salt, temp do not: salt.* is .*, but .* at", path)


def test_text_of_a_fixed_length(made, same, tmp_path):
    """netCDF's library reads beyond its memory there."""
    path = tmp_path / "text.h5"
    with copied(same, path) as file:
        file["station"] = np.array([b"abc", b"def"])
    found = made(path)
    assert (found["temp"] == Datasets(same)["temp"]).all() and "are text: station" in found["said"]


def test_fields_without_a_grid(make, whole, tmp_path):
    """What eos reads is enough, if --halo says that these are the program's own fields."""
    whole[["temp", "salt", "p", "zt"]].assign_attrs({}).to_netcdf(tmp_path / "eos.nc", engine="netcdf4")
    with h5py.File(tmp_path / "eos.nc", "a") as file:
        del file.attrs["halo"]
    assert make(tmp_path / "eos.nc", "--halo", "0")[0] == DONE
    found = Datasets(tmp_path / "grid.h5")
    assert np.array_equal(found["p"], whole.p) and "K_iso" not in found


def test_options_of_no_use(fails, same, plain):
    fails(USAGE, "--temperature: of no use, since the file has", same, "--temperature", "in-situ")
    fails(USAGE, "--holes: of no use, since the file has", same, "--holes", "land")
    fails(USAGE, "--default Nsqr: cannot be given", plain, "--default", "Nsqr=1")
    fails(USAGE, "--default dxt: cannot be given", plain, "--variable", "dxt=lon")


def test_missing_values_are_filled(made, whole, tmp_path):
    data = change("temp", tuple(np.argwhere(whole.maskT.values)[0]), np.nan)(whole.copy(deep=True))
    data.drop_vars("K_iso").to_netcdf(tmp_path / "bad.nc", engine="netcdf4")
    found = made(tmp_path / "bad.nc", "--default", "temp=4", "--default", "K_iso=500")
    assert (found["K_iso"] == 500).all() and found["temp"][found["maskT"] == 1][0] == 4


@pytest.mark.parametrize("theirs, ours, factor", [
    ("m2/s", "m2 s-1", 1), ("m^2 s^-1", "m2 s-1", 1), ("m**2.s**-1", "m2 s-1", 1), ("cm2/s", "m2 s-1", 1e-4),
    ("1/(ms)", "m-1 s-1", 1), ("km/day", "m s-1", 1e3 / 86400), ("Pa", "dbar", 1e-4), ("kg/kg", "g kg-1", 1e3),
    ("1e-3", "g kg-1", 1), ("W/kg", "m2 s-3", 1), ("degC/day", "K s-1", 1 / 86400), ("", "m", 1), ("m", "", 1)])
def test_units(theirs, ours, factor):
    assert units.convert("file", "it", 1.0, theirs, ours) == pytest.approx(factor, rel=1e-12)


# ---- the machine ----

def test_a_large_file_is_hashed_in_pieces(made, plain, monkeypatch):
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda _: (_ for _ in ()).throw(MemoryError))
    made(plain)


def test_memory_that_is_not_enough(fails, plain, monkeypatch):
    monkeypatch.setattr(build, "build", lambda _: (_ for _ in ()).throw(MemoryError))
    fails(INPUT, r"plain\.nc: is too large for this machine's memory$", plain)


def test_without_a_temporary_folder(tmp_path, monkeypatch):
    """matplotlib's cache lies beside the picture, as long as it takes."""
    def nowhere():
        raise FileNotFoundError("No usable temporary directory found")
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    assert figure.find_matplotlib(tmp_path)
    assert os.environ["MPLCONFIGDIR"].startswith(str(tmp_path)) and not list(tmp_path.iterdir())


def test_without_matplotlib(make, plain, monkeypatch, tmp_path):
    monkeypatch.setattr(figure, "find_matplotlib", lambda _: None)
    monkeypatch.setattr("sys.argv", ["make-input", str(plain), "-o", str(tmp_path / "grid.h5")])
    monkeypatch.setenv("HDF5_USE_FILE_LOCKING", "FALSE")  # as it does itself; undone after the test
    from miniapp.importer import command  # pylint: disable=import-outside-toplevel
    assert command.main() == DONE and [path.name for path in tmp_path.iterdir()] == ["grid.h5"]


def test_a_comma_locale(made, plain):
    names = [name for name in ("de_DE.UTF-8", "fr_FR.UTF-8") if name in os.popen("locale -a").read().replace(
        "utf8", "UTF-8")]
    if not names:
        pytest.skip("there is no locale with a decimal comma")
    usual, before = made(plain), locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, names[0])
        found = made(plain, "--set", "dt_mom=4800.5")
    finally:
        locale.setlocale(locale.LC_ALL, before)
    assert found["attributes"]["dt_mom"] == 4800.5 and (found["temp"] == usual["temp"]).all()


def test_plausible_says_nothing_of_what_is_right(whole):
    g = {name: values.values for name, values in whole.items()}
    assert not plausible.faults_of(g, False, 0)
