"""Files that have the program's own fields by name, in any order, direction, packing and units: inputs of
older versions, outputs and snapshots of miniapp, and what a model writes of its grid."""

import json

import numpy as np

from .. import ghosts
from ..library import HALO, run_of
from . import axes, masks, table, units
from .problem import Unusable, note

AXES = {"longitude": "x", "latitude": "y", "depth": "z", "time": "t"}
NAMES = {"x": {"x", "xt", "xu", "nlon"}, "y": {"y", "yt", "yu", "nlat"}, "z": {"z", "zt", "zw"},
         "t": {"time", "t", "time_counter"}}


def is_own(dataset):
    """Whether it has fields of ours, and is no snapshot of Veros, which says more."""
    settings = str(dataset.attrs.get("setup_settings", ""))
    has_grid = all(name in dataset.variables and dataset[name].ndim == 1 for name in ("dxt", "dyt", "dzt"))
    return '"coord_degree"' not in settings and ("halo" in dataset.attrs or has_grid or bool(settings))


def spacing(points):
    """How far each is from its farther neighbour."""
    apart = np.abs(np.diff(points))
    return np.maximum(np.append(apart, 0), np.append(0, apart))


def lengths_along(name, values):
    """{axis: length}, without that of records."""
    own = table.axes_of(name)
    return dict(zip(own, values.shape[-len(own):]))


def lengths_of(g):
    return {axis: length for name, values in g.items() for axis, length in lengths_along(name, values).items()}


