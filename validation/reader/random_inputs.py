"""Random input files, each known by a seed: valid ones, and ones with one or two faults.

Each begins as a small ocean of fields.py; its traits say how it is stored and what it lacks. Not all faults
make a file invalid, since some hit what is not read: that is for the readers to say.
"""

import random

import h5py
import numpy as np

import fields

HALO = fields.HALO
MASKS = ("maskT", "maskU", "maskV", "maskW")
CELLS = ("maskT", "maskW", "kbot")
WHOLE = ("?", "i1", "u1", "<i2", ">i4", "<i8", "<f4", "<f8")


class Case:
    """A file before it is written: its values, how they are stored, and what is done to it afterwards."""

    def __init__(self, seed, table, sequences, settings):
        self.draw = random.Random(seed)
        self.table, self.settings = table, settings
        self.sequence = self.draw.choice(list(sequences))
        self.read = sequences[self.sequence]
        self.wet = sorted({table[name].wet for name in self.read} - {""})
        self.halo, self.cyclic = self.draw.choice((0, HALO)), self.draw.random() < 0.5
        ocean = make_ocean(self.draw, seed, self.halo, self.cyclic)
        counts = {*self.read, *self.wet, *MASKS, "kbot", "temp", "salt"}
        counts |= {other for name in self.read for other in (table[name].stand_in, table[name].partner)}
        self.values = {name: values for name, values in ocean.items() if name in counts or self.chance(0.1)}
        self.root = {"halo": self.draw.choice((int, float, np.uint8, lambda halo: [halo]))(self.halo)}
        if self.cyclic or self.draw.random() < 0.5:
            self.root["cyclic_x"] = self.draw.choice((bool, int, float))(self.cyclic)
        self.attributes = {name: {} for name in self.values}
        self.storage = {name: {} for name in self.values}
        self.edits = []  # of the file that was written
        self.faults = []

    def chance(self, probability):
        return self.draw.random() < probability

    def pick(self, *names):
        """One of the names; or of what is read, of the masks that tell where it counts, or seldom of all."""
        chosen = names or self.draw.choices((self.read, self.wet, self.values), (8, 1, 1))[0]
        there = [name for name in chosen if name in self.values]
        read = [name for name in there if name in self.read] if names else there
        return self.draw.choice(read or there or ["temp"])

    def element(self, name):
        return tuple(self.draw.randrange(length) for length in self.values[name].shape)

    def put(self, name, value, place=None):
        """Changes one value."""
        if name in self.values and self.values[name].size:
            self.values[name] = array = self.values[name].astype(float)
            array[place or self.element(name)] = value
            self.storage[name].pop("dtype", None)

    def edit(self, function):
        self.edits.append(function)

    def replace(self, name, make):
        """Another object under the name of a dataset, made by make(file, values)."""
        def edit(file):
            found = file.get(name)
            is_plain = isinstance(found, h5py.Dataset) and found.dtype.kind in "biuf" and not found.external
            values = found[...] if is_plain else np.zeros(1)
            if name in list(file):  # which a link to nowhere is, too
                del file[name]
            make(file, values)
        self.edit(edit)

    def write(self, path):
        with h5py.File(path, "w", libver=self.draw.choice(("earliest", ("v110", "v110")))) as file:
            file.attrs.update(self.root)
            for name, values in self.values.items():
                storage = dict(self.storage[name])
                file.create_dataset(name, data=values.astype(storage.pop("dtype", values.dtype)), **storage)
                file[name].attrs.update(self.attributes[name])
            for edit in self.edits:
                edit(file)


def make_ocean(draw, seed, halo, cyclic):
    nx, ny, nz = draw.randint(5, 9), draw.randint(5, 9), draw.randint(1, 5)
    values, _ = fields.make(nx, ny, nz, seed)
    if not halo:
        inner = {"x": slice(HALO, -HALO), "y": slice(HALO, -HALO)}
        values = {name: array[tuple(inner.get(axis, slice(None)) for axis in axes_of(name, array))]
                  for name, array in values.items()}
    elif cyclic:
        values = {name: array.copy() for name, array in values.items()}
        for name, array in values.items():
            if axes_of(name, array).endswith("x"):
                array[...] = array[..., (np.arange(nx) - HALO) % (nx - 2 * HALO) + HALO]
    level = np.arange(1, nz + 1)[:, None, None]
    values |= fields.faces((values["kbot"] > 0) & (level >= values["kbot"]), cyclic, halo)
    return values


