"""Inputs that cannot be used, and those that can: an error or the right result, nothing else."""

import itertools
import os
import re

import h5py
import numpy as np
import pytest

from conftest import INPUT, change, create, read, read_of, replace, write
import fields

HALO = 2
WATER = 1, 2, 4  # a cell of the small ocean


# ---- no such file, no HDF5 ----

def test_missing_file(miniapp, tmp_path):
    miniapp.fails(INPUT, r"absent\.h5: No such file", tmp_path / "absent.h5")


def test_no_regular_file(miniapp, tmp_path):
    pipe = tmp_path / "pipe.h5"
    os.mkfifo(pipe)
    for path in (tmp_path, pipe, "/dev/zero", "/dev/null"):
        miniapp.fails(INPUT, f"{path}: not an HDF5 file", path)


@pytest.mark.parametrize("content", [b"", b"x", b"salt,temp\n1,2\n", bytes(5000),
                                     b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(5000)])
def test_not_hdf5(miniapp, tmp_path, content):
    path = tmp_path / "text.h5"
    path.write_bytes(content)
    miniapp.fails(INPUT, r"text\.h5: not an HDF5 file", path)


def test_unreadable_file(miniapp, small):
    if os.geteuid() == 0:
        pytest.skip("permissions do not bind root")
    small.chmod(0)
    miniapp.fails(INPUT, "small.h5: Permission denied", small)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.999])
def test_truncated(miniapp, small, share):
    size = small.stat().st_size
    os.truncate(small, int(share * size))
    miniapp.fails(INPUT, r"small\.h5: .*(damaged|cannot)", small)


def test_one_byte_short(miniapp, small):
    os.truncate(small, small.stat().st_size - 1)
    miniapp.fails(INPUT, "small.h5", small)


# ---- datasets of the wrong kind ----

def test_missing_dataset(miniapp, small, kernel):
    original = small.read_bytes()
    for dataset in kernel.new_inputs:
        if dataset.optional:
            continue
        with h5py.File(small, "a") as file:
            del file[dataset.name]
        miniapp.fails(INPUT, rf"small\.h5: dataset '{dataset.name}' is missing", small,
                      "--kernel", kernel)
        small.write_bytes(original)


def test_optional_datasets(miniapp, small, kernel):
    with h5py.File(small, "a") as file:
        for dataset in kernel.inputs:
            if dataset.optional:
                del file[dataset.name]
        file.attrs["enable_eke"] = 0  # with which coriolis_t is not optional
    miniapp.passes(small, "--kernel", kernel)


def test_pressure_and_depth_are_both_missing(miniapp, small):
    with h5py.File(small, "a") as file:
        del file["p"], file["zt"]
    miniapp.fails(INPUT, r"small\.h5: dataset 'zt' is missing", small, "--kernel", "eos")


def test_wrong_rank(miniapp, small, of_each_shape):
    original = small.read_bytes()
    for dataset, kernel in of_each_shape:
        values = read(small, dataset.name)
        for wrong in (values[..., None], values[0]):
            replace(small, dataset.name, wrong)
            miniapp.fails(INPUT, rf"dataset '{dataset.name}' has {wrong.ndim} axes, but must have "
                          rf"{values.ndim}: \({', '.join(dataset.axes)}\)", small, "-k", kernel)
            small.write_bytes(original)


def test_axes_that_disagree(miniapp, small, of_each_shape):
    original = small.read_bytes()
    for dataset, kernel in of_each_shape:
        values = read(small, dataset.name)
        for place, axis in enumerate(dataset.axes):
            if not any(axis in other.axes for other in kernel.inputs if other != dataset):
                continue  # nothing to disagree with
            longer = np.concatenate([values, values.take([0], place)], place)
            replace(small, dataset.name, longer)
            miniapp.fails(INPUT, rf"dataset '\w+' has \d+ cells along {axis}, but ('\w+' has|must have) \d+",
                          small, "-k", kernel)
            small.write_bytes(original)


