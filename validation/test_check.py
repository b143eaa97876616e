"""The check of an input before a run: what its fields say of each other, all that is wrong at once,
each with its first index."""

import re
import shutil

import h5py
import numpy as np
import pytest

import fields
from conftest import DONE, GRID, INPUT, OUTPUT, QUICK, USAGE, read, write
# basin, original and plain are fixtures, which the tests name as arguments.
from test_reading import HALO, basin, channel, closed, faces, original, plain  # pylint: disable=unused-import


def edit(path, name, change):
    """Puts what `change` makes of the values in their place."""
    with h5py.File(path, "a") as file:
        values = file[name][...]
        changed = change(values)
        file[name][...] = values if changed is None else changed


def is_refused(miniapp, path, *patterns, options=()):
    """One line each, in a run as with --check; and --allow-invalid takes it."""
    for option in ((), ("--check",)):
        done = miniapp.run(*QUICK, *option, *options, path)
        assert done.returncode == INPUT and not done.stdout, done
        lines = done.stderr.splitlines()
        assert len(lines) == len(patterns), done.stderr
        for line, pattern in zip(lines, patterns):
            assert re.match(rf"miniapp: {re.escape(str(path))}: {pattern}", line), line


# ---- --check ----

def test_check_says_so_and_runs_nothing(miniapp, plain):
    said = miniapp.passes("--check", plain, quick=False)
    assert said == (f"{plain}: can be used by {', '.join(map(str, miniapp.ocean))}: 12 x 9 x 6 points, "
                    "no ghosts: attribute halo is 0\n")
    said = miniapp.passes("--check", "-k", "eos", "-d", "gpu:7", GRID)
    assert "90 x 40 x 20 points, no ghosts, cyclic in x" in said


@pytest.mark.parametrize("option", ["-o", "--validate", "--resume"])
def test_check_writes_nothing(miniapp, plain, tmp_path, option):
    miniapp.fails(USAGE, "--check looks at the input alone", "--check", option, tmp_path / "x", plain)
    assert not (tmp_path / "x").exists()


def test_check_needs_its_stream(miniapp, plain):
    with open("/dev/full", "w", encoding="ascii") as full:
        miniapp.fails(OUTPUT, "standard output cannot be written", "--check", plain, stdout=full)


def test_settings_are_checked_too(miniapp, plain):
    with h5py.File(plain, "a") as file:
        file.attrs["eq_of_state_type"] = 7
    miniapp.fails(INPUT, "eq_of_state_type", "--check", plain)


def test_all_at_once(miniapp, plain):
    """Values, lines and masks; what follows from them is not said."""
    edit(plain, "p", np.zeros_like)
    edit(plain, "dxu", lambda dxu: dxu * 1e-3)
    y, x = np.argwhere(read(plain, "kbot") > 2)[0]
    with h5py.File(plain, "a") as file:
        file["salt"][-1, y, x] = 60
        file["mxl"][-1, y, x] = -1
    is_refused(miniapp, plain, rf"salt\[5, {y}, {x}\] is 60", r"p\[0\] is 0, but 'zt' is",
               r"dxu\[0\] is .*, but 'dxt' is", rf"mxl\[5, {y}, {x}\] is -1")


def test_all_shapes_and_attributes_at_once(miniapp, plain):
    with h5py.File(plain, "a") as file:
        file.attrs["halo"] = 5
        file.attrs["eq_of_state_type"] = "five"
        values = file["temp"][...]
        del file["temp"], file["dzt"]
        file["temp"] = values[0]
        file["dxt"].attrs["units"] = "furlongs"
        file["dxu"].attrs["units"] = "s"
    is_refused(miniapp, plain, "attribute 'halo' is 5", "attribute 'eq_of_state_type' must be a number",
               "dataset 'temp' has 2 axes", "dataset 'dxu' is in 's', but must be in m",
               "dataset 'dzt' is missing")


def test_values_beside_what_cannot_be_read(miniapp, plain):
    """A dataset of another shape, one in other units and one that is missing say nothing of the rest."""
    y, x = np.argwhere(read(plain, "kbot") > 2)[0]
    with h5py.File(plain, "a") as file:
        values = file["temp"][...]
        del file["temp"], file["dzt"]
        file["temp"] = values[0]
        file["dxt"].attrs["units"] = "s"
        file["salt"][-1, y, x] = 60
        file["kappaM"][-1, y, x] = -1
    is_refused(miniapp, plain, "dataset 'temp' has 2 axes", "dataset 'dxt' is in 's'",
               "dataset 'dzt' is missing", rf"salt\[5, {y}, {x}\] is 60",
               rf"kappaM\[5, {y}, {x}\] is -1")