def axes_of(name, array):
    if array.ndim == 1:
        return {"dx": "x", "dy": "y", "co": "y", "ta": "y"}.get(name[:2], "z")
    return {"factor_a": "zy", "factor_b": "zx"}.get(name, "abzyx"[-array.ndim:])


def make(seed, table, sequences, settings, fault=None):
    """With some faults, or none; or with the one that is given."""
    case = Case(seed, table, sequences, settings)
    for trait in TRAITS:
        if case.chance(0.5):
            trait(case)
    for fault in [fault] if fault else case.draw.choices(FAULTS, k=case.draw.choice((0, 0, 1, 1, 2))):
        case.faults.append(fault.__name__)
        fault(case)
    return case


# ---- what is valid ----

def types(case):
    for name in case.values:
        row = case.table[name]
        whole = WHOLE[row.name == "kbot":]
        case.storage[name]["dtype"] = case.draw.choice(("<f4", ">f8", "<f8") if row.type.is_real else whole)
    for name in ("temp", "salt"):
        case.values[name] = np.rint(case.values[name])
        case.storage[name]["dtype"] = case.draw.choice(("i1", ">i2", "<f2"))


def chunks(case):
    for name, values in case.values.items():
        if case.chance(0.5):
            case.storage[name] |= {"chunks": tuple(case.draw.randint(1, length) for length in values.shape),
                                   "fletcher32": case.chance(0.5), "shuffle": case.chance(0.5),
                                   "compression": case.draw.choice((None, 4))}


def units(case):
    for name, attributes in case.attributes.items():
        attributes["units"] = case.draw.choice((str, np.bytes_, lambda text: [text]))(case.table[name].units)
        attributes.update(long_name="whatever", valid_min=1e9, _FillValue=case.values[name].flat[0])


def others(case):
    case.root |= {"title": "whatever", "dt_tracer": 3600, "enable_eke": True, "Conventions": [1.5, 2]}
    case.edit(lambda file: file.create_dataset("other", data=np.full((2, 3, 4, 5), np.nan)))
    case.edit(lambda file: file.create_group("more"))


def scales(case):
    def edit(file):
        scale = file.create_dataset("x", data=np.arange(9.0))
        scale.make_scale("x")
        for dataset in file.values():
            if isinstance(dataset, h5py.Dataset) and dataset != scale and dataset.ndim:
                dataset.dims[dataset.ndim - 1].attach_scale(scale)
    case.edit(edit)


def without_options(case):
    for name in list(case.values):
        row = case.table[name]
        if name in case.values and (row.is_optional or row.needed_by) and case.chance(0.5):
            del case.values[name]
            case.values.pop(row.partner, None)  # half a pair is no input,
            case.root.update(dict.fromkeys(row.needed_by, 0))  # nor is a file whose settings need the field


def dry_land(case):
    for name, values in case.values.items():
        wet = case.table[name].wet
        if wet and wet != "kbot":
            case.values[name] = np.where(case.values[wet] > 0, values, 0)
        elif wet:
            water = case.values["maskT"] if values.ndim == 3 else case.values["kbot"] > 0
            case.values[name] = np.where(water, values, 0)


def soft_link(case):
    def edit(file):
        if "temp" in file:
            file.move("temp", "elsewhere")
            file["temp"] = h5py.SoftLink("/elsewhere")
    case.edit(edit)


TRAITS = (types, chunks, units, others, scales, without_options, dry_land, soft_link)


# ---- faults ----

def no_halo(case):
    case.root.pop("halo", None)


def bad_halo(case):
    case.root["halo"] = case.draw.choice((1, 3, -2, 0.5, np.nan, "2", [2, 2], HALO - case.halo))


def bad_cyclic(case):
    case.root["cyclic_x"] = case.draw.choice((2, -1, 0.5, np.inf, "1", [0, 1], not case.cyclic))


def bad_setting(case):
    case.root[case.draw.choice(case.settings)] = case.draw.choice(("1", [1.0, 2.0], np.zeros(0)))


def absent(case):
    case.values.pop(case.pick(), None)


def no_numbers(case):
    name = case.pick()
    case.replace(name, case.draw.choice((
        lambda file, values: file.create_group(name),
        lambda file, values: file.create_dataset(name, data=np.full(values.shape, b"1")),
        lambda file, values: file.create_dataset(name, data=values.astype(complex)))))


def other_rank(case):
    name = case.pick()
    if name in case.values and case.values[name].size:
        case.storage[name].clear()
        case.values[name] = case.values[name][(None,) * case.draw.choice((1, 1, 4)) if case.chance(0.7) else 0]