def test_zero_length_axes(miniapp, small, of_each_shape):
    original = small.read_bytes()
    for dataset, kernel in of_each_shape:
        values = read(small, dataset.name)
        for place, axis in enumerate(dataset.axes):
            replace(small, dataset.name, values.take([], place))
            miniapp.fails(INPUT, f"'{dataset.name}' has 0 cells along {axis}", small, "-k", kernel)
            small.write_bytes(original)


def not_numbers(shape):
    """Types that h5py stores as HDF5's strings, compounds, opaque bytes, references and arrays."""
    yield "fixed strings", np.full(shape, b"35.0"), None
    yield "variable strings", np.full(shape, "35.0", object), h5py.string_dtype()
    yield "compound", np.zeros(shape, [("value", "f8"), ("error", "f8")]), None
    yield "complex", np.zeros(shape, complex), None
    yield "opaque", np.zeros(shape, "V8"), None
    yield "reference", np.full(shape, None, object), h5py.ref_dtype
    yield "array", None, np.dtype(("f8", (2,)))
    yield "sequence", None, h5py.vlen_dtype("f8")


def test_no_numbers(miniapp, small):
    original = small.read_bytes()
    shape = read(small, "salt").shape
    for kind, values, dtype in not_numbers(shape):
        with h5py.File(small, "a") as file:
            del file["salt"]
            file.create_dataset("salt", shape, data=values, dtype=dtype)
        message = miniapp.fails(INPUT, "dataset 'salt' must hold numbers", small, "-k", "eos")
        assert "small.h5" in message, kind
        small.write_bytes(original)


def test_datasets_of_strings(miniapp, small, of_each_shape):
    original = small.read_bytes()
    for dataset, kernel in of_each_shape:
        replace(small, dataset.name, read(small, dataset.name).astype("S8"))
        miniapp.fails(INPUT, f"dataset '{dataset.name}' must hold numbers", small, "-k", kernel)
        small.write_bytes(original)


def test_no_dataset_at_all(miniapp, small):
    """A group, a broken link, a link to an absent file, nothing in it, one number."""
    original = small.read_bytes()
    for thing in ("group", h5py.SoftLink("/nowhere"), h5py.ExternalLink("absent.h5", "salt"),
                  h5py.Empty("f8"), 35.0):
        with h5py.File(small, "a") as file:
            del file["salt"]
            if thing == "group":
                file.create_group("salt")
            else:
                file["salt"] = thing
        miniapp.fails(INPUT, "dataset 'salt'", small, "-k", "eos")
        small.write_bytes(original)


def test_raw_data_in_an_absent_file(miniapp, small):
    shape = read(small, "salt").shape
    with h5py.File(small, "a") as file:
        del file["salt"]
        file.create_dataset("salt", shape, "f8",
                            external=[("/nowhere/salt", 0, h5py.h5f.UNLIMITED)])
    miniapp.fails(INPUT, "dataset 'salt' has its numbers in other files", small, "-k", "eos")


# ---- values ----

def nonfinite(datasets):
    """Each with NaN, Inf or -Inf, in turn."""
    return zip(datasets, itertools.cycle((np.nan, np.inf, -np.inf)))


