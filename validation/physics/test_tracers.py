"""Tracers beside temperature and salinity: they go where temperature goes, are kept, and leave each other
alone."""

import re

import h5py
import numpy as np
import pytest

from conftest import DONE, GRID, INPUT, INSIDE, MISMATCH, USAGE, assert_same_on_threads, copied, read
from oceans import Frozen
from test_steps import ACC

pytestmark = pytest.mark.every_gpu

AS_TEMP = {"dye": "temp", "ddye_taum1": "dtemp_taum1", "forc_dye_surface": "forc_temp_surface"}


def with_a_dye(path, new):
    """A copy of a file, in which the tracer `dye` is as temperature is."""
    with copied(path, new) as file:
        for name, theirs in AS_TEMP.items():
            if theirs in file:
                file[name] = file[theirs][...]
    return new


def add_tracers(path):
    """Two: waves, and 1 where there is water."""
    with h5py.File(path, "a") as file:
        water = file["maskT"][...] == 1
        z, y, x = np.indices(water.shape)
        x = x % (water.shape[2] - 4)  # it is cyclic
        for name, values in (("waves", np.sin(x / 3) * np.cos(y / 4 + z)), ("one", np.ones(water.shape))):
            file[name] = np.where(water, values, 0)
    return path


@pytest.fixture(scope="module")
def ocean(tmp_path_factory):
    """A small one with eddies, whose flow is Veros's, with these tracers and a dye."""
    path = add_tracers(Frozen("acc", tmp_path_factory.mktemp("ocean")).path)
    return with_a_dye(path, path.with_suffix(".dye.h5"))


def step(miniapp, path, output, *words, sequence="ocean_step_eke", steps=100):
    miniapp.passes(path, "--steps", steps, "-k", sequence, "-o", output, *words, quick=False)
    return output


# ---- what they do ----

def follows_temperature(path, output, inside):
    temp, dye = (read(output, name)[inside] for name in ("temp", "dye"))
    error = np.abs(dye - temp).max() / np.abs(temp).max()
    print(f"off by {error:.1e}")
    assert np.abs(temp - read(path, "temp")[inside]).max() > 0.01, "nothing has moved"
    return error <= 1e-12


@pytest.mark.every_device
@pytest.mark.parametrize("switches", [
    (), ("--set", "enable_superbee_advection=1", "--set", "pyom_compatibility_mode=1")])
def test_one_like_temperature_follows_it(miniapp, ocean, device, tmp_path, switches):
    """What mixes temperature computes its slopes as it goes, so that last digits differ."""
    output = step(miniapp, ocean, tmp_path / "out.h5", "-d", device, "--tracer", "dye", *switches)
    assert follows_temperature(ocean, output, INSIDE)


@pytest.mark.every_device
def test_lateral_mixing(miniapp, ocean, device, tmp_path):
    """It mixes a tracer as it mixes temperature."""
    words = [f"--set={word}" for word in ("enable_hor_diffusion=1", "K_h=1000", "enable_biharmonic_mixing=1", "K_hbi=1e12")]
    mixed, plain = (step(miniapp, ocean, tmp_path / f"{len(more)}.h5", "-d", device, "--tracer", "dye", *more)
                    for more in (words, ()))
    assert follows_temperature(ocean, mixed, INSIDE)
    assert np.abs(read(mixed, "dye") - read(plain, "dye")).max() > 0.01


def test_one_follows_it_on_the_stored_grid(miniapp, device, tmp_path):
    """In a file without ghosts and without the tendency of the step before."""
    output = step(miniapp, with_a_dye(GRID, tmp_path / "in.h5"), tmp_path / "out.h5", "-d", device,
                  "--tracer", "dye", sequence="ocean_step", steps=5)
    assert follows_temperature(GRID, output, ...)


