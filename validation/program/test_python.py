"""The package in python/: kernels as functions of arrays, states, steps, and what is refused."""

import ast
import copy
import gc
import inspect
import itertools
import os
import re
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import pytest

import miniapp as package
from miniapp import ghosts, library as libraries
from conftest import GRID, HERE, INPUT, PACKAGE, copied, read, read_of
from processes import completed

pytestmark = [pytest.mark.usefixtures("library"), pytest.mark.every_device, pytest.mark.unsanitized("it needs a sanitized Python")]

INTERIOR = slice(2, -2)
STEPS = 5
ACC = GRID.with_name("acc.h5")
ANY_FLOW = ("--allow-divergent", "--allow-invalid")  # the small ocean is invented


@pytest.fixture
def water():
    """salt, temp and p of a small ocean."""
    rng = np.random.default_rng(1)
    shape = (6, 9, 11)
    return rng.uniform(30, 38, shape), rng.uniform(0, 25, shape), np.linspace(5000, 5, 6)


def inside(field, values):
    """Without ghosts, as the files of an input without ghosts have it."""
    return values[tuple(INTERIOR if axis in "xy" else slice(None) for axis in field.axes)]


@pytest.mark.parametrize("cyclic, columns", [(True, [4, 5, 0, 1, 2, 3, 4, 5, 0, 1]),
                                             (False, [0, 0, 0, 1, 2, 3, 4, 5, 0, 0])])
def test_corners_on_the_southern_wall(cyclic, columns):
    """They are given, or 0; all other ghosts of psi are as those of any field."""
    psi, values = libraries.default().fields["psi"], np.full((3, 6), 7.0)
    assert [*ghosts.with_ghosts(psi, values, cyclic, np.arange(6))[1]] == columns
    assert not ghosts.with_ghosts(psi, values, cyclic)[1].any()
    for wall in (np.arange(5), "wall", np.full(6, np.nan), np.full(6, 1e13)):
        with pytest.raises(package.InputError, match="'southern_wall' of 'psi' must hold 6 numbers"):
            ghosts.with_ghosts(psi, values, cyclic, wall)


def read_from(state, kernel):
    """{argument: its field} of all that a kernel reads."""
    return {argument.name: state[argument.field.name] for argument in package.kernels()[kernel].reads()}


def run(code, **environment):
    """A Python of its own that has the package."""
    return completed([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})


# ---- kernels ----

def test_functions_make_what_the_program_makes(together, kernel, device, original):
    """Bit for bit, by the fields and the settings of a file."""
    output = together.output(original, "-d", device)
    described = package.kernels()[kernel.name]
    state = package.load(original, kernel.name)
    settings = {setting.name: state.setting(setting.name) for setting in described.settings}
    made = getattr(package, kernel.name)(*read_from(state, kernel.name).values(), device=device, **settings)
    written = [argument.field for argument in described.writes()]
    assert {field.name for field in written} == {dataset.name for dataset in kernel.outputs}
    for field, values in zip(written, made if len(written) > 1 else [made]):
        np.testing.assert_array_equal(inside(field, values), read_of(kernel.name, output, field.name))


def test_outputs_that_settings_leave_untouched(original, dataset):
    state = package.load(original, "isoneutral_mixing", enable_eddy_streamfunction=0)
    made = package.isoneutral_mixing(**read_from(state, "isoneutral_mixing"), dt_tracer=1)
    assert made.B1_gm is None and made.B2_gm is None and made.temp_taup1 is not None
    state.run("isoneutral_mixing")
    assert "B1_gm" not in state
    refused(package.UsageError, "field 'B1_gm' is read, but was never set", lambda: state["B1_gm"])
    assert set(dataset.ocean.isoneutral_mixing(enable_eddy_streamfunction=1)) - set(
        dataset.ocean.isoneutral_mixing()) == {"B1_gm", "B2_gm"}


def test_a_function_says_what_it_takes(kernel):
    function = getattr(package, kernel.name)
    assert function.__name__ in dir(package)
    parameters = inspect.signature(function).parameters
    for dataset in (*kernel.inputs, *kernel.outputs):
        assert f", {dataset.units}\n" in function.__doc__
    for name, parameter in parameters.items():
        assert f"\n{name} : " in function.__doc__ and parameter.annotation in (np.ndarray, str, int, float, bool)
    assert set(kernel.settings) < set(parameters)
    assert package.kernels()[kernel.name].citation in function.__doc__


@pytest.mark.parametrize("kernel_name, absent, stand_in, settings", [
    ("tke", "tke_taup1", None, {}), ("isoneutral_mixing", "temp_taup1", "temp", {"dt_tracer": 1})])
def test_optional_arguments_may_be_absent(kernel_name, absent, stand_in, settings, original):
    """As in a file: 0, or another argument takes its place."""
    function, state = getattr(package, kernel_name), package.load(original, kernel_name)
    given = read_from(state, kernel_name)
    given[absent] = given[stand_in] if stand_in else 0 * given[absent]
    expected = function(**given, **settings)
    without = {name: array for name, array in given.items() if name != absent}
    for made in (function(**without, **settings), function(**{**given, absent: None}, **settings)):
        for one, other in zip(made, expected):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("absent, complaint, settings", [
    ("t_star", "has t_rest but no t_star", {}), ("s_rest", "has s_star but no s_rest", {}),
    ("coriolis_t", "dataset 'coriolis_t' is missing, which enable_eke needs", {}),
    ("coriolis_t", "dataset 'coriolis_t' is missing, which enable_idemix needs", {"enable_eke": 0, "enable_idemix": 1}),
    ("coriolis_t", None, {"enable_eke": 0}), ("tke", None, {"enable_tke": 0})])
