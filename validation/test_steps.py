"""Steps in time: what Veros makes of the same oceans, budgets, bits, and what may not be asked for."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import DONE, USAGE, read, write

STEPS = Path(__file__).parent / "veros" / "steps.h5"
INSIDE = (..., slice(2, -2), slice(2, -2))
SETUPS = {"acc_basic": "ocean_step", "acc": "ocean_step_eke", "global": "ocean_step_eke"}


class Frozen:
    """An ocean of make_veros_steps.py, as a file of its own."""

    def __init__(self, name, folder):
        with h5py.File(STEPS) as file:
            group = file[name]
            values = {key: data[...] for key, data in group.items() if isinstance(data, h5py.Dataset)}
            settings = dict(group.attrs)
            self.after = {int(key): {field: (data[...], data.attrs["spread"])
                                     for field, data in part.items()}
                          for key, part in group.items() if isinstance(part, h5py.Group)}
        place = {key: settings.pop(key) for key in ("halo", "cyclic_x")}
        self.sequence = SETUPS[name]
        self.before = values
        self.settings = settings
        self.water = values["maskT"][INSIDE] == 1
        self.path = write(folder / f"{name}.h5", values, settings, **place)

    def step(self, miniapp, output, steps, *arguments):
        miniapp.passes(self.path, "--steps", steps, "-k", self.sequence, "-o", output, *arguments,
                       quick=False)
        return output


@pytest.fixture(params=SETUPS)
def frozen(request, tmp_path):
    return Frozen(request.param, tmp_path)


@pytest.mark.parametrize("steps", [1, 100])
def test_veros_makes_the_same(miniapp, frozen, device, tmp_path, steps):
    """As near as Veros is to itself when last digits change."""
    output = frozen.step(miniapp, tmp_path / "out.h5", steps, "-d", device)
    for name, (wanted, spread) in frozen.after[steps].items():
        error = np.abs((read(output, name) - wanted)[INSIDE] * frozen.water).max()
        scale = np.abs(wanted[INSIDE] * frozen.water).max()
        print(f"{name} after {steps} steps: off by {error / scale:.1e}, spread {spread / scale:.1e}")
        assert error <= 10 * spread + 1e-12 * scale, name


def test_any_number_of_threads(miniapp, frozen, tmp_path):
    """The same bits."""
    outputs = [tmp_path / f"{threads}.h5" for threads in (1, 2, 3)]
    for threads, output in enumerate(outputs, 1):
        done = miniapp.run(frozen.path, "--steps", 20, "-k", frozen.sequence, "-t", threads, "-o", output)
        assert done.returncode == DONE, done
    for name in frozen.after[1]:
        for output in outputs[1:]:
            np.testing.assert_array_equal(read(output, name), read(outputs[0], name))


def content(frozen, tracer):
    """Of the water: its sum over cells by their volume, and the sum of its magnitudes."""
    f = frozen.before
    parts = (f["dzt"][:, None, None] * (f["dyt"] * f["cost"])[:, None] * f["dxt"] * tracer)[INSIDE]
    parts = parts[frozen.water].astype(np.longdouble)
    return parts.sum(), abs(parts).sum()


def test_heat_and_salt_are_kept(miniapp, frozen, device, tmp_path):
    """Over 1,000 steps they change by what goes in at the surface, and by rounding, which adds up: a
    unit in the last place of each cell in each step would be far more."""
    steps = 1000
    output = frozen.step(miniapp, tmp_path / "out.h5", steps, "-d", device)
    f = frozen.before
    for name in ("temp", "salt"):
        flux = f[f"forc_{name}_surface"] * f["maskT"][-1]
        taken_in = steps * frozen.settings["dt_tracer"] * (
            (f["dyt"] * f["cost"])[:, None] * f["dxt"] * flux)[INSIDE].sum(dtype=np.longdouble)
        before, _ = content(frozen, f[name])
        after, size = content(frozen, read(output, name))
        drift = float(abs(after - before - taken_in) / size)
        print(f"{name}: {drift:.1e} of its content after {steps} steps")
        assert drift <= 1e-16 * steps


def test_float32_is_stable(miniapp, frozen, device, tmp_path):
    """Over 1,000 steps; how far it is from float64 is said."""
    outputs = [frozen.step(miniapp, tmp_path / f"{precision}.h5", 1000, "-d", device,
                           "--precision", precision) for precision in ("float64", "float32")]
    for name in frozen.after[1]:
        wide, narrow = (read(output, name)[INSIDE] * frozen.water for output in outputs)
        scale = np.abs(wide).max()
        error = np.abs(narrow - wide).max() / scale
        print(f"{name}: float32 is off by {error:.1e} after 1000 steps")
        assert error <= 0.1, name


def test_host_and_gpu_agree(miniapp, frozen, tmp_path):
    """Over 100 steps."""
    if "gpu" not in miniapp.devices:
        pytest.skip("there is no gpu in this build, or here")
    outputs = [frozen.step(miniapp, tmp_path / f"{device}.h5", 100, "-d", device)
               for device in ("cpu", "gpu")]
    for name, (_, spread) in frozen.after[100].items():
        ours, theirs = (read(output, name)[INSIDE] * frozen.water for output in outputs)
        assert np.abs(ours - theirs).max() <= 10 * spread + 1e-12 * np.abs(ours).max(), name


def test_an_output_is_what_the_next_step_needs(miniapp, frozen, tmp_path):
    """Steps that go on from it end in the same bits."""
    half, whole = tmp_path / "half.h5", tmp_path / "whole.h5"
    frozen.step(miniapp, half, 10)
    frozen.step(miniapp, whole, 20)
    with h5py.File(half) as file, h5py.File(frozen.path, "a") as again:
        for name, dataset in file.items():
            if not h5py.h5ds.is_scale(dataset.id):
                if name in again:
                    del again[name]
                again[name] = dataset[...]
    rest = frozen.step(miniapp, tmp_path / "rest.h5", 10)
    for name in frozen.after[1]:
        np.testing.assert_array_equal(read(rest, name), read(whole, name))


def test_report(miniapp, frozen):
    """A row as of any kernel: a call is a step, and each kernel has its share."""
    result = miniapp.json(frozen.path, "--steps", 5, "-k", frozen.sequence, quick=False)["results"][0]
    assert result["kernel"] == frozen.sequence and result["calls"] == 5
    assert "density" in [part["kernel"] for part in result["shares"]]
    assert abs(sum(part["share"] for part in result["shares"]) - 1) < 1e-6


@pytest.mark.parametrize("words, complaint", [
    (("-k", "eos"), "takes a sequence with time levels, such as ocean_step, which 'eos' has not"),
    (("-k", "ocean_step,ocean_step_eke"), "takes one kernel"), (("-t", "1,2"), "takes one kernel"),
    (("-r", "3"), "leave out --resume, --repetitions and --transfer each-call"),
    (("--transfer", "each-call"), "leave out"), (("--resume", "results.json"), "leave out")])
def test_what_does_not_go_with_it(miniapp, small, words, complaint):
    miniapp.fails(USAGE, "--steps " + ".*" + complaint, small, "--steps", 2, *words, quick=False)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many"])
def test_numbers_of_steps(miniapp, small, value):
    miniapp.fails(USAGE, "--steps takes a whole number", small, f"--steps={value}", quick=False)
