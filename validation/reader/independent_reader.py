"""A reader of inputs that shares no code with the library's: miniapp/file/format.h, as h5py and NumPy have it."""

import math

import h5py
import numpy as np

HALO = 2
REAL, MASK, INDEX, DOUBLE = range(4)
REALS = (REAL, DOUBLE)
ON_CORNERS = ("psi", "psi_taum1", "dpsi", "dpsi_taum1")  # those on the southern wall are ghosts
CELLS = ("maskT", "maskW", "kbot")  # what tells which cells are water
TRIADS = ("ip", "jp", "kr")  # axes of length 2


class Refused(Exception):
    """The file is no input."""


def refuse(is_wrong, message):
    if is_wrong:
        raise Refused(message)


def read(path, wanted, table, settings):
    """The wanted fields as a state holds them, ghosts included; `table` and `settings` are the library's."""
    with h5py.File(path, "r") as file:
        reader = Reader(file, table, settings)
        values = reader.check(wanted)
        return {name: reader.with_ghosts(name, values[name] if name in values else reader.standing_in(name, values))
                for name in wanted}


def number(attributes, name, allowed=None, default=None):
    """An attribute that holds a single number."""
    if name not in attributes:
        return default
    value = np.asarray(attributes[name])
    refuse(value.dtype.kind not in "biuf" or value.size != 1, f"{name} is no number")
    refuse(allowed and value.item() not in allowed, f"{name} is {value}")
    return value.item()