def test_nonfinite_is_refused_and_named(miniapp, small, kernel):
    original = small.read_bytes()
    for dataset, value in nonfinite(kernel.reals(kernel.new_inputs)):
        shape = read(small, dataset.name).shape
        index = tuple(length // 2 for length in shape)
        change(small, dataset.name, index, value)
        change(small, dataset.name, tuple(length - 1 for length in shape), value)
        place = ", ".join(map(str, index))
        miniapp.fails(INPUT, rf"{dataset.name}\[{place}\] is -?(nan|inf).*--allow-nonfinite", small,
                      "-k", kernel)
        small.write_bytes(original)


def test_nonfinite_is_accepted_on_demand(miniapp, small):
    """By all kernels that read it."""
    original = small.read_bytes()
    for dataset, value in nonfinite(dataset for kernel in miniapp.kernels
                                    for dataset in kernel.reals(kernel.new_inputs)):
        readers = [kernel.name for kernel in miniapp.kernels if kernel.reads(dataset.name)]
        index = tuple(length // 2 for length in read(small, dataset.name).shape)
        change(small, dataset.name, index, value)
        miniapp.passes(small, "-k", ",".join(readers), "--allow-nonfinite")
        small.write_bytes(original)


def test_allowing_nonfinite_allows_nothing_else(miniapp, small):
    change(small, "salt", WATER, -1)
    miniapp.fails(INPUT, r"salt\[1, 2, 4\] is -1", small, "-k", "eos", "--allow-nonfinite")


@pytest.mark.parametrize("name, value", [("salt", -0.5), ("salt", 51), ("temp", -21), ("temp", 99),
                                         ("p", -1), ("p", 13000)])
def test_values_out_of_range(miniapp, small, name, value):
    index = WATER[:read(small, name).ndim]
    change(small, name, index, value)
    place = ", ".join(map(str, index))
    miniapp.fails(INPUT, rf"small\.h5: {name}\[{place}\] is {value}, but must be from", small,
                  "-k", "eos")


def test_invalid_values_are_accepted_on_demand(miniapp, small):
    change(small, "salt", WATER, 60)
    change(small, "temp", WATER, 99)
    miniapp.passes(small, "-k", "eos", "--allow-invalid")
    change(small, "temp", WATER, np.nan)
    miniapp.fails(INPUT, r"temp\[1, 2, 4\] is nan", small, "-k", "eos", "--allow-invalid")


def test_depth_above_the_surface_is_no_pressure(miniapp, small):
    with h5py.File(small, "a") as file:
        del file["p"]
        file["zt"][2] = 50
    miniapp.fails(INPUT, r"small\.h5: zt\[2\] is 50, but must be at most 0", small, "-k", "eos")


@pytest.mark.parametrize("value", [2, 0.5, -1, np.nan, 256, 1e30])
@pytest.mark.kernels_that_read("mask")
def test_masks_are_0_or_1(miniapp, small, kernel, value):
    original = small.read_bytes()
    for dataset in (dataset for dataset in kernel.new_inputs if dataset.is_mask):
        values = read(small, dataset.name).astype(float)
        values[1, 2, 3] = value
        replace(small, dataset.name, values)
        miniapp.fails(INPUT, rf"{dataset.name}\[1, 2, 3\] is .*must be", small, "-k", kernel,
                      "--allow-nonfinite", "--allow-invalid")
        small.write_bytes(original)


@pytest.mark.parametrize("value", [-1, 0.5, 1e30])
def test_levels_are_whole_and_not_negative(miniapp, small, value):
    values = read(small, "kbot").astype(float)
    values[2, 3] = value
    replace(small, "kbot", values)
    miniapp.fails(INPUT, r"kbot\[2, 3\] is .*must be", small, "-k", "tke")


@pytest.mark.kernels_that_read("kbot")
def test_level_above_the_surface(miniapp, small, kernel):
    """Whether or not something else that a kernel reads tells how many there are."""
    change(small, "kbot", (2, 3), read(small, "zt").size + 1)
    miniapp.fails(INPUT, r"kbot\[2, 3\] is", small, "-k", kernel)


# ---- grids and attributes ----

@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("cells", [1, 4])
def test_grid_too_small_for_its_ghosts(miniapp, small, ocean, axis, cells):
    values = {name: value.take(range(cells), axes_of(name, value, ocean).index(axis))
              if axis in axes_of(name, value, ocean) else value
              for name, value in ocean[0].items()}
    write(small, values, halo=2)
    miniapp.fails(INPUT, rf"small\.h5: {cells} cells along {axis} are too few", small)


def axes_of(name, value, ocean):
    """By the lengths, which differ on the test's grid."""
    nz, ny, nx = ocean[0]["salt"].shape
    assert len({nx, ny, nz, 2}) == 4, name
    names = {nx: "x", ny: "y", nz: "z", 2: "ip, jp or kr"}
    return [names[length] for length in value.shape]


def test_one_cell_is_enough_without_ghosts(miniapp, tmp_path):
    values = {"salt": [[[35.0]]], "temp": [[[10.0]]], "p": [1000.0]}
    path = write(tmp_path / "one.h5", values, halo=0)
    output = tmp_path / "output.h5"
    miniapp.passes(path, "-k", "eos", "--output", output)
    assert read(output, "dHdT").shape == (1, 1, 1)


BAD_HALOS = [1, 3, -2, 2.5, np.nan, np.inf, 1e30, "2", "none", np.array([2, 2]),
             np.array([], float), np.zeros((), [("a", "f8")])]


@pytest.mark.parametrize("halo", BAD_HALOS, ids=repr)
def test_halo_is_0_or_2(miniapp, small, halo):
    with h5py.File(small, "a") as file:
        file.attrs["halo"] = halo
    miniapp.fails(INPUT, r"small\.h5: attribute 'halo' (must be a|is \S+, but must be 0 or 2)", small)


@pytest.mark.parametrize("value", [2, -1, "yes", np.nan], ids=repr)
def test_cyclic_is_0_or_1(miniapp, small, value):
    with h5py.File(small, "a") as file:
        file.attrs["cyclic_x"] = value
    miniapp.fails(INPUT, r"small\.h5: attribute 'cyclic_x'", small)


@pytest.mark.parametrize("halo", [2, 2.0, np.int8(2), np.array([2]), np.float32(2),
                                  np.array(2, ">i4")], ids=repr)
def test_any_number_may_name_the_halo(miniapp, small, halo):
    with h5py.File(small, "a") as file:
        file.attrs["halo"] = halo
    miniapp.passes(small, "-k", "eos")


@pytest.mark.parametrize("value", [0, 6, 2.5, np.nan, np.inf, "3", [3, 3]], ids=repr)
def test_settings_in_the_file_are_checked(miniapp, small, value):
    with h5py.File(small, "a") as file:
        file.attrs["eq_of_state_type"] = value
    miniapp.fails(INPUT, r"small\.h5: .*'eq_of_state_type'", small)


@pytest.mark.parametrize("value", [0, 1.5, np.nan], ids=repr)
def test_settings_that_no_kernel_reads_do_not_matter(miniapp, small, value):
    with h5py.File(small, "a") as file:
        file.attrs["eq_of_state_type"] = value
    miniapp.passes("-k", "eos", small)


# ---- what is accepted ----

@pytest.mark.parametrize("dtype", ["<f4", ">f4", ">f8", "<f2", np.longdouble], ids=str)
def test_real_types_are_converted(miniapp, small, dtype):
    with h5py.File(small, "a") as file:
        for name in ("salt", "temp", "p"):
            file[name][...] = file[name][...].astype(dtype).astype(float)
    expected = miniapp.checksums(small, "-k", "eos")
    for name in ("salt", "temp", "p"):
        replace(small, name, read(small, name).astype(dtype))
    assert miniapp.checksums(small, "-k", "eos") == expected


@pytest.mark.parametrize("dtype", ["<i2", ">i2", "i1", "u1", "<i8", ">u4"])
def test_integer_types_are_converted(miniapp, small, dtype):
    with h5py.File(small, "a") as file:
        del file["zt"]  # which such pressures contradict
        file["p"][...] = np.arange(1, 7)[::-1]
        for name in ("salt", "temp"):
            file[name][...] = np.round(abs(file[name][...]))
    expected = miniapp.checksums(small, "-k", "eos")
    for name in ("salt", "temp", "p"):
        replace(small, name, read(small, name).astype(dtype))
    assert miniapp.checksums(small, "-k", "eos") == expected


@pytest.mark.parametrize("layout", [
    {}, {"chunks": (1, 2, 3)}, {"chunks": (4, 4, 4), "compression": "gzip", "shuffle": True},
    {"fletcher32": True, "chunks": (2, 3, 4)}, {"maxshape": (None, None, None)},
], ids=str)
def test_layouts(miniapp, small, small_checksums, layout):
    for name in ("salt", "temp"):
        replace(small, name, read(small, name), **layout)
    assert miniapp.checksums(small) == small_checksums


LACKS = r"dataset 'salt' is stored by the filter {} \({}\), which this HDF5 lacks: .*HDF5_PLUGIN_PATH"


def test_filter_that_comes_with_h5py_only(miniapp, small):
    replace(small, "salt", read(small, "salt"), chunks=(3, 9, 11), compression="lzf")
    miniapp.fails(INPUT, LACKS.format(32000, "lzf"), small, "-k", "eos")


@pytest.mark.parametrize("number, name", [(32015, "zstd"), (32026, "blosc2"),
                                          (40001, "without a name")])
def test_filter_that_nobody_has(miniapp, small, number, name):
    """Written as its plugin would: HDF5 keeps the chunk as it is given."""
    shape = read(small, "salt").shape
    with h5py.File(small, "a") as file:
        del file["salt"]
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(shape)
        creation.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (3,))
        dataset = h5py.h5d.create(file.id, b"salt", h5py.h5t.IEEE_F64LE,
                                  h5py.h5s.create_simple(shape), creation)
        dataset.write_direct_chunk((0, 0, 0), b"what zstd makes of it")
    miniapp.fails(INPUT, LACKS.format(number, name), small, "-k", "eos",
                  env={"HDF5_PLUGIN_PATH": "/no/such/folder"})


def test_old_format(miniapp, small, small_checksums, ocean):
    """The format of HDF5 1.0, which h5py writes if it is not told otherwise."""
    with h5py.File(small, "w", libver="earliest") as file:
        for name, values in ocean[0].items():
            file[name] = values
        file.attrs.update({**ocean[1], "halo": HALO})
    assert miniapp.checksums(small) == small_checksums


def test_masks_may_be_booleans(miniapp, small, small_checksums):
    """h5py stores them as an enumeration."""
    for name in {mask.name for kernel in miniapp.ocean for mask in kernel.masks()}:
        replace(small, name, read(small, name).astype(bool))
    assert miniapp.checksums(small) == small_checksums


def test_unknown_datasets_and_attributes_are_ignored(miniapp, small, small_checksums):
    with h5py.File(small, "a") as file:
        file["history"] = "made by hand"
        file["extra/salt"] = np.zeros((2, 2))
        file.attrs["title"] = "a small ocean"
    assert miniapp.checksums(small) == small_checksums


def test_absent_pressure_is_the_depth(miniapp, small):
    with h5py.File(small, "a") as file:
        file["p"][...] = -file["zt"][...]
    expected = miniapp.checksums(small, "-k", "eos")
    with h5py.File(small, "a") as file:
        del file["p"]
    assert miniapp.checksums(small, "-k", "eos") == expected


# ---- ghosts ----

def without_ghosts(values, ocean, cyclic):
    """The interior of the test's ocean, whose faces do not lead out of it."""
    inside = slice(HALO, -HALO)
    interior = {name: value[tuple(inside if axis in "xy" else slice(None)
                                  for axis in axes_of(name, value, ocean))]
                for name, value in values.items()}
    return interior | fields.faces(interior["maskT"], cyclic, halo=0)


def padded(values, ocean, mode_x, mode_y):
    """Ghosts as numpy adds them; `land` closes a side: masks, indices and velocities are 0 there."""
    result = {}
    for name, value in values.items():
        axes = axes_of(name, ocean[0][name], ocean)
        for axis, mode in (("x", mode_x), ("y", mode_y)):
            if axis not in axes:
                continue
            width = [(HALO, HALO) if a == axis else (0, 0) for a in axes]
            is_land = mode == "land" and (name.startswith("mask") or name == "kbot"
                                          or name.endswith("_wgrid") or name in ("u", "v"))
            value = np.pad(value, width, "wrap" if mode == "wrap" else
                           "constant" if is_land else "edge")
        result[name] = value
    return result


@pytest.mark.parametrize("cyclic", [1, 0])
def test_ghosts_are_added_and_stripped(miniapp, together, ocean, kernel, cyclic):
    """The same result as with the ghosts in the file, without the ghosts."""
    def make(path):
        interior = without_ghosts(ocean[0], ocean, cyclic)
        explicit = padded(interior, ocean, "wrap" if cyclic else "land", "land")
        bare = write(path, interior, ocean[1], halo=0, cyclic_x=cyclic)
        full = write(path.with_suffix(".full.h5"), explicit, ocean[1], halo=2)
        for row in miniapp.json(bare)["results"]:
            assert (row["nz"], row["ny"], row["nx"]) == ocean[0]["salt"].shape
        return together.output(bare), together.output(full)
    outputs = together.once(("ghosts", cyclic), make)
    for output in kernel.outputs:
        inside = tuple(slice(HALO, -HALO) if axis in "xy" else slice(None) for axis in output.axes)
        found, whole = (read_of(kernel, path, output.name) for path in outputs)
        assert not output.axes or whole.shape[-2:] == ocean[0]["salt"].shape[-2:]
        np.testing.assert_array_equal(found, whole[inside])


def test_closed_is_the_default(miniapp, tmp_path, ocean):
    interior = without_ghosts(ocean[0], ocean, cyclic=0)
    outputs = []
    for cyclic in (None, 0):
        path = write(tmp_path / "bare.h5", interior, ocean[1], halo=0, cyclic_x=cyclic)
        outputs.append(tmp_path / f"{cyclic}.out.h5")
        miniapp.passes(path, "--output", outputs[-1])
    for kernel in miniapp.ocean:
        for output in kernel.outputs:
            np.testing.assert_array_equal(*(read(path, output.name) for path in outputs))


# ---- too large ----

@pytest.mark.unsanitized("the sanitizer ends a program that asks for that much")
@pytest.mark.parametrize("shape", [(20000, 20000, 20000), (2**30, 2**20, 2**20)], ids=str)
def test_dataset_larger_than_memory(miniapp, tmp_path, shape):
    """A file may say so with a few bytes: nothing is stored in it."""
    path = tmp_path / "huge.h5"
    with create(path) as file:
        file.attrs["halo"] = 0
        for name in ("salt", "temp"):
            file.create_dataset(name, shape, "f8", chunks=(1, 64, 64))
        file.create_dataset("p", shape[:1], "f8", chunks=(64,))
    assert_first_line(miniapp, "huge.h5: dataset 'salt' is too large .* GB", path)


@pytest.mark.unsanitized("the sanitizer ends a program that asks for that much")
@pytest.mark.parametrize("place", range(3))
def test_longest_axes(miniapp, tmp_path, place):
    """More cells than GPU code can count are refused by name; as many are too large for memory."""
    for cells, reason in ((2**31, f"2147483648 cells along {'zyx'[place]}, but must have 1 to "
                                  "2147483647"), (2**31 - 1, "too large for memory")):
        shape = [50, 50, 50]
        shape[place] = cells
        path = tmp_path / f"{cells}.h5"
        with create(path) as file:
            file.attrs["halo"] = 0
            for name in ("salt", "temp"):
                file.create_dataset(name, shape, "f8", chunks=(8, 8, 8))
            file.create_dataset("p", shape[:1], "f8", chunks=(8,))
        assert_first_line(miniapp, reason, path)


def assert_first_line(miniapp, pattern, path):
    """Others say that nothing was written."""
    done = miniapp.run("-k", "eos", path)
    assert done.returncode == INPUT and re.search(pattern, done.stderr.splitlines()[0]), done


# ---- what would silently be read as something else ----

def test_never_written(miniapp, small):
    with h5py.File(small, "a") as file:
        shape = file["temp"].shape
        del file["temp"]
        file.create_dataset("temp", shape, float, chunks=shape)
    miniapp.fails(INPUT, "'temp' was never written", small)


def test_float32_cannot_hold_it(miniapp, small):
    change(small, "K_iso", WATER, 1e39)
    miniapp.fails(INPUT, r"small\.h5: K_iso\[1, 2, 4\] is 1e.39, but must be from 0", "-k",
                  "isoneutral", small)
    miniapp.fails(INPUT, "'K_iso' holds 1e.39, which float32 cannot", "-k", "isoneutral",
                  "--precision", "float32", "--allow-invalid", small)


@pytest.mark.parametrize("value", [1e-46, 1e-40])
@pytest.mark.parametrize("name", ["dxu", "dzw", "cost", "mxl"])
def test_what_vanishes_in_float32(miniapp, small, name, value):
    """What has to be above 0 becomes 0 there, or lacks digits."""
    index = {"mxl": (5, 4, 5)}.get(name, (3,))
    if name == "mxl":
        replace(small, "kbot", np.ones_like(read(small, "kbot")))
        for mask in ("maskT", "maskU", "maskV", "maskW"):
            replace(small, mask, np.ones_like(read(small, mask)))
    change(small, name, index, value)
    place = ", ".join(map(str, index))
    for precisions in ("float32", "float64,float32"):
        miniapp.fails(INPUT, rf"small\.h5: {name}\[{place}\] is {value:g}, which float32 cannot hold",
                      "-k", "tke", "--precision", precisions, small)
    change(small, name, index, value * 1e10)
    miniapp.passes("-k", "tke", "--precision", "float32", "--allow-nonfinite", small)


def test_land_is_0_or_in_range(miniapp, small):
    """Where kbot says land, mixing length may be 0, which it may not be on water."""
    y, x = np.argwhere(read(small, "kbot") == 0)[0]
    change(small, "mxl", (3, y, x), 0)
    miniapp.passes("-k", "tke", small)
    change(small, "mxl", (3, y, x), -1)
    miniapp.fails(INPUT, rf"mxl\[3, {y}, {x}\] is -1, but must be positive and at most 100000, or 0 on land",
                  "-k", "tke", small)
    change(small, "mxl", (3, y, x), 0)
    y, x = np.argwhere(read(small, "kbot") > 0)[0]
    change(small, "mxl", (5, y, x), 0)
    miniapp.fails(INPUT, rf"mxl\[5, {y}, {x}\] is 0, but must be positive", "-k", "tke", small)


@pytest.mark.parametrize("mask, message", [
    (np.ones((7, 9, 11)), "'maskT' has 7 cells along z"), (np.ones((6, 9, 11) + (1,) * 5), "'maskT' has 8 axes"),
    (np.full((6, 9, 11), 2), r"maskT\[0, 0, 0\] is 2")], ids=("longer", "more axes", "2"))
@pytest.mark.parametrize("reader", ["eos", "density"])
def test_mask_that_tells_which_ghosts_count(miniapp, small, reader, mask, message):
    """It is checked, and reported once, whether or not the kernel itself reads it."""
    replace(small, "maskT", mask)
    for name in ("salt", "temp", "maskW"):
        replace(small, name, read(small, name)[..., (np.arange(11) - HALO) % 7 + HALO])
    with h5py.File(small, "a") as file:
        file.attrs["cyclic_x"] = 1
    miniapp.fails(INPUT, message, "-k", reader, small)