def test_a_constant_one_stays_so(miniapp, ocean, device, tmp_path):
    """Veros's flow takes from each cell as much as it brings."""
    output = step(miniapp, ocean, tmp_path / "out.h5", "-d", device, "--tracer", "one")
    water = read(ocean, "maskT")[INSIDE] == 1
    assert np.abs(read(output, "one")[INSIDE][water] - 1).max() <= 1e-10


@pytest.mark.every_device
def test_they_are_kept(miniapp, ocean, device, tmp_path):
    """The content changes by what comes in through the surface, as the report says."""
    steps, output = 100, tmp_path / "out.h5"
    report = miniapp.json(ocean, "--steps", steps, "-k", "ocean_step_eke", "-o", output, "-d", device,
                          "--tracer", "waves,dye", quick=False)
    budgets = {budget["budget"]: budget for budget in report["results"][0]["steps"]["budgets"]}
    assert {"heat", "salt", "tke", "eke", "energy", "waves", "dye"} == set(budgets)
    with h5py.File(ocean) as file:
        f = {name: data[...] for name, data in file.items()}
        dt = file.attrs["dt_tracer"]
    area = (f["dyt"] * f["cost"])[:, None] * f["dxt"]
    volume = (f["dzt"][:, None, None] * area * f["maskT"])[INSIDE]
    for name, theirs in (("waves", "waves"), ("dye", "temp")):
        budget = budgets[name]
        change = ((read(output, name) - f[theirs])[INSIDE] * volume).sum(dtype=np.longdouble)
        assert budget["kept"] and budget["is_of_all_steps"] and budget["units"] == "m3 s-1"
        assert abs(change / (steps * dt) - budget["change"]) <= budget["bound"]
    gain = (f["forc_temp_surface"] * area * f["maskT"][-1])[INSIDE].sum()
    assert budgets["waves"]["gain"] == 0 and budgets["dye"]["gain"] == pytest.approx(gain, rel=1e-12)


def test_three_are_what_each_is_alone(miniapp, ocean, tmp_path):
    """And temperature is what it is without any."""
    words = {name: ("--tracer", name) for name in ("dye", "waves", "one")}
    together = step(miniapp, ocean, tmp_path / "all.h5", "--tracer", ",".join(words), steps=10)
    for name, own in words.items():
        alone = step(miniapp, ocean, tmp_path / f"{name}.h5", *own, steps=10)
        for field in (name, f"d{name}_taum1", "temp", "tke"):
            np.testing.assert_array_equal(read(alone, field), read(together, field))
    without = step(miniapp, ocean, tmp_path / "none.h5", steps=10)
    np.testing.assert_array_equal(read(without, "temp"), read(together, "temp"))


def test_any_number_of_threads(miniapp, ocean, tmp_path):
    assert_same_on_threads(miniapp, tmp_path, (1, 2, 3), ["waves"], ocean, "--steps", 10, "-k", "ocean_step_eke",
                           "--tracer", "waves")


@pytest.mark.every_device
def test_float32(miniapp, ocean, device, tmp_path):
    wide, narrow = (read(step(miniapp, ocean, tmp_path / f"{precision}.h5", "-d", device, "--precision",
                              precision, "--tracer", "waves"), "waves")[INSIDE]
                    for precision in ("float64", "float32"))
    print(f"off by {np.abs(wide - narrow).max():.1e} after 100 steps")
    assert np.abs(wide - narrow).max() <= 0.1


@pytest.mark.every_device
def test_host_and_gpu_agree(miniapp, ocean, gpu, tmp_path):
    ours, theirs = (read(step(miniapp, ocean, tmp_path / f"{device}.h5", "-d", device, "--tracer", "waves"),
                         "waves") for device in ("cpu", gpu))
    assert np.abs(ours - theirs).max() <= 1e-9


# ---- files ----

