"""Every kernel against its independent reference, on invented oceans that leave no index unseen.

The grids are odd in each direction, so that every remainder of a loop runs, and the masks of some
do not follow from each other, so that none can stand in for another. Outputs are compared with
their ghost cells, which have to be exactly zero where the reference is.
"""

import importlib

import h5py
import numpy as np
import pytest

import fields
import miniapp as package
from conftest import GRID, change, field_of, read, write
from reference import files

pytestmark = [pytest.mark.every_compiler, pytest.mark.every_gpu]

# nx, ny, nz with ghosts, width of a cell in m: advection of TKE shows on fine grids only
OCEANS = {
    "odd": dict(nx=37, ny=29, nz=11, seed=1, dx=1e5),
    "fine": dict(nx=21, ny=31, nz=7, seed=2, dx=1e3),
    "finest": dict(nx=71, ny=9, nz=5, seed=3, dx=50.0, eddies=False),
    "masks": dict(nx=27, ny=13, nz=9, seed=4, dx=1e3, random_masks=True),
    "more masks": dict(nx=19, ny=23, nz=8, seed=5, dx=1e5, random_masks=True, eddies=False),
    "two levels": dict(nx=12, ny=11, nz=2, seed=6, dx=1e4),
    "one level": dict(nx=13, ny=10, nz=1, seed=7, dx=1e4),
    "one column": dict(nx=5, ny=5, nz=6, seed=8, dx=1e4, islands=False),
    "one cell": dict(nx=5, ny=5, nz=1, seed=9, dx=1e4, islands=False),
    "all water": dict(nx=33, ny=8, nz=6, seed=10, dx=2e4, islands=False),
    "long rows": dict(nx=1037, ny=7, nz=2, seed=11, dx=1e3),  # of more than two chunks (ROW_CHUNK)
    "longer than a chunk": dict(nx=514, ny=6, nz=2, seed=12, dx=1e4),  # by ghosts alone
}
ON_DEVICES = ("odd", "one level", "long rows")  # also where these are emulated, and by other compilers
OTHER_EQUATIONS = (1, 2, 4, 5)  # all of the above have 3
FEWER = {"odd": dict(nx=25, ny=15), "masks": {}}  # columns, where a formula is chosen for each point alike


def reference_of(kernel):
    return importlib.import_module(f"reference.{kernel.name}")


def check(together, kernel, ocean, *arguments, precision="float64", of=None):
    """Run all kernels, or `of` some, and compare this one's outputs with its reference. Tests share the
    runs, and what a kernel has to make of an ocean. Sanitizers look at the run alone: what they do to numbers,
    test_results.py sees."""
    out = together.output(ocean.path, "--precision", precision, *allowed(ocean.values), *arguments, of=of)
    if together.miniapp.is_sanitized:
        return
    expected = together.once((ocean.path, kernel.name, *ocean.settings.items()),
                             lambda _: reference_of(kernel).reference(ocean.values, ocean.settings))
    compare(kernel, together.opened(out), expected, precision)


def allowed(values):
    """Masks that do not follow from each other are refused otherwise."""
    floats = (np.diff(values["maskT"].astype(int), axis=0) < 0).any()
    return ["--allow-invalid"] if floats else []


def compare(kernel, file, expected, precision):
    """Each output in a file with what its reference expects, by its largest value."""
    reference = reference_of(kernel)
    assert set(expected) == {output.name for output in kernel.outputs if output.name in file}
    for name, ref in expected.items():
        result = field_of(kernel, file, name)
        largest = np.abs(ref).max()
        most = reference.TOLERANCES[name][precision].atol_rel * largest
        error = np.abs(result - ref)
        worst = np.unravel_index(error.argmax(), error.shape)
        assert error.max() <= most, (f"{name}{list(map(int, worst))} is off by "
                                     f"{float(error.max() / largest):.2e} of the largest value")
        assert ref.ndim < 2 or not result[outside(ref)].any(), (f"{name} is not zero outside its range")


def outside(ref):
    """The ghost cells in which the reference holds nothing at any level."""
    ghosts = np.ones(ref.shape, bool)
    ghosts[..., 2:-2, 2:-2] = False
    return ghosts & ~ref.any(axis=tuple(range(ref.ndim - 2)), keepdims=True)


def make(name, **changes):
    return fields.make(**OCEANS[name] | changes)


