"""run/make-input --forcing: wind and fluxes from files on other grids, with all of their records."""

import h5py
import numpy as np
import pytest
import xarray

from conftest import INPUT, USAGE
from miniapp.importer import store
from test_make_input import EXAMPLE, fails, make, undrawn  # noqa: F401  pylint: disable=unused-import

pytestmark = [pytest.mark.usefixtures("library", "undrawn"), pytest.mark.unsanitized("it needs a sanitized Python")]

LAT, LON = np.arange(88.0, -89, -4), np.arange(2.0, 360, 5)
ROW = ("time", "lat", "lon")
HEAT = 1024 * 3991.86795711963
OCEAN = (EXAMPLE, "--time", 0)


def plane(lon, lat):
    """It is linear, so that a bilinear mean is exact, but where longitudes begin again."""
    return 1e-3 * np.asarray(lat)[:, None] + 5e-4 * np.abs(np.asarray(lon) - 180)


def forcing(path, times=range(15, 360, 30), units="days since 2000-01-01", **more):
    """Winds and fluxes of a year of 360 days, in which some are missing."""
    count = len(times)
    year = 1 + 0.3 * np.arange(count)[:, None, None]
    coords = {"lat": ("lat", LAT, {"units": "degrees_north"}), "lon": ("lon", LON, {"units": "degrees_east"})}
    if units:
        coords["time"] = ("time", np.array(times, float), {"units": units, "calendar": "360_day"})
    wind = year * plane(LON, LAT)
    holes = wind.copy()
    holes[:, :3, 10:14] = np.nan
    data = {"tauu": (ROW, wind, {"units": "Pa", "standard_name": "surface_downward_eastward_stress"}),
            "tauv": (ROW, holes, {"units": "Pa", "standard_name": "surface_downward_northward_stress"}),
            "q": (ROW, 1e3 * wind, {"units": "W m-2", "standard_name": "surface_downward_heat_flux_in_sea_water"}),
            "dqdt": (ROW[1:], np.full((len(LAT), len(LON)), 40.0), {"units": "W m-2 K-1"}), **more}
    xarray.Dataset(data, coords).to_netcdf(path)
    return path


def test_forcing_of_another_grid(make, tmp_path):
    wind = forcing(tmp_path / "wind.nc")
    code, said = make(*OCEAN, "--forcing", wind, "--variable", "t_rest=dqdt", "--default", "t_star=10",
                      "--default", "s_flux=1e-7", output=tmp_path / "grid.h5")
    assert code == 0, said
    assert "s_flux: 1e-07, by --default" in said
    assert "12 records, again after 360 days" in said
    assert "u, v: default" not in said and "dt_mom, dt_tracer: left out, so that steps follow" in said
    assert said.count("halo 0, cyclic_x 1") == 1
    with xarray.open_dataset(tmp_path / "grid.h5", engine="h5netcdf") as data:  # which takes netCDF-4 alone
        assert data["surface_taux"].dims == ("record_12", "y", "x")
    with h5py.File(tmp_path / "grid.h5") as file:
        x, y = file["x"][...], file["y"][...]
        inner = (x % 360 > 8) & (x % 360 < 352) & (np.abs(x - 180) > 6)  # where the plane has no edge
        for name, lon, lat, scale in (("surface_taux", x + 2, y, 1), ("surface_tauy", x, y + 2, 1),
                                      ("t_flux", x, y, 1e3 / HEAT)):
            values, wanted = file[name][...], scale * plane(lon % 360, lat)
            assert file[name].attrs["period"] == 360 * 86400 and values.shape == (12, len(y), len(x))
            good = np.outer(lat < 75, inner)  # beyond, some are missing
            for i, record in enumerate(values):
                assert np.allclose(record[good], (1 + 0.3 * i) * wanted[good], rtol=0, atol=1e-12 * scale)
            assert np.isfinite(values).all()
        assert file["t_rest"].shape == (len(y), len(x)) and np.allclose(file["t_rest"], 40 / HEAT, rtol=1e-14)
        assert file["s_flux"].shape == (len(y), len(x)) and np.all(file["s_flux"][...] == 1e-7)
        assert b"999" not in file.attrs["references"]  # the version that Debian's xarray gives
        assert file.attrs["enable_wind_mixing"] == 1 and "u" not in file and "v" not in file


def test_forcing_of_a_region_whose_longitudes_begin_elsewhere(make, tmp_path):
    """Those of the ocean go from 2 to 358; cells beyond the region have the value at its end."""
    with xarray.open_dataset(forcing(tmp_path / "wind.nc"), decode_times=False) as wind:
        part = wind.sel(lon=slice(240, 300))
        part["lon"] = ("lon", part.lon.values - 360, part.lon.attrs)
        part.to_netcdf(tmp_path / "part.nc")
    code, said = make(*OCEAN, "--forcing", tmp_path / "part.nc", output=tmp_path / "grid.h5")
    assert code == 0, said
    with h5py.File(tmp_path / "grid.h5") as file:
        lon, lat = np.clip(file["x"][...], 242, 297), file["y"][...]
        inner = np.outer(np.abs(lat) < 75, (file["x"][...] > 200) & (file["x"][...] < 340))
        assert np.allclose(file["t_flux"][0][inner], (1e3 / HEAT * plane(lon, lat))[inner], rtol=0, atol=1e-12)


