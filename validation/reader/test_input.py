"""Inputs that cannot be used, and those that can: an error or the right result, nothing else."""

import io
import itertools
import os
import re

import h5py
import numpy as np
import pytest

from conftest import INPUT, create, read, read_of, write
import fields

HALO = 2
WATER = 1, 2, 4  # a cell of the small ocean
MASKS = ("maskT", "maskU", "maskV", "maskW")


# ---- edits of a file ----

def put(name, value, index=...):
    """Another value in an element, or in all."""
    return lambda file: file[name].__setitem__(index, value)


def swap(name, values=None, **options):
    """Another dataset of this name, or none."""
    def edit(file):
        del file[name]
        if values is not None or options:
            file.create_dataset(name, data=values, **options)
    return edit


def link(name, thing):
    """Something else under the name of a dataset."""
    def edit(file):
        del file[name]
        file[name] = thing
    return edit


def attributes(**values):
    return lambda file: file.attrs.update(values)


@pytest.fixture
def edited(small):
    """Gives the file as edits of the original leave it."""
    original = small.read_bytes()

    def edit(*edits):
        small.write_bytes(original)
        with h5py.File(small, "a") as file:
            for change in edits:
                change(file)
        return small
    return edit


@pytest.fixture(scope="module")
def original(small_file):
    """Its values, which no test may change."""
    with h5py.File(io.BytesIO(small_file)) as file:
        values = {name: dataset[...] for name, dataset in file.items()}
    for value in values.values():
        value.setflags(write=False)
    return values


# ---- no such file, no HDF5 ----

def test_missing_file(miniapp, tmp_path):
    """LLVM's runtime would print a page as it starts, which takes longer than to refuse an input; GCC's prints it
    before main."""
    env = {} if miniapp.is_gcc else {"OMP_DISPLAY_ENV": "true"}
    miniapp.fails(INPUT, r"absent\.h5: No such file", tmp_path / "absent.h5", env=env)


def test_no_regular_file(miniapp, tmp_path):
    os.mkfifo(tmp_path / "pipe.h5")
    for path in (tmp_path, tmp_path / "pipe.h5", "/dev/zero", "/dev/null"):
        miniapp.fails(INPUT, f"{path}: not an HDF5 file", path)


@pytest.mark.parametrize("content", [b"", b"x", b"salt,temp\n1,2\n", bytes(5000),
                                     b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(5000)])
def test_not_hdf5(miniapp, tmp_path, content):
    (tmp_path / "text.h5").write_bytes(content)
    miniapp.fails(INPUT, r"text\.h5: not an HDF5 file", tmp_path / "text.h5")


def test_unreadable_file(miniapp, small):
    if os.geteuid() == 0:
        pytest.skip("permissions do not bind root")
    small.chmod(0)
    miniapp.fails(INPUT, "small.h5: Permission denied", small)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.999, 1 - 1e-9])
def test_truncated(miniapp, small, share):
    """The last is one byte short."""
    os.truncate(small, int(share * small.stat().st_size))
    miniapp.fails(INPUT, r"small\.h5: .*(damaged|cannot)", small)


# ---- datasets of the wrong kind ----

def test_missing_dataset(miniapp, edited, kernel):
    for dataset in kernel.new_inputs:
        if not dataset.optional:
            miniapp.fails(INPUT, rf"small\.h5: dataset '{dataset.name}' is missing", edited(swap(dataset.name)),
                          "-k", kernel)


def test_optional_datasets(miniapp, edited, kernel):
    """Without eddies coriolis_t is optional, too."""
    absent = [swap(dataset.name) for dataset in kernel.inputs if dataset.optional]
    miniapp.passes(edited(*absent, attributes(enable_eke=0)), "-k", kernel)


def test_a_mask_counts_only_where_its_field_is_there(miniapp, edited):
    """Nothing else that momentum reads lies on maskT; rho is optional."""
    def other_units(file):
        file["maskT"].attrs["units"] = "furlong"
    miniapp.fails(INPUT, "dataset 'maskT' is in 'furlong', but must be in '1'", edited(other_units), "-k", "momentum")
    miniapp.passes(edited(other_units, swap("rho")), "-k", "momentum")


