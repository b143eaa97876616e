"""A second reader of the program's input files, to compare the program with.

It is written from the documents alone, docs/input.md above all, and from the tables of fields,
physics/ocean.fields and those of the kernels; not from the program's reader. What a file means stands there; where the two
readers differ, one of them is wrong, or the documents are.
"""

import functools
import itertools
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import cftime
import h5py
import numpy as np

ROOT = Path(__file__).parents[1]
TABLES = [ROOT / "physics" / "ocean.fields", *sorted((ROOT / "physics").glob("[!c]*/*.kernel"))]
DOCUMENT = ROOT / "docs" / "input.md"
HALO = 2
NUMBERS = {"DBL_MIN": np.finfo(float).tiny, "DBL_MAX": np.finfo(float).max, "INT32_MAX": 2**31 - 1}
RANGES = {"ANYTHING": "-DBL_MAX, DBL_MAX", "POSITIVE": "DBL_MIN, DBL_MAX"}
PLAIN = ("-", "none", "unitless", "dimensionless")
# factor and offset; what UDUNITS knows and people write, with some other spellings
CONVERSIONS = {
    ("km", "m"): (1000, 0), ("cm", "m"): (0.01, 0), ("metres", "m"): (1, 0),
    ("K", "degC"): (1, -273.15), ("celsius", "degC"): (1, 0), ("degree_Celsius", "degC"): (1, 0),
    ("kg kg-1", "g kg-1"): (1000, 0), ("g/kg", "g kg-1"): (1, 0),
    ("Pa", "dbar"): (1e-4, 0), ("MPa", "dbar"): (100, 0), ("decibar", "dbar"): (1, 0),
    ("cm s-1", "m s-1"): (0.01, 0), ("m/s", "m s-1"): (1, 0), ("cm2 s-1", "m2 s-1"): (1e-4, 0),
    ("m^2/s", "m2 s-1"): (1, 0), ("cm2 s-2", "m2 s-2"): (1e-4, 0), ("J/kg", "m2 s-2"): (1, 0),
    ("W/kg", "m2 s-3"): (1, 0),
}
AXES = {"Z_Y_X": "zyx", "Y_X": "yx", "X_ONLY": "x", "Y_ONLY": "y", "Z_ONLY": "z",
        "IP_KR_Z_Y_X": "ikzyx", "JP_KR_Z_Y_X": "jkzyx", "IP_JP_KR_Y_X": "ijkyx"}
CORNERS = "ijk"  # ip, jp and kr: two of each
MASKS = ("maskT", "maskU", "maskV", "maskW")

# what the scale of an axis is called, or says by its attributes
AXIS_NAMES = {
    "x": "x xt xu lon longitude nav_lon grid_longitude projection_x_coordinate",
    "y": "y yt yu lat latitude nav_lat grid_latitude projection_y_coordinate",
    "z": "z zt zw lev level depth deptht height height_above_mean_sea_level",
    "t": "t time time_counter", "i": "ip", "j": "jp", "k": "kr",
}


class Refused(Exception):
    """Why a file cannot be used."""


class Field(NamedTuple):
    name: str
    kind: str  # REAL, MASK or INDEX
    axes: str
    units: str
    least: float
    most: float
    wet: str  # the mask, or kbot; "" is everywhere
    standard_name: str
    is_optional: bool
    is_flow: bool
    is_extended: bool
    stand_in: str  # the field that is read where there is none of this name; "" is none
    stand_in_factor: float


def sense(scale):
    """1 if the coordinates of z rise, -1 if they count downwards, 0 if they do not say."""
    positive = text(scale.attrs.get("positive")).lower()
    words = text(scale.attrs.get("standard_name")), scale.name.rsplit("/", 1)[-1].lower()
    is_depth = words[0] == "depth" or words[1].startswith("depth")
    return {"down": -1, "up": 1}.get(positive, -1 if is_depth else 1 if words[0].startswith("height") else 0)