def test_half_a_pair_in_a_file(tmp_path, absent, complaint, settings):
    """As in the program."""
    path = tmp_path / "in.h5"
    with copied(ACC, path) as file:
        file["s_star"], file["s_rest"] = file["salt"][-1], file["t_rest"][...]
        del file[absent]
    if complaint:
        failure = refused(package.InputError, complaint, lambda: package.load(path, "ocean_step_forced", **settings))
        assert str(path) in str(failure)
    else:
        assert not package.load(path, "ocean_step_forced", **settings)[absent].any()


def test_half_a_pair_of_arguments(original):
    state = package.load(original, "surface_forcing")
    for name in ("t_rest", "s_star"):
        state[name] = np.full(state.shape(name), 1e-6)
    given = {name: values for name, values in read_from(state, "surface_forcing").items()
             if name not in ("t_star", "s_rest")}
    refused(TypeError, "surface_forcing: missing a required argument: 't_star'",
            lambda: package.surface_forcing(**given, s_rest=0 * given["s_star"]))
    refused(TypeError, "surface_forcing: missing a required argument: 's_rest'",
            lambda: package.surface_forcing(**given, t_star=0 * given["t_rest"], s_rest=None))


@pytest.mark.parametrize("sequence", ["ocean_step", "ocean_step_eke", "ocean_step_forced", "tracer_step"])
def test_levels_are_before_and_after_a_step(sequence):
    levels = package.library.default().levels(sequence)
    assert levels and all(before.endswith("_taum1") or after.endswith("_taup1") for before, after in levels)


@pytest.mark.parametrize("change", [
    lambda array: array.astype(">f8"), lambda array: array[::-1][::-1], lambda array: array.tolist(),
    lambda array: np.asfortranarray(array)], ids=["big-endian", "strides", "list", "Fortran"])
def test_any_layout(water, change):
    np.testing.assert_array_equal(package.eos(*map(change, water)), package.eos(*water))


def test_arguments_stay_what_they_are(water):
    before = [array.copy() for array in water]
    for array in water:
        array.flags.writeable = False
    package.eos(*water)
    for array, old in zip(water, before):
        np.testing.assert_array_equal(array, old)


def test_no_copy_where_the_layout_fits(water):
    assert all(package.state.as_double("any", array, array.shape, ()) is array for array in water)


# ---- states ----

def test_steps_are_those_of_the_program(miniapp, device, original, tmp_path):
    """Bit for bit, at once or one by one."""
    output = tmp_path / "end.h5"
    miniapp.passes(original, "--steps", STEPS, "-k", "ocean_step", "-d", device, "-o", output, *ANY_FLOW, quick=False)
    at_once, one_by_one = (package.load(original, "ocean_step", device, check=False) for _ in range(2))
    at_once.step(STEPS)
    for _ in range(STEPS):
        one_by_one.step()
    for name in ("temp", "salt", "tke"):
        for state in (at_once, one_by_one):
            np.testing.assert_array_equal(inside(state.field(name), state[name]), read(output, name))


def test_steps_of_tracers_are_those_of_the_program(miniapp, device, original, tmp_path):
    """Read with the others, or set by hand; another state's own field may have the name, too."""
    output = tmp_path / "end.h5"
    miniapp.passes(original, "--steps", STEPS, "-k", "ocean_step", "-d", device, "-o", output, "--tracer",
                   "dye=temp,age=salt", *ANY_FLOW, quick=False)
    states = [package.load(original, "ocean_step", device, check=False) for _ in range(2)]
    for state in states:
        for name, like in (("dye", "temp"), ("age", "salt")):
            state.add(name, "tracer")
            state[name] = state[like]
        state.step(STEPS, tracers=["dye", "age"])
        for name in ("temp", "dye", "age"):
            np.testing.assert_array_equal(inside(state.field(name), state[name]), read(output, name))
    refused(package.UsageError, "there is a field 'dye' already", lambda: states[0].add("dye", "temp"))
    refused(package.UsageError, "there is a field 'dye' already",
            lambda: package.State((6, 9, 11), device).add("dye", "kbot"))


def changed(path, change):
    """The stored acc after a change, which gets the open file."""
    with copied(ACC, path) as file:
        change(file)
    return path


def test_steps_in_a_flow_without_w_are_those_of_the_program(miniapp, device, tmp_path):
    """Both make it by continuity from u and v."""
    path, output = changed(tmp_path / "in.h5", lambda file: file.pop("w")), tmp_path / "end.h5"
    miniapp.passes(path, "--steps", STEPS, "-k", "ocean_step", "-d", device, "-o", output, quick=False)
    state = package.load(path, "ocean_step", device)
    state.step(STEPS)
    for name in ("temp", "salt", "tke"):
        both = [inside(state.field(name), values) for values in (state[name], read(output, name))]
        np.testing.assert_array_equal(*both)
    assert not package.load(path, "tracer_advection", device)["w"].any()  # as in the program


@pytest.mark.parametrize("sequence, given", [
    ("ocean", {}), ("ocean", {"dt_mom": 600, "enable_hor_friction": 0}), ("ocean", {"enable_bottom_friction": 0}),
    ("ocean_step", {}), ("ocean_step", {"dt_mom": 600})])
def test_settings_by_the_spacing_are_those_of_the_program(miniapp, device, tmp_path, sequence, given):
    path, output = tmp_path / "in.h5", tmp_path / "end.h5"
    with copied(ACC, path) as file:
        for name in ("dt_mom", "dt_tracer", "A_h", "r_bot"):
            del file.attrs[name]
    words = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    miniapp.passes(path, "--steps", 2, "-k", sequence, "-d", device, "-o", output, *words, quick=False)
    state = package.load(path, sequence, device, **given)
    state.step(2, sequence)
    for name in ("temp", "tke", *(["u"] if sequence == "ocean" else [])):
        both = [inside(state.field(name), values) for values in (state[name], read(output, name))]
        np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("locking", [None, False, True, "best-effort"])
