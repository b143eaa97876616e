"""Fields with records in time: each step has the forcing of its time, as Veros 1.7 interpolates it."""

import json
import shutil

import h5py
import numpy as np
import pytest

import miniapp as package
from conftest import HERE, INPUT, INSIDE, copied, read

pytestmark = pytest.mark.every_gpu

OCEANS = HERE.parent / "inputs"
STEP, STEPS, START = 43200.0, 7, 100000.0
PERIODS = {"surface_taux": (5, 6 * STEP), "t_star": (3, 20 * STEP)}  # one shorter than the run
RESULTS = ("temp", "u", "psi")


def of_time(records, period, time):
    """Records lie in the middle of their parts of the period: get_periodic_interval in Veros's tools/setup.py."""
    spacing = period / len(records)
    place = (time - spacing / 2) % period
    before = int(place / spacing)
    weight = (place - before * spacing) / spacing
    return (1 - weight) * records[before] + weight * records[(before + 1) % len(records)]


@pytest.fixture(scope="module")
def forced(tmp_path_factory):
    """`acc` from rest, in whose file two fields have records; and these."""
    path = tmp_path_factory.mktemp("forcing") / "acc.h5"
    shutil.copy(OCEANS / "acc_rest.h5", path)
    rng, records = np.random.default_rng(5), {}
    with h5py.File(path, "a") as file:
        file.attrs["start_time"] = START
        for name, (count, period) in PERIODS.items():
            values = file[name][...]
            noise = rng.uniform(-1, 1, (count, *values.shape))
            noise[..., :2], noise[..., -2:] = noise[..., -4:-2], noise[..., 2:4]
            records[name] = values + 0.1 * noise
            del file[name]
            file[name] = records[name]
            file[name].attrs["period"] = period
    return path, records


def end_of(miniapp, path, folder, *words):
    folder.mkdir(exist_ok=True)
    miniapp.passes(path, "--steps", STEPS, "-k", "ocean", "-o", folder / "end.h5", *words, quick=False)
    with h5py.File(folder / "end.h5") as file:
        return {name: file[name][...] for name in RESULTS}


@pytest.mark.usefixtures("library")
@pytest.mark.unsanitized("it needs a sanitized Python")
@pytest.mark.every_device
def test_each_step_has_the_forcing_of_its_time(miniapp, device, forced, tmp_path):
    """As if the fields were set anew before each step, to the last bits."""
    path, records = forced
    ours = end_of(miniapp, path, tmp_path, "-d", device)
    with package.load(path, "ocean", device) as state:
        for i in range(STEPS):
            for name, (_, period) in PERIODS.items():
                state.set(name, of_time(records[name], period, START + i * STEP))
            state.step(1, "ocean")
        theirs = {name: state.get(name) for name in RESULTS}
    for name in RESULTS:
        error = np.abs(ours[name] - theirs[name])[INSIDE].max() / np.abs(theirs[name][INSIDE]).max()
        print(f"{name}: off by {error:.1e} of the largest value")
        assert error < 1e-12
    with package.load(path, "ocean", device) as state:
        state.step(STEPS, "ocean")
        for name in RESULTS:
            assert state.get(name)[INSIDE].tobytes() == ours[name][INSIDE].tobytes(), name


def test_a_run_that_continues_has_the_same_bits(miniapp, device, forced, tmp_path):
    whole = end_of(miniapp, forced[0], tmp_path / "whole", "-d", device)
    words = ("-d", device, "--every", 2)
    end_of(miniapp, forced[0], tmp_path / "parts", *words)
    for step in (4, 6):
        (tmp_path / "parts" / f"end.00000{step}.h5").unlink()
    (tmp_path / "parts" / "end.h5").unlink()
    miniapp.passes(forced[0], "--steps", STEPS, "-k", "ocean", *words, "--restart", "-o", tmp_path / "parts" / "end.h5",
                   quick=False)
    with h5py.File(tmp_path / "parts" / "end.h5") as file, h5py.File(tmp_path / "parts" / "end.000002.h5") as early:
        assert early["Time"][0] == (START + 2 * STEP) / 86400
        assert not {"surface_taux", "t_star"} & set(early)
        for name, values in whole.items():
            assert file[name][...].tobytes() == values.tobytes(), name


@pytest.mark.parametrize("start", [START, np.nextafter(1.5 * STEP, 0)], ids=["between", "just before the first"])
def test_a_kernel_takes_the_start(miniapp, forced, tmp_path, start):
    """Without steps in time, a kernel reads what is at the start."""
    count, period = 3, 9 * STEP
    varies, still = tmp_path / "varies.h5", tmp_path / "still.h5"
    for path in (varies, still):
        with copied(OCEANS / "acc.h5", path) as file:
            del file["surface_taux"]
    records = forced[1]["surface_taux"][:count]
    with h5py.File(varies, "a") as file:
        file.attrs["start_time"] = start
        file["surface_taux"] = records
        file["surface_taux"].attrs["period"] = period
    with h5py.File(still, "a") as file:
        file["surface_taux"] = of_time(records, period, round(start))
    tendencies = []
    for path in (varies, still):
        miniapp.passes(path, "-k", "momentum", "-o", tmp_path / "out.h5")
        tendencies.append(read(tmp_path / "out.h5", "du"))
    assert np.allclose(*tendencies, rtol=0, atol=1e-13 * np.abs(tendencies[0]).max())