class Part:
    """The fields of one dataset, laid out as (z, y, x) from the bottom up.

    `path` names it in messages, `record(path, variable, dimension)` takes one of several records, and
    `find(field)` gives a variable or None.
    """

    def __init__(self, path, dataset, wanted, find, record):
        self.path, self.dataset, self.record = path, dataset, record
        found = ((field, find(field)) for field in wanted)
        self.theirs = {field.name: variable for field, variable in found if variable is not None}
        self.roles = self.find_roles()
        if "zt" not in self.theirs and "zt" in [field.name for field in wanted]:
            self.add_heights()
        self.dims = {}  # of each field, those along its axes
        self.beside = {}  # FIELD.period of records, and FIELD.is_pressure of the mode at a free surface
        self.g = {name: self.lay_out(table.fields()[name], variable) for name, variable in self.theirs.items()}
        self.is_surface_first = self.find_direction()
        self.check_lines()
        if self.is_surface_first:
            self.turn()

    def find_roles(self):
        """{dimension: x, y, z or t} by fields of one axis, by coordinates, and by usual names."""
        roles = {}
        for name, variable in self.dataset.variables.items():
            if variable.ndim != 1:
                continue
            what = axes.role(str(name), self.dataset[name])
            letter = axes.text_of(variable, "axis").lower()
            if what or letter in "xyz" and letter:
                roles.setdefault(variable.dims[0], AXES[what] if what else letter)
        for name, variable in self.theirs.items():
            own = table.fields()[name].axes
            if len(own) == 1 and variable.ndim == 1:
                roles[variable.dims[0]] = own[0]
        for name in map(str, self.dataset.dims):
            for letter, usual in NAMES.items():
                if name.lower() in usual:
                    roles.setdefault(name, letter)
        return roles

    def lay_out(self, field, variable):
        """Values in the order of the field's axes, NaN where they are missing, in its units. Axes that
        nothing tells are those that are left, in their order."""
        records = self.records_of(field, variable)
        while variable.ndim > len(field.axes) + len(records):
            times = [name for name in variable.dims if self.roles.get(name) == "t"]
            single = [name for name in variable.dims if variable.sizes[name] == 1
                      and self.roles.get(name) not in field.axes]
            single += [name for name in variable.dims if variable.sizes[name] == 1]
            if times:
                variable = self.record(self.path, variable, times[0])
            elif single:
                variable = variable.isel({single[0]: 0})
            else:
                break
        known = {self.roles[name]: name for name in variable.dims if self.roles.get(name) in field.axes}
        others = [name for name in variable.dims if name not in (*records, *known.values())]
        order = [known[axis] if axis in known else others.pop(0) if others else None for axis in field.axes]
        if others or None in order:
            raise Unusable(f"{self.path}: '{variable.name}' has axes ({', '.join(map(str, variable.dims))}), "
                           f"expected ({', '.join(field.axes)}) of {field.name}")
        self.dims[field.name] = tuple(order)
        values = axes.load(self.path, variable.transpose(*records, *order))
        unit = axes.text_of(variable, "units")
        if unit and unit == table.surface_of(field.name)["units"]:
            self.beside[f"{field.name}.is_pressure"] = 1.0
            return values
        return units.convert(self.path, variable.name, values, unit, field.units)

    def records_of(self, field, variable):
        """The dimension of records in time that all are kept, if the variable says their period."""
        if "period" not in variable.attrs or variable.ndim != len(field.axes) + 1:
            return ()
        self.beside[f"{field.name}.period"] = attribute(self.path, variable.attrs, "period",
                                                        lambda value: 0 < value <= 1e12)
        return next((name,) for name in (*variable.dims, None) if self.roles.get(name) not in field.axes)

    def find_direction(self):
        """Whether levels begin at the surface: by zt, zw, or the vertical coordinate."""
        for name in ("zt", "zw"):
            if name in self.theirs or name in self.dataset.variables:
                variable = self.theirs.get(name, self.dataset.get(name))
                z = self.lay_out(table.fields()[name], variable)
                if axes.text_of(variable, "positive").lower() == "down" and z.max() > 0:
                    z = -z
                    note(f"{self.path}: '{variable.name}' is a depth, positive down; {name} is its negative")
                if (z > 0).any():
                    raise Unusable(f"{self.path}: {name} is {z.max():g}, expected heights, negative below the surface")
                if name in self.g:
                    self.g[name] = z
                return len(z) > 1 and z[0] > z[-1]
        vertical, is_down = self.vertical()
        if is_down is None or vertical.size < 2:
            return False
        values = np.asarray(vertical, float)
        return bool((values[1] > values[0]) == (is_down and values.min() >= 0))  # negative depths are heights

    def vertical(self):
        """The coordinate of levels, and whether it is a depth: None where nothing says so."""
        for name, variable in self.theirs.items():
            for dimension in variable.dims if len(table.fields()[name].axes) == 3 else ():
                line = self.dataset.variables.get(dimension)
                if self.roles.get(dimension) == "z" and line is not None and line.dtype.kind in "iuf":
                    named = (axes.text_of(line, "standard_name") or str(dimension)).lower()
                    sense = {"down": True, "up": False}.get(axes.text_of(line, "positive").lower())
                    if sense is None and named.startswith(("depth", "height")):
                        sense = named.startswith("depth")
                    return self.dataset[dimension], sense
        return None, None

    def add_heights(self):
        """zt by the coordinate of levels."""
        vertical, is_down = self.vertical()
        metres = units.parse(axes.text_of(vertical, "units") or "m") if is_down is not None else None
        if metres and metres[1] == {"m": 1}:
            z = np.asarray(vertical, float)
            z = -z if is_down and z.min() >= 0 else z
            self.theirs["zt"] = (0 * vertical + z).rename("zt").assign_attrs(units=axes.text_of(vertical, "units"))

    def turn(self):
        """Lets levels begin at the bottom."""
        note(f"{self.path}: levels begin at the surface: turned round")
        for name, values in self.g.items():
            own = table.fields()[name].axes
            if "z" in own:
                self.g[name] = np.flip(values, own.index("z") - len(own))
            elif name == "kbot":
                self.g[name] = np.where(values > 0, lengths_of(self.g).get("z", 0) + 1 - values, values)

    def lines(self):
        """(axis, coordinate variable of a dimension) of all fields."""
        found = {(axis, dimension): None for name, dims in self.dims.items()
                 for axis, dimension in zip(table.fields()[name].axes, dims)}
        for axis, dimension in found:
            line = self.dataset.variables.get(dimension)
            if axis in "xyz" and line is not None and line.dtype.kind in "iuf":
                yield axis, dimension, line

    def check_lines(self):
        """Fields on faces have other coordinates than those on cells, but never those of another cell."""
        known = {("z", "m"): ("zt", np.abs(self.g["zt"]))} if "zt" in self.g else {}
        for axis, dimension, line in self.lines():
            kind, values = (axis, axes.text_of(line, "units")), np.asarray(line, float)
            values = np.abs(values) if axis == "z" else values  # heights or depths
            name, first = known.setdefault(kind, (dimension, values))
            for i in np.flatnonzero(np.diff(values) == 0)[:1]:
                raise Unusable(f"{self.path}: '{dimension}' is {values[i]:g} at {i} and at {i + 1}, "
                               f"expected no point along {axis} twice")
            if values.shape != first.shape or values.size < 2:
                continue
            apart, cell = np.abs(values - first), np.maximum(spacing(values), spacing(first))
            if kind[1].startswith("degree"):
                apart = np.minimum(apart % 360, -apart % 360)
            for i in np.flatnonzero(apart >= 0.99 * cell)[:1]:
                raise Unusable(f"{self.path}: '{dimension}' is {values[i]:g} at {i}, but '{name}' is {first[i]:g}, "
                               f"expected the same points along {axis} of all fields, or faces beside them")

    def coordinates(self):
        """x and y, where the dataset has them."""
        found, self.is_degrees = {}, False
        for axis, _, line in self.lines():
            if axis != "z" and axis not in found:
                found[axis] = np.asarray(line, float)
                self.is_degrees = axes.text_of(line, "units").startswith("degree")
        return found


