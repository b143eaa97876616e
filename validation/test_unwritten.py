"""Data that are not there, which HDF5 reads as zeros: refused with the first index that lacks them,
unless the file's writer said by a fill value what stands in their place."""

import os
import resource

import h5py
import numpy as np
import pytest

from conftest import INPUT, create, read, replace

OUTSIDE = "--allow-external"


def half_written(path, name, half, **options):
    """A dataset of which `half` alone is written."""
    values = read(path, name)
    with h5py.File(path, "a") as file:
        attributes = dict(file[name].attrs)
        del file[name]
        file.create_dataset(name, values.shape, values.dtype, **options)
        file[name][half] = values[half]
        file[name].attrs.update(attributes)


# ---- chunks ----

@pytest.mark.parametrize("libver", ["earliest", "v110"])
@pytest.mark.parametrize("filters", [{}, {"compression": "gzip"}], ids=str)
def test_chunks_that_are_not_there(miniapp, tmp_path, ocean, libver, filters):
    path = tmp_path / "half.h5"
    with h5py.File(path, "w", libver=(libver, "v110")) as file:
        file.attrs.update({**ocean[1], "halo": 2})
        for name, value in ocean[0].items():
            file[name] = value
    half_written(path, "salt", slice(0, 3), chunks=(1, 5, 4), **filters)
    miniapp.fails(INPUT, r"half\.h5: salt\[3, 0, 0\] is missing: it was never written, and no fill",
                  path)


@pytest.mark.parametrize("half, place", [
    ((slice(None), slice(0, 4)), "0, 4, 0"), ((slice(None), slice(4, None)), "0, 0, 0"),
    ((slice(0, 5), slice(None), slice(0, 8)), "0, 0, 8")])
def test_first_index_that_is_missing(miniapp, small, half, place):
    half_written(small, "temp", half, chunks=(2, 4, 4))
    miniapp.fails(INPUT, rf"small\.h5: temp\[{place}\] is missing", small, "-k", "eos")


def test_every_dataset_is_looked_at(miniapp, small, of_each_shape):
    """Masks, indices and lines of numbers, too."""
    original = small.read_bytes()
    for dataset, kernel in of_each_shape:
        if dataset.axes:
            values = read(small, dataset.name)
            half = 1 if values.ndim == 5 else 2  # there are two corners along an axis
            half_written(small, dataset.name, slice(0, half), chunks=(half,) * values.ndim)
            place = ", ".join([str(half)] + ["0"] * (values.ndim - 1))
            miniapp.fails(INPUT, rf"{dataset.name}\[{place}\] is missing", small, "-k", kernel)
            small.write_bytes(original)


def test_edges_of_chunks_count_as_one(miniapp, small, small_checksums):
    """Chunks that reach over the edges of the dataset, and those that may follow."""
    for name in ("salt", "temp"):
        replace(small, name, read(small, name), chunks=(4, 4, 4), maxshape=(None, None, None))
    assert miniapp.checksums(small) == small_checksums


def test_a_fill_value_that_was_set(miniapp, small):
    """It is what the writer meant: netCDF-4 writes so."""
    with h5py.File(small, "a") as file:
        file["tke_taup1"][3:] = 0.25
    expected = miniapp.checksums(small)
    half_written(small, "tke_taup1", slice(0, 3), chunks=(1, 9, 11), fillvalue=0.25)
    assert miniapp.checksums(small) == expected


@pytest.mark.parametrize("fill, attribute", [(np.nan, False), (9.96921e36, True), (1e30, False)])
def test_a_fill_value_that_means_missing(miniapp, small, fill, attribute):
    wet = read(small, "maskT")
    half_written(small, "salt", slice(0, 3), chunks=(1, 9, 11), fillvalue=fill)
    with h5py.File(small, "a") as file:
        if attribute:
            file["salt"].attrs["_FillValue"] = fill
    place = ", ".join(map(str, np.argwhere(wet[3:])[0] + (3, 0, 0)))
    miniapp.fails(INPUT, rf"salt\[{place}\] is ", small, "-k", "isoneutral")


def test_a_fill_value_that_is_not_read(miniapp, small):
    """HDF5 does not put it there where the writer asked it not to."""
    values = read(small, "salt")
    with h5py.File(small, "a") as file:
        del file["salt"]
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((1, 9, 11))
        creation.set_fill_value(np.array(35.0))
        creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple(values.shape)
        h5py.h5d.create(file.id, b"salt", h5py.h5t.NATIVE_DOUBLE, space, creation)
        file["salt"][:3] = values[:3]
    miniapp.fails(INPUT, r"salt\[3, 0, 0\] is missing", small, "-k", "eos")


