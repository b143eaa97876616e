"""Files of HDF5 that are valid netCDF-4 and the same bit for bit on every run: no times, checksums on all data."""

import functools
import os

import h5py
import numpy as np
from h5py import h5a, h5d, h5ds, h5p, h5s, h5t


def create_file(path):
    """An empty file of the 1.10 format; h5py.File cannot leave out the root group's times."""
    creation = h5p.create(h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    return h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_TRUNC, creation, access))


@functools.cache
def number_type(dtype):
    return h5t.py_create(dtype, logical=True)


@functools.cache
def text_type(length, is_ascii):
    """A fixed length: HDF5 puts other strings in its heap, which has no checksum."""
    return h5t.py_create(h5py.string_dtype("ascii" if is_ascii else "utf-8", length), logical=True)


def set_attributes(target, attributes):
    for key, value in attributes.items():
        if isinstance(value, str):
            values = np.array(value.encode() or b"\0")
            kind = text_type(values.itemsize, value.isascii())
        else:
            values = np.asarray(value, order="C")
            kind = number_type(values.dtype)
        h5a.create(target, key.encode(), kind, h5s.create_simple(values.shape)).write(values, kind)


def chunks_of(values):
    """The whole; one level or record where HDF5's cache of chunks, 1 MB, does not hold the whole, since whoever reads a
    part of a chunk then unpacks all of it."""
    return values.shape if values.nbytes <= 2**20 else (1,) * (values.ndim - 2) + values.shape[-2:]


def create_dataset(group, name, values):
    values = np.asarray(values, order="C")
    creation = h5p.create(h5p.DATASET_CREATE)
    creation.set_chunk(chunks_of(values))
    creation.set_fill_time(h5d.FILL_TIME_ALLOC)
    creation.set_shuffle()
    creation.set_deflate(6)
    creation.set_fletcher32()
    creation.set_obj_track_times(False)
    kind = number_type(values.dtype)
    dataset = h5d.create(group, name.encode(), kind, h5s.create_simple(values.shape), creation)
    dataset.write(h5s.ALL, h5s.ALL, values, kind)
    return dataset


def create_bare_scale(group, axis, length):
    """A dimension without coordinates, marked as netCDF-4 does."""
    scale = create_dataset(group, axis, np.zeros(length, "i1"))
    h5ds.set_scale(scale, b"This is a netCDF dimension but not a netCDF variable.%10d" % length)
    return scale


def write(path, fields, axes_of, attributes_of, root):
    """Datasets with checksums; one that is its own axis is the scale of that axis. A dataset has scales on all of
    its axes or on none, as netCDF-4 wants. h5py's layer above HDF5 would take most of the time for a small file."""
    scales = {}
    with create_file(path) as h5:
        set_attributes(h5.id, root)
        for name, values in fields.items():
            dataset = create_dataset(h5.id, name, values)
            set_attributes(dataset, attributes_of(name))
            if tuple(axes_of(name)) == (name,):
                h5ds.set_scale(dataset, name.encode())
                scales[name] = dataset
                continue
            own = axes_of(name)
            for i, axis in enumerate(own if set(own) & set(scales) else ()):
                if axis not in scales:
                    scales[axis] = create_bare_scale(h5.id, axis, values.shape[i])
                h5ds.attach_scale(dataset, scales[axis], i)