def test_one_axis_that_disagrees_is_one_mistake(miniapp, plain):
    """Whichever is wrong: all others disagree with the first."""
    with h5py.File(plain, "a") as file:
        values = file["salt"][...]
        del file["salt"]
        file["salt"] = np.concatenate([values, values[..., :1]], axis=2)
    is_refused(miniapp, plain, "dataset 'temp' has 12 cells along x, but 'salt' has 13")


# ---- lines ----

def first(values):
    values[0] *= 3


@pytest.mark.parametrize("name, change, pattern", [
    ("p", np.zeros_like, r"p\[0\] is 0, but 'zt' is -\d+.*about the depth"),
    ("p", lambda p: p * 1e-2, r"p\[0\] is"), ("p", lambda p: p + 1e5 / 1e4 * 200, r"p\[0\] is 2"),
    ("p", lambda p: p[::-1], r"p\[0\] is"),
    ("p", lambda p: np.where(np.arange(p.size) == 4, p[3] * 1.1, p), r"p\[4\] is .*level below"),
    ("dzt", lambda dzt: dzt * 100, r"dzt\[0\] is .*'zt' goes from"),
    ("dzt", lambda dzt: dzt[::-1], r"dzt\[0\] is .*'zt' goes from"),
    ("dzw", lambda dzw: dzw[::-1], r"dzw\[0\] is .*'zt' goes from"),
    ("dxu", lambda dxu: dxu / 1e3, r"dxu\[0\] is .*'dxt' is .* on its sides"),
    ("dyu", first, r"dyu\[0\] is .*'dyt' is .* on its sides"),
    ("dyt", lambda dyt: dyt / 1e3, r"dyu\[0\] is .*'dyt' is .* on its sides"),
    ("cosu", lambda cosu: cosu ** 8, r"cosu\[0\] is .*'cost' is .* on its sides"),
])
def test_lines_that_contradict_others(miniapp, plain, name, change, pattern):
    edit(plain, name, change)
    is_refused(miniapp, plain, pattern)
    miniapp.passes("--check", "--allow-invalid", plain)


def test_heights_reversed(miniapp, plain):
    """The surface comes first, but masks and pressures say otherwise."""
    edit(plain, "zt", lambda zt: zt[::-1])
    is_refused(miniapp, plain, r"p\[\d\] is .*but 'zt' is", options=("-k", "eos"))
    done = miniapp.run("--check", plain)
    assert done.returncode == INPUT and re.search("mask.* below it is not: water reaches", done.stderr)


@pytest.mark.parametrize("change", [lambda zw: zw[::-1], lambda zw: zw - 500, lambda zw: zw / 100])
def test_upper_faces_lie_between_levels(miniapp, plain, change):
    edit(plain, "zw", change)
    is_refused(miniapp, plain, r"zw\[\d\] is .*, but 'zt' is .* there, and .* above")


def test_air_pressure_may_lie_on_the_sea(miniapp, plain):
    edit(plain, "p", lambda p: p + 10.1325)
    miniapp.passes("-k", "eos", plain)


# ---- masks ----

def face(values, name, is_open, edge):
    """A face in the middle or the wall that is open, or could be."""
    cells = values["maskT"] == 1
    beyond = np.zeros_like(cells)
    if name == "maskU":
        beyond[..., :-1] = cells[..., 1:]
    elif name == "maskV":
        beyond[:, :-1] = cells[:, 1:]
    else:
        beyond[:-1] = cells[1:]
        beyond[-1] = cells[-1]
    wall = np.zeros_like(cells)
    wall[(..., -1) if name == "maskU" else (slice(None), -1) if name == "maskV" else (0,)] = True
    chosen = cells & (beyond == is_open) & (wall == edge)
    return np.argwhere(chosen)[-1]


@pytest.mark.parametrize("name, edge, pattern", [
    ("maskU", False, "is open, but the cell beyond it is land by 'maskT'"),
    ("maskV", False, "is open, but the cell beyond it is land by 'maskT'"),
    ("maskU", True, "is 1, but lies in the eastern wall, which is closed: the attribute cyclic_x"),
    ("maskV", True, "is 1, but lies in the northern wall, which is closed")])
