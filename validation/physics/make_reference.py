#!/usr/bin/python3
"""Write the references of an input: the outputs of every kernel that has a reference module, or of steps.

Each is an output file as the program writes it, with tolerances as attributes. A folder gets a file for each kernel or
sequence; in a single file, the second of two kernels that write one field has it as KERNEL.FIELD. Files are the same
bit for bit each time: no times, no paths, no host in them.
"""

import argparse
import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "run"))
# pylint: disable=wrong-import-position,unused-import
import safely  # noqa: E402,F401

import h5py  # noqa: E402
import numpy as np  # noqa: E402

import pairs  # noqa: E402
import reference  # noqa: E402
from reference import files, steps  # noqa: E402

DONE, FAILED, BAD_INPUT = 0, 1, 3  # the exit codes of the program

# HDF5's name for a dimension scale that holds no coordinate, as netCDF-4 reads it
BARE_DIMENSION = "This is a netCDF dimension but not a netCDF variable.%10d"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=Path, nargs="?")
    parser.add_argument("-o", "--output", type=Path, metavar="PATH",
                        help="NAME.h5, one file of all kernels, or a folder")
    parser.add_argument("--stored", action="store_true",
                        help="all references of run/pairs.py, in the place of one of INPUT")
    parser.add_argument("--kernels", type=Path, metavar="DIR",
                        help="a site's kernels alone, by DIR/reference/NAME.py (docs/design.md)")
    parser.add_argument("--check", action="store_true",
                        help="compare what is there with a new computation instead of writing it")
    options = parser.parse_args(arguments)
    if options.stored == bool(options.input or options.output) or bool(options.input) != bool(options.output):
        parser.error("expected either INPUT and -o PATH, or --stored")
    names = tuple(kernel.NAME for kernel in reference.kernels(options.kernels)) if options.kernels else (*pairs.ALL, *pairs.BY_NAME)
    wanted = pairs.PAIRS if options.stored else [pairs.Pair("", options.input, options.output, names)]
    by_path = {}
    for pair in wanted:
        by_path.setdefault(pair.reference, []).append(pair)
    return max(make(path, of_it, options.check) for path, of_it in by_path.items())


def make(path, of_it, is_check):
    """The references of pairs that share an input and a path, or a comparison with what is there; the exit code."""
    try:
        with h5py.File(of_it[0].input, "r") as source:
            outputs = [output for pair in of_it for output in outputs_of(pair, source)]
            if not outputs:
                raise ValueError("holds the datasets of no kernel that has a reference")
            digest = sha256(of_it[0].input)
            if path.suffix == ".h5":
                return make_file(path, outputs, source, digest, is_check)
            return make_folder(path, outputs, source, digest, is_check)
    except (OSError, KeyError, ValueError) as error:
        print(f"{of_it[0].input}: {error}", file=sys.stderr)
        return BAD_INPUT


def make_folder(folder, outputs, source, digest, is_check):
    """A file for each kernel or sequence, and no other."""
    if not is_check:
        folder.mkdir(parents=True, exist_ok=True)
    by_maker = {}
    for output in outputs:
        by_maker.setdefault(output[0], []).append(output)
    codes = [make_file(folder / f"{maker}.h5", its, source, digest, is_check) for maker, its in by_maker.items()]
    for stale in sorted(set(folder.glob("*.h5")) - {folder / f"{maker}.h5" for maker in by_maker}):
        if is_check:
            codes.append(report(["no kernel makes it"], stale))
        else:
            stale.unlink()
    return max(codes)


def make_file(path, outputs, source, digest, is_check):
    if is_check and not path.exists():
        return report(["is missing"], path)
    with scratch_file(None if is_check else path.parent) as scratch:
        write_reference(outputs, source, digest, scratch)
        if is_check:
            is_same = scratch.read_bytes() == path.read_bytes()
            return report([] if is_same else differences(scratch, path), path)
        os.replace(scratch, path)
    return DONE


@contextlib.contextmanager
def scratch_file(folder):
    """A name in the folder of the result, so that a file half written never stands in its place; a check has
    one among temporary files."""
    handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
    os.close(handle)
    os.chmod(name, 0o644)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def write_reference(outputs, source, digest, path):
    with create(path) as file:
        makers = ", ".join(dict.fromkeys(maker for maker, *_ in outputs))
        describe(file, title=f"Reference of {makers}",
                 source="validation/physics/make_reference.py: 80-bit arithmetic, rounded", input_sha256=digest)
        for maker, name, field, tolerances in outputs:
            write_field(file, source, f"{maker}.{name}" if name in file else name, field, tolerances)


def outputs_of(pair, source):
    """The kernel or sequence, the name, the field and its tolerances of each."""
    if pair.steps:
        for sequence in pair.kernels:
            for name, field in steps.compute(sequence, source, pair.steps).items():
                yield sequence, name, field, steps.TOLERANCE
        return
    for kernel in reference.kernels():
        is_wanted = kernel.NAME in pair.kernels or "all" in pair.kernels and kernel.NAME not in pairs.BY_NAME
        if is_wanted and files.is_computable(kernel, source):
            for name, field in files.compute(kernel, source, **pair.settings).items():
                yield kernel.NAME, name, field, kernel.TOLERANCES[name]


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
    dataset = output.create_dataset(name, data=field.values, track_times=False, **(layout if shape else {}))
    describe(dataset, units=field.units, long_name=field.long_name)
    largest = np.abs(field.values).max()
    for precision, tolerance in tolerances.items():
        suffix = "" if precision == "float64" else f"_{precision}"
        dataset.attrs["rtol" + suffix] = tolerance.rtol
        dataset.attrs["atol" + suffix] = tolerance.atol_rel * largest
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
