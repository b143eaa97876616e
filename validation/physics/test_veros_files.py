"""A run of Veros continues from its own files: make_veros_runs.py has those of one run for each switch, and what
Veros's next step made."""

import json
import shutil
import tarfile
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest

from conftest import DONE, INPUT, read
from test_make_forcing import forcing
from test_make_input import make as make_input, undrawn  # noqa: F401  pylint: disable=unused-import

pytestmark = pytest.mark.usefixtures("library")

HERE = Path(__file__).resolve().parents[1]
ARCHIVE = HERE / "physics/veros" / "runs.tar.xz"
AS_PYOM = ("--set", "pyom_compatibility_mode=1", "--set", "clamp_enthalpy=0")  # no file of Veros tells
with tarfile.open(ARCHIVE) as archive:
    RUNS = sorted({name.split("/")[0] for name in archive.getnames()})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    with tarfile.open(ARCHIVE) as archive:
        for entry in archive:
            path = folder / entry.name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(archive.extractfile(entry).read())
    return folder


@pytest.fixture
def make(make_input, undrawn):  # pylint: disable=unused-argument
    """Text that the importer printed; with its exit code if it failed."""
    def run(folder, output, *arguments, snapshot="run.snapshot.nc", restart="run.restart.h5"):
        files = [folder / snapshot, *(["--restart", folder / restart] if restart else [])]
        code, said = make_input(*files, *arguments, output=output)
        return said if code == DONE else (code, said)
    return run


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def made_of(make, runs, known, tmp_path_factory):
    """The input that the importer makes of a stored run, once for all tests, and what it said."""
    def run(name):
        if name not in known:
            grid = tmp_path_factory.mktemp(name) / "grid.h5"
            known[name] = grid, make(runs / name, grid)
        return known[name]
    return run


def step(miniapp, folder, grid, sequence="ocean_step_forced"):
    output = folder / "out.h5"
    miniapp.passes(grid, "--steps", 1, "-k", sequence, "-o", output, quick=False)
    return output


def difference(output, name, expected):
    """Of the largest value."""
    wanted = read(expected, name)
    return np.abs(read(output, name) - wanted).max() / np.abs(wanted).max()


def fields_of(path):
    with h5py.File(path) as file:
        return list(file)


@pytest.mark.parametrize("name", RUNS)
def test_next_step_is_that_of_veros(make, made_of, miniapp, runs, tmp_path, name):
    """TKE is that of Veros's routines where K_diss_v stays what it is; only momentum makes it anew, and
    without Richardson's number no more than that is needed."""
    folder, grid = runs / name, tmp_path / "grid.h5"
    if name == "as_pyom":
        said = make(folder, grid, *AS_PYOM)
    else:
        grid, said = made_of(name)
    assert isinstance(said, str), said
    of_tke = "next.h5" if name == "constant_prandtl" else "kept.h5"
    given = fields_of(folder / of_tke)  # those of a step in a given flow
    output = given and step(miniapp, tmp_path, grid)
    assert ("momentum makes K_diss_v anew" in said) == (name not in ("constant_prandtl", "without_tke", "surface"))
    for field in given and fields_of(folder / "next.h5"):
        expected = folder / (of_tke if field == "tke" else "next.h5")
        error = difference(output, field, expected)
        print(f"{name}: {field} off by {error:.1e}")
        assert error < 1e-10, field
    if name == "as_pyom":
        return  # its wind is not that of Veros
    output = step(miniapp, tmp_path, grid, "ocean")
    for field in fields_of(folder / "next.h5"):
        error = difference(output, field, folder / "next.h5")
        print(f"{name}: {field} off by {error:.1e} after a whole step")
        assert error < 1e-10, field