def test_a_run_that_goes_on(miniapp, ocean, tmp_path):
    """From a snapshot, in the same bits, which is none of a run with other tracers."""
    end, whole = tmp_path / "end.nc", tmp_path / "whole.nc"
    words = ("--every", 5, "--tracer", "waves,one")
    step(miniapp, ocean, end, *words, steps=6)
    step(miniapp, ocean, end, *words, "--restart", steps=12)
    step(miniapp, ocean, whole, "--tracer", "waves,one", steps=12)
    with h5py.File(end) as ours, h5py.File(whole) as theirs:
        assert {"waves", "one", "dwaves_taum1", "done_taum1"} < set(ours)
        for name, values in theirs.items():
            assert values[...].tobytes() == ours[name][...].tobytes(), name
    miniapp.fails(INPUT, r"made with sequence=ocean_step_eke\+waves\+one, but this run has "
                  r"sequence=ocean_step_eke\+waves$", ocean, "--steps", 12, "-o", end, "-k", "ocean_step_eke",
                  "--every", 5, "--tracer", "waves", "--restart", quick=False)


def test_xarray_reads_them(miniapp, tmp_path):
    """With the axes that the input has."""
    xarray = pytest.importorskip("xarray")
    ocean = tmp_path / "ocean.h5"
    ocean.write_bytes(ACC.read_bytes())
    add_tracers(ocean)
    with h5py.File(ocean, "a") as file:
        for axis, scale in enumerate(("zt", "yt", "xt")):
            file["waves"].dims[axis].attach_scale(file[scale])
    step(miniapp, ocean, tmp_path / "end.nc", "--every", 1, "--tracer", "waves", steps=1)
    with xarray.open_dataset(tmp_path / "end.000001.nc") as snapshot:
        assert snapshot.waves.dims == ("Time", "zt", "yt", "xt")
        assert snapshot.waves.long_name == "waves at time level tau" and "units" not in snapshot.waves.attrs
        assert int(snapshot.waves.notnull().sum()) == int(read(ocean, "maskT")[INSIDE].sum())


def test_validation_and_checksums(miniapp, ocean, tmp_path):
    words = (ocean, "--steps", 3, "-k", "ocean_step_eke", "--tracer", "waves")
    output = tmp_path / "out.h5"
    report = miniapp.json(*words, "-o", output, "--checksums", quick=False)
    assert {"waves", "dwaves_taum1"} < {entry["variable"] for entry in report["checksums"]}
    assert "PASSED" in miniapp.passes(*words, "--validate", output, quick=False)
    with h5py.File(output, "a") as file:
        file["waves"][5, 8, 6] += 1
    done = miniapp.run(*words, "--validate", output)
    assert done.returncode == MISMATCH and re.search(r"waves .*FAIL", done.stdout), done


def test_one_that_starts_as_another_dataset(miniapp, tmp_path):
    """By --tracer NAME=DATASET, with the same bits as from a dataset of its own."""
    own = tmp_path / "own.h5"
    with copied(GRID, own) as file:
        file["dye"] = file["salt"][...]
    outputs = [step(miniapp, path, tmp_path / f"{tracer}.out.h5", "--tracer", tracer, sequence="ocean_step", steps=2)
               for path, tracer in ((own, "dye"), (GRID, "dye=salt"))]
    np.testing.assert_array_equal(*(read(output, "dye") for output in outputs))


def test_another_size(miniapp):
    result = miniapp.json(GRID, "--steps", 2, "--shape", "20x16x6", "--tracer", "a=temp,b=salt",
                          quick=False)["results"][0]
    assert result["kernel"] == "ocean_step+a+b"
    assert [part["kernel"] for part in result["shares"]].count("tracer_mixing") == 2
    for what in ("bytes", "flops"):
        assert sum(part[what] for part in result["shares"]) == pytest.approx(result[what])