def test_loading_what_is_open_here(device, locking):
    """HDF5 has each file once in a process, and all who open it there want the same locks."""
    with h5py.File(GRID, "r", locking=locking) as file:
        assert np.array_equal(package.load(GRID, "eos", device)["temp"][:, 2:-2, 2:-2], file["temp"])


def test_the_flow_is_measured_as_by_the_program(miniapp, device):
    flow = miniapp.json("--steps", 1, "-d", device, GRID, quick=False)["results"][0]["steps"]["flow"]
    state = package.load(GRID, "ocean_step", device)
    assert state.flow()._asdict() == flow
    refused(package.UsageError, "'eos' takes no flow", lambda: state.flow("eos"))


def test_the_flow_of_a_state_without_a_streamfunction(device):
    """It is measured, and compared with nothing."""
    loaded = package.load(GRID, "ocean_step", device)
    state = package.State(loaded["u"].shape, device, cyclic_x=True, dt_tracer=loaded.setting("dt_tracer"))
    for name in ("u", "v", "w", "maskT", "dxt", "dyt", "cost", "cosu", "dzt"):
        state[name] = loaded[name]
    assert state.flow("ocean") == loaded.flow()


def test_a_flow_that_diverges(device):
    state = package.load(ACC, "ocean_step", device)
    state["w"] = -state["w"]
    refused(package.InputError, r"^the flow is not free of divergence: in a step of 43200 s, cell \[0, \d+, \d+\] "
            r"gains or loses \S+ of its volume.*\(check=False accepts it\)$", state.step)
    trusting = package.load(ACC, "ocean_step", device, check=False)
    trusting["w"] = state["w"]
    trusting.step()


def test_water_beyond_a_closed_side():
    state = package.load(ACC, "ocean_step")
    mask = state["maskT"]
    mask[:, 1] = mask[:, 2]
    state["maskT"] = mask
    refused(package.InputError, r"^the ghost beside cell \[0, 2, \d+\] is water, .*\(check=False accepts it\)$",
            state.step)


def test_settings_of_a_file_that_a_sequence_does_not_use(miniapp, tmp_path):
    """They count as they do for the program: with eddies, a file lacks coriolis_t where it has none."""
    def without_coriolis(file):
        file.attrs["enable_eke"] = 1
        del file["coriolis_t"]
    path = changed(tmp_path / "in.h5", without_coriolis)
    said = miniapp.fails(INPUT, "dataset 'coriolis_t' is missing, which enable_eke needs", path, "-k", "momentum")
    refused(package.InputError, f"^{re.escape(said.removeprefix('miniapp: ').strip())}$",
            lambda: package.load(path, "momentum"))
    assert package.load(path, "momentum", enable_eke=0).setting("enable_eke") == 0
    assert package.load(ACC, "eos").setting("enable_eke") == 1


def test_a_setting_of_a_file_that_is_out_of_range(tmp_path):
    path = changed(tmp_path / "in.h5", lambda file: file.attrs.update(dt_tracer=-1.0))
    refused(package.InputError, rf"^{path}: setting 'dt_tracer' is -1, ", lambda: package.load(path, "ocean_step"))
    assert package.load(path, "ocean_step", dt_tracer=7).setting("dt_tracer") == 7
    assert package.load(path, "eos").setting("dt_tracer") == package.library.default().settings["dt_tracer"].default
    refused(package.UsageError, "precision: takes", lambda: package.load(ACC, "ocean_step", precision="x"))


def test_steps_start_anew_from_what_is_set(device, original):
    """As a state that never made other steps."""
    first, second = (package.load(original, "ocean_step", device, check=False) for _ in range(2))
    names = first.library.carries("ocean_step")
    start = {name: first[name] for name in names}
    first.step(2)
    for name in names:
        first[name] = start[name]
    for state in (first, second):
        state.step()
    np.testing.assert_array_equal(first["temp"], second["temp"])


def test_steps_start_anew_from_what_takes_a_place(device, original):
    """Where a field that is carried on changes places with another, as where it is set."""
    by_setting, by_rotating = (package.load(original, "ocean_step", device, check=False) for _ in range(2))
    colder = 0.9 * by_setting["temp"]
    for state in (by_setting, by_rotating):
        state.step()
    by_setting["temp"] = colder
    by_rotating.add("colder", like="temp")
    by_rotating["colder"] = colder
    by_rotating.rotate("temp", "colder")
    for state in (by_setting, by_rotating):
        state.step()
    np.testing.assert_array_equal(by_setting["temp"], by_rotating["temp"])


def test_sums(device):
    """One field after the other; nothing is added where the shapes differ."""
    with package.State((3, 7, 8), device, check=False) as state:
        state.add("sum", like="temp")
        for name, value in (("sum", -1e17), ("temp", 1e17), ("salt", 3.0)):
            state[name] = np.full((3, 7, 8), value)
        state.add_up("sum", "temp", "salt")
        state.add_up("sum", "salt")
        np.testing.assert_array_equal(state["sum"], np.full((3, 7, 8), 6.0))
        state["zt"] = np.ones(3)
        with pytest.raises(package.UsageError, match="'zt' cannot be added to 'sum'"):
            state.add_up("sum", "zt")
        np.testing.assert_array_equal(state["sum"], np.full((3, 7, 8), 6.0))


def test_a_state(water, device):
    with package.State(water[0].shape, device, "float32", dt_tracer=7) as state:
        for name, array in zip(("salt", "temp", "p"), water):
            assert name not in state
            state[name] = array
        state.run("eos")
        assert set(state) == {"salt", "temp", "p", "dHdT"}
        assert state["dHdT"].dtype == "float32" and state.setting("dt_tracer") == 7
        assert state.bytes >= 4 * 3 * water[0].size
        np.testing.assert_allclose(state["dHdT"], package.eos(*water), rtol=1e-5, atol=1e-6)
        kept = state.read("temp")
    np.testing.assert_array_equal(kept, water[1].astype("float32"))  # which keeps the memory
    with pytest.raises(package.Error, match="built without MPI|was not started"):
        state.share(2, 1)
    with pytest.raises(package.UsageError, match="the state is closed"):
        state.run("eos")