@pytest.mark.parametrize("name", ["acc", "without_eke", "density_5"])
@pytest.mark.parametrize("sequence", ["ocean_step", "ocean_step_eke"])
def test_other_sequences_step_the_same(made_of, miniapp, runs, tmp_path, name, sequence):
    """With the fluxes of the record, and in ocean_step with the diffusivities that were rebuilt."""
    grid, _ = made_of(name)
    output = step(miniapp, tmp_path, grid, sequence)
    for field in ("temp", "salt"):
        assert difference(output, field, runs / name / "next.h5") < 1e-10
    if sequence == "ocean_step_eke" and name != "without_eke":
        assert difference(output, "eke", runs / name / "next.h5") < 1e-10


@pytest.mark.parametrize("name, said", [
    ("as_pyom", "pyom_compatibility_mode: 0, as Veros 1.7.0 is by default"),
    ("sources", "only ocean_step_forced takes them")])
def test_what_a_step_would_miss_is_said_and_matters(made_of, miniapp, runs, tmp_path, name, said):
    grid, all_said = made_of(name)
    assert said in all_said
    output = step(miniapp, tmp_path, grid, "ocean_step_eke")
    assert difference(output, "temp", runs / name / "next.h5") > 1e-10


def test_all_that_is_stored_keeps_its_bits(made_of, runs):
    """Levels of the restart, without ghosts; what the record has of its step; all settings."""
    folder, (grid, _) = runs / "sources", made_of("sources")
    with h5py.File(grid) as made, h5py.File(folder / "run.restart.h5") as restart, \
            h5py.File(folder / "run.snapshot.nc") as snapshot:
        core = restart["core"]
        for name in ("temp", "salt", "w", "tke", "eke", "Nsqr", "rho", "Hd", "int_drhodT", "dtemp_taum1",
                     "dsalt_taum1", "dtke_taum1", "deke_taum1", "tke_taup1", "eke_taup1"):
            theirs, _, level = name.partition("_ta")
            values = core[name if name in core else theirs][2:-2, 2:-2, :, int(core[f"ta{level or 'u'}"][()])].T
            np.testing.assert_array_equal(made[name][()], values, name)
        np.testing.assert_array_equal(made["K_diss_v"][()], core["K_diss_v"][2:-2, 2:-2].T)
        wet = made["maskT"][()] == 1
        for name in ("K_diss_h", "K_diss_bot", "P_diss_v", "kappaH", "temp_source", "salt_source"):
            np.testing.assert_array_equal(made[name][wet], snapshot[name][0][wet], name)
        for name in ("forc_temp_surface", "forc_salt_surface", "forc_tke_surface", "coriolis_t"):
            values = snapshot[name][()].reshape(-1, *wet[0].shape)[-1]
            np.testing.assert_array_equal(made[name][wet[-1]], values[wet[-1]], name)
        assert made.attrs["enable_eke"] == 1 and made.attrs["eke_cross"] == 2 and made.attrs["K_iso_steep"] == 500


# ---- what is lacking ----

@pytest.fixture
def acc(runs, tmp_path):
    """A copy that may be changed."""
    return Path(shutil.copytree(runs / "acc", tmp_path / "acc"))


def drop(folder, *names):
    with h5py.File(folder / "run.snapshot.nc", "a") as file:
        for name in names:
            del file[name]


def set_setting(folder, old, new):
    with h5py.File(folder / "run.snapshot.nc", "a") as file:
        text = file.attrs["setup_settings"]
        assert old in text
        file.attrs["setup_settings"] = text.replace(old, new)


@pytest.mark.parametrize("old, new, said", [
    ('"rho_0": 1024.0', '"rho_0": 1025.0', "rho_0 = 1025.0"),
    ('"grav": 9.81', '"grav": 9.8', "grav = 9.8"),
])
def test_constants_that_the_kernels_do_not_have(make, acc, tmp_path, old, new, said):
    set_setting(acc, old, new)
    code, line = make(acc, tmp_path / "grid.h5")
    assert code == INPUT and line.count("\n") == 1
    assert f"a run with {said}, expected one that the kernels cover" in line
    assert not (tmp_path / "grid.h5").exists()