def test_pressure_and_depth_are_both_missing(miniapp, edited):
    miniapp.fails(INPUT, r"small\.h5: dataset 'zt' is missing", edited(swap("p"), swap("zt")), "-k", "eos")


def test_wrong_shapes(miniapp, edited, original, of_each_shape):
    """Too many axes and too few, axes without cells, and a cell more than other datasets have."""
    for dataset, kernel in of_each_shape:
        name, values = dataset.name, original[dataset.name]
        for wrong in (values[..., None], values[0]):
            miniapp.fails(INPUT, rf"dataset '{name}' has {wrong.ndim} axes, but must have {values.ndim}: "
                          rf"\({', '.join(dataset.axes)}\)", edited(swap(name, wrong)), "-k", kernel)
        for place, axis in enumerate(dataset.axes):
            miniapp.fails(INPUT, f"'{name}' has 0 cells along {axis}", edited(swap(name, values.take([], place))),
                          "-k", kernel)
            if any(axis in other.axes for other in kernel.inputs if other != dataset):
                longer = np.concatenate([values, values.take([0], place)], place)
                miniapp.fails(INPUT, rf"dataset '\w+' has \d+ cells along {axis}, but ('\w+' has|must have) \d+",
                              edited(swap(name, longer)), "-k", kernel)


def test_datasets_of_strings(miniapp, edited, original, of_each_shape):
    for dataset, kernel in of_each_shape:
        texts = original[dataset.name].astype("S8")
        miniapp.fails(INPUT, f"dataset '{dataset.name}' must hold numbers", edited(swap(dataset.name, texts)), "-k",
                      kernel)


@pytest.mark.parametrize("options", [
    {"dtype": h5py.string_dtype()}, {"dtype": [("value", "f8"), ("error", "f8")]}, {"dtype": complex}, {"dtype": "V8"},
    {"dtype": h5py.ref_dtype}, {"dtype": np.dtype(("f8", (2,)))}, {"dtype": h5py.vlen_dtype("f8")}], ids=str)
def test_no_numbers(miniapp, edited, original, options):
    miniapp.fails(INPUT, r"small\.h5: dataset 'salt' must hold numbers",
                  edited(swap("salt", shape=original["salt"].shape, **options)), "-k", "eos")


@pytest.mark.parametrize("edit", [
    lambda file: (swap("salt")(file), file.create_group("salt")), link("salt", h5py.SoftLink("/nowhere")),
    link("salt", h5py.ExternalLink("absent.h5", "salt")), link("salt", h5py.Empty("f8")), link("salt", 35.0)])
def test_no_dataset_at_all(miniapp, edited, edit):
    """A group, a broken link, a link to an absent file, nothing in it, one number."""
    miniapp.fails(INPUT, "dataset 'salt'", edited(edit), "-k", "eos")


# ---- what would silently be read as something else ----

def test_raw_data_in_an_absent_file(miniapp, edited, original):
    external = [("/nowhere/salt", 0, h5py.h5f.UNLIMITED)]
    miniapp.fails(INPUT, "dataset 'salt' has its numbers in other files",
                  edited(swap("salt", shape=original["salt"].shape, dtype="f8", external=external)), "-k", "eos")


def test_never_written(miniapp, edited, original):
    shape = original["temp"].shape
    miniapp.fails(INPUT, "'temp' was never written", edited(swap("temp", shape=shape, dtype=float, chunks=shape)))


# ---- values ----

