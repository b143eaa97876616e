"""The netCDF files: finding variables in them, and laying those out as (z, y, x)."""

import dataclasses
import errno
import fcntl
import os

import h5py
import netCDF4
import numpy as np

from . import axes, table, units
from .problem import Elsewhere, Unusable, note

# In the order of preference; each with what it says about the variable.
STANDARD_NAMES = {
    "temp": {"sea_water_conservative_temperature": "conservative",
             "sea_water_potential_temperature": "potential", "sea_water_temperature": "in-situ"},
    "salt": {"sea_water_absolute_salinity": "absolute", "sea_water_practical_salinity": "practical",
             "sea_water_salinity": "practical"},
}
VELOCITIES = {"u": ("eastward_sea_water_velocity", "sea_water_x_velocity"),
              "v": ("northward_sea_water_velocity", "sea_water_y_velocity")}
COMMON_NAMES = {
    "temp": ("temp", "thetao", "temperature", "t_an", "votemper", "theta", "pottmp", "bigthetao"),
    "salt": ("salt", "so", "salinity", "s_an", "vosaline"),
    "u": ("u", "uo", "vozocrtx"),
    "v": ("v", "vo", "vomecrty"),
}


@dataclasses.dataclass
class Placed:
    """Values as (z, y, x) from the bottom, the south and the west; an axis is None where the
    variable has none, and its length is 1 then."""
    values: np.ndarray
    z: np.ndarray
    lat: np.ndarray
    lon: np.ndarray


def least_size(path):
    """The bytes of all variables of a classic file, of which the library reads those beyond its end as zeros."""
    if h5py.is_hdf5(path):
        return 0
    with netCDF4.Dataset(path) as file:
        return sum(variable.size * variable.dtype.itemsize for variable in file.variables.values())


