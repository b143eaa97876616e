"""Random input files for the program, each known by a seed: valid ones, and ones with a fault.

A file begins as a small ocean of fields.py. Traits then change how it is stored, and what it lacks;
faults make something of it wrong. What a file means is for readers to say, not for this module.
"""

import itertools
from dataclasses import dataclass, field

import cftime
import h5py
import numpy as np

import fields
from independent_reader import CONVERSIONS, FIELDS, HALO, MASKS, READ_BY, SETTINGS, below_surface, shifted
from reference import kernels

READ = {name for names in READ_BY.values() for name in names}
REALS = [name for name, row in FIELDS.items() if row.kind == "REAL" and name in READ]
IN_SPACE = [name for name in REALS if FIELDS[name].axes == "zyx"]
MODULES = {module.NAME: module for module in kernels()}
# In a tiny ocean what advection_dissipation adds up cancels, to any part of its largest term.
OCEAN_KERNELS = tuple(name for name in READ_BY
                      if name in MODULES and name != "advection_dissipation")
# what a copy of two fields may be called in the output, where no kernel writes it
SPARE_OUTPUTS = ("dHdT", "drhodT", "drhodS", "prho", "dtke", "fma", "triad", "L_rhines", "sqrteke",
                 "sqrttke", "Prandtlnumber", "deke", "dtracer", "tke_diss", "P_diss_sources")
HEIGHTS = ("zt", "zw", "dzt", "dzw")  # kernels take differences of them that have to agree
SCALE_NAMES = {"x": ("x", "xt", "lon", "nav_lon", "longitude"), "y": ("y", "yt", "lat", "latitude"),
               "z": ("z", "depth", "deptht", "lev", "height"), "t": ("time",),
               "i": ("ip",), "j": ("jp",), "k": ("kr",)}
UNITS_OF_TIME = ("days", "day", "d", "hours", "hour", "h", "minutes", "min", "seconds", "s")
EPOCHS = ("1990-01-01", "2000-01-01 12:00:00", "1900-1-1 0:0:0", "0001-01-01", "1582-10-15T00:00:00Z")


@dataclass
class Stored:
    """How a dataset is stored; its values are those of the program until it is written."""

    values: np.ndarray
    path: str
    dtype: object = None
    missing: np.ndarray = None  # where
    attributes: dict = field(default_factory=dict)
    packing: tuple = None  # scale_factor, add_offset
    fill: object = None
    order: str = ""  # its axes in the file; "" is the table's, without scales
    labels: bool = False  # of the dimensions, instead of scales
    records: int = 0
    clock: str = ""  # the scale of its time axis, if it is not that of most
    layout: dict = field(default_factory=dict)
    unwritten: bool = False


@dataclass
class Case:
    """A file, and what the program is asked to do with it."""

    seed: int
    kernel: str
    copies: dict  # of the triad's output: its inputs b and c
    time: int = None
    variables: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)  # of the command line
    allow_nonfinite: bool = False
    allow_invalid: bool = False
    kinds: list = field(default_factory=list)

    def wanted(self):
        names = (*READ_BY[self.kernel], *itertools.chain(*self.copies.values()))
        return list(dict.fromkeys(names))

    def arguments(self):
        yield from ("--kernel", self.kernel)
        for output, (b, c) in self.copies.items():
            yield from ("--kernel", f"triad:b={b},c={c},a={output}")
        if self.time is not None:
            yield f"--time={self.time}"
        for name, theirs in self.variables.items():
            yield f"--variable={name}={theirs}"
        for name, value in self.settings.items():
            yield f"--set={name}={value!r}"
        yield from ["--allow-nonfinite"] * self.allow_nonfinite
        yield from ["--allow-invalid"] * self.allow_invalid