# ---- Datasets ----

@pytest.fixture(scope="module")
def grid():
    """The stored grid as a Dataset."""
    xarray = pytest.importorskip("xarray")
    import miniapp.xarray  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    with h5py.File(GRID) as file:
        axes = {name: tuple(str(scale.keys()[0]) for scale in data.dims) if data.dims[0].keys() else (name,)
                for name, data in file.items()}
        values = {name: data[...] for name, data in file.items()}
        for one in values.values():
            one.flags.writeable = False
        return xarray.Dataset({name: (axes[name], one) for name, one in values.items()}, attrs=dict(file.attrs))


@pytest.fixture
def dataset(grid):
    """One whose attributes a test may change; all tests share its values."""
    return grid.copy()


@pytest.mark.parametrize("name", ["density", "eos", "isoneutral_mixing"])
def test_datasets(together, dataset, name):
    output = together.output(GRID)
    made = getattr(dataset.ocean, name)()
    for key, values in {made.name: made}.items() if name == "eos" else made.items():
        assert values.dims == ("z", "y", "x") and values.attrs["units"] == package.fields()[key].units
        np.testing.assert_array_equal(values, read_of(name, output, key))


def test_no_slip_in_a_dataset(dataset):
    """Reads the cosine of the southern wall's latitude, which the program's reader and that of Datasets make alike."""
    settings = {"enable_noslip_lateral": 1, "A_hbi": 1e14}
    made = dataset.ocean.flow_laplacian(**settings).del2_u
    with package.load(GRID, "flow_laplacian", **settings) as state:
        state.run("flow_laplacian")
        np.testing.assert_array_equal(made, inside(package.fields()["del2_u"], state["del2_u"]))
        state["cosu"] = np.pad(dataset.cosu.values, 2, mode="edge")
        state.run("flow_laplacian")
        assert (made[:, 0] != state["del2_u"][:, 2, 2:-2]).any()


def test_cosines_of_faces_alone(dataset, monkeypatch):
    """A site's kernel may read no others; here the rest of what it reads is then missing."""
    monkeypatch.setattr(libraries.Library, "reads", lambda *_: ["cosu"])
    with pytest.raises(package.UsageError, match="is read, but was never set"):
        ghosts.run(libraries.default(), "", "flow_laplacian", {"cosu": dataset.cosu.values}, 0, True)


@pytest.mark.parametrize("name, units, most", [("surface_pressure", "m2 s-2", 1e4), ("streamfunction", "m3 s-1", 1e12)])
def test_the_unit_of_the_external_mode(miniapp, dataset, name, units, most):
    """And the range, in the list of the program, too."""
    result = getattr(dataset.ocean, name)()
    assert getattr(result, "psi_taup1", result).attrs["units"] == units
    field, = (each.field for each in package.kernels()[name].writes() if each.field.name == "psi_taup1")
    assert (field.units, field.least, field.most) == (units, -most, most)
    listed = re.search(rf"^{name}: .*?^  writes  psi_taup1 (.*?)$", miniapp.passes("--list-kernels"), re.M | re.S)[1]
    assert units in listed and listed.endswith(f", from {-most:g} to {most:g} (optional)")


def test_a_dataset_of_somebody_else(dataset):
    """Other names, levels from the surface down, missing values on land."""
    there = dataset.maskT == 1
    theirs = dataset[["p"]].assign(thetao=dataset.temp.where(there), so=dataset.salt.where(there))
    theirs = theirs.assign_coords(z=("z", -dataset.zt.values, {"positive": "down"})).isel(z=slice(None, None, -1))
    theirs.thetao.attrs["standard_name"] = package.fields()["temp"].standard_name
    theirs.so.attrs["standard_name"] = package.fields()["salt"].standard_name
    made, wanted = theirs.ocean.eos(), dataset.ocean.eos()
    np.testing.assert_array_equal(made.isel(z=slice(None, None, -1)).values, wanted.where(there).values)


def test_dimensions_in_any_order(dataset):
    """Each variable may have its own: the result is labelled as the reader takes it, and missing where salt is."""
    ocean = dataset[["salt", "temp", "p"]].isel(y=slice(14), x=slice(14), z=slice(14))
    ocean["salt"] = ocean.salt.where(ocean.temp[-1] < ocean.temp[-1].mean())
    wanted = ocean.ocean.eos()
    assert wanted.isnull().any() and not wanted.isnull().all()
    orders = list(itertools.permutations("xyz"))
    for of_salt, of_temp in [*zip(orders, orders), *zip(orders, orders[::-1])]:
        mixed = ocean.assign(salt=ocean.salt.transpose(*of_salt), temp=ocean.temp.transpose(*of_temp))
        made = mixed.expand_dims("time").ocean.eos()
        assert made.dims == ("z", "y", "x")
        np.testing.assert_array_equal(made, wanted)


@pytest.fixture
def warm():
    """Temperature and salinity on depths, and their expansion."""
    xarray = pytest.importorskip("xarray")
    temp = np.full((4, 6, 7), 10.0) + np.arange(4)[::-1, None, None]
    made = xarray.Dataset(
        {"temp": (("depth", "lat", "lon"), temp, {"units": "degC"}),
         "salt": (("depth", "lat", "lon"), np.full(temp.shape, 35.0), {"units": "g kg-1"})},
        {"depth": ("depth", [5.0, 20, 50, 110], {"units": "m", "positive": "down"}),
         "lat": ("lat", np.arange(6.0)), "lon": ("lon", np.arange(7.0))}, {"halo": 0})
    return made, made.ocean.expansion(eq_of_state_type=5)