class Reader:
    """An open file, and what is known of it so far."""

    def __init__(self, file, table, settings):
        self.file, self.table = file, table
        self.lengths = dict.fromkeys(TRIADS, 2)
        halo = number(file.attrs, "halo", (0, HALO))
        refuse(halo is None, "no halo")
        self.has_ghosts = halo == HALO
        self.is_cyclic = number(file.attrs, "cyclic_x", (0, 1), 0) == 1
        self.settings = {name: number(file.attrs, name, default=row.default) for name, row in settings.items()}

    def check(self, wanted):
        """The values of those fields that the file has, and of those that stand in for the others."""
        there = list(self.file)
        needed = {*wanted, *(self.table[name].stand_in for name in wanted if name not in there)} - {""}
        refuse({name for name in needed.difference(there) if not self.table[name].is_optional
                and not self.table[name].needed_by}, "fields are missing")
        for name in set(wanted).difference(there):
            row = self.table[name]
            refuse(row.partner in there or any(map(self.settings.get, row.needed_by)), f"{name} is missing, others need it")
        needed = [name for name in self.table if name in needed.intersection(there)]
        datasets = {name: self.dataset(name) for name in needed}
        for name in {self.table[name].wet for name in needed}.intersection(there):
            self.dataset(name)
        for axis, length in self.lengths.items():
            refuse(length < (2 * HALO + 1 if self.has_ghosts and axis in "xy" else 1), f"{axis} is too short")
        values = {name: dataset[...].astype(float) for name, dataset in datasets.items()}
        for name, array in values.items():
            self.check_values(self.table[name], array)
        self.check_levels(values)
        self.check_masks({name: array for name, array in values.items() if self.table[name].type not in REALS})
        if self.has_ghosts and self.is_cyclic:
            for name, array in values.items():
                self.check_ghosts(self.table[name], array)
        return values

    # ---- how a dataset is stored ----

    def dataset(self, name):
        row = self.table[name]
        refuse(isinstance(self.file.get(name, getlink=True), h5py.ExternalLink), f"{name} is elsewhere")
        dataset = self.file.get(name)
        refuse(not isinstance(dataset, h5py.Dataset) or dataset.dtype.kind not in "biuf", f"{name}: no numbers")
        refuse({"scale_factor", "add_offset", "_Unsigned"}.intersection(dataset.attrs), f"{name} is packed")
        refuse(dataset.is_virtual or dataset.external, f"{name} is elsewhere")
        refuse(not is_written(dataset), f"{name} is not written")
        refuse(dataset.ndim != len(row.axes), f"{name} has {dataset.ndim} axes")
        refuse(text(dataset.attrs.get("units", "")) not in ("", row.units), f"{name} has other units")
        for axis, length in zip(row.axes, dataset.shape):
            refuse(self.lengths.setdefault(axis, length) != length, f"{name} has {length} along {axis}")
        return dataset

    # ---- values ----

    def check_values(self, row, values):
        refuse(not np.isfinite(values).all(), f"{row.name} is not finite")
        most = self.lengths["z"] if row.type == INDEX else row.most
        good = (values >= row.least) & (values <= most)
        if row.type not in REALS:
            good &= values % 1 == 0
        elif not good.all() and row.wet:
            good |= (values == 0) & ~self.water_of(row, values)
        refuse(not good.all(), f"{row.name} is out of range")
        if row.type == MASK:
            refuse((values[1:] < values[:-1]).any(), f"{row.name} has land above water")
        if row.name in ("zt", "zw"):
            refuse((np.diff(values) <= 0).any() or (row.name == "zt" and values[-1] > 0), f"{row.name} do not rise")

    def check_levels(self, lines):
        """Distances of heights fit the spacings, and faces lie between the middles of cells."""
        for name, heights, first in (("dzw", "zt", 0), ("dzt", "zw", 1), ("zw", "zt", 0)):
            if name in lines and heights in lines and len(lines[name]) > 1:
                low, high = lines[heights][:-1], lines[heights][1:]
                line = lines[name][first:][:len(low)]
                fits = (low < line) & (line < high) if name == "zw" else abs(np.log2(line / (high - low))) <= 1
                refuse(not fits.all(), f"{name} do not fit {heights}")

    def water_of(self, row, values):
        """Where a field has a meaning, by its own mask, if that is there; on (y, x), by the surface."""
        if row.wet not in self.file:
            return np.ones(values.shape, bool)
        mask = self.dataset(row.wet)[...].astype(float)
        self.check_values(self.table[row.wet], mask)
        water = self.cells(row.wet, mask)
        return water if values.ndim == 3 else water[-1]

    def cells(self, name, values):
        """A mask, or the cells from the level in kbot up to the surface."""
        if name != "kbot":
            return values == 1
        return (values > 0) & (np.arange(1, self.lengths["z"] + 1)[:, None, None] >= values)

    def check_masks(self, masks):
        known = [self.cells(name, masks[name]) for name in CELLS if name in masks]
        refuse(any((water != known[0]).any() for water in known), "masks differ")
        for name, axis in (("maskU", 2), ("maskV", 1)) if known else ():
            if name in masks:
                beyond = np.roll(known[0], -1, axis)
                last = (slice(None),) * axis + (-1,)
                if not (self.is_cyclic and name == "maskU"):
                    beyond[last] = False
                wrong = (masks[name] == 1) & ~(known[0] & beyond)
                if self.has_ghosts:  # what lies beyond the last ghosts is not known
                    wrong[last] = False
                refuse(wrong.any(), f"{name} is open beside land")

    def check_ghosts(self, row, values):
        """On water, and not in the ghosts of rows."""
        if "x" not in row.axes:
            return
        period = self.lengths["x"] - 2 * HALO
        copies = values.copy()
        copies[..., :HALO] = values[..., period:period + HALO]
        copies[..., -HALO:] = values[..., -HALO - period:values.shape[-1] - period]
        allowed = 1e-6 * np.maximum(abs(values), abs(copies)) if row.type in REALS else 0
        wrong = abs(values - copies) > allowed
        if row.wet:
            wrong &= self.water_of(row, values)
        if "y" in row.axes:
            wrong = wrong[..., HALO:-HALO, :]
        refuse(wrong.any(), f"{row.name} has other ghosts")

    # ---- what the file does not hold ----

    def standing_in(self, name, values):
        row = self.table[name]
        if row.stand_in:
            return row.factor * values[row.stand_in]
        return np.zeros([self.lengths[axis] for axis in row.axes])

    def with_ghosts(self, name, values):
        """Beyond a closed side lies land, and nothing flows; other fields repeat the cell beside it."""
        if self.has_ghosts:
            return values
        row = self.table[name]
        for place, axis in enumerate(row.axes):
            if axis in "xy":
                closed = "constant" if row.type not in REALS or row.is_flow else "edge"
                widths = [(HALO, HALO) if other == place else (0, 0) for other in range(values.ndim)]
                values = np.pad(values, widths, "wrap" if axis == "x" and self.is_cyclic else closed)
        if name in ON_CORNERS:
            wall = self.file[name].attrs.get("southern_wall", 0) if name in self.file else 0
            row = np.broadcast_to(wall, values.shape[1] - 2 * HALO)
            values[HALO - 1] = np.pad(row, HALO, "wrap" if self.is_cyclic else "constant")
        if name == "cosu" and self.lengths["y"] > 1:
            values[HALO - 1] = self.cosine_of_wall(values[HALO])
        return values

    def cosine_of_wall(self, face):
        """Points lie midway between faces, and the first face midway between two points: cosines of two angles add up
        to twice that of their mean, times that of half their difference."""
        first, second = self.file["cost"][:2].astype(float)
        with np.errstate(divide="ignore"):
            return np.clip(first * (first + second) / face - face, 0, 1)


def is_written(dataset):
    if not dataset.chunks:
        return dataset.id.get_space_status() != h5py.h5d.SPACE_STATUS_NOT_ALLOCATED
    return dataset.id.get_num_chunks() >= math.prod(-(-length // chunk)
                                                    for length, chunk in zip(dataset.shape, dataset.chunks))


def text(value):
    """A text however it is stored; None for anything else."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    return value.decode(errors="replace") if isinstance(value, bytes) else value if isinstance(value, str) else None