def make(seed, path):
    """Writes the file of a seed, and says what to do with it."""
    return Maker(seed).make(path)


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng([14, seed])
        self.case = Case(seed, self.pick(OCEAN_KERNELS), {})
        self.attributes = {}
        self.stored = {}
        self.twins = {}  # other datasets that say that they are a field
        self.scales = {}
        self.clocks = {}  # other scales of time: numbers of any count of records, and attributes
        self.surface_first = self.rows_fall = False

    def make(self, path):
        self.make_ocean()
        self.choose_copies()
        for trait, share in TRAITS:
            if self.chance(share):
                trait(self)
        if self.chance(0.4):
            for fault in self.rng.choice(FAULTS, 1 + self.chance(0.1), replace=False):
                self.note(fault.__name__)
                fault(self)
        with h5py.File(path, "w", libver=self.pick([("v108", "v108"), ("v110", "v110")])) as file:
            self.write(file)
        return self.case

    # ---- dice ----

    def chance(self, share):
        return bool(self.rng.random() < share)

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def note(self, kind):
        self.case.kinds.append(kind)

    def some(self, names, share):
        return [name for name in names if name in self.stored and self.chance(share)]

    def one_of(self, names):
        """One that the kernels read, if there is one."""
        wanted = [name for name in names if name in self.stored and name in self.case.wanted()]
        present = wanted or [name for name in names if name in self.stored]
        return self.pick(present) if present else None

    # ---- the ocean ----

    def make_ocean(self):
        rng = self.rng
        nx, ny = (int(self.pick([1, 1, 2, 3, 4, 5, 6, 7, 8])) for _ in "xy")
        nz = int(self.pick([1, 2, 3, 3, 4, 5, 6]))
        self.cyclic = self.chance(0.4)
        self.halo = self.pick([0, 0, HALO])
        values, settings = fields.make(nx + 2 * HALO, ny + 2 * HALO, nz, int(rng.integers(2**31)),
                                       eq_of_state_type=int(rng.integers(1, 6)))
        values = {name: values[name] for name in FIELDS if name in READ}
        inner = {name: self.inside(name, array) for name, array in values.items()}
        inner |= self.topography(nx, ny, nz)
        for name in ("v", "v_wgrid"):
            inner[name][:, -1] = 0  # a wall
        for name in () if self.cyclic else ("u", "u_wgrid"):
            inner[name][:, :, -1] = 0
        if self.halo == HALO:
            inner = {name: self.with_ghosts(name, array, values[name])
                     for name, array in inner.items()}
        self.stored = {name: Stored(array, name) for name, array in inner.items()}
        self.heights = inner["zt"]
        self.attributes = {name: value for name, value in settings.items() if self.chance(0.8)}
        if self.chance(0.75):
            self.attributes["halo"] = self.halo
        if self.cyclic or self.chance(0.5):
            self.attributes["cyclic_x"] = int(self.cyclic)
        self.note(f"halo {self.attributes.get('halo')}")

    def inside(self, name, array):
        return array[tuple(slice(HALO, -HALO) if axis in "xy" else slice(None)
                           for axis in FIELDS[name].axes)]

    def topography(self, nx, ny, nz):
        """kbot and masks by Veros's rules."""
        shape = self.pick([self.islands, self.islands, self.channel, self.all_land, self.one_column,
                           self.all_water])
        self.note(shape.__name__)
        kbot = shape(nx, ny, nz)
        cells = below_surface(kbot, nz)
        east = np.roll(cells, -1, 2) if self.cyclic else shifted(cells, 2)
        masks = (cells, cells & east, cells & shifted(cells, 1), cells)
        return {"kbot": kbot, **{name: mask.astype(np.uint8) for name, mask in zip(MASKS, masks)}}

    def islands(self, nx, ny, nz):
        kbot = self.rng.integers(1, nz + 1, (ny, nx))
        kbot[self.rng.random((ny, nx)) < self.pick([0.1, 0.3, 0.6])] = 0
        return kbot

    def channel(self, nx, ny, nz):
        kbot = np.zeros((ny, nx), int)
        along_x = self.chance(0.5)
        place = int(self.rng.integers(ny if along_x else nx))
        kbot[(place, slice(None)) if along_x else (slice(None), place)] = self.rng.integers(1, nz + 1)
        return kbot

    def all_land(self, nx, ny, _nz):
        return np.zeros((ny, nx), int)

    def one_column(self, nx, ny, nz):
        kbot = np.zeros((ny, nx), int)
        kbot[self.rng.integers(ny), self.rng.integers(nx)] = self.rng.integers(1, nz + 1)
        return kbot

    def all_water(self, nx, ny, nz):
        return np.full((ny, nx), self.pick([1, 1, nz]))

    def with_ghosts(self, name, array, random):
        """Copies where the ocean is cyclic, else land, of which some values are whatever they are."""
        row = FIELDS[name]
        keeps_random = row.kind == "REAL" and not self.cyclic and not row.is_flow
        for place, axis in enumerate(row.axes):
            widths = [(HALO, HALO) if other == place else (0, 0) for other in range(array.ndim)]
            if axis == "x" and self.cyclic:
                array = np.pad(array, widths, mode="wrap")
            elif axis in "xy" and (row.kind != "REAL" or row.is_flow):
                array = np.pad(array, widths)
            elif axis in "xy":
                array = np.pad(array, widths, mode="edge")
        if keeps_random and self.chance(0.3):
            inner = array
            array = random.copy()
            self.inside(name, array)[...] = self.inside(name, inner)
        return array

    def choose_copies(self):
        """Pairs of fields that the triad adds up, so that what was read shows bit for bit."""
        written = {output[0] for output in MODULES[self.case.kernel].OUTPUTS}
        names = [name for name in IN_SPACE if name not in written]
        spare = [name for name in SPARE_OUTPUTS if name not in written]
        self.rng.shuffle(names)
        if self.chance(0.3):  # what water gives to the land below it is the least common
            names.sort(key=lambda name: not FIELDS[name].is_extended)
        pairs = list(itertools.zip_longest(names[::2], names[1::2], fillvalue=names[0]))
        count = len(pairs) if self.chance(0.1) else int(self.rng.integers(6))
        self.case.copies = dict(zip(spare, pairs[:count]))

    def water_of(self, name):
        """Where a field means something, in the file."""
        row = FIELDS[name]
        if not row.wet:
            return np.ones(self.stored[name].values.shape, bool)
        kbot = self.truth["kbot"]
        if row.wet == "kbot":
            return kbot > 0 if row.axes == "yx" else below_surface(kbot, self.nz)
        return self.truth[row.wet] == 1

    @property
    def nz(self):
        return len(self.truth["maskT"])

    # ---- how it is stored ----

    def remember_masks(self):
        self.truth = {name: self.stored[name].values for name in (*MASKS, "kbot")}

    def turn_round(self):
        self.surface_first = True
        self.note("surface first")

    def lose_masks(self):
        for name in self.some((*MASKS, "kbot"), self.pick([0.3, 0.7, 1])):
            del self.stored[name]
        self.note("masks missing")

    def lose_optional(self):
        for name in self.some([name for name in REALS if FIELDS[name].is_optional], 0.7):
            del self.stored[name]
        self.note("optional missing")

    def lose_unread(self):
        """Most of it; masks matter also where no kernel reads them."""
        for name in [name for name in self.stored if name not in self.case.wanted()]:
            if self.chance(0.85 if name in REALS else 0.3):
                del self.stored[name]

    def miss_on_land(self):
        """In all of its land, or in some of it."""
        share = self.pick([1, 1, 0.5])
        for name in self.some([name for name in REALS if FIELDS[name].wet], self.pick([0.4, 1])):
            stored = self.stored[name]
            dry = ~self.water_of(name)
            stored.missing = dry & (self.rng.random(dry.shape) < share)
        self.note("missing on land")

    def absurd_on_land(self):
        for name in self.some([name for name in REALS if FIELDS[name].wet], 0.4):
            stored = self.stored[name]
            dry = ~self.water_of(name) & (self.rng.random(stored.values.shape) < 0.7)
            stored.values = np.where(dry, self.pick([1e20, 9.96921e36, -1e34, np.inf, -999.]),
                                     stored.values)
        self.note("absurd on land")

    def choose_types(self):
        for name in self.some(REALS, 0.4):
            if name not in HEIGHTS:
                self.stored[name].dtype = self.pick(["<f4", ">f4", ">f8", "<f8"])
        for name in self.some(("temp", "salt", "mxl", "K_iso"), 0.1):
            self.stored[name].dtype = self.pick(["<f2", ">f2", "<i2", ">i4", "<u2"])
        for name in self.some(MASKS, 0.6):
            self.stored[name].dtype = self.pick(
                ["?", "<i1", "<u1", ">i2", "<u2", ">i4", "<i8", ">u8", "<f2", ">f4", "<f8",
                 h5py.enum_dtype({"land": 0, "water": 1}, basetype="i1")])
        for name in self.some(("kbot",), 0.7):
            self.stored[name].dtype = self.pick(["<i1", "<u1", ">i2", "<i8", ">u8", ">f4", "<f8"])
        self.note("types")

    def pack(self):
        for name in self.some(REALS, 0.3):
            stored = self.stored[name]
            good = stored.values[np.isfinite(stored.values)]
            if name in HEIGHTS or good.size == 0 or abs(good).max() > 1e10:
                continue
            stored.dtype = self.pick([">i2", "<i2", "<i4", ">i4", "<u2"])
            low, high = good.min(), good.max()
            least, most = np.iinfo(stored.dtype).min + 2, np.iinfo(stored.dtype).max - 2
            scale = max(high - low, abs(high) * 1e-3, 1e-9) / (most - least)
            if self.chance(0.5):
                scale = 2.0 ** np.ceil(np.log2(scale))
            stored.packing = scale, low - scale * least
        self.note("packed")

    def order_axes(self):
        """By scales; some datasets in another order than the table's."""
        self.scales = {axis: self.pick(names) for axis, names in SCALE_NAMES.items()}
        if self.chance(0.3):
            self.scales = {axis: f"axes/{name}" for axis, name in self.scales.items()}
        share, has_labels = self.pick([0, 0.3, 1]), self.chance(0.2)
        for name, stored in self.stored.items():
            stored.order, stored.labels = FIELDS[name].axes, has_labels
            if self.chance(share):
                stored.order = "".join(self.rng.permutation(list(stored.order)))
        self.note("axes in any order" if share else "scales")

    def give_time(self):
        """Several records need --time."""
        records = int(self.pick([1, 1, 2, 3]))
        for name in self.some([name for name in FIELDS if FIELDS[name].axes not in ("x", "y", "z")],
                              self.pick([0.2, 0.6, 1])):
            stored = self.stored[name]
            stored.records = records
            if stored.order:
                stored.order = "t" + stored.order
                if self.chance(0.2):
                    stored.order = "".join(self.rng.permutation(list(stored.order)))
                if self.chance(0.5):
                    self.scales["t"] = "months"
        if records > 1 or self.chance(0.2):
            self.case.time = int(self.rng.integers(-records, records))
        self.note("time")

    def give_clocks(self):
        """Datasets on other time axes, which may say the same moments in other words, or others."""
        on_time = [name for name, stored in self.stored.items()
                   if stored.records and stored.order and not stored.labels]
        if not on_time:
            return
        self.clocks = clocks = self.random_clocks(self.stored[on_time[0]].records)
        for name in on_time:
            stored = self.stored[name]
            stored.clock = self.pick(list(clocks))
            if self.chance(0.15):
                stored.records, stored.clock = 1, "one_time"
                clocks["one_time"] = [7305.0], {"units": "days since 1990-01-01"}
        self.note("clocks")

    def random_clocks(self, records):
        """Of the same months; one of them may be wrong, or be a climatology's."""
        days, wrong = np.cumsum(self.rng.integers(1, 40, records)).astype(float), self.pick([0, 0, 0, 1, 40])
        clocks = {"months": (days, {"units": "days since 2000-01-01"})}
        for path in ("clock", "axes/clock"):
            units = f"{self.pick(UNITS_OF_TIME)} since {self.pick(EPOCHS)}"
            calendar = self.pick(["standard", "gregorian", "proleptic_gregorian", "noleap", "360_day", ""])
            dates = cftime.num2date(days + (wrong if path == "clock" else 0), "days since 2000-01-01",
                                    self.pick([calendar, calendar, "noleap"]) or "standard")
            numbers = self.numbers_of(dates, units, calendar or "standard")
            attributes = {"units": units, **({"calendar": calendar} if calendar else {})}
            if self.chance(0.1):
                attributes["climatology"] = "bounds"
            if self.chance(0.15):
                attributes["units"] = self.pick(["months since 2000-01-01", "days since spring", ""])
                attributes["axis"] = "T"
            clocks[path] = numbers.astype(self.pick(["<f8", "<f8", ">f8", "<f4", "<i8"])), attributes
        return clocks

    def numbers_of(self, dates, units, calendar):
        try:
            dates = [date.replace(calendar=calendar) for date in dates]
            return np.array([cftime.date2num(date, units, calendar) for date in dates], float)
        except ValueError:  # a calendar lacks such a day, or the year 0
            return np.arange(len(dates), dtype=float)

    def rename(self):
        for name in self.some(self.case.wanted(), 0.15):
            stored = self.stored[name]
            if FIELDS[name].standard_name and self.chance(0.5):
                stored.path = "their_" + name
                stored.attributes["standard_name"] = FIELDS[name].standard_name
            else:
                stored.path = self.pick(["group/of/", "", "x"]) + "their_" + name
                self.case.variables[name] = stored.path
        self.note("other names")

    def override_settings(self):
        for name in getattr(MODULES[self.case.kernel], "SETTINGS", {}):
            least, most, is_whole = SETTINGS[name]
            if self.chance(0.5):
                self.case.settings[name] = int(self.rng.integers(least, most + 1)) if is_whole \
                    else float(self.rng.uniform(0.5, 2)) * 1e-3
        self.note("settings")

    def lay_out(self):
        for name in self.some(self.stored, 0.5):
            self.stored[name].layout = self.pick([
                {"compression": "gzip"}, {"compression": "gzip", "shuffle": True},
                {"fletcher32": True}, {"maxshape": "unlimited"},
                {"chunks": 1}, {"chunks": True}, {"shuffle": True, "fletcher32": True}])
        self.note("layout")

    def give_units(self):
        for name in self.some(self.stored, 0.5):
            self.stored[name].attributes["units"] = FIELDS[name].units
        self.note("units")

    def convert_units(self):
        for name in self.some(REALS, 0.2):
            stored = self.stored[name]
            choices = [units for units, wanted in CONVERSIONS if wanted == FIELDS[name].units]
            if choices and stored.packing is None:
                units = self.pick(choices)
                factor, offset = CONVERSIONS[units, FIELDS[name].units]
                stored.values = np.where(np.isfinite(stored.values) & (stored.values < 1e6),
                                         (stored.values - offset) / factor, stored.values)
                stored.attributes["units"] = units
                stored.dtype = self.pick(["<f8", ">f8"])
        self.note("other units")

    def allow(self):
        self.case.allow_nonfinite = self.chance(0.5)
        self.case.allow_invalid = self.chance(0.5)
        self.note("allowed")

    # ---- faults ----

    def set_somewhere(self, name, value, where):
        stored = self.stored[name]
        places = np.argwhere(where)
        if len(places):
            stored.values = np.array(stored.values, float)
            stored.values[tuple(self.pick(places))] = value
            if stored.dtype is None or np.dtype(stored.dtype).kind != "f":
                stored.dtype, stored.packing = "<f8", None

    def bad_on_water(self):
        name = self.one_of(REALS)
        value = self.pick([np.nan, np.inf, -np.inf, 1e20, -1e20, 0.0, -1.0])
        self.set_somewhere(name, value, self.water_of(name))

    def missing_on_water(self):
        name = self.one_of(REALS)
        stored = self.stored[name]
        place = np.argwhere(self.water_of(name))
        if len(place):
            stored.missing = np.zeros(stored.values.shape, bool) if stored.missing is None \
                else stored.missing.copy()
            stored.missing[tuple(self.pick(place))] = True

    def bad_mask(self):
        if name := self.one_of(MASKS):
            self.set_somewhere(name, self.pick([2, -1, 0.5, np.nan, 255]),
                               self.stored[name].values >= 0)

    def land_on_water(self):
        if name := self.one_of(MASKS):
            values = self.stored[name].values = self.stored[name].values.copy()
            values[-1] = 0

    def bad_kbot(self):
        if stored := self.stored.get("kbot"):
            change = self.pick([1, -1, 0.5, 100])
            if self.chance(0.5):
                stored.values = stored.values + change * (stored.values > 0)
            else:
                self.set_somewhere("kbot", self.pick([-1, self.nz + 1, 0.5, np.nan]),
                                   stored.values >= 0)
            stored.dtype = self.pick(["<f8", ">f4"])

    def bad_spacing(self):
        name = self.one_of(("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu"))
        if name:
            self.set_somewhere(name, self.pick([0, -1, -1e5, np.nan, 1e300]),
                               self.stored[name].values == self.stored[name].values)

    def bad_levels(self):
        if stored := self.stored.get("zt"):
            stored.values = self.pick([
                lambda z: z[::-1], lambda z: self.rng.permutation(z), lambda z: z + 1e4,
                lambda z: -z, lambda z: z * 0 - 1])(stored.values)

    def wrong_thickness(self):
        for name in ("dzt", "dzw"):
            if name in self.stored:
                self.stored[name].values = self.stored[name].values * self.pick([100, 0.01])

    def wrong_length(self):
        name = self.one_of(list(self.stored))
        values = self.stored[name].values
        place = int(self.rng.integers(values.ndim))
        self.stored[name].values = np.take(values, range(values.shape[place] - 1), place) \
            if self.chance(0.5) else np.concatenate([values, np.take(values, [0], place)], place)
        self.stored[name].missing = None

    def wrong_rank(self):
        stored = self.stored[self.one_of(list(self.stored))]
        stored.values = stored.values[0] if self.chance(0.5) else stored.values[None, None]
        stored.missing, stored.order, stored.records = None, "", 0

    def wrong_type(self):
        stored = self.stored[self.one_of(list(self.stored))]
        stored.dtype = self.pick(["S3", "c16", [("a", "f8"), ("b", "i4")]])
        stored.missing = stored.packing = None

    def lose_required(self):
        del self.stored[self.one_of(list(self.stored))]

    def bad_setting(self):
        name = self.pick(["eq_of_state_type", "iso_slopec", "iso_dslope", "dt_tracer", "alpha_tke",
                          "halo", "cyclic_x"])
        self.attributes[name] = self.pick([-1, 1.5, np.nan, np.inf, "3", [1.0, 2.0], 7])

    def named_twice(self):
        name = self.one_of([name for name in FIELDS if FIELDS[name].standard_name])
        if name is None:
            return
        attributes = {"standard_name": FIELDS[name].standard_name}
        first = self.stored[name]
        first.path, first.attributes = "their_" + name, {**first.attributes, **attributes}
        self.case.variables.pop(name, None)
        self.twins[name] = Stored(first.values, "other_" + name, attributes=attributes)

    def bad_packing(self):
        stored = self.stored[self.one_of(REALS)]
        stored.attributes[self.pick(["scale_factor", "add_offset", "_FillValue", "missing_value"])] \
            = self.pick(["1", [1.0, 2.0], np.nan, 0.0])

    def bad_units(self):
        self.stored[self.one_of(REALS)].attributes["units"] = self.pick(
            ["parsnips", "kg", "s", "m s", "%", "unknown", "log(re 1 Pa)", "psu"])

    def bad_pressure(self):
        if stored := self.stored.get("p"):
            stored.values = self.pick([lambda p: p[::-1], lambda p: p * 0, lambda p: p * 1e-2,
                                       lambda p: p + 1e4])(stored.values)

    def bad_distances(self):
        name = self.one_of(("dxt", "dxu", "dyt", "dyu", "cost", "cosu"))
        if name:
            self.stored[name].values = self.stored[name].values * self.pick([1e-3, 5, 1e3])

    def open_face(self):
        """Beside land, or in a wall."""
        if name := self.one_of(("maskU", "maskV")):
            dry = np.argwhere(self.stored[name].values == 0)
            if len(dry):
                self.stored[name].values = self.stored[name].values.copy()
                self.stored[name].values[tuple(self.pick(dry))] = 1

    def flow_through_walls(self):
        for name, mask in (("u_wgrid", "maskU"), ("v_wgrid", "maskV"), ("u", ""), ("v", "")):
            if name in self.stored:
                self.stored[name].values = self.stored[name].values + 0.1
            self.stored.pop(mask, None)

    def bad_time(self):
        self.case.time = self.pick([None, 5, -5])

    def bad_variable(self):
        name = self.one_of(list(self.stored))
        self.case.variables[name] = self.pick(["absent", "/", name])

    def half_written(self):
        stored = self.stored[self.one_of(list(self.stored))]
        stored.unwritten, stored.layout = True, {"chunks": 1}

    def no_copies(self):
        """In one ghost."""
        if name := self.one_of([name for name in FIELDS if "x" in FIELDS[name].axes]):
            stored = self.stored[name]
            stored.values = np.array(stored.values)
            index = [int(self.rng.integers(n)) for n in stored.values.shape]
            index[-1] = self.pick([0, -1])
            stored.values[tuple(index)] = 1 if stored.values[tuple(index)] != 1 else 0

    def from_the_north(self):
        self.rows_fall = True

    def bad_ghosts(self):
        """Ghosts that are not copies, or not ghosts."""
        self.attributes["halo"] = HALO if self.halo == 0 else 0
        self.attributes["cyclic_x"] = self.pick([0, 1])

    # ---- the file ----

    def write(self, file):
        file.attrs.update(self.attributes)
        sizes = {}
        for name, stored in (*self.stored.items(), *self.twins.items()):
            self.write_one(file, name, stored, sizes)

    def write_one(self, file, name, stored, sizes):
        axes = FIELDS[name].axes
        raw = encode(stored, self.turned(name, stored.values),
                     None if stored.missing is None else self.turned(name, stored.missing), self)
        if stored.records:
            others = [self.rng.permuted(raw) for _ in range(stored.records)]
            others[self.case.time if self.case.time is not None
                   and -stored.records <= self.case.time < stored.records else 0] = raw
            raw, axes = np.stack(others), "t" + axes
        if stored.order and raw.ndim == len(axes):
            raw = np.transpose(raw, [axes.index(axis) for axis in stored.order])
        dataset = file.create_dataset(stored.path, track_times=False, **layout(stored, raw))
        if stored.unwritten:
            dataset[tuple(slice(0, (n + 1) // 2) for n in raw.shape)] = \
                raw[tuple(slice(0, (n + 1) // 2) for n in raw.shape)]
        dataset.attrs.update(stored.attributes)
        if stored.order and raw.ndim == len(axes):
            self.attach(file, dataset, stored, sizes)

    def turned(self, name, values):
        """In the order of the file's levels."""
        axes = FIELDS[name].axes
        if self.surface_first and "z" in axes and values.ndim == len(axes):
            return np.flip(values, axes.index("z"))
        if self.surface_first and name == "kbot" and values.dtype != bool:
            return np.where(values > 0, self.nz + 1 - values, values)
        return values

    def attach(self, file, dataset, stored, sizes):
        for place, axis in enumerate(stored.order):
            length = dataset.shape[place]
            path = stored.clock if axis == "t" and stored.clock else self.scales[axis]
            if sizes.setdefault(path, length) != length:
                continue
            if stored.labels:
                dataset.dims[place].label = path.split("/")[-1]
                continue
            if path not in file:
                values, attributes = self.coordinate(axis, path, length)
                file.create_dataset(path, data=values).make_scale(path)
                file[path].attrs.update(attributes)
            dataset.dims[place].attach_scale(file[path])

    def coordinate(self, axis, path, length):
        """Its numbers and attributes; along z it says whether levels go up or down."""
        if path in self.clocks:
            numbers, attributes = self.clocks[path]
            return numbers[:length], attributes
        if path == "months":
            return np.arange(length), {"units": "days since 2000-01-01"}
        if axis != "z":
            numbers = np.arange(1.0, length + 1)
            return numbers[::-1] if axis == "y" and self.rows_fall else numbers, {}
        heights = -np.arange(length, 0.0, -1)  # which contradict zt, if the file has it
        if length == len(self.heights) and self.chance(0.8):
            heights = self.heights
        if self.surface_first:
            heights = heights[::-1]
        if path.split("/")[-1].startswith("depth"):
            says_all = ({}, {"standard_name": "depth"}, {"positive": "down"})
        else:
            says_all = ({"positive": "down"}, {"positive": "up"}, {"standard_name": "depth"},
                        {"standard_name": "height_above_mean_sea_level"})
        says = self.pick(says_all)
        is_height = says.get("positive") == "up" or "height" in says.get("standard_name", "") \
            or self.chance(0.2)
        return (heights if is_height else -heights), says


def layout(stored, raw):
    options = dict(stored.layout)
    if 0 in raw.shape:
        return {"data": raw}
    if options.get("maxshape"):
        options["maxshape"] = (None,) * raw.ndim
    if options.get("chunks") == 1 and options["chunks"] is not True:
        options["chunks"] = (1,) * raw.ndim
    if raw.ndim == 0:
        options = {}
    if stored.unwritten:
        return {"shape": raw.shape, "dtype": raw.dtype, **options}
    return {"data": raw, **options}


def encode(stored, values, missing, maker):
    """Values as they are stored, and the attributes that say how."""
    dtype = np.dtype(stored.dtype or values.dtype)
    if dtype.kind in "SVc":
        return np.zeros(values.shape, dtype)
    if stored.packing:
        stored.attributes["scale_factor"], stored.attributes["add_offset"] = stored.packing
        values = (values - stored.packing[1]) / stored.packing[0]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = np.clip(np.nan_to_num(np.round(values)), limits.min, limits.max)
    with np.errstate(all="ignore"):
        raw = values.astype(dtype)
    if missing is not None and missing.any():
        raw[missing] = mark(stored, dtype, maker)
    return raw


def mark(stored, dtype, maker):
    """The value that stands for a missing one."""
    if dtype.kind == "f" and maker.chance(0.4):
        return np.nan
    value = np.array(maker.pick([9.96921e36, -1e34, 1e20]) if dtype.kind == "f"
                     else np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max)
    if dtype.kind == "f" and dtype.itemsize == 2:
        value = np.array(-6e4)
    value = value.astype(dtype)
    stored.attributes[maker.pick(["_FillValue", "missing_value"])] = value
    if maker.chance(0.2):
        stored.attributes["missing_value"] = np.array([value, dtype.type(77)], dtype)
    if dtype == np.float64 and maker.chance(0.2):  # of another type than the dataset
        stored.attributes["missing_value"] = np.float32(value)
        value = np.float64(np.float32(value))
    return value


TRAITS = (
    (Maker.remember_masks, 1), (Maker.turn_round, 0.3), (Maker.lose_masks, 0.3),
    (Maker.lose_optional, 0.3), (Maker.lose_unread, 0.95), (Maker.miss_on_land, 0.4),
    (Maker.absurd_on_land, 0.2), (Maker.choose_types, 0.5), (Maker.pack, 0.25),
    (Maker.order_axes, 0.45), (Maker.give_time, 0.3), (Maker.give_clocks, 0.9), (Maker.rename, 0.2),
    (Maker.override_settings, 0.2), (Maker.lay_out, 0.4),
    (Maker.give_units, 0.4), (Maker.convert_units, 0.2), (Maker.allow, 0.15))
FAULTS = (
    Maker.bad_on_water, Maker.bad_on_water, Maker.missing_on_water, Maker.bad_mask,
    Maker.land_on_water, Maker.bad_kbot, Maker.bad_spacing, Maker.bad_levels, Maker.wrong_thickness,
    Maker.wrong_length, Maker.wrong_rank, Maker.wrong_type, Maker.lose_required, Maker.bad_setting, Maker.named_twice,
    Maker.bad_packing, Maker.bad_time, Maker.bad_variable, Maker.half_written, Maker.bad_ghosts,
    Maker.bad_units, Maker.bad_pressure, Maker.bad_distances, Maker.open_face,
    Maker.flow_through_walls, Maker.no_copies, Maker.from_the_north)