@pytest.mark.parametrize("change", [
    lambda d: d.expand_dims("time"), lambda d: d.expand_dims(member=[1]), lambda d: d.expand_dims("time", 3),
    lambda d: d.assign_coords(place=((), 1.0, {"axis": "X"}), area=(("lat", "lon"), np.ones((6, 7)), {"axis": "Z"})),
    lambda d: d.astype("f2", keep_attrs=True), lambda d: d.astype("f16", keep_attrs=True),
    lambda d: d.assign(temp=d.temp.assign_attrs(units=None)), lambda d: d.assign_attrs(ok=True, big=2 ** 70),
    lambda d: d.assign_coords(lat=d.lat.assign_attrs(regular=True, note=None, crs={"a": 1})),
    lambda d: d.assign_coords(depth=("depth", -d.depth.values, {"units": "m", "positive": "up"})),
    lambda d: d.assign(temp=(d.temp + 273.15).assign_attrs(units="K"))])
def test_what_else_a_dataset_may_have(warm, change):
    """Axes of length 1, types and attributes that netCDF cannot hold, other units."""
    data, wanted = warm
    found = change(data).ocean.expansion(eq_of_state_type=5)
    assert found.drhodT.shape == wanted.drhodT.shape
    np.testing.assert_allclose(found.drhodT, wanted.drhodT, rtol=1e-12)
    np.testing.assert_allclose(data.transpose("lon", "lat", "depth").ocean.expansion(eq_of_state_type=5).drhodT,
                               wanted.drhodT.transpose("depth", "lat", "lon"))


