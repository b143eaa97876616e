"""Means over time, which steps write on the way, and dates in what they write."""

import re
import shutil

import h5py
import numpy as np
import pytest
import xarray

from conftest import HERE, INPUT, USAGE, copied

pytestmark = pytest.mark.every_device

REST = HERE.parent / "inputs" / "acc_rest.h5"


def steps(miniapp, folder, count, *words, path=REST, **options):
    miniapp.passes(path, "--steps", count, "-o", folder / "end.nc", *words, quick=False, **options)
    return folder


def fields_of(path):
    with h5py.File(path) as file:
        return {name: file[name][...] for name in file}


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_means_are_those_of_all_steps(miniapp, device, tmp_path, precision):
    """Means of fields that snapshots have for each step, and of fields that no snapshot has."""
    names = ("temp", "u", "w", "psi", "tke")
    steps(miniapp, tmp_path, 6, "-d", device, "--precision", precision, "--every", 1, "--average",
          f"3:{','.join(names)},forc_temp_surface")
    assert sorted(path.name for path in tmp_path.glob("*.average.*")) == ["end.average.000003.nc",
                                                                          "end.average.000006.nc"]
    for last in (3, 6):
        mean = fields_of(tmp_path / f"end.average.{last:06}.nc")
        every = [fields_of(tmp_path / (f"end.{step:06}.nc")) for step in range(last - 2, last + 1)]
        assert {*names, "forc_temp_surface"} < set(mean) and "salt" not in mean
        assert mean["Time"] == every[-1]["Time"]
        for name in names:
            wanted = np.mean([one[name] for one in every], axis=0, dtype="f8")
            assert mean[name].dtype == ("float64" if name == "psi" else precision)
            error = (1e-13 if mean[name].dtype == "float64" else 1e-6) * np.abs(wanted[wanted > -1e17]).max()
            assert np.allclose(mean[name], wanted, rtol=0, atol=error), name
            assert mean[name].shape == every[0][name].shape
        assert mean["forc_temp_surface"].std() > 0
    with xarray.open_dataset(tmp_path / "end.average.000003.nc") as data:
        assert data.temp.dims == ("Time", "zt", "yt", "xt") and data.psi.dims == ("Time", "yu", "xu")
        assert data.forc_temp_surface.dims == ("Time", "yt", "xt")


def test_points_of_fields(miniapp, tmp_path):
    """CF's attributes of coordinates and means, and heights of fields on the W grid, whatever their mask is."""
    steps(miniapp, tmp_path, 1, "--average", "1:temp,u,mxl,u_wgrid,v_wgrid")
    with xarray.open_dataset(tmp_path / "end.average.000001.nc") as data:
        assert {name: field.dims[1:] for name, field in data.data_vars.items()} == {
            "temp": ("zt", "yt", "xt"), "mxl": ("zw", "yt", "xt"), "u": ("zt", "yt", "xu"),
            "u_wgrid": ("zw", "yt", "xu"), "v_wgrid": ("zw", "yu", "xt")}
        assert {field.cell_methods for field in data.data_vars.values()} == {"Time: mean"}
        assert {name for name, axis in data.coords.items() if axis.attrs.get("positive") == "up"} == {"zt", "zw"}
        assert {name: data[name].long_name for name in ("xu", "yu")} == {
            "xu": "position of eastern faces", "yu": "position of northern faces"}


def test_usual_fields(miniapp, device, tmp_path):
    steps(miniapp, tmp_path, 5, "-d", device, "--average", 2,
          warning="--average leaves out the mean of steps 5 to 6, since the run ends after step 5")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["end.average.000002.nc", "end.average.000004.nc",
                                                                  "end.nc"]
    assert {"temp", "salt", "u", "v", "w", "psi", "tke"} < set(fields_of(tmp_path / "end.average.000004.nc"))


def test_a_run_that_continues_begins_with_a_whole_mean(miniapp, device, tmp_path):
    words = ("-d", device, "--every", 2, "--average", "3:temp")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    steps(miniapp, whole, 6, *words)
    steps(miniapp, parts, 2, *words, warning="--average leaves out the mean of steps 1 to 3, since the run ends after "
          "step 2")
    shutil.copy(whole / "end.000004.nc", parts)
    steps(miniapp, parts, 9, *words, "--restart", warning="--average leaves out the mean of steps 4 to 6, since the run "
          "continues from step 4")
    assert [path.name for path in sorted(parts.glob("*average*"))] == ["end.average.000009.nc"]


