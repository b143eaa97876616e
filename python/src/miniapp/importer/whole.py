"""Whether all of a file is there. The libraries read what is missing as zeros or as fill values."""

import itertools
import os
from pathlib import Path

import h5py

from .problem import Unusable

DEEPEST = 8  # of sources that are virtual, too
GAP = 64  # blocks of a series that are looked for behind one that is missing


def find(named, path):
    """A source's file, where HDF5 looks for it: by a whole path, in the folders of a variable,
    beside the file that names it, in the current folder, beside what a link to that leads to."""
    relative = os.path.basename(named) if os.path.isabs(named) else named
    listed = [folder for folder in os.environ.get("HDF5_VDS_PREFIX", "").split(":") if folder]
    folders = [Path(folder) for folder in (*listed, path.parent, ".", path.resolve().parent)]
    places = [Path(named)] if os.path.isabs(named) else []
    places += [folder / relative for folder in folders]
    return next((place for place in places if place.is_file()), None)


def check_source(path, name, file, dataset, depth):
    """One source of a virtual dataset, and its own sources."""
    start = f"{path}: '{name}' is virtual, but "
    place = path if file == "." else find(file, path)
    if place is None:
        raise Unusable(f"{start}its source '{file}' is missing, expected it beside the file")
    try:
        with h5py.File(place) as opened:
            is_there = isinstance(opened.get(dataset), h5py.Dataset)
    except OSError as error:
        raise Unusable(f"{start}its source '{file}' cannot be opened ({error})") from error
    if not is_there:
        raise Unusable(f"{start}its source '{file}' lacks '{dataset}', expected a dataset")
    check_sources(place, dataset, depth + 1)


def of_block(text, block):
    """The name of one of a series of sources."""
    return "%".join(part.replace("%b", str(block)) for part in text.split("%%"))


def check_series(path, name, file, dataset, depth):
    """HDF5 takes the first block that is missing for the end of a series: so it has to be."""
    def check(block):
        check_source(path, name, of_block(file, block), of_block(dataset, block), depth)

    def is_there(block):
        try:
            check(block)
        except Unusable:
            return False
        return True

    check(0)
    end = next(block for block in itertools.count(1) if not is_there(block))
    if later := next(filter(is_there, range(end + 1, end + GAP)), None):
        raise Unusable(f"{path}: '{name}' is virtual, but block {end} of its sources is missing, "
                       f"while block {later} is there")


def check_sources(path, name, depth=0):
    """Refuses a virtual dataset whose sources are not there."""
    if not h5py.is_hdf5(path):
        return
    with h5py.File(path) as file:
        dataset = file[name]
        sources = dataset.virtual_sources() if dataset.is_virtual else ()
    if sources and depth > DEEPEST:
        raise Unusable(f"{path}: '{name}' is virtual, and its sources have no end")
    for source in sources:
        names = (source.file_name, source.dset_name)
        is_series = any("%b" in text.replace("%%", "") for text in names)
        (check_series if is_series else check_source)(path, name, *names, depth)