def other_length(case):
    name = case.pick()
    if name in case.values:
        values, axis = case.values[name], case.draw.randrange(case.values[name].ndim)
        case.storage[name].clear()
        longer = np.concatenate([values, values.take([-1], axis)], axis) if case.chance(0.5) else values.take(
            range(values.shape[axis] - 1), axis)
        case.values[name] = case.draw.choice((longer, np.moveaxis(values, 0, -1)))


def short_axis(case):
    """All datasets agree on it."""
    axis, length = case.draw.choice("xyz"), case.draw.randrange(5)
    for name, values in case.values.items():
        place = axes_of(name, values).find(axis) if values.ndim <= 5 else -1
        case.storage[name].clear()
        if place >= 0:
            case.values[name] = values.take(range(min(length, values.shape[place])), place)


def other_units(case):
    name = case.pick()
    case.attributes[name]["units"] = case.draw.choice(("furlong", "K", b"1", 1.0, ["m", "m"], "x" * 5000))


def packed(case):
    case.attributes[case.pick()][case.draw.choice(("scale_factor", "add_offset", "_Unsigned"))] = 1.0


def elsewhere(case):
    name = case.pick()

    def virtual(file, values):
        source = f"source{len(file)}"
        layout = h5py.VirtualLayout(values.shape, "f8")
        if values.shape:
            layout[...] = h5py.VirtualSource(file.filename, source, shape=values.shape)
        file[source] = values
        file.create_virtual_dataset(name, layout)

    def external(file, values):
        file.create_dataset(name, values.shape, "f8", external=[("none.raw", 0, h5py.h5f.UNLIMITED)])

    def link(file, values):
        file[name] = case.draw.choice((h5py.SoftLink("/nowhere"), h5py.ExternalLink("none.h5", name)))
    case.replace(name, case.draw.choice((virtual, external, link)))


def unwritten(case):
    name = case.pick()

    def make_part(file, values):
        whole = case.chance(0.3) or not values.size
        file.create_dataset(name, values.shape, "f8", chunks=None if whole else (1,) * values.ndim)
        if not whole and values.shape[0] > 1:
            file[name][1:] = values[1:]
    case.replace(name, make_part)


def nonfinite(case):
    case.put(case.pick(), case.draw.choice((np.nan, np.inf, -np.inf)))


def out_of_range(case):
    name = case.pick()
    row = case.table[name]
    case.put(name, case.draw.choice((row.least - 1, row.most + 1, np.nextafter(row.most, np.inf), 0, -0.0, 5e-324)))


def bad_whole(case):
    case.put(case.pick("kbot", *MASKS), case.draw.choice((2, -1, 0.5, np.nan, 1e300, 6)))


def flipped_cell(case):
    name = case.pick("kbot", *MASKS)
    if name in case.values and case.values[name].size:
        place = case.element(name)
        case.put(name, 1 - case.values[name][place] if name != "kbot" else case.draw.randint(0, 2), place)


def land_above_water(case):
    """In all that tells of cells, so that nothing else is wrong."""
    for name in MASKS:
        if name in case.values and case.values[name].ndim == 3:
            case.values[name] = case.values[name][::-1]


def all_water(case):
    """Of cells, but not of faces: a wall is legal; and the other way round, which is not."""
    for name in case.draw.choice((CELLS, MASKS[1:3], MASKS)):
        if name in case.values:
            case.values[name] = np.ones_like(case.values[name])


def levels(case):
    name = case.pick("zt", "zw")
    if name in case.values:
        values = case.values[name]
        case.values[name] = case.draw.choice((values[::-1], values + 400, np.roll(values, 1, 0), values * 0))


def other_ghost(case):
    """By more or less than is allowed."""
    name = case.pick()
    if name in case.values and case.values[name].ndim and case.values[name].size:
        place = (*case.element(name)[:-1], case.draw.choice((0, 1, -1, -2)[:2 * case.values[name].shape[-1]]))
        factor = case.draw.choice((1 + 1e-8, 1 + 1e-3, 0.5))
        if case.values[name].shape[-1] > 1:
            case.put(name, case.values[name][place] * factor, place)


FAULTS = (no_halo, bad_halo, bad_cyclic, bad_setting, absent, no_numbers, other_rank, other_length, short_axis,
          other_units, packed, elsewhere, unwritten, nonfinite, out_of_range, bad_whole, flipped_cell,
          land_above_water, all_water, levels, other_ghost)