def is_being_written(file):
    """Whether a program has locked it, as HDF5 does; not all file systems have locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def opened(path):
    """The Dataset, without texts, and how many bytes its file needs."""
    import xarray  # pylint: disable=import-outside-toplevel  # takes a second, and the names above do without
    texts, _ = axes.odd_datasets(path)
    if texts:
        note(f"{path}: left out, since they are text: {', '.join(texts)}")
    return xarray.open_dataset(path, engine="netcdf4", decode_times=False, drop_variables=texts), least_size(path)


def check_survives(function, path):
    """Calls it in a child: on some files that are damaged, or hold numbers of more than 8 bytes, the libraries of HDF5
    and netCDF end a process by a signal."""
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            function(path)
        finally:
            os._exit(0)  # the parent raises the child's exceptions itself
    if os.WIFSIGNALED(status := os.waitpid(child, 0)[1]):
        raise RuntimeError(f"it ends the libraries of netCDF and HDF5 by signal {os.WTERMSIG(status)}")


def open_file(path):
    try:
        if not path.is_file():
            raise OSError(errno.ENOENT, "No such file" if not path.exists() else "Not a file")
        with open(path, "rb") as file:  # says why better than netCDF does
            if is_being_written(file):
                raise Unusable(f"{path}: another program has locked it to write, expected a file that is closed")
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from error
    try:
        check_survives(opened, path)
        dataset, needed = opened(path)
    except Exception as error:  # whatever the libraries make of somebody's file
        raise Unusable(f"{path}: not a netCDF file that can be read, or a damaged one "
                       f"({type(error).__name__}: {error})") from error
    if path.stat().st_size < needed:
        raise Unusable(f"{path}: is cut off: it has {path.stat().st_size} bytes, but its variables {needed}")
    return dataset


def plural(count, word):
    return f"{count} {word}{'s' if count != 1 else ''}"


class Source:
    """The files of an ocean, or of what drives it."""

    def __init__(self, chosen, files):
        self.datasets = [(path, open_file(path)) for path in files]
        self.name = ", ".join(map(str, files))
        self.variable, self.units, self.time = chosen.variable, chosen.units, chosen.time
        self.has_time, self.times, self.date = False, {}, None
        self.lines = {}  # dimension and points for each role, of the first variable that was placed

    def listing(self):
        names = [str(name) for _, dataset in self.datasets for name in dataset.data_vars]
        return ", ".join(names) or "no variable"

    def dataset_of(self, path):
        return next(dataset for there, dataset in self.datasets if there == path)

    def of_name(self, name):
        return next(((path, dataset[name]) for path, dataset in self.datasets if name in dataset), None)

    def of_common_name(self, name):
        """The variable of one of the names that are usual for ours, in capitals or not."""
        for common in COMMON_NAMES.get(name, (name,)):
            if found := self.of_name(common) or self.of_name(common.upper()) or self.of_name(common.capitalize()):
                return found
        return None

    def of_standard_name(self, name, standard_name):
        """The variable of a CF standard name; of several, the one with a common name."""
        found = [(path, dataset[key]) for path, dataset in self.datasets for key in dataset.data_vars
                 if axes.text_of(dataset[key], "standard_name") == standard_name]
        if len(found) > 1:
            usual = [pair for pair in found if str(pair[1].name).lower() in COMMON_NAMES.get(name, (name,))]
            if len(usual) != 1:
                keys = ", ".join(str(variable.name) for _, variable in found)
                raise Unusable(f"{self.name}: {keys} all have the standard name {standard_name}, "
                               f"expected one: choose by --variable {name}=THEIRS")
            found = usual
        return found[0] if found else None

    def find(self, name, standard_names=()):
        """(path, variable) for one of our names, or None."""
        if name in self.variable:
            found = self.of_name(self.variable[name])
            if not found:
                raise Unusable(f"{self.name}: there is no variable '{self.variable[name]}', "
                               f"expected by --variable {name}=; there is: {self.listing()}")
            return found
        for standard_name in standard_names:
            if found := self.of_standard_name(name, standard_name):
                return found
        return self.of_common_name(name) if name in COMMON_NAMES else self.of_name(name)

    def units_of(self, name, variable):
        return self.units.get(name, axes.text_of(variable, "units"))

    def in_units(self, name, path, variable, values):
        ours = table.fields()[name].units
        return units.convert(path, variable.name, values, self.units_of(name, variable), ours,
                             f", for {name}; if the file is wrong say --units {name}='{ours}'")

    def record(self, path, variable, dimension):
        """The variable at the chosen time."""
        return variable.isel({dimension: self.index_of_record(path, variable, dimension)})

    def index_of_record(self, path, variable, dimension):
        self.has_time = True
        count = variable.sizes[dimension]
        if count == 0:
            raise Unusable(f"{path}: '{variable.name}' has no record along '{dimension}'")
        if self.time is None and count > 1:
            raise Unusable(f"{path}: '{variable.name}' has {count} records along '{dimension}', "
                           f"expected a choice: --time 0 to {count - 1}")
        if count == 1 and self.lines:  # such as a mask beside records of temperature
            return 0
        index = self.time or 0
        if not -count <= index < count:
            raise Unusable(f"{path}: '{variable.name}' has {plural(count, 'record')} along '{dimension}', expected "
                           f"--time from 0 to {count - 1}, or from {-count} to -1")
        if count > 1:
            note(f"{path}: record {index % count} of {count} along '{dimension}'")
        return index

    def at_time(self, path, variable):
        """The variable's file at the chosen time. A time of length 1 that only others have, such as
        coordinates, is dropped, too."""
        dataset, index = self.dataset_of(path), {}
        for dimension in filter(lambda one: axes.is_time(dataset, one), dataset.dims):
            if dimension in variable.dims:
                index[dimension] = self.index_of_record(path, variable, dimension)
            elif dataset.sizes[dimension] == 1:
                index[dimension] = 0
        return dataset.isel(index)

    def dated_record(self, path, variable, dimension):
        variable = self.record(path, variable, dimension)
        self.keep_time(path, variable)
        return variable

    def keep_time(self, path, variable):
        """Notes the time of a record, as far as its coordinates tell; the date of the first one is the ocean's."""
        for name, one in variable.coords.items():
            if one.ndim == 0 and one.dtype.kind in "iuf" and axes.role(str(name), one) == "time":
                date = axes.date_of(one)
                self.date = self.date or date
                time = str(date or f"{float(one):g} {axes.text_of(one, 'units')}".strip())
                self.times.setdefault(time, f"'{variable.name}' of {path}")

    def compare_times(self):
        if len(self.times) > 1:
            note("warning: not all of one time: "
                 + ", ".join(f"{what} is of {time}" for time, what in self.times.items()))

    def place(self, path, variable, has_time=True):
        """A variable with its axes, whatever their order and direction. One whose dimensions have no
        coordinates has those of the first variable of this run, if the dimensions are as long."""
        dataset = self.at_time(path, variable)
        variable = dataset[variable.name]
        found = axes.coordinates_of(path, dataset, variable)
        lines = axes.horizontal(path, variable.name, found)
        if "depth" in found and not (self.lines and axes.kind_of_levels(found["depth"])[0] == "number"):
            lat = lines["latitude"][1] if "latitude" in lines else None
            lines["depth"] = found["depth"].dims[0], axes.heights(path, found["depth"], lat)
        taken = [dimension for dimension, _ in lines.values()]
        if len(set(taken)) < len(taken):
            raise Unusable(f"{path}: two of longitude, latitude and depth of '{variable.name}' lie "
                           f"along '{max(taken, key=taken.count)}', expected a grid")
        for dimension in variable.dims:
            if dimension in taken:
                continue
            if variable.sizes[dimension] == 1:
                variable = variable.isel({dimension: 0})
            else:
                what = self.role_by_name(path, variable, dimension, lines)
                lines[what] = dimension, self.lines[what][1]
        self.lines = self.lines or lines
        if has_time:
            self.keep_time(path, variable)
        return arrange(path, variable, lines)

    def role_by_name(self, path, variable, dimension, lines):
        """Which axis of the first variable a dimension is that has no coordinate."""
        what = next((what for what, (name, _) in self.lines.items() if name == dimension and what not in lines),
                    axes.role_of_dimension(dimension))
        if what not in self.lines or what in lines:
            raise Elsewhere(f"{path}: axis '{dimension}' of '{variable.name}' is none of longitude, latitude, depth "
                            "and time, expected a coordinate with CF's units or standard name"
                            + ("" if {"longitude", "latitude"} & set(lines) else "; an unstructured grid has to be "
                               "regridded, for example by cdo remapdis,r360x180"))
        name, points = self.lines[what]
        if variable.sizes[dimension] != len(points):
            raise Elsewhere(f"{path}: axis '{dimension}' of '{variable.name}' has no coordinate and "
                            f"{plural(variable.sizes[dimension], 'point')}, but '{name}' has "
                            f"{len(points)}, expected a coordinate or as many")
        note(f"{path}: axis '{dimension}' of '{variable.name}' has no coordinate: taken to be "
             f"'{name}' by its name and its {len(points)} points")
        return what