def test_only_the_record_that_is_read_counts(miniapp, small, small_checksums):
    salt = read(small, "salt")
    with h5py.File(small, "a") as file:
        del file["salt"]
        file.create_dataset("salt", (3, *salt.shape), float, chunks=(1, 2, *salt.shape[1:]))
        file["salt"][1] = salt
        file["salt"][2, :4] = salt[:4]
    assert miniapp.checksums("--time", 1, small) == small_checksums
    miniapp.fails(INPUT, r"small\.h5: salt\[0, 0, 0, 0\] is missing", "--time", 0, small)
    miniapp.fails(INPUT, r"small\.h5: salt\[2, 4, 0, 0\] is missing", "--time", 2, small)


# ---- raw data in other files ----

def move_out(path, name, *sizes):
    """Puts a dataset's data into other files, of so many bytes each; the last takes the rest."""
    values = read(path, name)
    content = values.tobytes()
    external = []
    for number, size in enumerate([*sizes, None]):
        part = path.parent / f"{name}.{number}.raw"
        part.write_bytes(b"head" + (content if size is None else content[:size]))
        external.append((str(part), 4, h5py.h5f.UNLIMITED if size is None else size))
        content = b"" if size is None else content[size:]
    with h5py.File(path, "a") as file:
        del file[name]
        file.create_dataset(name, values.shape, values.dtype, external=external)
    return [name for name, _, _ in external]


def test_raw_data_that_are_cut_short(miniapp, small, small_checksums):
    level = read(small, "salt")[0].nbytes
    first, last = move_out(small, "salt", 2 * level)
    assert miniapp.checksums(OUTSIDE, small) == small_checksums
    os.truncate(last, 4 + level + 8)
    miniapp.fails(INPUT, rf"small\.h5: salt\[3, 0, 1\] is missing: the file '{last}' of its raw data "
                         "ends before", OUTSIDE, small)
    os.truncate(first, 4 + level)
    miniapp.fails(INPUT, r"small\.h5: salt\[1, 0, 0\] is missing", OUTSIDE, small)
    os.truncate(first, 0)
    miniapp.fails(INPUT, r"small\.h5: salt\[0, 0, 0\] is missing", OUTSIDE, small)


# ---- virtual datasets ----

def show(path, name, parts, shape, **options):
    """A virtual dataset: (index, file, dataset, shape of the source) each."""
    layout = h5py.VirtualLayout(shape, "f8")
    for index, file, dataset, part in parts:
        layout[index] = h5py.VirtualSource(file, dataset, part)
    with h5py.File(path, "a") as file:
        if name in file:
            del file[name]
        file.create_virtual_dataset(name, layout, **options)


def put(path, name, values, **options):
    with h5py.File(path, "a") as file:
        file.create_dataset(name, data=values, **options)


def test_what_no_source_shows(miniapp, small, small_checksums):
    salt = read(small, "salt")
    for k, level in enumerate(salt):
        put(small, f"level{k}", level)
    parts = [(k, ".", f"level{k}", salt.shape[1:]) for k in range(len(salt))]
    show(small, "salt", parts, salt.shape)
    assert miniapp.checksums(small) == small_checksums
    show(small, "salt", parts[:2] + parts[3:], salt.shape)
    miniapp.fails(INPUT, r"small\.h5: salt\[2, 0, 0\] is missing: none of the sources", small)
    show(small, "salt", [(np.s_[:, 0:4], ".", "west", (6, 4, 11))], salt.shape)
    put(small, "west", salt[:, :4])
    miniapp.fails(INPUT, r"small\.h5: salt\[0, 4, 0\] is missing", small)


def test_sources_that_lack_chunks(miniapp, small, small_checksums):
    salt = read(small, "salt")
    put(small, "theirs", salt, chunks=(1, 9, 11))
    show(small, "salt", [(np.s_[:], ".", "theirs", salt.shape)], salt.shape)
    assert miniapp.checksums(small) == small_checksums
    half_written(small, "theirs", slice(0, 4), chunks=(1, 9, 11))
    miniapp.fails(INPUT, r"small\.h5: theirs\[4, 0, 0\] is missing: it was never written", small)
    with h5py.File(small, "a") as file:
        del file["theirs"]
        file.create_dataset("theirs", salt.shape, float)
    miniapp.fails(INPUT, r"small\.h5: dataset 'theirs' was never written", small)


def series(path, name, shape, blocks):
    """A virtual dataset of one level a file, without end."""
    with h5py.File(path, "a") as file:
        del file[name]
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        unlimited = h5py.h5s.UNLIMITED
        space = h5py.h5s.create_simple((blocks, *shape), (unlimited, *shape))
        space.select_hyperslab((0, 0, 0), (unlimited, 1, 1), (1, 1, 1), (1, *shape))
        creation.set_virtual(space, b"level%b.h5", name.encode(), h5py.h5s.create_simple(shape))
        whole = h5py.h5s.create_simple((blocks, *shape), (unlimited, *shape))
        h5py.h5d.create(file.id, name.encode(), h5py.h5t.NATIVE_DOUBLE, whole, creation)