def test_budgets_of_varying_fluxes(miniapp, tmp_path):
    """A flux that follows records is another one in each step, so the budget is that of the last step."""
    path = tmp_path / "acc.h5"
    with copied(OCEANS / "acc.h5", path) as file:
        name, flux = "forc_salt_surface", 1e-6 * file["maskT"][-1]
        if name in file:
            del file[name]
        file[name] = np.stack([flux, -flux, 2 * flux])
        file[name].attrs["period"] = 5 * STEP
    report = miniapp.passes(path, "-k", "ocean_step", "--steps", 3, "--format", "json", quick=False)
    result, = json.loads(report)["results"]
    salt, = (budget for budget in result["steps"]["budgets"] if budget["budget"] == "salt")
    assert salt["steps"] == 1 and salt["verdict"] == "kept" and salt["gain"] != 0


@pytest.mark.parametrize("spoil, message", [
    (lambda data: data.attrs.pop("period"), "'surface_taux' has 3 axes, but must have 2: .* an attribute 'period'"),
    (lambda data: data.attrs.modify("period", 0.0), "attribute 'period' of dataset 'surface_taux' is 0, but must be"),
    (lambda data: data.attrs.create("period", "a year"), "attribute 'period' must be a number"),
    (lambda data: data.__setitem__((3, 5, 7), np.nan), r"record 3 of surface_taux\[5, 7\] is nan"),
])
def test_what_is_wrong_with_records(miniapp, forced, tmp_path, spoil, message):
    path = tmp_path / "bad.h5"
    with copied(forced[0], path) as file:
        spoil(file["surface_taux"])
    miniapp.fails(INPUT, message, path, "-k", "ocean", "--steps", 1, quick=False)


@pytest.mark.parametrize("name, shape, message", [
    ("surface_taux", (0, 46, 34), "'surface_taux' has no records"),
    ("u", (2, 15, 46, 34), r"'u' has 4 axes, but must have 3: \(z, y, x\)"),
])
def test_what_has_no_records(miniapp, tmp_path, name, shape, message):
    path = tmp_path / "bad.h5"
    with copied(OCEANS / "acc.h5", path) as file:
        if name in file:
            del file[name]
        file[name] = np.zeros(shape)
        file[name].attrs["period"] = 1.0
    miniapp.fails(INPUT, message, path, "-k", "momentum")


@pytest.mark.usefixtures("library")
@pytest.mark.unsanitized("it needs a sanitized Python")
def test_a_field_set_by_hand_follows_no_records(forced):
    with package.load(forced[0], "ocean") as state:
        calm = np.zeros(state.shape("surface_taux"))
        state.set("surface_taux", calm)
        state.step(2, "ocean")
        assert not state.get("surface_taux").any()
        assert state.get("t_star").std() > 0


@pytest.mark.every_device
def test_wind_stirs_and_the_water_is_restored(miniapp, device, tmp_path):
    """As in Veros's setups global_1deg and north_atlantic: one step with what they make of wind, sunlight and a
    target is that with the same fluxes and sources given."""
    made, given = tmp_path / "made.h5", tmp_path / "given.h5"
    for path in (made, given):
        shutil.copy(OCEANS / "acc_rest.h5", path)
    rng = np.random.default_rng(7)
    with h5py.File(made, "a") as file:
        wet, temp, taux = file["maskT"][...], file["temp"][...], file["surface_taux"][...]
        sun, share = 4e-5 * wet[-1], rng.uniform(0, 1e-2, len(wet))
        rate, target = np.full(temp.shape, 1e-7), temp + 3
        ice = float(np.quantile(temp[-1][wet[-1] == 1], 0.6, method="lower"))
        del file["forc_tke_surface"]
        for name, values in (("q_solar", sun), ("divpen_shortwave", share), ("rest_tscl", rate),
                             ("temp_star", target), ("salt_star", file["salt"][...] + 1)):
            file[name] = values
        flux = wet[-1] * file["t_rest"][...] * (file["t_star"][...] - temp[-1])
        is_open = (temp[-1] > ice) | (flux > 0)
        assert 0 < is_open[wet[-1] == 1].mean() < 1 and not is_open[temp[-1] == ice].all()
        file.attrs["t_ice"] = ice
    with h5py.File(given, "a") as file:
        stress = np.abs(taux + np.roll(taux, 1, axis=1)) / 2 / 1024
        stress[:, :2], stress[:, -2:] = stress[:, -4:-2], stress[:, 2:4]  # ghosts
        file["forc_tke_surface"][...] = stress**1.5 * wet[-1]
        file["temp_source"] = wet * (sun * is_open * share[:, None, None] + rate * (target - temp))
        file["salt_source"] = wet * rate * 1.0
        file.attrs["t_ice"] = ice
    ends, switches = [], ("--set", "enable_wind_mixing=1", "--set", "enable_interior_forcing=1")
    for path, words in ((made, switches), (given, ())):
        miniapp.passes(path, "--steps", 1, "-k", "ocean", "-d", device, *words, "-o", tmp_path / "end.h5", quick=False)
        with h5py.File(tmp_path / "end.h5") as file:
            ends.append({name: file[name][INSIDE] for name in ("temp", "salt", "tke")})
    for name, values in ends[0].items():
        assert np.abs(values - ends[1][name]).max() <= 1e-12 * np.abs(values).max(), name
    with h5py.File(given) as file:
        assert np.abs(ends[0]["temp"] - file["temp"][INSIDE])[:-1].max() > 1e-3