def test_friction_that_will_not_be_that_of_the_run(make, acc, tmp_path):
    said = "without vertical friction, Veros adds friction to that of the steps before"
    assert said not in make(acc, tmp_path / "grid.h5")
    set_setting(acc, '"enable_implicit_vert_friction": true', '"enable_implicit_vert_friction": false')
    assert said in make(acc, tmp_path / "grid.h5")


def test_a_run_that_did_not_store_what_momentum_dissipates(make, miniapp, runs, acc, tmp_path):
    drop(acc, "K_diss_h", "K_diss_bot")
    grid = tmp_path / "grid.h5"
    code, line = make(acc, grid)
    assert code == INPUT and line.count("\n") == 1
    assert "missing: K_diss_h, K_diss_bot, expected in Veros's snapshot for a step that continues from a restart" in line
    said = make(acc, grid, "--default", "K_diss_h=0", "--default", "K_diss_bot=0")
    assert "K_diss_h: 0, by --default" in said
    assert difference(step(miniapp, tmp_path, grid), "temp", runs / "acc" / "next.h5") < 1e-10


def test_a_snapshot_alone_is_no_start_of_a_step(make, acc, tmp_path):
    drop(acc, "K_diss_bot")
    said = make(acc, tmp_path / "grid.h5", restart=None)
    assert "lacks the tendencies at taum1" in said and "lacks K_diss_bot" in said
    assert "dtemp_taum1" not in fields_of(tmp_path / "grid.h5")


def test_fluxes_that_the_fields_of_restoring_do_not_make(make, miniapp, runs, acc, tmp_path):
    """Another t_rest, or one in another unit: the flux of the record is taken as it is."""
    with h5py.File(acc / "run.snapshot.nc", "a") as file:
        file["t_rest"][...] = 2 * file["t_rest"][...]
    said = make(acc, tmp_path / "grid.h5")
    assert "t_star, t_rest: not taken, since they do not make forc_temp_surface" in said
    assert "the same, as t_flux" in said
    assert difference(step(miniapp, tmp_path, tmp_path / "grid.h5"), "temp", runs / "acc" / "next.h5") < 1e-10


def test_a_run_that_did_not_store_coriolis(make, miniapp, runs, acc, tmp_path):
    drop(acc, "coriolis_t")
    assert "coriolis_t: 2 omega sin(latitude)" in make(acc, tmp_path / "grid.h5")
    assert difference(step(miniapp, tmp_path, tmp_path / "grid.h5"), "eke", runs / "acc" / "next.h5") < 1e-10
    plane = Path(shutil.copytree(runs / "cartesian", tmp_path / "plane"))
    drop(plane, "coriolis_t")
    code, line = make(plane, tmp_path / "plane.h5")
    assert code == INPUT and "missing: coriolis_t, expected in Veros's snapshot for EKE or IDEMIX on a Cartesian" in line


def test_sources_that_are_not_there(make, runs, tmp_path):
    folder = Path(shutil.copytree(runs / "sources", tmp_path / "sources"))
    drop(folder, "salt_source")
    code, line = make(folder, tmp_path / "grid.h5")
    assert code == INPUT and "missing: salt_source, expected in Veros's snapshot since enable_tempsalt_sources" in line


@pytest.mark.parametrize("name, lacks, said", [
    ("acc", ("psi",), "note: psi: missing in the restart: steps of ocean need it to continue"),
    ("acc", ("du", "dpsi"), "note: du, dpsi: missing in the restart: steps of ocean need them to continue"),
    ("surface", ("psi",), "note: psi: missing in the restart: steps of ocean need it to continue")])