def test_series_that_lacks_a_block(miniapp, small, small_checksums):
    """HDF5 takes the gap for its end."""
    salt = read(small, "salt")
    for k, level in enumerate(salt):
        put(small.parent / f"level{k}.h5", "salt", level)
    series(small, "salt", salt.shape[1:], len(salt))
    assert miniapp.checksums(OUTSIDE, small) == small_checksums
    (small.parent / "level2.h5").unlink()
    miniapp.fails(INPUT, r"small\.h5: dataset 'salt' is virtual, but block 2 of its sources is "
                         "missing, while block 3 is there", OUTSIDE, small, "-k", "eos")


def test_sources_of_different_lengths(miniapp, small, small_checksums):
    """Without end each: the records that all of them have are those of the dataset."""
    salt = read(small, "salt")
    records = np.stack([salt + 1, salt, salt + 2])
    unlimited = h5py.h5s.UNLIMITED
    with h5py.File(small, "a") as file:
        del file["salt"]
        nz, ny, nx = salt.shape
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        whole = h5py.h5s.create_simple((3, nz, ny, nx), (unlimited, nz, ny, nx))
        for name, first, end, count in ((b"south", 0, 4, 3), (b"north", 4, ny, 2)):
            part = records[:count, :, first:end]
            file.create_dataset(name.decode(), data=part, maxshape=(None, *part.shape[1:]))
            shown = h5py.h5s.create_simple((3, nz, ny, nx), (unlimited, nz, ny, nx))
            shown.select_hyperslab((0, 0, first, 0), (1,) * 4, block=(unlimited, *part.shape[1:]))
            source = h5py.h5s.create_simple(part.shape, (unlimited, *part.shape[1:]))
            source.select_hyperslab((0,) * 4, (1,) * 4, block=(unlimited, *part.shape[1:]))
            creation.set_virtual(shown, b".", name, source)
        h5py.h5d.create(file.id, b"salt", h5py.h5t.NATIVE_DOUBLE, whole, creation)
    assert miniapp.checksums("--time", -1, small) == small_checksums
    miniapp.fails(INPUT, r"small\.h5: dataset 'salt' has 2 records in time, but --time chooses 2",
                  "--time", 2, small)


# ---- slow, and large ----

def test_many_sources_are_slow_but_sound(miniapp, small, small_checksums):
    """To open them all takes longer than a damaged file is waited for."""
    salt, records = read(small, "salt"), 4000
    put(small.parent / "day.h5", "salt", salt)
    source = h5py.h5s.create_simple(salt.shape)
    shown = h5py.h5s.create_simple((records, *salt.shape))
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    for record in range(records):
        shown.select_hyperslab((record, 0, 0, 0), (1, *salt.shape))
        creation.set_virtual(shown, b"day.h5", b"salt", source)
    with h5py.File(small, "a") as file:
        del file["salt"]
        h5py.h5d.create(file.id, b"salt", h5py.h5t.NATIVE_DOUBLE,
                        h5py.h5s.create_simple((records, *salt.shape)), creation)
    assert miniapp.checksums(OUTSIDE, "--time", 7, small) == small_checksums


def test_many_small_chunks_are_slow_but_sound(miniapp, tmp_path):
    """HDF5 takes long over them, but comes to an end."""
    shape = (20, 50, 50)
    path = tmp_path / "chunks.h5"
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = 0
        file["temp"] = np.full(shape, 10.0)
        file["p"] = np.arange(20, 0, -1) * 10.0
        salt = file.create_dataset("salt", shape, float, chunks=(1, 1, 1), compression="gzip",
                                   fillvalue=35.0)
        salt[:, 0, 0] = 34.0
    miniapp.passes("-k", "eos", path)


@pytest.mark.unsanitized("the sanitizer needs an address space without limits")
def test_a_chunk_larger_than_memory(miniapp, tmp_path):
    """It is unpacked as a whole, whatever part of it is in the dataset."""
    path = tmp_path / "chunk.h5"
    with create(path) as file:
        file.attrs["halo"] = 2
        for name in ("salt", "temp"):
            file.create_dataset(name, (2, 5, 5), float, maxshape=(None, None, None),
                                chunks=(64, 1024, 1024), compression="gzip")
        file["p"] = [20.0, 10.0]
    limit = 2**29
    miniapp.fails(INPUT, r"chunk\.h5: dataset 'salt' is too large for memory: it needs 1\.07 GB",
                  path, "-k", "eos", "-t", 1,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