def nonfinite(datasets):
    """Each with NaN, Inf or -Inf, in turn, and a place in its middle."""
    for dataset, value in zip(datasets, itertools.cycle((np.nan, np.inf, -np.inf))):
        yield dataset.name, value, lambda shape: tuple(length // 2 for length in shape)


def test_nonfinite_is_refused_and_named(miniapp, edited, original, kernel):
    """The first is named, with its axes, and all are counted."""
    for name, value, middle in nonfinite(kernel.reals(kernel.new_inputs)):
        index, last = middle(original[name].shape), tuple(length - 1 for length in original[name].shape)
        path, count = edited(put(name, value, index), put(name, value, last)), len({index, last})
        axes = ", ".join(["[xyz]"] * len(index))
        miniapp.fails(INPUT, rf"{name}\[{', '.join(map(str, index))}\] is -?(nan|inf), by \({axes}\); values that are "
                      rf"not finite: {count} \(--allow-nonfinite accepts them\)", path, "-k", kernel)


def test_nonfinite_is_accepted_on_demand(miniapp, edited, original):
    """In all fields at once, by all kernels."""
    edits = [put(name, value, middle(original[name].shape)) for name, value, middle in nonfinite(
        dataset for kernel in miniapp.kernels for dataset in kernel.reals(kernel.new_inputs))]
    names = ",".join(kernel.name for kernel in miniapp.kernels)
    miniapp.passes(edited(*edits), "-k", names, "--allow-nonfinite")


@pytest.mark.parametrize("name, value, option", [
    ("salt", -0.5, None), ("salt", 51, None), ("temp", -21, None), ("temp", 99, None), ("p", -1, None),
    ("p", 13000, None), ("salt", -1, "--allow-nonfinite"), ("temp", np.nan, "--allow-invalid")])
def test_values_out_of_range(miniapp, edited, original, name, value, option):
    """An option allows nothing else."""
    index = WATER[:original[name].ndim]
    miniapp.fails(INPUT, rf"small\.h5: {name}\[{', '.join(map(str, index))}\] is {value}",
                  edited(put(name, value, index)), "-k", "eos", *[option] * bool(option))


def test_invalid_values_are_accepted_on_demand(miniapp, edited):
    miniapp.passes(edited(put("salt", 60, WATER), put("temp", 99, WATER)), "-k", "eos", "--allow-invalid")


def test_depth_above_the_surface_is_no_pressure(miniapp, edited):
    miniapp.fails(INPUT, r"small\.h5: zt\[2\] is 50, but must be at most 0", edited(swap("p"), put("zt", 50, 2)), "-k",
                  "eos")


@pytest.mark.parametrize("value", [2, 0.5, -1, np.nan, 256, 1e30])
@pytest.mark.kernels_that_read("mask")
def test_masks_are_0_or_1(miniapp, edited, original, kernel, value):
    for dataset in (dataset for dataset in kernel.new_inputs if dataset.is_mask):
        path = edited(swap(dataset.name, original[dataset.name].astype(float)), put(dataset.name, value, (1, 2, 3)))
        miniapp.fails(INPUT, rf"{dataset.name}\[1, 2, 3\] is .*must be", path, "-k", kernel, "--allow-nonfinite",
                      "--allow-invalid")


@pytest.mark.parametrize("value", [-1, 0.5, 1e30])
def test_levels_are_whole_and_not_negative(miniapp, edited, original, value):
    miniapp.fails(INPUT, r"kbot\[2, 3\] is .*must be",
                  edited(swap("kbot", original["kbot"].astype(float)), put("kbot", value, (2, 3))), "-k", "tke")


@pytest.mark.kernels_that_read("kbot")
def test_level_above_the_surface(miniapp, edited, original, kernel):
    """Whether or not something else that a kernel reads tells how many there are."""
    miniapp.fails(INPUT, r"kbot\[2, 3\] is", edited(put("kbot", original["zt"].size + 1, (2, 3))), "-k", kernel)


def test_land_is_0_or_in_range(miniapp, edited, original):
    """Where kbot says land, mixing length may be 0, which it may not be on water."""
    (y, x), (wet_y, wet_x) = (np.argwhere(is_there)[0] for is_there in (original["kbot"] == 0, original["kbot"] > 0))
    miniapp.passes("-k", "tke", edited(put("mxl", 0, (3, y, x))))
    miniapp.fails(INPUT, rf"mxl\[3, {y}, {x}\] is -1, but must be positive and at most 100000, or 0 on land", "-k",
                  "tke", edited(put("mxl", -1, (3, y, x))))
    miniapp.fails(INPUT, rf"mxl\[5, {wet_y}, {wet_x}\] is 0, but must be positive", "-k", "tke",
                  edited(put("mxl", 0, (5, wet_y, wet_x))))


@pytest.mark.parametrize("mask, message", [
    (np.ones((7, 9, 11)), "'maskT' has 7 cells along z"), (np.ones((6, 9, 11) + (1,) * 5), "'maskT' has 8 axes"),
    (np.full((6, 9, 11), 2), r"maskT\[0, 0, 0\] is 2")], ids=("longer", "more axes", "2"))
@pytest.mark.parametrize("reader", ["eos", "density"])
def test_mask_that_tells_which_ghosts_count(miniapp, edited, original, reader, mask, message):
    """It is checked, and reported once, whether or not the kernel itself reads it."""
    cyclic = [swap(name, original[name][..., (np.arange(11) - HALO) % 7 + HALO]) for name in ("salt", "temp", "maskW")]
    miniapp.fails(INPUT, message, "-k", reader, edited(swap("maskT", mask), *cyclic, attributes(cyclic_x=1)))


def test_float32_cannot_hold_it(miniapp, edited):
    path = edited(put("K_iso", 1e39, WATER))
    miniapp.fails(INPUT, r"small\.h5: K_iso\[1, 2, 4\] is 1e.39, but must be from 0", "-k", "isoneutral", path)
    miniapp.fails(INPUT, "'K_iso' holds 1e.39, which float32 cannot", "-k", "isoneutral", "--precision", "float32",
                  "--allow-invalid", path)


@pytest.mark.parametrize("value", [1e-46, 1e-40])
@pytest.mark.parametrize("name", ["dxu", "dzw", "cost", "mxl"])
def test_what_vanishes_in_float32(miniapp, edited, name, value):
    """What has to be above 0 becomes 0 there, or lacks digits."""
    index = {"mxl": (5, 4, 5)}.get(name, (3,))
    water = [put(mask, 1) for mask in ("kbot", *MASKS)] if name == "mxl" else []
    for precisions in ("float32", "float64,float32"):
        miniapp.fails(INPUT, rf"small\.h5: {name}\[{', '.join(map(str, index))}\] is {value:g}, which float32 cannot "
                      "hold", "-k", "tke", "--precision", precisions, edited(*water, put(name, value, index)))
    miniapp.passes("-k", "tke", "--precision", "float32", "--allow-nonfinite",
                   edited(*water, put(name, value * 1e10, index)))


@pytest.mark.parametrize("name, make, message", [
    ("dzw", lambda grid: np.roll(grid["dzw"], 1), r"dzw\[0\] is 1\d\.\d*, but 'zt' goes from -\d+.\d* to -\d+.\d* there"),
    ("dzt", lambda grid: np.roll(grid["dzt"], 2), r"dzt\[1\] is \S+, but 'zw' goes from"),
    ("zw", lambda grid: grid["zt"], r"zw\[0\] is (\S+), but 'zt' goes from \1 to"),
    ("zw", lambda grid: grid["zw"] + 60, r"zw\[\d\] is \S+, but 'zt' goes from"),
    ("dzw", lambda grid: grid["dzw"] * [1, 1, 1, 1, 2.5, 1], r"dzw\[4\] is \S+, but 'zt' goes from")],
    ids=("dzw", "dzt", "zw", "higher", "top"))
@pytest.mark.parametrize("precision", [float, np.float32])
def test_levels_that_do_not_fit_each_other(miniapp, edited, original, name, make, message, precision):
    """A grid's own do, in either precision."""
    narrow = [swap(line, original[line].astype(precision)) for line in ("zt", "zw", "dzt", "dzw")]
    words = ("-k", "tke_diffusivities", "-k", "isoneutral")
    miniapp.passes(*words, edited(*narrow))
    path = edited(*narrow, swap(name, make(original).astype(precision)))
    miniapp.fails(INPUT, rf"small\.h5: {message}", *words, path)
    miniapp.passes(*words, "--allow-invalid", path)


# ---- grids and attributes ----

@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("cells", [1, 4])
def test_grid_too_small_for_its_ghosts(miniapp, small, ocean, axis, cells):
    values = {name: value.take(range(cells), axes_of(value, ocean).index(axis)) if axis in axes_of(value, ocean)
              else value for name, value in ocean[0].items()}
    write(small, values, halo=2)
    miniapp.fails(INPUT, rf"small\.h5: {cells} cells along {axis} are too few", small)


def axes_of(value, ocean):
    """By the lengths, which differ on the test's grid."""
    nz, ny, nx = ocean[0]["salt"].shape
    names = {nx: "x", ny: "y", nz: "z", 2: "ip, jp or kr"}
    assert len(names) == 4
    return [names[length] for length in value.shape]


def test_one_cell_is_enough_without_ghosts(miniapp, tmp_path):
    path = write(tmp_path / "one.h5", {"salt": [[[35.0]]], "temp": [[[10.0]]], "p": [1000.0]}, halo=0)
    miniapp.passes(path, "-k", "eos", "--output", tmp_path / "output.h5")
    assert read(tmp_path / "output.h5", "dHdT").shape == (1, 1, 1)


BAD = {"halo": [1, 3, -2, 2.5, np.nan, np.inf, 1e30, "2", "none", np.array([2, 2]), np.array([], float),
                np.zeros((), [("a", "f8")])],
       "cyclic_x": [2, -1, "yes", np.nan], "eq_of_state_type": [0, 6, 2.5, np.nan, np.inf, "3", [3, 3]]}
SAID = {"halo": "attribute 'halo' (must be a|is \\S+, but must be 0 or 2)", "cyclic_x": "attribute 'cyclic_x'",
        "eq_of_state_type": ".*'eq_of_state_type'"}


@pytest.mark.parametrize("name, value", [(name, value) for name, values in BAD.items() for value in values], ids=repr)
def test_bad_attributes(miniapp, edited, name, value):
    miniapp.fails(INPUT, rf"small\.h5: {SAID[name]}", edited(attributes(**{name: value})))


@pytest.mark.parametrize("halo", [2, 2.0, np.int8(2), np.array([2]), np.float32(2), np.array(2, ">i4")], ids=repr)
def test_any_number_may_name_the_halo(miniapp, edited, halo):
    miniapp.passes(edited(attributes(halo=halo)), "-k", "eos")


@pytest.mark.parametrize("value", [0, 1.5, np.nan], ids=repr)
def test_settings_that_no_kernel_reads_do_not_matter(miniapp, edited, value):
    miniapp.passes("-k", "eos", edited(attributes(eq_of_state_type=value)))


# ---- what is accepted ----

@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">f8", "<f2", np.longdouble, "<i2", ">i2", "i1", "u1", "<i8", ">u4"],
                         ids=str)
