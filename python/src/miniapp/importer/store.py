"""Files of HDF5 that are valid netCDF-4 and the same bit for bit on every run: no times, checksums on all data."""

import os

import h5py
import numpy as np


def create_file(path):
    """An empty file of the 1.10 format; h5py.File cannot leave out the root group's times."""
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    return h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_TRUNC, creation, access))


def set_attributes(target, attributes):
    """Strings get a fixed length: HDF5 puts the others in its heap, which has no checksum."""
    for key, value in attributes.items():
        if isinstance(value, str):
            content = value.encode()
            value = np.array(content, h5py.string_dtype("ascii" if value.isascii() else "utf-8", len(content) or 1))
        target.attrs[key] = value


def chunks_of(values):
    """The whole; one level where that is more than 64 MB, since HDF5's chunks end at 4 GB."""
    return values.shape if values.nbytes <= 2**26 else (1, *values.shape[1:])


def write(path, fields, axes_of, attributes_of, root):
    """Datasets with checksums; one that is its own axis is the scale of that axis. An axis without a scale
    has none attached."""
    scales = {}
    with create_file(path) as h5:
        set_attributes(h5, root)
        for name, values in fields.items():
            dataset = h5.create_dataset(name, data=values, chunks=chunks_of(values), shuffle=True,
                                        compression=6, fletcher32=True, track_times=False)
            set_attributes(dataset, attributes_of(name))
            if tuple(axes_of(name)) == (name,):
                dataset.make_scale(name)
                scales[name] = dataset
                continue
            for i, axis in enumerate(axes_of(name)):
                if axis in scales:
                    dataset.dims[i].attach_scale(scales[axis])
