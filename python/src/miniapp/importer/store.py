"""Files of HDF5 that are valid netCDF-4 and the same bit for bit on every run: no times, checksums on all data."""

import os

import h5py
import numpy as np
from h5py import h5p


def create_file(path):
    """An empty file of the 1.10 format; h5py.File cannot leave out the root group's times."""
    creation = h5p.create(h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    return h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_TRUNC, creation, access))


def set_attributes(target, attributes):
    """Texts have a fixed length: HDF5 puts other strings in its heap, which has no checksum."""
    for key, value in attributes.items():
        if isinstance(value, str):
            text = value.encode() or b"\0"
            value = np.array(text, h5py.string_dtype("ascii" if value.isascii() else "utf-8", len(text)))
        target.attrs.create(key, value)


def chunks_of(values):
    """The whole; one level or record where HDF5's cache of chunks, 1 MB, does not hold the whole, since whoever reads a
    part of a chunk then unpacks all of it."""
    return values.shape if values.nbytes <= 2**20 else (1,) * (values.ndim - 2) + values.shape[-2:]


def create_dataset(group, name, values):
    values = np.asarray(values, order="C")
    return group.create_dataset(name, data=values, chunks=chunks_of(values), compression=6, shuffle=True,
                                fletcher32=True, track_times=False)


def create_bare_scale(group, axis, length):
    """A dimension without coordinates, marked as netCDF-4 does."""
    scale = create_dataset(group, axis, np.zeros(length, "i1"))
    scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{length:10}")
    return scale


def write(path, fields, axes_of, attributes_of, root):
    """Datasets with checksums; one that is its own axis is the scale of that axis. A dataset has scales on all of
    its axes or on none, as netCDF-4 wants."""
    scales = {}
    with create_file(path) as h5:
        set_attributes(h5, root)
        for name, values in fields.items():
            dataset = create_dataset(h5, name, values)
            set_attributes(dataset, attributes_of(name))
            own = tuple(axes_of(name))
            if own == (name,):
                dataset.make_scale(name)
                scales[name] = dataset
                continue
            for i, axis in enumerate(own if set(own) & set(scales) else ()):
                if axis not in scales:
                    scales[axis] = create_bare_scale(h5, axis, values.shape[i])
                dataset.dims[i].attach_scale(scales[axis])