def test_faces_open_beside_land(miniapp, plain, basin, name, edge, pattern):
    k, y, x = face(basin[0], name, False, edge)
    with h5py.File(plain, "a") as file:
        file[name][k:, y, x] = 1
    is_refused(miniapp, plain, rf"{name}\[{k}, {y}, {x}\] {pattern}", options=("-k", "isoneutral"))
    miniapp.passes("--check", "--allow-invalid", plain)


def test_upper_faces_of_land(miniapp, plain, basin):
    y, x = np.argwhere(basin[0]["kbot"] == 0)[0]
    with h5py.File(plain, "a") as file:
        file["maskW"][-1, y, x] = 1
    is_refused(miniapp, plain, rf"'maskW' contradicts 'maskT' in the column \[{y}, {x}\]")


@pytest.mark.parametrize("name", ["maskU", "maskV"])
def test_thin_walls_are_legal_but_odd(miniapp, plain, basin, name):
    k, y, x = face(basin[0], name, True, False)
    with h5py.File(plain, "a") as file:
        file[name][:, y, x] = 0
    first_closed = np.argwhere(basin[0][name][:, y, x])[0][0]
    miniapp.passes("--check", plain, warning=rf"\d+ faces of '{name}' are closed between cells "
                   rf"of water: the first is {name}\[{first_closed}, {y}, {x}\]")


def without_water(path, kept):
    """Where only these tell land from water."""
    with h5py.File(path, "a") as file:
        for name in ("maskT", "maskU", "maskV", "maskW", "kbot"):
            file[name][...] = 0
            if name not in kept:
                del file[name]


@pytest.mark.parametrize("chosen, kept, source", [
    ("all", ("maskT", "maskU", "maskV", "maskW", "kbot"), "maskT"),
    ("tke", ("maskT", "maskW", "kbot"), "maskW"), ("all", ("kbot",), "kbot"),
    ("isoneutral", ("kbot",), "kbot"), ("tracer_mixing", ("maskT",), "maskT")])
def test_an_ocean_without_water_is_legal_but_odd(miniapp, plain, chosen, kept, source):
    """It says so by what is read, or by what that is made from."""
    without_water(plain, kept)
    for words in (("--check",), ()):
        miniapp.passes(*words, "-k", chosen, plain, warning=f"all of the ocean is land by '{source}'\n")
        miniapp.passes(*words, "-k", chosen, "--allow-invalid", plain)


def test_no_mask_is_read_to_find_water(miniapp, plain):
    without_water(plain, ("maskT", "kbot"))
    miniapp.passes("-k", "eos", plain)
    with h5py.File(plain, "a") as file:
        file["maskT"][...] = 2  # a fault, but vertical_mixing does not read it
    miniapp.passes("-k", "vertical_mixing", plain, warning="all of the ocean is land by 'kbot'\n")


@pytest.mark.parametrize("chosen", ["tke", "all"])
def test_kbot_off_by_one(miniapp, plain, chosen):
    edit(plain, "kbot", lambda kbot: np.maximum(kbot - 1, 0))
    is_refused(miniapp, plain, r"'kbot' contradicts 'maskT' in the column", options=("-k", chosen))


def test_kbot_of_no_water(miniapp, plain):
    edit(plain, "kbot", np.zeros_like)
    is_refused(miniapp, plain, r"'kbot' contradicts 'maskT' in the column", options=("-k", "tke"))


@pytest.mark.parametrize("kbot", [lambda kbot: np.maximum(kbot - 1, 0), np.zeros_like])
def test_kbot_beside_masks_of_faces_alone(miniapp, plain, kbot):
    """Without masks of cells: kbot is what tells of water."""
    with h5py.File(plain, "a") as file:
        del file["maskT"], file["maskW"]
    miniapp.passes("-k", "tke", plain)
    edit(plain, "kbot", kbot)
    done = miniapp.run(*QUICK, "-k", "tke", plain)
    assert re.search(r"mask[UV]\[.*\] is open|faces of 'mask[UV]' are closed", done.stderr), done


# ---- walls and ghosts ----