def test_an_ocean_is_driven_by_it(make, miniapp, tmp_path):
    """In steps that its grid allows, unless others are chosen."""
    wind = forcing(tmp_path / "wind.nc")
    make(*OCEAN, "--forcing", wind, "--period", 864000, "--set", "dt_mom=600", "--set", "start_time=432000",
         output=tmp_path / "grid.h5")
    with h5py.File(tmp_path / "grid.h5") as file:
        assert file["surface_taux"].attrs["period"] == 864000
        assert file.attrs["dt_mom"] == 600 and "dt_tracer" not in file.attrs
        assert file.attrs["start_time"] == 432000  # in the midst of the records
    miniapp.fails(INPUT, "datasets 'u', 'v' are missing, .*; '-k ocean' or '-k ocean --steps N' starts from rest",
                  tmp_path / "grid.h5")
    table = miniapp.passes(tmp_path / "grid.h5", "--steps", 2, quick=False, warning=None)
    table = " ".join(table.replace("#", " ").split())
    assert "u (from rest), v (from rest), w (0)" in table and "dt_tracer (600 by the spacing)" in table


@pytest.mark.parametrize("words, options, code, message", [
    ((), {"units": None}, INPUT, "the times of 'tauu' tell no period, expected --period"),
    ((), {"times": (15, 45, 75, 255)}, INPUT, "the times of 'tauu' are 30 to 180 days apart, expected evenly rising"),
    ((), {"times": (75, 45, 15)}, INPUT, "the times of 'tauu' are -30 to -30 days apart, expected evenly rising"),
    ((), {"times": (15, 45, 45)}, INPUT, "the times of 'tauu' are 0 to 30 days apart, expected evenly rising"),
    (("--period", 0), {}, USAGE, "--period 0: expected seconds above 0"),
    (("--variable", "t_flux=tauu"), {}, INPUT, "'tauu' is in 'Pa', expected W m-2"),
    (("--variable", "t_rest=dqdt"), {}, INPUT, "example.nc: has t_rest but no t_star"),
    (("--variable", "t_star=sst"), {}, INPUT, "wind.nc: there is no variable 'sst', expected by --variable t_star=; "
     "there is: tauu, tauv, q, dqdt"),
    ((), {"q2": (ROW, np.zeros((12, len(LAT), len(LON))), {"units": "W m-2", "standard_name":
                                                           "surface_downward_heat_flux_in_sea_water"})},
     INPUT, "q, q2 all have the standard name .*expected one: choose by --variable t_flux=THEIRS"),
    ((), {"q": (ROW, np.full((12, len(LAT), len(LON)), np.nan), {"units": "W m-2", "standard_name":
                                                                   "surface_downward_heat_flux_in_sea_water"})},
     INPUT, "record 0 of 'q' has no value"),
    ((), {"tauu": (ROW, np.full((12, len(LAT), len(LON)), 1e4), {"units": "Pa", "standard_name":
                                                                   "surface_downward_eastward_stress"})},
     INPUT, "'tauu' for surface_taux has values from 10000 to 10000, expected"),
    ((), {"tauu": (("lev", "lat", "lon"), np.zeros((2, len(LAT), len(LON))), {"standard_name":
                                                                             "surface_downward_eastward_stress"})},
     INPUT, "'tauu' for surface_taux must lie on longitude and latitude, not on lev"),
])
def test_what_is_wrong_with_forcing(fails, tmp_path, words, options, code, message):
    fails(code, message, *OCEAN, "--forcing", forcing(tmp_path / "wind.nc", **options), *words)


def test_the_line_of_the_programs_reader_is_about_the_source(fails, tmp_path):
    """Whatever the folder of the output is called."""
    (tmp_path / "a\tb").mkdir()
    fails(INPUT, f"input: {EXAMPLE}: has t_rest but no t_star", *OCEAN, "--default", "t_rest=1e-5",
          output=tmp_path / "a\tb" / "grid.h5")


def test_files_without_forcing_or_place_for_it(fails, tmp_path):
    fails(INPUT, "there is none of surface_taux, .*--variable", *OCEAN, "--forcing", EXAMPLE)
    wind = forcing(tmp_path / "wind.nc")
    fails(USAGE, "--forcing: needs longitudes and latitudes", EXAMPLE.parent / "grid.h5", "--forcing", wind)
    fails(USAGE, "--period 5: expected", *OCEAN, "--period", 5)


@pytest.mark.parametrize("shape, chunk", [
    ((12, 90, 120), (12, 90, 120)), ((12, 360, 120), (1, 360, 120)), ((12, 20, 90, 120), (1, 1, 90, 120)),
    ((720, 360), (720, 360)),
])
def test_a_record_of_a_large_ocean_is_read_without_the_others(tmp_path, shape, chunk):
    with h5py.File(tmp_path / "grid.h5", "w") as file:
        store.create_dataset(file, "t_flux", np.zeros(shape))
        assert file["t_flux"].chunks == chunk