def test_types_are_converted(miniapp, edited, original, dtype):
    """Depth, which such pressures contradict, is left out."""
    values = {"salt": abs(original["salt"]), "temp": abs(original["temp"]), "p": np.arange(6.0, 0, -1)}
    found, expected = (miniapp.checksums(edited(swap("zt"), *(
        swap(name, value.astype(dtype).astype(stored)) for name, value in values.items())), "-k", "eos")
        for stored in (dtype, float))
    assert found == expected


@pytest.mark.parametrize("layout", [
    {}, {"chunks": (1, 2, 3)}, {"chunks": (4, 4, 4), "compression": "gzip", "shuffle": True},
    {"fletcher32": True, "chunks": (2, 3, 4)}, {"maxshape": (None, None, None)},
], ids=str)
def test_layouts(miniapp, edited, original, small_checksums, layout):
    path = edited(*(swap(name, original[name], **layout) for name in ("salt", "temp")))
    assert miniapp.checksums(path) == small_checksums


def test_old_format(miniapp, small, small_checksums, ocean):
    """The format of HDF5 1.0, which h5py writes if it is not told otherwise; it stores booleans as an enumeration."""
    with h5py.File(small, "w", libver="earliest") as file:
        for name, values in ocean[0].items():
            file[name] = values.astype(bool) if name in MASKS else values
        file.attrs.update({**ocean[1], "halo": HALO})
    assert miniapp.checksums(small) == small_checksums