def test_one_that_is_no_longer_finite(miniapp, tmp_path):
    path = tmp_path / "wild.h5"
    with copied(GRID, path) as file:
        file["dye"] = np.where(file["maskT"][...] == 1, file["temp"], 0)
        file["forc_dye_surface"] = np.full(file["kbot"].shape, 1e308)
    error = miniapp.fails(MISMATCH, r"dye\[.*\] is (nan|-?inf) after step", path, "--steps", 40,
                          "--allow-invalid", "--tracer", "dye", quick=False)
    assert "ocean_step+dye" in error


@pytest.mark.parametrize("choice", ["enable_superbee_advection=0", "enable_superbee_advection=1",
                                    "enable_skew_diffusion=0", "enable_neutral_diffusion=0", "enable_hor_diffusion=1"])
def test_a_step_of_a_tracer_alone(miniapp, device, choice, tmp_path):
    """Where temperature and salinity stay as they are."""
    output, words = tmp_path / "out.h5", ("-d", device, "--set", choice)
    result = miniapp.json(ACC, "--steps", 10, "-k", "tracer_step", *words, "-o", output, quick=False)["results"][0]
    budget, = result["steps"]["budgets"]
    assert budget["budget"] == "tracer" and budget["kept"]
    assert np.abs(read(output, "tracer") - read(ACC, "temp")).max() > 0.01
    end = tmp_path / "end.h5"
    for steps in (6, 10):
        step(miniapp, ACC, end, *words, "--every", 5, "--restart", sequence="tracer_step", steps=steps)
    np.testing.assert_array_equal(read(end, "tracer"), read(output, "tracer"))


# ---- what is refused ----

@pytest.mark.parametrize("name", ["dye", "a" * 40])
def test_one_that_is_missing(miniapp, name):
    miniapp.fails(INPUT, f"dataset '{name}' is missing, which the chosen kernels read", GRID, "--steps", 1,
                  "--tracer", name, quick=False)


@pytest.mark.parametrize("words, complaint", [
    (("--tracer", "temp"), "a tracer cannot be 'temp': there is a field 'temp' already"),
    (("--tracer", "dye,dye_taup1"), "a tracer cannot be 'dye_taup1': there is a field 'dye_taup1' already"),
    (("--tracer", "d,dd"), "a tracer cannot be 'dd': there is a field 'dd' already"),
    (("--tracer", "dye,dye"), "tracer 'dye' is given twice"),
    (("--tracer", "1st"), "'1st' is no name of a tracer"), (("--tracer", ""), "'' is no name of a tracer"),
    (("--tracer", "a b"), "'a b' is no name"), (("--tracer", "xt"), "'xt' is no name"),
    (("--tracer", "a" * 41), "is no name"), (("--tracer", "dye\nage"), "is no name"),
    (("--tracer", ",".join(f"n{number}" for number in range(65))), "at most 64 tracers, and 'n64' is one more"),
    (("--tracer", "dye", "-k", "eos"), "tracers need a sequence with time levels, .*; 'eos' has none"),
    (("--tracer", "dye", "-k", "ocean_step,eos"), "--tracer needs --steps, and at most one kernel"),
    (("--tracer", "dye="), "--tracer takes NAME or NAME=DATASET, not 'dye='"),
    (("-k", "none+dye"), "unknown kernel 'none'")])
def test_names_that_are_refused(miniapp, words, complaint):
    miniapp.fails(USAGE, complaint, GRID, "--steps", 1, *words, quick=False)


def test_without_steps(miniapp):
    miniapp.fails(USAGE, "--tracer needs --steps", GRID, "--tracer", "dye")


def test_most_tracers(miniapp, tmp_path):
    """As many as there may be, each with its budget."""
    names = [f"n{number}" for number in range(64)]
    done = miniapp.run(GRID, "--steps", 1, "--shape", "8x8x4", "--tracer", ",".join(f"{name}=temp" for name in names))
    assert done.returncode == DONE and len(re.findall(r"^n\d+ .*not judged$", done.stdout, re.MULTILINE)) == 64