def attribute(path, attrs, name, known):
    """A number of the file, or None."""
    if name not in attrs:
        return None
    value = np.asarray(attrs[name])
    number = float(value.reshape(())) if value.dtype.kind in "biuf" and value.size == 1 else np.nan
    if not known(number):
        raise Unusable(f"{path}: attribute {name} is {str(attrs[name])[:60]!r}, expected a number in its range")
    return number


def attributes_of(path, dataset):
    """Those of the file, and those that snapshots have in one."""
    try:
        return {**json.loads(dataset.attrs.get("setup_settings", "{}")), **dataset.attrs}
    except (TypeError, ValueError) as error:
        raise Unusable(f"{path}: attribute 'setup_settings' cannot be read ({error})") from error


def time_of_run(path, attrs):
    """The time at the end of a run of steps, or at its snapshot."""
    steps = attribute(path, attrs, "itt", lambda value: value >= 0)
    try:
        return run_of(attrs["settings"], steps)[1]
    except (AttributeError, KeyError, ValueError) as error:
        raise Unusable(f"{path}: attribute settings cannot be read, expected those of a run") from error


def cyclic_of(path, attrs):
    """Whether x is cyclic, by our name or Veros's; None where the file does not say."""
    name = "cyclic_x" if "cyclic_x" in attrs else "enable_cyclic_x"
    return attribute(path, attrs, name, lambda value: value in (0, 1))


def settings_of(path, attrs):
    """Attributes named like settings."""
    found = {name: attribute(path, attrs, name, setting.range.holds) for name, setting in table.settings().items()}
    return {name: value for name, value in found.items() if value is not None}


def halo_of(part, given=None):
    """How many rings of ghosts there are. Without an attribute, rows of land beside columns of land, or of those
    at the other side, may be ghosts."""
    halo = given if given is not None else attribute(
        part.path, part.dataset.attrs, "halo", lambda value: value in (0, HALO))
    if halo is None and "setup_settings" not in part.dataset.attrs:
        if may_be_ghosts(cells_of(part.g)):
            raise Unusable(f"{part.path}: attribute 'halo' is missing, and the outer two rings may be ghosts, "
                           "expected 2 if they are, or 0")
        note(f"{part.path}: attribute 'halo' is missing: taken as 0, no ghosts")
    return int(halo or 0)


def may_be_ghosts(water):
    if water is None or not water.any() or min(water.shape[1:]) <= 2 * HALO:
        return False
    copied = water.copy()
    ghosts.copy_round(copied)
    rows = water[:, :HALO].any() or water[:, -HALO:].any()
    columns = water[..., :HALO].any() or water[..., -HALO:].any()
    return not rows and (not columns or bool((copied == water).all()))


def cells_of(g):
    """The water cells: by maskT, maskW, kbot, or what is missing in the first field that lacks some."""
    for name in ("maskT", "maskW"):
        if name in g:
            return np.nan_to_num(g[name]) != 0
    if "kbot" in g:
        return masks.cells_of(np.nan_to_num(g["kbot"]), lengths_of(g).get("z", 0))
    for name, field in table.fields().items():
        if name in g and len(field.axes) == g[name].ndim == 3 and field.wet in ("maskT", "maskW", "kbot"):
            there = np.isfinite(g[name])
            if there.any() and not there.all():
                return there
    return None


def add_masks(path, g, cyclic, halo):
    """Missing masks and kbot by Veros's rule; those that are there have to be such."""
    cells = cells_of(g)
    for name in ("maskT", "maskU", "maskV", "maskW", "kbot"):
        if name in g:
            most = 1 if name != "kbot" else lengths_of(g).get("z", np.inf)
            values = g[name] = np.nan_to_num(g[name], nan=0.0)
            bad = np.argwhere(~((values >= 0) & (values <= most) & (values % 1 == 0)))
            if bad.size:
                raise Unusable(f"{path}: {place_of(name, bad[0])} is {values[tuple(bad[0])]:g}, expected "
                               f"{'0 or 1' if name != 'kbot' else f'a whole number from 0 to {most}'}")
    if cells is None:
        return
    made = {**masks.masks_of(cells, cyclic and not halo), "kbot": masks.kbot_of(cells)}
    for values in made.values() if halo and cyclic else ():
        ghosts.copy_round(values)
    new = {name: values for name, values in made.items() if name not in g}
    if new:
        note(f"{path}: {', '.join(new)}: made, by Veros's rule")
    g.update(new)


def place_of(name, index):
    return f"{name}[{', '.join(map(str, index))}]"