LACKS = r"dataset 'salt' is stored by the filter {} \({}\), which this HDF5 lacks: .*HDF5_PLUGIN_PATH"


def test_filter_that_comes_with_h5py_only(miniapp, edited, original):
    miniapp.fails(INPUT, LACKS.format(32000, "lzf"), edited(swap("salt", original["salt"], compression="lzf")), "-k",
                  "eos")


@pytest.mark.parametrize("number, name", [(32015, "zstd"), (32026, "blosc2"), (40001, "without a name")])
def test_filter_that_nobody_has(miniapp, edited, original, number, name):
    """Written as its plugin would: HDF5 keeps the chunk as it is given."""
    shape = original["salt"].shape

    def edit(file):
        del file["salt"]
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(shape)
        creation.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (3,))
        h5py.h5d.create(file.id, b"salt", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(shape),
                        creation).write_direct_chunk((0, 0, 0), b"what zstd makes of it")
    miniapp.fails(INPUT, LACKS.format(number, name), edited(edit), "-k", "eos",
                  env={"HDF5_PLUGIN_PATH": "/no/such/folder"})


def test_absent_pressure_is_the_depth(miniapp, edited, original):
    assert miniapp.checksums(edited(swap("p")), "-k", "eos") == miniapp.checksums(
        edited(put("p", -original["zt"])), "-k", "eos")