@pytest.mark.parametrize("words, message", [
    (("--average", "2"), "--average needs --steps and --output"),
    (("--average", "0", "--steps", 2, "-o", "x.nc"), "--average takes a whole number from 1"),
    *(((option, f"2:temp,{name}", "--steps", 2, "-o", "x.nc"),
       f"{option}: '{name}' is no field in space that 'ocean' has with these settings")
      for option, name in (*(("--average", name) for name in ("tmep", "dxt", "maskT", "K_11", "B1_gm")),
                           ("--every", "tmep"), ("--every", ""))),
    *(((option, "2:temp,salt,temp", "--steps", 2, "-o", "x.nc"), f"{option}: 'temp' is given twice")
      for option in ("--average", "--every")),
])
def test_wrong_fields(miniapp, tmp_path, words, message):
    words = [tmp_path / word if word == "x.nc" else word for word in words]
    miniapp.fails(USAGE, message, REST, *words, quick=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("origin, calendar", [("1999-12-31 12:00:00", "noleap"), ("1999-12-31T12:00:00Z", "NoLeap"),
                                              ("1999-12-31 12:00 UTC", "noleap")])
def test_dates(miniapp, tmp_path, origin, calendar):
    """The time of a snapshot counts from the input's date, and xarray knows it."""
    path = tmp_path / "in.h5"
    with copied(REST, path) as file:
        file.attrs.update({"time_origin": origin, "calendar": calendar, "start_time": 86400.0})
    steps(miniapp, tmp_path, 2, "--every", 1, path=path)
    with xarray.open_dataset(tmp_path / "end.000001.nc", use_cftime=True) as data:
        assert str(data.Time.values[0]) == "2000-01-02 00:00:00" and data.Time.values[0].calendar == "noleap"


@pytest.mark.parametrize("origin, calendar", [
    ("2000-02-29", None), ("2000-02-29T06", "standard"), ("2000-02-30 23:59", "360_day"), ("1900-02-29", "julian"),
    ("1500-02-29", "standard"), ("1900-02-29 00:00:59.5", "all_leap"), ("0001-12-31", "365_day"),
    ("2000-01-01T00:00:00Z", "Standard"), ("2000-01-01 00:00:00 UTC", "NoLeap"), ("1-1-1 UTC", "gregorian"),
    ("2000-1-5 0:0:0.25+00:00", "Proleptic_Gregorian")])
def test_dates_of_calendars(miniapp, tmp_path, origin, calendar):
    path = tmp_path / "in.h5"
    with copied(REST, path) as file:
        file.attrs.update({"time_origin": origin, **({"calendar": calendar} if calendar else {})})
    miniapp.passes("--check", "--steps", 1, path, quick=False)


def test_the_pressure_at_a_free_surface(miniapp, tmp_path):
    """The end, snapshots and means name it as Veros does, without a southern wall, which is of the lid."""
    for surface, unit, name in ((True, "m2 s-2", "surface pressure over rho_0 at tau"),
                                (False, "m3 s-1", "barotropic streamfunction at tau")):
        folder = tmp_path / unit[:2]
        folder.mkdir()
        words = ("--every", 2, "--average", 2, *(("--set", "enable_streamfunction=0") if surface else ()))
        steps(miniapp, folder, 2, *words)
        for path in folder.iterdir():
            with h5py.File(path) as file:
                assert file["psi"].attrs["units"].decode() == unit and file["psi"].attrs["long_name"].decode() == name
                assert ("southern_wall" in file["psi"].attrs) == (not surface and "end.nc" != path.name)
                assert f'"enable_streamfunction": {not surface:d}' in file.attrs["setup_settings"].decode()


DATE, CALENDAR = "must be a date of the calendar, such as 2000-01-31", "must be one of CF's, such as standard"


@pytest.mark.parametrize("attributes, said", [
    *(({"time_origin": origin}, f"'time_origin' is '{re.escape(origin)}', but {DATE}")
      for origin in ("yesterday", "2000-02-30", "1900-02-29", "2000-13-01", "2000-00-01", "2000-01-00",
                     "2000-01-01T25:00:00", "2000-01-01 12:60", "2000-01-01 12:00:60", "2000-01-01 12:00:00 noon",
                     "2000-01", "2000-01-01T", "2000- 1- 5", "2000-01-01 +6:30", "2000-01-01T00:00:00-06:00",
                     "2000-01-01 00:00:00 CET", "2000-01-01 ", "2000-01-01 12:00:00.", "2000-01-01 12:00:1e1",
                     "02000-01-01", "2000-001-01", "+200-01-01")),
    ({"time_origin": "1500-02-29", "calendar": "proleptic_gregorian"}, DATE),
    ({"time_origin": "2000-02-29", "calendar": "noleap"}, DATE),
    ({"time_origin": "2000-01-31", "calendar": "360_day"}, DATE),
    ({"time_origin": 2000.0}, rf"'time_origin' is '', but {DATE}"),
    ({"calendar": "martian"}, f"'calendar' is 'martian', but {CALENDAR}"),
    ({"calendar": 360.0}, f"'calendar' is '', but {CALENDAR}")])
def test_dates_that_are_none(miniapp, tmp_path, attributes, said):
    path = tmp_path / "in.h5"
    with copied(REST, path) as file:
        file.attrs.update(attributes)
    miniapp.fails(INPUT, said, "--check", "--steps", 1, path, quick=False)