def test_flow_through_the_last_column(miniapp, tmp_path):
    """Of a cyclic ocean whose file does not say so."""
    values, settings = channel()
    values = {name: value[..., HALO:-HALO] if value.ndim > 1 or name in ("dxt", "dxu") else value
              for name, value in values.items()}
    values |= faces(values["maskT"], True, 0)
    path = write(tmp_path / "cyclic.h5", values, settings, halo=0)
    is_refused(miniapp, path, r"maskU\[\d, \d, 9\] is 1, but lies in the eastern wall",
               options=("-k", "tke"))
    with h5py.File(path, "a") as file:
        del file["maskU"]
    is_refused(miniapp, path, r"u_wgrid\[\d, \d, 9\] is .*, but lies in the eastern wall",
               options=("-k", "tke"))
    with h5py.File(path, "a") as file:
        file.attrs["cyclic_x"] = 1
    miniapp.passes(path)


@pytest.mark.parametrize("name", ["dxt", "salt", "u_wgrid", "maskU", "kbot", "forc_tke_surface"])
def test_ghosts_that_are_no_copies(miniapp, tmp_path, name):
    values, settings = channel()
    path = write(tmp_path / "ghosts.h5", values, settings, halo=2, cyclic_x=1)
    miniapp.passes("--check", path)
    wet = {"u_wgrid": "maskU"}.get(name, "maskT")
    where = np.argwhere(values[wet][:, HALO:-HALO, 1] == 1)[-1] + (0, HALO)
    index = {1: (1,), 2: (where[1], 1), 3: (where[0], where[1], 1)}[values[name].ndim]
    with h5py.File(path, "a") as file:
        file[name][index] = file[name][index] * 1.1 if values[name].dtype.kind == "f" else 1 - min(
            1, file[name][index])
    place = ", ".join(map(str, index))
    done = miniapp.run(*QUICK, path)
    assert done.returncode == INPUT and name in done.stderr, done
    if values[name].dtype.kind == "f":
        is_refused(miniapp, path, rf"cyclic_x is 1, but ghosts of {name} are no copies: {name}"
                   rf"\[{place}\] is .*, but {name}\[.*11\] is ")


def test_cells_that_are_taken_for_ghosts(miniapp, tmp_path):
    """All fields say so: that is one line."""
    path = tmp_path / "grid.h5"
    shutil.copy(GRID, path)
    with h5py.File(path, "a") as file:
        file.attrs["halo"] = 2
    is_refused(miniapp, path, r"cyclic_x is 1, but ghosts of salt, temp, maskT, maskU, .* are no "
               r"copies: salt\[1, 5, 88\] is 34\..*, but salt\[1, 5, 2\] is 0$")


def test_ghosts_of_a_closed_ocean_are_free(miniapp, basin, tmp_path):
    values = closed(basin[0])
    values["dxt"] = values["dxt"].copy()
    values["dxt"][0] *= 1.2
    miniapp.passes(write(tmp_path / "closed.h5", values, basin[1], halo=2))


# ---- names of dimensions on a square grid ----

def square():
    values, settings = fields.make(9, 9, 9, seed=2)
    return {name: values[name] for name in ("salt", "temp", "p", "zt")}, settings


def store(file, values, name_axes):
    for name, value in values.items():
        file[name] = value.transpose(0, 2, 1) if value.ndim == 3 else value
        name_axes(file, file[name], "zxy" if value.ndim == 3 else "z")


def by_label(file, data, axes):
    for place, axis in enumerate(axes):
        data.dims[place].label = axis


def by_scales_of_a_group(file, data, axes):
    for place, axis in enumerate(axes):
        scale = file.require_dataset(f"dims/{axis}", (9,), float)
        if not h5py.h5ds.is_scale(scale.id):
            scale.make_scale(axis)
        data.dims[place].attach_scale(scale)


@pytest.mark.parametrize("name_axes", [by_label, by_scales_of_a_group])
def test_axes_that_are_named_elsewhere(miniapp, tmp_path, name_axes):
    values, settings = square()
    expected, found = tmp_path / "expected.h5", tmp_path / "found.h5"
    miniapp.passes("-k", "eos", "-o", expected,
                   write(tmp_path / "plain.h5", values, settings, halo=2))
    path = tmp_path / "named.h5"
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = 2
        store(file, values, name_axes)
    miniapp.passes("-k", "eos", "-o", found, path)
    np.testing.assert_array_equal(read(found, "dHdT"), read(expected, "dHdT"))


def test_checked_is_done(miniapp):
    assert miniapp.run("--check", GRID).returncode == DONE