# ---- ghosts ----

def without_ghosts(values, ocean, cyclic):
    """The interior of the test's ocean, whose faces do not lead out of it."""
    inside = slice(HALO, -HALO)
    interior = {name: value[tuple(inside if axis in "xy" else slice(None) for axis in axes_of(value, ocean))]
                for name, value in values.items()}
    return interior | fields.faces(interior["maskT"], cyclic, halo=0)


VELOCITIES = ("u", "v", "u_taup1", "v_taup1", "surface_taux", "surface_tauy")


def padded(values, ocean, mode_x):
    """Ghosts as numpy adds them; `land` closes a side: masks, indices and velocities are 0 there."""
    result = {}
    for name, value in values.items():
        axes = axes_of(ocean[0][name], ocean)
        is_land = name.startswith("mask") or name == "kbot" or name.endswith("_wgrid") or name in VELOCITIES
        for axis, mode in (("x", mode_x), ("y", "land")):
            if axis in axes:
                width = [(HALO, HALO) if other == axis else (0, 0) for other in axes]
                value = np.pad(value, width, "wrap" if mode == "wrap" else "constant" if is_land else "edge")
        result[name] = value
    return result


@pytest.mark.parametrize("cyclic", [1, 0, None])
def test_ghosts_are_added_and_stripped(miniapp, together, ocean, kernel, cyclic):
    """The same result as with the ghosts in the file, without the ghosts. Closed is the default."""
    def make(path):
        interior = without_ghosts(ocean[0], ocean, cyclic)
        explicit = padded(interior, ocean, "wrap" if cyclic else "land")
        bare = write(path, interior, ocean[1], halo=0, cyclic_x=cyclic)
        full = write(path.with_suffix(".full.h5"), explicit, ocean[1], halo=2, cyclic_x=cyclic)
        for row in miniapp.json(bare)["results"]:
            assert (row["nz"], row["ny"], row["nx"]) == ocean[0]["salt"].shape
        return together.output(bare), together.output(full)
    outputs = together.once(("ghosts", cyclic), make)
    for output in kernel.outputs:
        inside = tuple(slice(HALO, -HALO) if axis in "xy" else slice(None) for axis in output.axes)
        found, whole = (read_of(kernel, path, output.name) for path in outputs)
        assert not output.axes or whole.shape[-2:] == ocean[0]["salt"].shape[-2:]
        np.testing.assert_array_equal(found, whole[inside])


# ---- too large ----

# A file may say so with a few bytes: nothing is stored in it.
@pytest.mark.unsanitized("the sanitizer ends a program that asks for that much")
@pytest.mark.parametrize("shape, reason", [
    ((20000, 20000, 20000), "dataset 'salt' is too large .* GB"), ((2**30, 2**20, 2**20), "too large .* GB"),
    *((tuple(cells if place == axis else 50 for place in range(3)), reason) for axis in range(3) for cells, reason in (
        (2**31, f"2147483648 cells along {'zyx'[axis]}, but must have 1 to 2147483647"),
        (2**31 - 1, "too large for memory")))], ids=str)
def test_dataset_larger_than_memory(miniapp, tmp_path, shape, reason):
    """More cells than GPU code can count are refused by name; as many are too large for memory. Other lines say
    that nothing was written."""
    with create(tmp_path / "huge.h5") as file:
        file.attrs["halo"] = 0
        for name, lengths in (("salt", shape), ("temp", shape), ("p", shape[:1])):
            file.create_dataset(name, lengths, "f8", chunks=(8,) * len(lengths))
    done = miniapp.run("-k", "eos", tmp_path / "huge.h5")
    assert done.returncode == INPUT and re.search(reason, done.stderr.splitlines()[0]), done
