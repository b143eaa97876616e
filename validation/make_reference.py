#!/usr/bin/python3
"""Write the reference of an input file: the outputs of every kernel that has a reference module.

The result is an output file as the program writes it, with tolerances as
attributes: of two kernels that write one field the second has it as KERNEL.FIELD. It is the same bit for bit each time: no times, no paths, no host in it.
"""

import argparse
import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

import reference
from reference import files

DONE, FAILED, BAD_INPUT = 0, 1, 3  # the exit codes of the program

# HDF5's name for a dimension scale that holds no coordinate, as netCDF-4 reads it
BARE_DIMENSION = "This is a netCDF dimension but not a netCDF variable.%10d"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="REF.h5")
    parser.add_argument("--check", action="store_true",
                        help="compare REF.h5 with a new computation instead of writing it")
    options = parser.parse_args(arguments)
    try:
        with scratch_file(options.output.parent) as scratch:
            write_reference(options.input, scratch)
            if options.check:
                return report(differences(scratch, options.output), options.output)
            os.replace(scratch, options.output)
    except (OSError, KeyError, ValueError) as error:
        print(f"{options.input}: {error}", file=sys.stderr)
        return BAD_INPUT
    return DONE


@contextlib.contextmanager
def scratch_file(folder):
    """A name beside the result, so that a file half written never stands in its place."""
    handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
    os.close(handle)
    os.chmod(name, 0o644)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def write_reference(input_path, output_path):
    with h5py.File(input_path, "r") as source:
        kernels = [kernel for kernel in reference.kernels() if files.is_computable(kernel, source)]
        if not kernels:
            raise ValueError("holds the datasets of no kernel that has a reference")
        with create(output_path) as output:
            describe(output, title="Reference of " + ", ".join(k.NAME for k in kernels),
                     source="validation/make_reference.py: 80-bit arithmetic, rounded",
                     input_sha256=sha256(input_path))
            for kernel in kernels:
                for name, field in files.compute(kernel, source).items():
                    taken = f"{kernel.NAME}.{name}" if name in output else name
                    write_field(output, source, taken, field, kernel.TOLERANCES[name])


def create(path):
    """A file whose root group, too, keeps no times, for which h5py.File has no option."""
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    return h5py.File(h5py.h5f.create(bytes(path), h5py.h5f.ACC_TRUNC, creation, access))


def describe(target, **texts):
    """Attributes of fixed-length strings, netCDF's NC_CHAR."""
    for key, text in texts.items():
        target.attrs[key] = np.bytes_(text)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_field(output, source, name, field, tolerances):
    shape = field.values.shape
    layout = dict(chunks=(1,) * (len(shape) - 2) + shape[-2:], shuffle=True, compression="gzip",
                  compression_opts=9, fletcher32=True)
    dataset = output.create_dataset(name, data=field.values, track_times=False,
                                    **(layout if shape else {}))
    describe(dataset, units=field.units, long_name=field.long_name)
    largest = np.abs(field.values).max()
    for precision, suffix in (("float64", ""), ("float32", "_float32")):
        dataset.attrs["rtol" + suffix] = tolerances[precision].rtol
        dataset.attrs["atol" + suffix] = tolerances[precision].atol_rel * largest
    for dimension, (axis, length) in enumerate(zip(field.axes, shape)):
        dataset.dims[dimension].attach_scale(dimension_scale(output, source, axis, length))


def dimension_scale(output, source, axis, length):
    """The axis, with the input's coordinate where it has one."""
    if axis in output:
        return output[axis]
    if is_coordinate(source.get(axis), length):
        scale = output.create_dataset(axis, data=source[axis][...], track_times=False)
        scale.make_scale(axis)
        for key in ("units", "long_name", "standard_name", "axis", "positive"):
            if key in source[axis].attrs:
                scale.attrs[key] = source[axis].attrs[key]
    else:
        scale = output.create_dataset(axis, (length,), ">f4", track_times=False)
        scale.make_scale(BARE_DIMENSION % length)
    return scale


def is_coordinate(dataset, length):
    if dataset is None or dataset.shape != (length,):
        return False
    return "but not a netCDF variable" not in str(dataset.attrs.get("NAME", ""))


def differences(new_path, stored_path):
    """What the stored file has that a new one has not; the bytes may differ by zlib's version."""
    found = []
    with h5py.File(new_path, "r") as new, h5py.File(stored_path, "r") as stored:
        found += different_attributes("/", new, stored)
        for name in sorted(set(new) | set(stored)):
            if name not in new or name not in stored:
                found.append(f"{name}: in one file only")
                continue
            if not np.array_equal(new[name][...], stored[name][...]):
                found.append(f"{name}: values differ")
            found += different_attributes(name, new[name], stored[name])
    return found


def different_attributes(name, new, stored):
    """Apart from the references between variables and axes, which are addresses in the file."""
    references = {"DIMENSION_LIST", "REFERENCE_LIST"}
    keys = (set(new.attrs) | set(stored.attrs)) - references
    return [f"{name}: attribute {key} differs" for key in sorted(keys)
            if not np.array_equal(new.attrs.get(key), stored.attrs.get(key))]


def report(found, path):
    for line in found:
        print(f"{path}: {line}", file=sys.stderr)
    return FAILED if found else DONE


if __name__ == "__main__":
    sys.exit(main())
