"""The kernel `density` where the ocean is fresh, cold, shallow or land, and what dynamic enthalpy and
its derivatives have to do with each other."""

import h5py
import numpy as np
import pytest

import fields
from conftest import read, write
from test_kernels import OCEANS, compare, reference_of

pytestmark = pytest.mark.every_gpu

ACCELERATION = 9.81 / 1024  # g / rho_0


@pytest.fixture(scope="module")
def density(miniapp):
    return next(kernel for kernel in miniapp.kernels if kernel.name == "density")


def store(miniapp, path, values, settings):
    return write(path, miniapp.read_by("density", values), settings, halo=2)


def fresh_ocean(**settings):
    """Water below the least salt and heat of dynamic enthalpy, beside water above both."""
    values, defaults = fields.make(**OCEANS["odd"], eq_of_state_type=5)
    rng = np.random.default_rng(12)
    shape = values["salt"].shape
    values["salt"] = np.where(rng.random(shape) < 0.1, rng.uniform(0, 0.2, shape), values["salt"])
    values["temp"] = np.where(rng.random(shape) < 0.1, rng.uniform(-13, -11, shape), values["temp"])
    values["salt"][3, 5, 7] = 0
    return values, defaults | settings


@pytest.fixture(scope="module")
def expected(density):
    """What its reference makes of fresh water, without the clamp and with it."""
    return [reference_of(density).reference(*fresh_ocean(clamp_enthalpy=clamps)) for clamps in (0, 1)]


@pytest.mark.parametrize("clamps", [0, 1])
def test_fresh_and_cold_water(miniapp, density, device, expected, clamps, tmp_path):
    out = tmp_path / "out.h5"
    miniapp.passes("-k", "density", "-d", device, "-o", out,
                   store(miniapp, tmp_path / "ocean.h5", *fresh_ocean(clamp_enthalpy=clamps)))
    with h5py.File(out) as file:
        compare(density, file, expected[clamps], "float64")


def test_the_clamp_counts(expected):
    """Else the test above would compare two equal things."""
    free, clamped = expected
    for name in ("Hd", "int_drhodT", "int_drhodS"):
        assert np.any(clamped[name] != free[name]), name
    for name in ("rho", "prho", "Nsqr"):
        assert np.array_equal(clamped[name], free[name]), name


def test_neighbours_do_not_count(miniapp, density, tmp_path):
    """The loop of a row with some fresh water is another one. Its points get the same bits, but by GCC,
    which chooses for each loop anew what it contracts."""
    values, settings = fields.make(**OCEANS["odd"], eq_of_state_type=5)
    first, second = tmp_path / "a.out.h5", tmp_path / "b.out.h5"
    miniapp.passes("-k", "density", "-o", first, store(miniapp, tmp_path / "a.h5", values, settings))
    place = values["maskT"].astype(bool) & (np.arange(values["maskT"].shape[2]) == 11)
    values["salt"][place] = 0.01
    miniapp.passes("-k", "density", "-o", second, store(miniapp, tmp_path / "b.h5", values, settings))
    for output in density.outputs:
        same = ~place
        if output.name == "Nsqr":  # sees the level above
            same[:-1] &= same[1:]
            same[-1] = same[-2]
        before, after = read(first, output.name)[same], read(second, output.name)[same]
        allowed = 1e-14 * np.abs(before).max() if miniapp.is_gcc else 0
        assert np.abs(after - before).max() <= allowed, output.name


def program_outputs(miniapp, path, values, settings):
    out = path.with_suffix(".out.h5")
    miniapp.passes("-k", "density", "-o", out, store(miniapp, path, values, settings))
    return {name: read(out, name) for name in ("Hd", "int_drhodT", "int_drhodS")}