def clean(path, g, field, fill=None):
    """Land that is missing or out of range becomes 0, or the value of the lowest water above; water has to have
    a value."""
    values, wet = g[field.name], masks.where(g, field)
    bad = np.argwhere(wet & ~np.isfinite(values))
    if bad.size and fill is None:
        raise Unusable(f"{path}: {place_of(field.name, bad[0])} is missing{' in water' if field.wet else ''}, "
                       f"like {len(bad) - 1} others, expected a number")
    values = np.where(wet & ~np.isfinite(values), fill or 0.0, values)
    land = ~wet & ~field.range.holds(values)
    lowest = 0.0
    if field.is_extended and "kbot" in g and land.any():
        deepest = np.maximum(g["kbot"].astype(int) - 1, 0)[None]
        lowest = np.where(g["kbot"] > 0, np.take_along_axis(values, deepest, axis=0), 0.0)
    g[field.name] = np.where(land, lowest, values)


def check_ranges(path, g):
    """As the program does, which would refuse the output."""
    for name in filter(table.fields().get, g):
        values, field = g[name], table.fields()[name]
        bad = np.argwhere(masks.where(g, field) & ~field.range.holds(values))
        if bad.size:
            raise Unusable(f"{path}: {name} is {values[tuple(bad[0])]:g}{' in a wet cell' if field.wet else ''}, "
                           f"expected {field.range}; the first is {place_of(name, bad[0])}")


def check_shapes(path, g, halo):
    lengths = {}
    for name, values in g.items():
        for axis, length in lengths_along(name, values).items():
            first, known = lengths.setdefault(axis, (name, length))
            if length != known:
                hint = f": one may have ghosts, then add --halo {HALO}" if abs(length - known) == 2 * HALO else ""
                raise Unusable(f"{path}: {name} has {length} points along {axis}, but {first} has {known}{hint}")
            if axis in "xy" and length <= 2 * halo:
                raise Unusable(f"{path}: {name} has {length} points along {axis}, expected {2 * halo + 1} or more, "
                               f"since {2 * halo} of them are ghosts")


def finish(path, g, cyclic, halo, fills):
    """Masks, and values on land."""
    check_shapes(path, g, halo)
    add_masks(path, g, cyclic, halo)
    for name in [name for name in g if name in table.fields() and table.fields()[name].type.is_real]:
        clean(path, g, table.fields()[name], fills.get(name))


def parts_of(source, chosen):
    """(Part, its ghosts) of each file."""
    wanted = list(table.fields().values())
    for path, dataset in source.datasets:
        def find(field, dataset=dataset):
            name = chosen.variable.get(field.name, field.name)
            if name not in dataset.variables:
                return None
            variable = dataset[name]
            return variable.assign_attrs(units=chosen.units[field.name]) if field.name in chosen.units else variable
        part = Part(path, dataset, wanted, find, source.dated_record)
        yield part, halo_of(part, chosen.halo)


def make(source, chosen):
    """Fields, settings, whether x is cyclic, and ghosts. If several files have something, the last one
    gives it: so a snapshot, which has no grid, goes after the input that it was made of."""
    g, settings, beside, cyclic, parts = {}, {}, {}, 0.0, list(parts_of(source, chosen))
    halo = min(halo for _, halo in parts)
    for part, own in parts:
        g |= {name: ghosts.without_ghosts(table.axes_of(name), values) if own > halo else values
              for name, values in (part.g | part.coordinates()).items()}
        beside = {key: one for key, one in beside.items() if key.partition(".")[0] not in part.g} | part.beside
        attrs = attributes_of(part.path, part.dataset)
        settings |= {"coord_degree": part.is_degrees, **settings_of(part.path, attrs)}
        if {"itt", "settings"} <= set(attrs):
            settings["start_time"] = time_of_run(part.path, attrs)
        given = cyclic_of(part.path, attrs)
        cyclic = cyclic if given is None else given
        note(f"{part.path}: taken as it is: {', '.join(part.g) or 'nothing'}")
    cyclic = bool(cyclic if chosen.cyclic_x is None else chosen.cyclic_x)
    if "zt" in g:
        g["z"] = g["zt"]
    if any("setup_settings" in part.dataset.attrs for part, _ in parts) and not {"dxt", "dyt", "dzt"} <= set(g):
        raise Unusable(f"{source.name}: a snapshot of miniapp has no grid, expected the input that it was made "
                       "of before it: make-input INPUT SNAPSHOT")
    for name in chosen.variable:
        source.find(name)  # or it says what there is
    constants(g, chosen)
    finish(source.name, g, cyclic, halo, chosen.default)
    return g | beside, settings, cyclic, halo


def constants(g, chosen):
    """--default gives a field that no file has."""
    lengths = lengths_of(g)
    for name, value in chosen.default.items():
        if name not in g:
            note(f"{name}: {value:g}, by --default")
            g[name] = np.full([lengths[axis] for axis in table.axes_of(name)], value)