def arrange(path, variable, lines):
    """Transposes the axes, turns round those that fall, and drops what is there twice."""
    order = [lines[what][0] for what in ("depth", "latitude", "longitude") if what in lines]
    values = axes.load(path, variable.transpose(*order))
    line = {}
    for i, what in enumerate(("depth", "latitude", "longitude")):
        if what not in lines:
            values = np.expand_dims(values, i)
            continue
        points = lines[what][1]
        if what == "longitude":
            points = np.unwrap(points, period=360)
        if not axes.ascending(path, lines[what][0], points, what):
            points, values = points[::-1], np.flip(values, i)
        keep = worth_keeping(path, what, points)
        line[what], values = points[keep], values.compress(keep, axis=i)
    return Placed(np.ascontiguousarray(values), line.get("depth"), line.get("latitude"), line.get("longitude"))


def worth_keeping(path, what, points):
    """A mask of all points except poles, and columns that repeat after a turn round the globe."""
    keep = np.ones(len(points), bool)
    if what == "longitude" and len(points) > 1:
        keep = points < points[0] + 360 - 1e-3 * np.diff(points).min()
        if not keep.all():
            note(f"{path}: {plural(np.sum(~keep), 'column')} left out that repeat the first: "
                "longitudes go beyond 360 degrees")
    if what == "latitude":
        if np.abs(points).max() > 90.001:
            raise Unusable(f"{path}: latitude {points[np.abs(points).argmax()]:g}, expected -90 to 90")
        keep = np.abs(points) < 90 - 1e-6
        if not keep.all():
            note(f"{path}: {plural(np.sum(~keep), 'row')} left out at a pole, where cells have no width")
    return keep