def parse_table(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for row in re.findall(r"^FIELD\((.*?)\)$", text, flags=re.MULTILINE | re.DOTALL):
        strings = re.findall(r'"([^"]*)"', row)
        parts = re.sub(r'("[^"]*"\s*)+', '""', row).replace("\n", " ")
        for word, limits in RANGES.items():
            parts = parts.replace(word, limits)
        name, kind, axes, _, _, least, most, *special = (part.strip() for part in parts.split(","))
        flags = dict(part.removeprefix(".").split(" = ") for part in special if part)
        yield Field(name, kind, AXES[axes], strings[0], number(least), number(most),
                    flags.get("wet", "").removeprefix("FIELD_"),
                    strings[2] if "standard_name" in flags else "",
                    "is_optional" in flags, "is_flow" in flags, "is_extended" in flags,
                    flags.get("stand_in", "").removeprefix("FIELD_"),
                    float(flags.get("stand_in_factor", 1)))


def number(text):
    sign, name = (-1, text[1:]) if text.startswith("-") else (1, text)
    return sign * NUMBERS[name] if name in NUMBERS else float(text)


def parse_readers(text):
    """{kernel: names of what it reads}, from the table of datasets in the document."""
    read_by = {}
    for name, kernels in re.findall(r"^\| `(\w+)` [^|]*\|[^|]*\|[^|]*\|([^|]*)\|[^|]*\|[^|]*\|$", text,
                                    re.MULTILINE):
        for kernel in kernels.replace(",", " ").split():
            read_by.setdefault(kernel, []).append(name)
    return read_by


def parse_settings(text):
    """{name: (least, most, whether it is whole)}"""
    rows = re.findall(r"^SETTING_ROW\((\w+), \S+ (\S+), (\S+),(.*?)\)$", text, re.MULTILINE | re.DOTALL)
    return {name: (number(least), number(most), "is_whole" in rest)
            for name, least, most, rest in rows}


FIELDS = {field.name: field for table in TABLES for field in parse_table(table.read_text())}
SETTINGS = parse_settings((ROOT / "physics" / "ocean.settings").read_text())
READ_BY = parse_readers(DOCUMENT.read_text())


@dataclass
class Options:
    """What the command line says about reading."""

    time: int = None
    variables: dict = None
    allow_nonfinite: bool = False
    allow_invalid: bool = False


@dataclass
class Ocean:
    """What kernels get: arrays in (z, y, x) from the bottom up, with ghosts."""

    fields: dict
    has_ghosts: bool  # in the file
    converted: set  # names of fields that were in other units
    surface_first: bool


def read(path, wanted, options=None):
    """The wanted fields as kernels get them; Refused where the file cannot be used."""
    with h5py.File(path, "r") as file:
        return Reader(file, wanted, options or Options()).ocean()


def read_settings(path, names):
    """Those of the names that the file gives."""
    with h5py.File(path, "r") as file:
        return {name: setting(file.attrs[name], name, *SETTINGS[name]) for name in names
                if name in file.attrs}


def setting(stored, name, least, most, is_whole):
    value = single_number(stored, name)
    if not least <= value <= most or (is_whole and value != round(value)):
        raise Refused(f"setting {name} is {value}")
    return value


def single_number(stored, name):
    values = np.asarray(stored)
    if values.dtype.kind not in "iufb" or values.size != 1:
        raise Refused(f"attribute {name} is not a single number")
    return float(values.ravel()[0])


def kept(method):
    """Computed once by each reader, and gone with it."""
    @functools.wraps(method)
    def get(self, *arguments):
        key = method.__name__, *arguments
        if key not in self.kept:
            self.kept[key] = method(self, *arguments)
        return self.kept[key]
    return get


class Reader:
    def __init__(self, file, wanted, options):
        self.kept = {}
        self.file = file
        self.wanted = wanted
        self.options = options
        self.lengths = dict.fromkeys(CORNERS, 2)
        self.converted = set()  # to the table's units
        self.records = 0  # of the longest time axis
        self.loaded = {}
        self.checked = {}
        self.cyclic = self.choice("cyclic_x", (0, 1), 0) == 1
        self.halo = self.choice("halo", (0, HALO), None)
        for name in SETTINGS.keys() & file.attrs.keys():
            single_number(file.attrs[name], name)
        self.surface_first = self.is_surface_first()

    def ocean(self):
        """All lengths have to agree before a value counts."""
        for name in self.wanted:
            self.load(name)
        if self.records == 1 and self.options.time not in (None, 0, -1):
            raise Refused("there is one record in time")
        fields = {name: self.field(name) for name in self.wanted}
        has_ghosts = self.find_ghosts()
        if not self.options.allow_invalid:
            self.check_levels(fields)
            self.check_distances(fields)
            self.check_rows(fields)
            self.check_depths()
            self.check_times()
            self.check_faces(fields)
            self.check_copies(fields)
            self.check_masks()
        fields = {name: values if has_ghosts else self.add_ghosts(FIELDS[name], values)
                  for name, values in fields.items() if values is not None}
        return Ocean(fields, has_ghosts, self.converted, self.surface_first)

    # ---- attributes, datasets, axes ----

    def choice(self, name, choices, default):
        if name not in self.file.attrs:
            return default
        value = single_number(self.file.attrs[name], name)
        if value not in choices:
            raise Refused(f"attribute {name} is {value}")
        return int(value)

    @functools.cached_property
    def standard_names(self):
        """The datasets of the file itself by CF's standard names."""
        result = {}
        for dataset in self.file.values():
            if isinstance(dataset, h5py.Dataset) and "standard_name" in dataset.attrs:
                result.setdefault(text(dataset.attrs["standard_name"]), []).append(dataset)
        return result

    @kept
    def find(self, name):
        """The dataset of a field: by --variable, by its name, by CF's standard name; or None."""
        theirs = (self.options.variables or {}).get(name)
        if theirs is not None:
            if not isinstance(self.file.get(theirs), h5py.Dataset):
                raise Refused(f"--variable {name}={theirs}: there is no such dataset")
            return self.file[theirs]
        if name in self.file:
            return self.file[name]
        standard_name = FIELDS[name].standard_name
        found = self.standard_names.get(standard_name, [])
        if len(found) > 1 and name in self.wanted:
            raise Refused(f"{name}: several datasets have its standard name")
        return found[0] if found else None

    def load(self, name):
        """A field's dataset in the order of the table; None where there is none."""
        if name not in self.loaded:
            dataset = self.find(name)
            self.loaded[name] = None if dataset is None else self.read_dataset(name, dataset)
        return self.loaded[name]

    def read_dataset(self, name, dataset):
        if not isinstance(dataset, h5py.Dataset) or not is_number(dataset.dtype):
            raise Refused(f"{name} holds no real numbers")
        order = self.find_axes(name, dataset)
        where = tuple(self.record(name, dataset.shape[place]) if axis == "t" else slice(None)
                      for place, axis in enumerate(order))
        check_written(name, dataset, where)
        raw = dataset[where] if dataset.shape else dataset[()]
        kept = [axis for axis in order if axis != "t"]
        raw = np.transpose(raw, [kept.index(axis) for axis in FIELDS[name].axes])
        for axis, length in zip(FIELDS[name].axes, raw.shape):
            if self.lengths.setdefault(axis, length) != length or length == 0:
                raise Refused(f"{name} has {length} along {axis}, not {self.lengths[axis]}")
        nothing = np.nan if FIELDS[name].kind == "REAL" else 0
        factor, offset = self.conversion(name, dataset)
        return np.where(is_marked(dataset, raw), nothing, unpack(dataset, raw) * factor + offset)

    def conversion(self, name, dataset):
        """Factor and offset from the dataset's units to the table's."""
        units, wanted = text(dataset.attrs.get("units")).strip(), FIELDS[name].units
        if units in ("", wanted) or (wanted == "1" and units in PLAIN):
            return 1, 0
        if (units, wanted) not in CONVERSIONS:
            raise Refused(f"{name} is in {units}")
        self.converted.add(name)
        return CONVERSIONS[units, wanted]

    def record(self, name, count):
        index = self.options.time
        self.records = max(self.records, count)
        if count == 1:
            return 0
        if index is None or not -count <= index < count:
            raise Refused(f"{name} has {count} records, --time says {index}")
        return index

    def find_axes(self, name, dataset):
        """The axes of the dataset, slowest first."""
        axes = FIELDS[name].axes
        known = [axis_of(dataset, place) for place in range(dataset.ndim)]
        if not any(known):
            known = list("t" * (dataset.ndim - len(axes)) + axes)
        if len(known) > len(axes) and not known[0]:
            known[0] = "t"
        left = set(axes) - set(known)
        if known.count(None) == len(left) == 1:
            known[known.index(None)] = left.pop()
        if (len(known) != dataset.ndim
                or sorted(known, key=str) not in (sorted(axes), sorted(axes + "t"))):
            raise Refused(f"{name} has the axes {known}")
        return known

    def is_surface_first(self):
        heights = self.load("zt")
        if heights is None:
            heights = self.load("zw")
        if heights is not None:
            return len(heights) > 1 and bool(all(np.diff(heights) < 0) and heights[0] <= 0)
        for name in sorted(self.wanted, key=list(FIELDS).index):
            dataset = self.find(name)
            if dataset is not None and "z" in FIELDS[name].axes:
                coordinate = self.vertical_coordinate(name, dataset)
                if coordinate is not None:
                    return coordinate
        return False

    def vertical_coordinate(self, name, dataset):
        """Whether the coordinate of z says that levels go down; None where it says nothing."""
        place = self.find_axes(name, dataset).index("z")
        for scale in dataset.dims[place].values():
            sign = sense(scale)
            if sign and len(scale) > 1:
                values = scale[...]
                if values.min() < 0:  # such depths are heights
                    sign = 1
                return bool(sign * (values[-1] - values[0]) < 0)
        return None

    # ---- land and ghosts ----

    def stored(self, name):
        """A field of the file with its levels from the bottom up; None where there is none."""
        values = self.load(name)
        if values is None or not self.surface_first:
            return values
        if "z" in FIELDS[name].axes:
            return np.flip(values, FIELDS[name].axes.index("z"))
        if name == "kbot":
            return np.where(values > 0, self.levels() + 1 - values, values)
        return values

    @kept
    def water_cells(self):
        """(z, y, x), from the first that tells; None where nothing does."""
        for name in ("maskT", "maskW"):
            if self.find(name) is not None:
                return self.whole(name) == 1
        if self.find("kbot") is not None:
            return below_surface(self.whole("kbot"), self.levels())
        for name, field in FIELDS.items():
            if field.axes == "zyx" and field.wet in ("maskT", "maskW", "kbot"):
                values = self.stored(name)
                if values is not None and 0 < np.isnan(values).sum() < values.size:
                    self.check_column(name, ~np.isnan(values))
                    return ~np.isnan(values)
        return None

    def levels(self):
        if "z" not in self.lengths:
            raise Refused("nothing has levels")
        return self.lengths["z"]

    def whole(self, name):
        """A mask or kbot of the file."""
        if name in self.checked:
            return self.checked[name]
        values = self.stored(name)
        most = self.levels() if name == "kbot" else 1
        good = (values >= 0) & (values <= most) & (values == np.round(values))
        if not good.all():
            raise Refused(f"{name} is {values[~good][0]}")
        self.checked[name] = values.astype(int)
        return self.checked[name]

    def mask(self, name):
        """A mask or kbot, made where the file has none; None where nothing tells."""
        if self.find(name) is not None:
            return self.whole(name)
        cells = self.water_cells()
        if cells is None:
            return None
        if name == "kbot":
            return np.where(cells.any(0), 1 + np.argmax(cells, 0), 0)
        return self.between(name, cells).astype(int)

    def between(self, mask, cells):
        """Where both cells beside a face are water."""
        if mask == "maskU":
            return cells & self.eastern(cells)
        return cells & shifted(cells, 1) if mask == "maskV" else cells

    def eastern(self, cells):
        """Whether the cell to the east is water."""
        if not self.cyclic:
            return shifted(cells, 2)
        if not self.find_ghosts():
            return np.roll(cells, -1, 2)
        east = shifted(cells, 2)  # a ghost beyond the last is the cell opposite
        east[:, :, -1] = cells[:, :, 2 * HALO]
        return east

    @kept
    def find_ghosts(self):
        """Whether the outer two rings are ghosts."""
        nx, ny = (self.lengths.get(axis, 2 * HALO + 1) for axis in "xy")
        is_large_enough = min(nx, ny) > 2 * HALO
        if self.halo == HALO and not is_large_enough:
            raise Refused(f"{nx} x {ny} are too few for ghosts")
        if self.halo is not None or not is_large_enough:
            return self.halo == HALO
        cells = self.water_cells()
        if cells is None:
            raise Refused("halo is missing, and nothing tells")
        columns = cells.copy()
        columns[:, :, HALO:-HALO] = False
        if cells[:, :HALO].any() or cells[:, -HALO:].any():
            return False
        if not columns.any():
            return True
        if not self.are_copies(cells):
            return False
        if not self.cyclic:
            raise Refused("halo is missing, and the outer columns are copies")
        return True

    def are_copies(self, cells):
        """Of the cells at the other side: land where that is land, the same where it is water."""
        tracers = [self.stored(name) for name in ("salt", "temp") if self.find(name) is not None]
        marks = np.where(cells, tracers[0] if tracers else 1, np.nan)
        marks = np.where(cells & np.isnan(marks), np.inf, marks)
        return (np.array_equal(marks[..., :HALO], marks[..., -2 * HALO:-HALO], equal_nan=True)
                and np.array_equal(marks[..., -HALO:], marks[..., HALO:2 * HALO], equal_nan=True))

    def field(self, name):
        """What kernels read, without the ghosts that the file lacks; None where a field is optional."""
        field = FIELDS[name]
        if field.kind != "REAL":
            values = self.mask(name)
            if values is None:
                raise Refused(f"{name} is missing")
            return values
        if self.find(name) is None:
            if field.stand_in and self.find(field.stand_in) is not None:
                return field.stand_in_factor * self.field(field.stand_in)
            if field.is_optional and not field.stand_in:
                return None
            raise Refused(f"{name} is missing")
        return self.real(field, self.stored(name))

    def real(self, field, values):
        nonfinite = ~np.isfinite(values)
        invalid = ~nonfinite & ~((values >= field.least) & (values <= field.most))
        bad = ((nonfinite & (not self.options.allow_nonfinite))
               | (invalid & (not self.options.allow_invalid)))
        if not bad.any():
            return values  # masks do not matter
        water = self.water_of(field, values.shape)
        if (bad & water).any():
            place = tuple(np.argwhere(bad & water)[0])
            raise Refused(f"{field.name}{list(map(int, place))} is {values[place]} on water")
        dry = bad & ~water
        values = values.copy()
        values[dry] = 0
        if field.is_extended:
            values = extend(values, dry, water)
        return values

    def water_of(self, field, shape):
        mask = self.mask(field.wet) if field.wet else None
        if mask is None:
            return np.ones(shape, bool)
        if field.wet == "kbot":
            return mask > 0 if field.axes == "yx" else below_surface(mask, self.levels())
        return mask == 1

    def add_ghosts(self, field, values):
        """Cyclic or closed along x, closed along y: land, through which nothing flows."""
        for place, axis in enumerate(field.axes):
            widths = [(HALO, HALO) if other == place else (0, 0) for other in range(values.ndim)]
            if axis == "x" and self.cyclic:
                values = np.pad(values, widths, mode="wrap")
            elif axis in "xy" and (field.kind != "REAL" or field.is_flow):
                values = np.pad(values, widths)
            elif axis in "xy":
                values = np.pad(values, widths, mode="edge")
        return values

    # ---- what is checked ----

    def given(self, name, fields):
        """A field that the kernels read, if the file has it."""
        return fields.get(name) if self.find(name) is not None else None

    def check_levels(self, fields):
        if self.find("zt") is None:
            zw = self.given("zw", fields)
            if zw is not None:
                if (np.diff(zw) <= 0).any() or (zw > 0).any():
                    raise Refused("zw does not rise from level to level up to the surface")
                self.check_thickness(fields, zw)
            return
        zt = self.field("zt")
        if (np.diff(zt) <= 0).any() or (zt > 0).any():
            raise Refused("zt does not rise from level to level up to the surface")
        check_alike("dzw", self.given("dzw", fields), np.diff(zt), "zt")
        dzt = self.given("dzt", fields)
        if dzt is not None:
            check_alike("dzt", (dzt[1:] + dzt[:-1]) / 2, np.diff(zt), "zt")
        p = self.given("p", fields)
        if p is not None and ((p < -zt / 2 - 20).any() or (p > -2 * zt + 20).any()
                              or (np.diff(p) > 0).any()):
            raise Refused("p is not the pressure at zt")
        zw = self.given("zw", fields)
        if zw is not None and ((zw <= zt).any() or (zw[:-1] >= zt[1:]).any()):
            raise Refused("zw does not lie between levels of zt")
        if zw is not None:
            self.check_thickness(fields, zw)

    def check_thickness(self, fields, zw):
        dzt = self.given("dzt", fields)
        if dzt is not None:
            check_alike("dzt", dzt[1:], np.diff(zw), "zw")

    def check_distances(self, fields):
        for distance, width in (("dxu", "dxt"), ("dyu", "dyt")):
            widths = self.given(width, fields)
            if widths is not None:
                check_alike(distance, self.given(distance, fields), (widths[1:] + widths[:-1]) / 2,
                            width)
        cosu, cost = self.given("cosu", fields), self.given("cost", fields)
        if cosu is not None and cost is not None:
            least, most = np.minimum(cost[1:], cost[:-1]), np.maximum(cost[1:], cost[:-1])
            if (cosu[:-1] < least / 2).any() or (cosu[:-1] > 2 * most).any():
                raise Refused("cosu does not lie between its neighbours of cost")

    def check_rows(self, fields):
        """Northern faces are at the wrong side where rows go from the north."""
        if not fields.keys() & {"dyu", "cosu", "maskV", "v_wgrid"}:
            return
        for name in fields:
            dataset = self.find(name)
            if dataset is not None and "y" in FIELDS[name].axes:
                place = self.find_axes(name, dataset).index("y")
                for scale in dataset.dims[place].values():
                    if len(scale) > 1 and (np.diff(scale[...]) < 0).all():
                        raise Refused("rows go from the north")

    def check_depths(self):
        """Where the file has heights, no scale that tells depths or heights is a level or more off."""
        heights = self.load("zt")
        if heights is None:
            heights = self.load("zw")
        if heights is None or len(heights) < 2:
            return
        for name in self.wanted:
            dataset = self.find(name)
            if dataset is None or "z" not in FIELDS[name].axes:
                continue
            for scale in dataset.dims[self.find_axes(name, dataset).index("z")].values():
                if not sense(scale) or len(scale) != len(heights) or len(set(scale[...])) == 1:
                    continue
                lines = np.abs([scale[...], heights])
                apart, steps = np.abs(np.diff(lines, axis=0)[0]), np.abs(np.diff(lines)).max(axis=0)
                level = np.maximum(np.append(steps, 0), np.insert(steps, 0, 0))
                if ((apart > 0) & (apart >= 0.99 * level)).any():
                    raise Refused(f"{name} lies on {scale.name}, which contradicts the heights")

    def check_times(self):
        """Records of several that are chosen are of one time, unless one is a climatology's."""
        moments = {}
        for name in self.read_at_first():
            dataset = self.find(name)
            order = self.find_axes(name, dataset)
            if "t" in order and (count := dataset.shape[order.index("t")]) > 1:
                scales = dataset.dims[order.index("t")].values() if "DIMENSION_LIST" in dataset.attrs else ()
                for scale in scales[:1]:
                    moments[name] = moment(scale, self.record(name, count))
        for (name, (kind, start, end)), (other, (kind2, start2, end2)) in itertools.combinations(
                [pair for pair in moments.items() if pair[1]], 2):
            if kind == kind2 and (start > end2 or start2 > end):
                raise Refused(f"{name} is of {start}, but {other} of {start2}")

    def read_at_first(self):
        """The names of the datasets that are wanted, or stand in for what is and is not there."""
        names = list(self.wanted)
        for name in names:
            field = FIELDS[name]
            if self.find(name) is None and field.stand_in and field.stand_in not in names:
                names.append(field.stand_in)
        return [name for name in names if self.find(name) is not None]

    def check_faces(self, fields):
        """None is open beside land or in a wall; nothing flows through a wall where no mask closes it."""
        ends = {"maskU": (..., -1), "maskV": (slice(None), -1), "maskW": (slice(0, 0),)}
        for mask, flow in (("maskU", "u"), ("maskV", "v"), ("maskU", "u_wgrid"), ("maskV", "v_wgrid"),
                           ("maskW", "w_wgrid")):
            has_mask = self.find(mask) is not None
            values = fields.get(mask if has_mask else flow)
            cells = None if values is None else self.water_cells()
            if cells is None:
                continue
            at_end = ends[mask]
            wrong = (values == 1) & ~self.between(mask, cells)
            if self.find_ghosts():
                wrong[at_end] = False  # it leads out
            if not has_mask:
                wrong = (values != 0) & cells
                is_wall = not self.find_ghosts() and not (mask == "maskU" and self.cyclic)
                wrong = wrong[at_end] if is_wall else wrong[:0]
            if wrong.any():
                raise Refused(f"{mask} or {flow} at {np.argwhere(wrong)[0]}: open beside land")

    def check_copies(self, fields):
        """Ghosts are what they repeat."""
        if not (self.cyclic and self.find_ghosts()):
            return
        for name, values in fields.items():
            if values is None or "x" not in FIELDS[name].axes or self.find(name) is None:
                continue
            water = self.water_of(FIELDS[name], values.shape)
            rows = slice(HALO, -HALO) if "y" in FIELDS[name].axes else slice(None)
            for ghost, source in ((slice(0, HALO), slice(-2 * HALO, -HALO)),
                                  (slice(-HALO, None), slice(HALO, 2 * HALO))):
                a, b, wet = (array[..., rows, :] if array.ndim > 1 else array
                             for array in (values, values, water))
                a, b, wet = a[..., ghost], b[..., source], wet[..., ghost]
                margin = 1e-6 * np.fmax(abs(a), abs(b)) if FIELDS[name].kind == "REAL" else 0
                with np.errstate(invalid="ignore"):
                    same = (a == b) | (abs(a - b) <= margin) | (np.isnan(a) & np.isnan(b))
                if (wet & ~same).any():
                    raise Refused(f"{name} has ghosts that are no copies")

    def check_column(self, name, cells):
        if (cells[:-1] & ~cells[1:]).any() and not self.options.allow_invalid:
            raise Refused(f"{name}: land lies on water")

    def check_masks(self):
        """Those that were looked at."""
        for name in self.checked.keys() & set(MASKS):
            self.check_column(name, self.checked[name] == 1)
        cells = [self.checked[name] == 1 for name in ("maskT", "maskW") if name in self.checked]
        if "kbot" in self.checked:
            cells.append(below_surface(self.checked["kbot"], self.levels()))
        if any((other != cells[0]).any() for other in cells[1:]):
            raise Refused("kbot, maskT and maskW do not agree")


def check_alike(name, values, expected, other):
    """Within a factor of 2; `values` may have one more at the end."""
    if values is None:
        return
    values = values[:len(expected)]
    if ((values < expected / 2) | (values > 2 * expected)).any():
        raise Refused(f"{name} does not fit {other}")


def check_written(name, dataset, where):
    """Chunks that nobody wrote have no values, unless the writer set a fill value."""
    creation = dataset.id.get_create_plist()
    if dataset.size == 0 or creation.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED:
        return
    if dataset.chunks is None:
        if dataset.id.get_space_status() == h5py.h5d.SPACE_STATUS_NOT_ALLOCATED:
            raise Refused(f"{name} was never written")
        return
    written = {dataset.id.get_chunk_info(index).chunk_offset
               for index in range(dataset.id.get_num_chunks())}
    for chunk in dataset.iter_chunks(tuple(slice(index % count, index % count + 1)
                                           if isinstance(index, int) else slice(0, count)
                                           for index, count in zip(where, dataset.shape))):
        start = tuple(part.start // size * size for part, size in zip(chunk, dataset.chunks))
        if start not in written:
            raise Refused(f"{name}{start} was never written")


SECOND = timedelta(seconds=1)


def moment(scale, index):
    """What a time coordinate says of a record, and from when to when that may be; or None."""
    units, calendar = (text(scale.attrs.get(name)) for name in ("units", "calendar"))
    if not units or "climatology" in scale.attrs or scale.ndim != 1 or scale.dtype.kind not in "iuf":
        return None
    value = scale[index]
    margin = abs(value) * np.finfo(value.dtype if value.dtype.kind == "f" else float).eps
    if not np.isfinite(value):
        return None
    try:
        dates = [cftime.num2date(float(value) + sign * float(margin), units, calendar or "standard")
                 for sign in (-1, 1)]
    except ValueError:
        return f"{units} {calendar}", value - margin, value + margin
    if dates[1].year < 2:
        return None  # a climatology
    dates = dates[0] - SECOND / 2, dates[1] + SECOND / 2
    return "date", *(tuple(date.timetuple())[:6] + (date.microsecond,) for date in dates)


def text(attribute):
    if isinstance(attribute, np.ndarray) and attribute.size == 1:
        attribute = attribute.ravel()[0]
    if isinstance(attribute, bytes):
        return attribute.decode(errors="replace")
    return attribute if isinstance(attribute, str) else ""


def is_number(dtype):
    return dtype.kind in "iufb" and dtype.shape == ()


def axis_of(dataset, place):
    """x, y, z or t, by what the scale says, else by its name, else by the dimension's label; None
    where there is none or it is unknown."""
    scales = dataset.dims[place].values() if "DIMENSION_LIST" in dataset.attrs else ()
    for scale in scales:
        words = (text(scale.attrs.get("axis")), text(scale.attrs.get("standard_name")),
                 "time" if " since " in text(scale.attrs.get("units")) else "",
                 scale.name.rsplit("/", 1)[-1])
        for word in words:
            for axis, names in AXIS_NAMES.items():
                if word.lower() in names.split():
                    return axis
    has_label = "DIMENSION_LABELS" in dataset.attrs
    label = dataset.dims[place].label.lower() if has_label else None
    return next((axis for axis, names in AXIS_NAMES.items() if label in names.split()), None)


def unpack(dataset, raw):
    if not {"scale_factor", "add_offset"} & dataset.attrs.keys():
        return raw.astype(float)
    scale = single_number(dataset.attrs.get("scale_factor", 1), "scale_factor")
    offset = single_number(dataset.attrs.get("add_offset", 0), "add_offset")
    if not np.isfinite([scale, offset]).all() or scale == 0:
        raise Refused(f"{dataset.name} is packed by {scale} and {offset}")
    return raw.astype(float) * scale + offset


def is_marked(dataset, raw):
    """Where _FillValue or missing_value, each one or several, say that nothing is, compared as stored."""
    marked = np.zeros(raw.shape, bool)
    for name in ("_FillValue", "missing_value"):
        for value in np.ravel(dataset.attrs.get(name, ())):
            if not is_number(np.asarray(value).dtype):
                raise Refused(f"{dataset.name}: {name} is no number")
            with np.errstate(all="ignore"):
                stored = np.asarray(value).astype(raw.dtype)
            if raw.dtype.kind == "f" or stored == value:
                marked |= (raw == stored) | (np.isnan(stored) & np.isnan(raw))
    return marked


def below_surface(kbot, nz):
    """The cells from the deepest wet level up."""
    level = np.arange(nz)[:, None, None]
    return (kbot > 0) & (level >= kbot - 1)


def shifted(cells, axis):
    """Each cell's next along an axis; beyond the last is land."""
    widths = [(0, 1) if place == axis else (0, 0) for place in range(cells.ndim)]
    return np.take(np.pad(cells, widths), np.arange(1, cells.shape[axis] + 1), axis)


def extend(values, dry, water):
    """Gives what is dry the value of the lowest water above it; it stays as it is where none is."""
    above = values[-1].copy()
    any_above = np.zeros(above.shape, bool)
    for level in reversed(range(len(values))):
        values[level] = np.where(dry[level] & any_above, above, values[level])
        above = np.where(water[level], values[level], above)
        any_above |= water[level]
    return values