def test_packed_numbers_are_unpacked(warm):
    """Of a Dataset that was opened without decoding, fill values, too."""
    data, wanted = warm
    packed = data.assign(temp=(data.temp.dims, (2 * (data.temp.values - 10)).astype("i2"), {
        "units": "degC", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": np.int16(-5)}))
    np.testing.assert_array_equal(packed.ocean.expansion(eq_of_state_type=5).drhodT, wanted.drhodT)
    packed.temp.values[:, 0, 0] = -5
    found = packed.assign(maskT=(data.temp.dims, packed.temp.values != -5)).ocean.expansion(eq_of_state_type=5)
    np.testing.assert_array_equal(found.drhodT[:, 1:], wanted.drhodT[:, 1:])
    assert (found.drhodT[:, 0, 0] != wanted.drhodT[:, 0, 0]).all()  # where it is 0 degC, land


def test_a_dataset_needs_no_engine(library):
    """Nor anything else that reads files."""
    done = run("import sys, xarray, numpy\nfor name in ('netCDF4', 'h5netcdf', 'h5py', 'cftime', 'gsw', 'scipy'):\n"
               " sys.modules[name] = None\nimport miniapp.xarray\n"
               "one = xarray.DataArray(numpy.full((2, 6, 6), 10.0), dims=('z', 'y', 'x'))\n"
               "data = xarray.Dataset({'temp': one, 'salt': one, 'p': ('z', [5.0, 1.0])}, attrs={'halo': 0})\n"
               "print(data.ocean.eos().shape)", MINIAPP_LIBRARY=str(library))
    assert done.stdout == "(2, 6, 6)\n", done


@pytest.mark.parametrize("name", ["xarray", "veros"])
def test_a_package_that_is_missing(library, name):
    done = run(f"import sys\nsys.modules[{name!r}] = None\nimport miniapp.{name}", MINIAPP_LIBRARY=str(library))
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: miniapp.{name} needs ")
    assert f": pip install {name}" in done.stderr and done.stderr.count("Traceback") == 1


def test_lazy_arrays_are_computed_once(warm):
    dask = pytest.importorskip("dask.array")
    data, wanted = warm
    calls = []
    lazy = dask.from_array(data.temp.values, chunks=-1).map_blocks(lambda block: calls.append(1) or block,
                                                                   meta=data.temp.values)
    made = data.assign(temp=(data.temp.dims, lazy, data.temp.attrs)).ocean.expansion(eq_of_state_type=5)
    np.testing.assert_array_equal(made.drhodT, wanted.drhodT)
    assert len(calls) == 1


def test_a_snapshot_of_veros():
    """Whose beta is in 1/(ms), and whose masks follow from what is missing."""
    xarray = pytest.importorskip("xarray")
    snapshot = xarray.open_dataset(HERE / "physics/veros" / "run.snapshot.nc").isel(Time=-1)
    assert float(snapshot.ocean.tracer_mixing().mean()) > 0
    assert snapshot.ocean.density(eq_of_state_type=5).rho.isnull().any()
    refused(package.InputError, "^the Dataset: 'cost' is missing, which isoneutral_skew reads: cosine of latitude",
            snapshot.ocean.isoneutral_skew)
    refused(package.InputError, r"beta\[.*\] is missing", snapshot.ocean.eke_diffusivities)


def test_datasets_that_are_refused(dataset):
    refused(package.InputError, "the Dataset: .*'dzw'", lambda: dataset.drop_vars("dzw").ocean.density())
    refused(AttributeError, "no attribute 'eso'", lambda: dataset.ocean.eso)
    refused(package.InputError, "the Dataset: 'temp' has 2 records along 'time', expected one: .isel",
            lambda: dataset.assign(temp=dataset.temp.expand_dims(time=2)).ocean.eos())
    refused(package.InputError, "the Dataset: 'temp' is in 'furlong', expected degC",
            lambda: dataset.assign(temp=dataset.temp.assign_attrs(units="furlong")).ocean.eos())
    refused(package.InputError, r"the Dataset: salt is 70 in a wet cell, expected 0 to 50",
            lambda: dataset.assign(salt=2 * dataset.salt.copy(data=dataset.salt * 0 + 35)).ocean.eos())
    refused(package.InputError, "the Dataset: 't_star' is missing, which surface_forcing reads",
            lambda: dataset.drop_vars("t_star").ocean.surface_forcing())
    refused(package.InputError, r"the Dataset: attribute halo is '1'", lambda: dataset.assign_attrs(halo=1).ocean.eos())
    refused(package.InputError, "the Dataset: cannot be decoded: ", lambda: dataset.assign(
        temp=dataset.temp.assign_attrs(scale_factor="much")).ocean.eos())
    dataset.temp.attrs["standard_name"] = dataset.salt.attrs["standard_name"] = (package.fields()["temp"].standard_name)
    refused(package.UsageError, "temp: salt and theta have its standard name",
            lambda: dataset.rename(temp="theta").ocean.eos())


# ---- threads ----

def test_threads_have_states_of_their_own(water, device):
    wanted = package.eos(*water, device=device)
    with ThreadPoolExecutor(4) as pool:
        for made in pool.map(lambda _: package.eos(*water, device=device), range(40)):
            np.testing.assert_array_equal(made, wanted)


FORKING = """
import os, threading
import numpy as np
import miniapp

def work(temp):
    return float(miniapp.eos(np.full((4, 20, 20), 35.0), np.full((4, 20, 20), temp), np.linspace(400, 5, 4)).mean())

def in_child(call):
    child = os.fork()
    if child == 0:
        try:
            call()
        except miniapp.Error as error:
            print(type(error).__name__, error, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

miniapp.set_threads(2)
work(10.0)
in_child(lambda: print(work(11.0) == work(11.0), flush=True))
state = miniapp.State((4, 20, 20))
inside, over = threading.Event(), threading.Event()

def stay_inside():
    with state.lock:
        inside.set()
        over.wait()

thread = threading.Thread(target=stay_inside)
thread.start()
inside.wait()
in_child(lambda: state.has("temp"))
over.set()
thread.join()
print(state.has("temp"))
in_child(lambda: print(state.has("temp"), flush=True))
"""


def test_forked_children_go_on():
    """Neither the runtime's threads nor those that hold a lock are in a child: it must not wait for them."""
    done = run(FORKING)
    assert done.stdout.splitlines() == [
        "True", "UsageError the process was forked while another thread was in a call on this state: "
        "make another state here", "False", "False"], done


def test_more_threads_than_the_system_starts():
    """The runtime would end the interpreter."""
    done = run("import resource, miniapp\n"
               "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
               "try: miniapp.set_threads(8)\nexcept miniapp.DeviceError as error: print(error)\n"
               "miniapp.set_threads(1)", OMP_STACKSIZE="2G", OPENBLAS_NUM_THREADS="1")
    assert done.returncode == 0 and done.stdout.startswith("8 threads with stacks of 2147 MB cannot be started"), done


def test_threads_share_a_state(water, device):
    wanted = package.eos(*water)
    state = package.State(water[0].shape, device)

    def use(turn):
        for name, array in zip(("salt", "temp", "p"), water):
            state[name] = array
        state.run("eos")
        state.add(f"dye{turn}", "temp")
        return state["dHdT"]
    with ThreadPoolExecutor(4) as pool:
        for made in pool.map(use, range(40)):
            np.testing.assert_allclose(made, wanted, rtol=1e-12)


def test_failures_are_those_of_the_thread(water):
    """Each message is that of the call that failed."""
    def fail(turn):
        with pytest.raises(package.UsageError) as refused:
            package.State(water[0].shape).run(f"none{turn}")
        return f"'none{turn}'" in str(refused.value)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fail, range(40)))


# ---- refusals ----

def refused(kind, pattern, use):
    with pytest.raises(kind, match=pattern) as failure:
        use()
    assert "\n" not in str(failure.value)
    return failure.value


@pytest.mark.parametrize("kind, pattern, change", [
    (TypeError, "eos: missing a required argument: 'p'", {"p": None}),
    (TypeError, "eos: got an unexpected keyword argument 'speed'", {"speed": 1}),
    (package.UsageError, r"temp: the shape is \(6, 9\), not one of \(z, y, x\)",
     {"temp": np.ones((6, 9))}),
    (package.UsageError, r"p: the shape is \(5,\), not \(6,\) of \(z\)", {"p": np.ones(5)}),
    (package.UsageError, "salt: takes numbers, not complex128", {"salt": 1j}),
    (package.UsageError, "salt: takes numbers, not <U4", {"salt": "salt"}),
    (package.UsageError, "salt: is no array: ", {"salt": [[1], [2, 3]]}),
    (package.UsageError, r"salt: has masked values; .* \.filled\(0\)",
     {"salt": np.ma.masked_less(np.zeros((6, 9, 11)), 1)}),
    (package.InputError, r"p\[0\] is nan", {"p": np.full(6, np.nan)}),
    (package.InputError, r"p\[5\] is inf", {"p": np.array([1, 2, 3, 4, 5, np.inf])}),
    (package.InputError, "'p' holds 1e[+]300, which float32 cannot",
     {"p": np.full(6, 1e300), "precision": "float32"}),
    (package.UsageError, "precision: takes float64 or float32, not 'half'", {"precision": "half"}),
    (package.UsageError, "unknown device 'tpu'", {"device": "tpu"}),
    (package.DeviceError, "device 'gpu:7' cannot be used", {"device": "gpu:7"}),
])
def test_arguments_that_are_refused(water, kind, pattern, change):
    given = {**dict(zip(("salt", "temp", "p"), water)), **change}
    refused(kind, pattern, lambda: package.eos(**{name: value for name, value in given.items() if value is not None}))


@pytest.mark.parametrize("kind, pattern, use", [
    (package.UsageError, r"grid: takes \(nz, ny, nx\)", lambda state: package.State((6, 9))),
    (package.UsageError, "a grid cannot have 4 x 9 x 2 points", lambda state: package.State((2, 9, 4))),
    (package.UsageError, "unknown setting 'dt'; the closest", lambda state: package.State((2, 9, 9), dt=1)),
    (package.UsageError, "dt_mom: takes a number, not 'x'", lambda state: state.set_setting("dt_mom", "x")),
    (package.UsageError, "dt_mom: takes a number that float64 holds",
     lambda state: package.State((2, 9, 9), dt_mom=10 ** 400)),
    (package.UsageError, "unknown setting 'dt'", lambda state: state.setting("dt")),
    (TypeError, "a State cannot be copied or pickled", copy.copy),
    (TypeError, "a State cannot be copied or pickled", copy.deepcopy),
    (TypeError, "a State cannot be copied or pickled", pickle.dumps),
    (package.UsageError, r"\[\] is no name", lambda state: state.setting([])),
    (package.UsageError, "unknown field 'tmep'; the closest is 'temp'", lambda state: state["tmep"]),
    (package.UsageError, r"'temp\\x00' is no name", lambda state: state["temp\0"]),
    (package.UsageError, "7 is no name", lambda state: state.run(7)),
    (package.UsageError, r"\[\] is no name", lambda state: state[[]]),
    (package.UsageError, "'temp' is read, but was never set", lambda state: state["temp"]),
    (package.InputError, r"kbot\[0, 0\] is 7, not a number of at most 6",
     lambda state: state.set("kbot", np.full((9, 11), 7))),
    (package.UsageError, "'eos' is no step in time", lambda state: state.step(1, "eos")),
    (package.UsageError, "'maskT' is read, but was never set", lambda state: state.step()),
    (TypeError, "cannot be interpreted as an integer", lambda state: state.step(1.5)),
    (package.UsageError, "step: takes a number of steps, not -1", lambda state: state.step(-1)),
    (package.UsageError, "step: takes names, not 'ocean_step' and None", lambda state: state.step(tracers=None)),
    (package.UsageError, r"step: takes names, not 'ocean_step' and \[1\]", lambda state: state.step(tracers=[1])),
    (package.UsageError, "step: takes names, not 7", lambda state: state.step(1, 7)),
    *((package.UsageError, "set_threads: takes a number from 0 to 4096, not ",
       lambda state, threads=threads: package.set_threads(threads)) for threads in (-5, 2 ** 32 + 1, "x", 1.5)),
    *((package.UsageError, "share: takes a number from 1 to 32768, not ",
       lambda state, blocks=blocks: state.share(1, blocks)) for blocks in (0, 2 ** 32 + 1, "2", 1.5)),
    (package.UsageError, r"grid: takes .*, not array\(\[\[0., 0.\], +\[0., 0.\]\]\)$",
     lambda state: package.State(np.zeros((2, 2)))),
    (package.InputError, "nothing.h5: ", lambda state: package.load("nothing.h5", "eos")),
    (package.UsageError, "is no name of a file", lambda state: package.load(f"{GRID}\0.none", "eos")),
    (package.UsageError, "is no name of a file", lambda state: package.load("\ud800", "eos")),
])
def test_calls_that_are_refused(kind, pattern, use):
    refused(kind, pattern, lambda: use(package.State((6, 9, 11))))


def test_a_warning():
    code = "import miniapp; print(miniapp.State((2, 9, 9), 'auto').device)"
    done = run(code, MINIAPP_LIBRARY=os.environ["MINIAPP_LIBRARY"])
    assert done.returncode == 0, done
    assert ("RuntimeWarning: device 'auto' is the cpu" in done.stderr) == (done.stdout == "cpu\n")


def test_a_warning_of_an_ocean_without_water(original, tmp_path):
    path = tmp_path / "land.h5"
    with copied(original, path) as file:
        for name in ("maskT", "maskU", "maskV", "maskW", "kbot"):
            file[name][...] = 0
    with pytest.warns(RuntimeWarning, match=r"land\.h5: all of the ocean is land$"):
        package.load(path, "tke")


@pytest.mark.parametrize("use", [
    lambda: package.State((2, 9, 9)), lambda: package.library.default().check_device("cpu")])
def test_a_warning_that_is_an_exception_leaves_no_device_open(monkeypatch, use):
    gc.collect()  # of other tests
    c, closed = package.library.default().c, []
    close = c.device_close
    monkeypatch.setattr(c, "device_close", lambda device: closed.append(bool(device)) or close(device))
    package.library.heard.lines = ["made up"]  # as if the next call warned
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(RuntimeWarning, "made up", use)
    gc.collect()
    assert closed == [True]


def test_without_a_library(tmp_path):
    """The package can be imported; what needs the library says what is missing."""
    code = ("import miniapp\ntry:\n    miniapp.eos\nexcept miniapp.LibraryError as error:\n"
            "    print(type(error).__mro__[2].__name__, error)")
    done = run(code, MINIAPP_LIBRARY=str(tmp_path / "none.so"))
    assert done.returncode == 0 and done.stdout.startswith("ImportError "), done
    assert "none.so" in done.stdout and done.stdout.count("\n") == 1


def test_a_library_that_is_older(monkeypatch):
    """There, a field is needed by the same setting at each place."""
    made = package.library.Library(package.library.default().path)
    monkeypatch.setattr(made.c, "field_needed_by", lambda field, place: b"enable_eke")
    refused(package.LibraryError, "is a libminiapp.so of another version than this package", lambda: made.fields)


FUZZ = """
import random, sys
import numpy as np
import miniapp
rng = random.Random(int(sys.argv[-1]) if len(sys.argv) > 1 else 1)
SHAPES = [(), (0,), (1,), (6,), (9,), (11,), (9, 11), (6, 9, 11), (11, 9, 6), (2, 2, 6, 9, 11), (5, 5, 5)]
def anything():
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice([None, "temp", -1, 1e300, float("nan"), object(), {}, [], b"x", 2 ** 70])
    array = np.full(rng.choice(SHAPES[kind // 7:]), rng.choice([0, 1, -1, 1e-300, 1e30, 2 ** 31, np.nan]))
    dtype = rng.choice(["f8", "f4", "f2", "i1", "u8", "c16", "?", "M8[s]", "O", "U3", ">f8"])
    with np.errstate(all="ignore"):
        return array if kind < 5 else array.astype(dtype) if kind < 7 else array.T[::-1]
refused = 0
for _ in range(600):
    name = rng.choice(list(miniapp.kernels()))
    kernel = miniapp.kernels()[name]
    shape = dict(z=6, y=9, x=11, ip=2, jp=2, kr=2)
    given = [np.ones([shape[axis] for axis in argument.field.axes]) * rng.choice([0, 1, 3])
             for argument in kernel.reads()]
    for place in range(len(given)):
        if rng.random() < 1 / len(given):
            given[place] = anything()
    try:
        getattr(miniapp, name)(*given)
    except (miniapp.Error, TypeError) as error:
        assert "\\n" not in str(error), error
        refused += 1
assert 50 < refused < 600, refused
"""


def test_nothing_crashes():
    """Arguments at random: an exception of one line, or a result."""
    done = run("import warnings; warnings.simplefilter('ignore')\n" + FUZZ,
               MINIAPP_LIBRARY=os.environ["MINIAPP_LIBRARY"])
    assert done.returncode == 0, done.stderr


# ---- its sources ----

@pytest.mark.parametrize("path", sorted(PACKAGE.glob("miniapp/*.py")), ids=lambda path: path.name)
def test_sources_name_no_kernel(path):
    """Kernels, fields and settings come from the library's tables; but the plug-in, miniapp.veros, has to know
    which of Veros's routines each stands for, and the importer what fields such as tke and eke are."""
    names = {node.value for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not names & set(package.kernels()), path


# ---- what is no ocean's ----

@pytest.mark.parametrize("name, change, complaint", [
    ("temp", lambda values: values + 273.15, r"temp\[0, 0, 0\] is 2\d\d\.\d+, but must be from -20 to 80 degC"),
    ("salt", lambda values: -values - 1, r"salt\[0, 0, 0\] is -\d+\.?\d*, but must be from 0 to 50 g kg-1"),
    ("p", lambda values: values * 1e4 + 1e6, r"p\[0\] is [\d.e+]+, but must be from 0 to 12000 dbar")])
def test_values_out_of_range(device, name, change, complaint):
    """Kelvin, a wrong sign, and Pascal; functions and states refuse them, unless they are told not to."""
    ocean = {"salt": np.full((4, 6, 7), 35.0), "temp": np.full((4, 6, 7), 10.0), "p": np.linspace(4000, 5, 4)}
    ocean[name] = change(ocean[name])
    refused(package.InputError, complaint, lambda: package.eos(*ocean.values(), device=device))
    assert package.eos(*ocean.values(), device=device, check=False).shape == (4, 6, 7)
    state = package.State((4, 6, 7), device)
    for field, values in ocean.items():
        if field == "p" and name == "p":
            refused(package.InputError, complaint, lambda: state.set("p", ocean["p"]))
        else:
            state[field] = values
    refused(package.InputError, complaint, lambda: state.run("eos"))


def test_land_may_hold_anything_where_a_mask_is_set(device):
    state = package.State((4, 6, 7), device)
    mask = np.ones((4, 6, 7))
    mask[0, 1, 2] = 0
    state["maskT"], temp = mask, np.where(mask, 10, -999.0)
    state["temp"] = temp
    temp[2, 3, 4] = 300
    refused(package.InputError, r"temp\[2, 3, 4\] is 300, but must be", lambda: state.set("temp", temp))
    state.write("temp")[...] = temp
    state["salt"], state["p"] = np.full((4, 6, 7), 35), np.zeros(4)
    refused(package.InputError, r"temp\[2, 3, 4\] is 300, but must be", lambda: state.run("eos"))
    with package.State((4, 6, 7), device, check=False) as trusting:
        trusting["maskT"], trusting["temp"] = mask, temp


def test_land_below_the_level_of_kbot(device):
    state = package.State((4, 6, 7), device)
    mxl = np.ones((4, 6, 7))
    mxl[0] = -999
    state["kbot"], state["mxl"] = np.full((6, 7), 2), mxl
    mxl[1, 2, 3] = -999
    refused(package.InputError, r"mxl\[1, 2, 3\] is -999, but must be", lambda: state.set("mxl", mxl))


def test_steps_that_leave_the_ocean(device):
    """As the program's do."""
    state = package.load(ACC, "ocean_step", device)
    state.step(2)
    state.set_setting("dt_tracer", 3e6)
    refused(package.MismatchError, r"\w+\[\d+, \d+, \d+\] is \S+ after the steps, which is no ocean's",
            lambda: state.step(40))


def test_names_of_tracers_are_used_up_late():
    """More than one state may have, and then the message says what to do."""
    library = package.library.default()
    names = [f"n{number}" for number in range(300)]
    for first in range(0, 180, 60):
        library.find_sequence("+".join(["ocean_step", *names[first:first + 60]]))
    refused(package.UsageError, "a process has at most 256 names of tracers, and 'n\\d+' is one more: take an earlier",
            lambda: [library.find_sequence(f"ocean_step+{name}") for name in names])
    library.find_sequence("ocean_step+n0")


def test_steps_that_break_a_budget(device):
    """Where a mask opens the walls."""
    state = package.load(ACC, "ocean_step", device)
    state["maskU"] = np.ones(state.shape("maskU"))
    refused(package.MismatchError, r"the budget of \w+ is not kept: its residual is \S+ \S+, where rounding makes",
            lambda: state.step())