def test_a_restart_without_the_external_mode(make, runs, tmp_path, name, lacks, said):
    folder = Path(shutil.copytree(runs / name, tmp_path / name))
    with h5py.File(folder / "run.restart.h5", "a") as file:
        for each in lacks:
            del file["core"][each]
    assert said in make(folder, tmp_path / "grid.h5")
    assert not {"psi", "du_taum1", "dpsi"} & set(fields_of(tmp_path / "grid.h5"))


@pytest.mark.parametrize("name, unit", [("surface", "m2 s-2"), ("acc", "m3 s-1")])
def test_the_unit_of_the_external_mode(made_of, name, unit):
    with h5py.File(made_of(name)[0]) as file:
        for each in ("psi", "psi_taum1"):
            assert file[each].attrs["units"].decode() == unit
            assert ("southern_wall" in file[each].attrs) == (name == "acc")


def test_a_snapshot_without_wind(make, acc, tmp_path):
    drop(acc, "surface_taux")
    said = make(acc, tmp_path / "grid.h5")
    assert "surface_taux: missing in the snapshot: steps of ocean are without that wind" in said


def test_a_record_of_another_step(make, runs, acc, tmp_path):
    shutil.copy(runs / "constant_K_iso" / "run.restart.h5", acc / "run.restart.h5")
    assert "the record is not of the restart's step" in make(acc, tmp_path / "grid.h5")


def test_levels_that_alternate(make, acc, tmp_path):
    """Veros puts faces midway between T points: where levels are stretched steeply, distances of those alternate."""
    dzt = np.array([300.0, 260.0, 150.0, 120.0, 100.0, 90.0])
    zw, zt = np.cumsum(dzt), np.array([150.0, 450.0, 670.0, 750.0, 910.0, 950.0])
    assert (np.abs(0.5 * (zt[1:] + zt[:-1]) - zw[:-1]) < 1e-9).all()
    dzw = np.diff(zt, append=2 * zw[-1] - zt[-1])
    levels = {"dzt": dzt, "dzw": dzw, "zt": zt - zw[-1], "zw": zw - zw[-1]}
    for factor in (1.0, 100.0):
        with h5py.File(acc / "run.snapshot.nc", "a") as file:
            for name, values in levels.items():
                file[name][...] = values * (factor if name == "dzt" else 1)
        made = make(acc, tmp_path / "grid.h5")
        assert isinstance(made, str) if factor == 1 else "dzt[0] is 30000, but zt goes" in made[1], made


@pytest.mark.parametrize("version, mode", [("1.6.0", 1), ("1.10.2", 0), ("unknown", 0)])
def test_older_veros_diffuses_twice(make, acc, tmp_path, version, mode):
    with h5py.File(acc / "run.snapshot.nc", "a") as file:
        file.attrs["veros_version"] = version
    make(acc, tmp_path / "grid.h5")
    with h5py.File(tmp_path / "grid.h5") as file:
        assert file.attrs["pyom_compatibility_mode"] == mode


# ---- setups that are forced by months ----

HEAT, MONTH, RATE = 1024 * 3991.86795711963, 30 * 86400.0, 1e-6


def add_months(folder, spoil=1.0):
    """Adds what the run has at the time of its step, but not in other months, by the names of north_atlantic; the wind
    lies one cell farther east, as in global_1deg."""
    with h5py.File(folder / "run.snapshot.nc", "a") as file:
        time = file["Time"][0] * 86400 - json.loads(file.attrs["setup_settings"])["dt_tracer"]
        run = {name: np.where(np.abs(file[name][0]) < 1e15, file[name][0], 0) for name in (
            "surface_taux", "temp", "salt", "temp_source", "salt_source", "t_rest", "t_star")}
        del file["t_star"], file["t_rest"]
    year, place = 1 + 0.3 * np.sin(1.7 * np.arange(12)), time / MONTH - 0.5
    year[0] = (1 + place * year[-1]) / (1 + place)
    fields = {"taux": np.multiply.outer(spoil * year, np.roll(run["surface_taux"], 1, axis=1)),
              "tauy": np.zeros((12, *run["t_rest"].shape)), "rest_tscl": np.full_like(run["temp"], RATE),
              "sst_rest": np.stack([HEAT * run["t_rest"]] * 12), "sss_rest": np.zeros((12, *run["t_rest"].shape)),
              "sst_clim": np.multiply.outer(spoil * year, run["t_star"][:, None] + 0 * run["t_rest"]),
              "sss_clim": np.multiply.outer(year, run["salt"][-1])}
    for name in ("temp", "salt"):
        fields[f"{name[0]}_star"] = np.multiply.outer(year, run[name] + spoil * run[f"{name}_source"] / RATE)
    with netCDF4.Dataset(folder / "run.snapshot.nc", "a") as file:
        file.createDimension("nmonths", 12)
        for name, values in fields.items():
            months = () if name == "rest_tscl" else ("nmonths",)
            file.createVariable(name, "f8", (*months, *("zt", "yt", "xt")[len(months) - values.ndim:]))[...] = values
    return time