@pytest.mark.parametrize("ocean_name", [
    pytest.param(name, marks=[pytest.mark.every_device] * (name in ON_DEVICES)) for name in OCEANS])
def test_ocean(together, kernel, device, ocean_name):
    if device == "cpu" and ocean_name not in ON_DEVICES and not together.miniapp.is_sanitized:
        together.miniapp.skip_repeat("three oceans show what another compiler makes")
    if kernel.calibration and ocean_name not in ON_DEVICES and not together.miniapp.is_sanitized:
        together.miniapp.leave_to_long("three shapes show what a kernel without masks and coasts makes")
    ocean = together.ocean(ocean_name, lambda: make(ocean_name))
    check(together, kernel, ocean, "-d", device)


def leave_formulas_to_the_first_build(miniapp, device):
    if device == "cpu" and not miniapp.is_sanitized:
        miniapp.skip_repeat("one ocean and the stored references show what another compiler makes")


def deep_ocean():
    """To 8000 dbar, where the quadrature of eos needs the most nodes."""
    values, settings = make("odd", nx=19, ny=15, nz=31)
    deeper = 8000 / values["p"].max()
    for name in ("p", "zt", "zw", "dzt", "dzw"):
        values[name] = values[name] * deeper
    return values, settings


@pytest.mark.kernels_that_read("p")
def test_deep_ocean(together, kernel, device):
    leave_formulas_to_the_first_build(together.miniapp, device)
    check(together, kernel, together.ocean("deep", deep_ocean), "-d", device)


def almost_uniform_ocean():
    """Gradients so small that slopes are gentle even where density does not increase downwards."""
    values, settings = make("odd", **FEWER["odd"])
    values["temp"] = values["temp"] * 1e-18
    values["salt"] = np.full_like(values["salt"], 35.0)
    return values, settings


@pytest.mark.kernels_that_read("iso_slopec")
def test_almost_uniform_ocean(together, kernel, device):
    leave_formulas_to_the_first_build(together.miniapp, device)
    ocean = together.ocean("almost uniform", almost_uniform_ocean)
    check(together, kernel, ocean, "-d", device)


def kernels_with_an_equation(miniapp):
    return [kernel.name for kernel in miniapp.kernels if kernel.reads("eq_of_state_type")]


@pytest.mark.parametrize("equation", OTHER_EQUATIONS)
@pytest.mark.parametrize("ocean_name, precision", [("odd", "float64"), ("masks", "float64"), ("odd", "float32")])
@pytest.mark.kernels_that_read("eq_of_state_type")
def test_equation_of_state(miniapp, together, kernel, device, equation, ocean_name, precision):
    if device == "cpu" and (ocean_name, precision) != ("odd", "float64") and not miniapp.is_sanitized:
        miniapp.skip_repeat("one ocean shows what another compiler makes")
    ocean = together.ocean(f"{ocean_name} {equation}",
                           lambda: make(ocean_name, **FEWER[ocean_name], eq_of_state_type=equation))
    check(together, kernel, ocean, "-d", device, of=kernels_with_an_equation(miniapp), precision=precision)