@pytest.mark.parametrize("name,derivative", [("temp", "int_drhodT"), ("salt", "int_drhodS")])
@pytest.mark.parametrize("equation", [1, 2, 3, 4, 5])
def test_derivatives_of_enthalpy(miniapp, equation, name, derivative, tmp_path):
    """dHd/dT = -g / rho_0 int_drhodT, and the same by salinity. Equation 3 breaks it for temperature,
    in Veros too: its enthalpy has the square of theta twice as large as its density."""
    values, settings = fields.make(**OCEANS["all water"], eq_of_state_type=equation)
    step = 1e-3
    here = program_outputs(miniapp, tmp_path / "here.h5", values, settings)[derivative]
    low, high = (program_outputs(miniapp, tmp_path / f"{sign}.h5",
                                 values | {name: values[name] + sign * step}, settings)["Hd"]
                 for sign in (-1, 1))
    quotient = (high - low) / (2 * step)
    error = np.abs(quotient + ACCELERATION * here).max() / np.abs(ACCELERATION * here).max() \
        if here.any() else np.abs(quotient).max()
    if equation == 3 and name == "temp":
        assert error > 1e-3
        theta = values["temp"] - (283 - 273.15)
        excess = ACCELERATION * 1024 * 1e-5 * theta * values["p"][:, None, None]
        assert np.abs(quotient + ACCELERATION * here - excess).max() < 1e-6
    else:
        assert error < 1e-6


@pytest.mark.parametrize("equation", [1, 2, 3, 4, 5])
def test_equal_water_has_no_stability(miniapp, equation, tmp_path):
    """Exactly none: the sign of Nsqr decides about convection."""
    values, settings = fields.make(**OCEANS["odd"], eq_of_state_type=equation)
    for name in ("temp", "salt"):
        values[name][:, :, ::2] = values[name][5, :, ::2]
    out = tmp_path / "out.h5"
    miniapp.passes("-k", "density", "-o", out, store(miniapp, tmp_path / "ocean.h5", values, settings))
    stability = read(out, "Nsqr")
    assert not stability[:, :, ::2].any() and stability[:, :, 1::2].any()


def seawater(deepest, seed=17):
    """Any water at any pressure: corners and ends of the quadrature's rules, fresh and cold water of pyhpc-benchmarks,
    and that around -15.5 degC, where the published closed form is 0/0."""
    rng = np.random.default_rng(seed)
    ends = (20, 400, 1400, 2800, 4300, 5700, 7000, 9000)
    p = np.array(sorted({*ends, *range(0, 12001, 250)}, reverse=True), float)
    p = p[p <= deepest]
    shape = len(p), 6, 12
    salt, temp = rng.uniform(0, 42, shape), rng.uniform(-2, 40, shape)
    salt[:, :2], temp[:, :2] = rng.uniform(0.01, 10, salt[:, :2].shape), rng.uniform(-12, 20, salt[:, :2].shape)
    temp[:, 2] = rng.uniform(-16, -15, temp[:, 2].shape)
    salt[:, 3, :4], temp[:, 3, :4] = (0, 0, 42, 42), (-2, 40, -2, 40)
    ones = np.ones(shape)
    return {"salt": salt, "temp": temp, "p": p, "zt": -p, "dzw": np.ones(len(p)), "maskT": ones, "maskW": ones}


SEAWATER = {"eq_of_state_type": 5, "clamp_enthalpy": 0}


@pytest.fixture(scope="module", params=[8000, 12000])
def deep(request, miniapp):
    """Seawater, and what the references of eos and density make of it."""
    values = seawater(request.param)
    kernels = [kernel for kernel in miniapp.kernels if kernel.name in ("eos", "density")]
    return values, [(kernel, reference_of(kernel).reference(values, SEAWATER)) for kernel in kernels]


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.every_compiler
def test_any_seawater(miniapp, device, deep, precision, tmp_path):
    """Far beyond any ocean; nothing is clamped, and at the surface dHdT is exactly 0."""
    (values, wanted), out = deep, tmp_path / "out.h5"
    path = write(tmp_path / "ocean.h5", values, SEAWATER, halo=2)
    miniapp.passes(path, "-k", "eos,density", "-d", device, "--precision", precision, "-o", out)
    with h5py.File(out) as file:
        for kernel, fields_of_it in wanted:
            compare(kernel, file, fields_of_it, precision)
    assert not read(out, "dHdT")[-1].any()