def test_months_of_a_setup(make, miniapp, runs, tmp_path):
    """Are kept, where they make what the record has; so the first step is that of the run."""
    folder, grid = Path(shutil.copytree(runs / "sources", tmp_path / "sources")), tmp_path / "grid.h5"
    time = add_months(folder)
    said = make(folder, grid)
    assert "the setup's months, which make what the record has" in said and "not taken" not in said, said
    with h5py.File(grid) as file:
        monthly = {name for name in file if "period" in file[name].attrs}
        assert {file[name].attrs["period"] for name in monthly} == {12 * MONTH}
        assert file["surface_taux"].shape == (12, 13, 9) and file["temp_star"].shape == (12, 6, 13, 9)
        assert file.attrs["start_time"] == time and file.attrs["t_ice"] == -1.8
        assert file.attrs["enable_wind_mixing"] == file.attrs["enable_interior_forcing"] == 1
    assert monthly == {"surface_taux", "surface_tauy", "t_rest", "t_star", "s_rest", "s_star", "temp_star", "salt_star"}
    output = step(miniapp, tmp_path, grid, "ocean")
    for field in ("temp", "salt", "tke", "eke"):
        assert difference(output, field, folder / "next.h5") < 1e-10, field


def test_months_that_do_not_make_the_record(make, miniapp, runs, tmp_path):
    """The run had others, so they are left out, and its own fluxes stay."""
    folder, grid = Path(shutil.copytree(runs / "sources", tmp_path / "sources")), tmp_path / "grid.h5"
    add_months(folder, spoil=1.01)
    said = make(folder, grid)
    assert "surface_taux: the setup's taux is not taken" in said and "do not make forc_temp_surface" in said
    assert "do not make temp_source, salt_source" in said
    with h5py.File(grid) as file:
        assert not {"t_star", "temp_star"} & set(file) and "t_flux" in file
        assert not {"enable_wind_mixing", "enable_interior_forcing"} & set(file.attrs)
    assert difference(step(miniapp, tmp_path, grid), "temp", folder / "next.h5") < 1e-10


def test_forcing_in_place_of_that_of_the_run(make, runs, tmp_path):
    """All that was for heat goes, nothing for salt; and the run's time steps stay."""
    folder, grid = runs / "acc", tmp_path / "grid.h5"
    said = make(folder, grid, "--forcing", forcing(tmp_path / "wind.nc"))
    assert "surface_taux, surface_tauy, t_rest, t_star: not those of the run" in said and "left out" not in said
    with h5py.File(grid) as made, h5py.File(folder / "run.snapshot.nc") as run:
        assert {name for name in made if "period" in made[name].attrs} == {"surface_taux", "surface_tauy", "t_flux"}
        assert not {"t_rest", "t_star"} & set(made) and "s_flux" in made
        steps = json.loads(run.attrs["setup_settings"])
        assert all(made.attrs[name] == steps[name] for name in ("dt_tracer", "dt_mom"))