def part_of_the_stored_grid(path):
    """Some of its longitudes, with coasts: they have all of its depths, and warm and cold water."""
    with h5py.File(GRID) as file:
        settings = dict(file.attrs)
        nx = len(file["dxt"])
        values = {name: data[..., :nx // 10] if data.shape[-1] == nx else data[...] for name, data in file.items()}
    values["maskU"][..., -1] = 0  # nothing flows out of it
    return write(path, values, settings, halo=0, cyclic_x=0)


@pytest.mark.parametrize("equation", OTHER_EQUATIONS)
@pytest.mark.kernels_that_read("eq_of_state_type")
def test_equation_of_state_on_the_stored_grid(miniapp, together, kernel, equation):
    """Of which test_results.py takes all, with the equation 3 that it has itself."""
    if miniapp.is_sanitized or not miniapp.is_first:
        pytest.skip("other builds take smaller grids")
    reference = reference_of(kernel)
    path = together.once("part of the stored grid", part_of_the_stored_grid)
    out = together.output(path, "--set", f"eq_of_state_type={equation}", of=kernels_with_an_equation(miniapp))
    with h5py.File(path) as file:
        expected = files.compute(reference, file, eq_of_state_type=equation)
    for name, field in expected.items():
        largest = np.abs(field.values).max()
        most = reference.TOLERANCES[name]["float64"].atol_rel * largest
        assert np.abs(field_of(kernel, together.opened(out), name) - field.values).max() <= most, name


def settings_of_their_own():
    """Each setting at a value that no other has and that is no default."""
    values, settings = make("fine")
    return values, settings | {
        "iso_slopec": 2e-3, "iso_dslope": 7e-4, "K_iso_steep": 35.0, "AB_eps": 0.13,
        "alpha_tke": 30.0, "c_eps": 0.6, "K_h_tke": 1700.0, "dt_mom": 3000.0,
        "enable_superbee_advection": 1, "eke_lmin": 90.0, "eke_cross": 1.9, "eke_crhin": 1.1,
        "eke_c_k": 0.3, "eke_k_max": 1500.0, "enable_eke_isopycnal_diffusion": 1, "alpha_eke": 1.2,
        "eke_c_eps": 0.5, "t_ice": 18.0}


@pytest.mark.kernels_that_read("setting")
def test_settings_of_their_own(together, kernel, device):
    leave_formulas_to_the_first_build(together.miniapp, device)
    ocean = together.ocean("own settings", settings_of_their_own)
    check(together, kernel, ocean, "-d", device)


@pytest.mark.every_device
def test_float32(together, kernel, device):
    """Sanitizers look at fewer columns: without optimisation, each takes long."""
    name, columns = ("fewer", FEWER["odd"]) if together.miniapp.is_sanitized else ("odd", {})
    ocean = together.ocean(name, lambda: make("odd", **columns))
    check(together, kernel, ocean, "-d", device, precision="float32")


@pytest.mark.every_device
@pytest.mark.usefixtures("library")
def test_the_external_mode_is_float64_in_float32(together, device):
    """The means over depth, of a flow in float32, and the streamfunction, whose steps would else be rounded away."""
    ocean = together.ocean("odd", lambda: make("odd"))
    state = package.load(ocean.path, "momentum", device, "float32")
    state.run("momentum")
    height, inside = state["dzt"].astype("f8")[:, None, None], (slice(2, -2), slice(2, -2))
    wet = np.arange(len(height))[:, None, None] + 1 >= np.where(state["kbot"] > 0, state["kbot"], 99)
    for name, beside in (("u", -1), ("v", -2)):
        column = height * (wet & np.roll(wet, -1, beside))
        sums, heights = (column * state[f"{name}_taup1"]).sum(axis=0), column.sum(axis=0)
        mean = state[f"{name}_mean"]
        assert mean.dtype == "float64"
        np.testing.assert_allclose(mean[inside], (sums / np.maximum(heights, 1))[inside], rtol=1e-13, atol=1e-16)
    state = package.load(ocean.path, "streamfunction", device, "float32")
    state.run("streamfunction")
    weights = np.float64(np.float32(state.setting("AB_eps"))) + np.array([1.5, 0.5])
    step = weights[0] * state["dpsi_taup1"] - weights[1] * state["dpsi"]
    wanted = state["psi"] + state.setting("dt_mom") * step
    np.testing.assert_allclose(state["psi_taup1"][inside], wanted[inside], rtol=1e-13)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_nothing_shows_of_what_an_output_held(together, kernel, device, precision):
    """Nor of what its ghost cells did: in steps, that is the step before."""
    ocean = together.ocean("fine", lambda: make("fine"))
    state = package.load(ocean.path, kernel.name, device, precision)
    written, read_too = state.library.writes(kernel.name), set(state.library.reads(kernel.name))
    before = {name: state[name].copy() for name in written if name in read_too}
    state.run(kernel.name)
    clean = {name: state[name].copy() for name in written}
    for name in written:
        state.write(name)[...] = before.get(name, np.nan)
    state.run(kernel.name)
    for name in written:
        assert np.isfinite(state[name]).all(), name
        assert state[name].tobytes() == clean[name].tobytes(), name


def test_nan_stays_where_it_is_in_eos(miniapp, small, device, tmp_path):
    clean, spoilt = tmp_path / "clean.h5", tmp_path / "spoilt.h5"
    index = 2, 3, 4
    miniapp.passes(small, "-k", "eos", "-d", device, "--output", clean)
    change(small, "temp", index, np.nan)
    miniapp.passes(small, "-k", "eos", "-d", device, "--allow-nonfinite", "--output", spoilt)
    expected = read(clean, "dHdT")
    expected[index] = np.nan
    np.testing.assert_array_equal(read(spoilt, "dHdT"), expected)
