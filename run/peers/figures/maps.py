"""Maps and vertical sections of the fields in an HDF5 file: an output of miniapp or an input."""

import re
import textwrap
from pathlib import Path

import h5netcdf  # noqa: F401  pylint: disable=unused-import
import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.colors import LogNorm, Normalize
from matplotlib.transforms import nonsingular

from .. import figures
from ..cuts import LETTERS, Cut, WrongUse
from ..results import Unusable

LAND = "0.8"
# Names by which an axis without the CF attribute `axis` is found: a standard name, or the name of the
# dimension.
NAMES = {"x": "x|x[tu]|i|n?lon(gitude)?", "y": "y|y[tu]|j|n?lat(itude)?",
         "z": "z|z[tw]|k|lev(el)?|depth\\w*|height\\w*"}
SKEWED = 20  # the scale is logarithmic where the largest values are so many times the median,
DECADES = 4  # and spans so many decades


# ---- the file ----

def read(path):
    """The whole file, with what is packed unpacked and missing values as NaN."""
    try:
        with xarray.open_dataset(path, engine="h5netcdf", phony_dims="sort", decode_times=False,
                                 decode_coords=False) as dataset:
            return dataset.load()
    except Exception as error:  # whatever xarray, h5netcdf and h5py may raise
        text = (str(error) or type(error).__name__).splitlines()[0]
        raise Unusable(f"{path}: cannot be read: {text[:200]}") from error


def axis_of(dataset, dimension):
    attributes = dataset[dimension].attrs if dimension in dataset.variables else {}
    if str(attributes.get("axis")) in ("X", "Y", "Z"):
        return attributes["axis"].lower()
    names = dimension, str(attributes.get("standard_name"))
    return next((axis for axis, pattern in NAMES.items()
                 if any(re.fullmatch(pattern, name, re.IGNORECASE) for name in names)), None)


def is_ordered(values):
    """Whether values order the cells of an axis, as coordinates of a figure have to."""
    steps = np.diff(values) if values.dtype.kind in "iuf" else np.array([np.nan])
    return bool(np.all(steps > 0) or np.all(steps < 0))


class Source:
    """A file, whatever its dimensions are called."""

    def __init__(self, path):
        self.path = path
        self.dataset = read(path)
        self.axes = {dimension: axis for dimension in self.dataset.dims
                     if (axis := axis_of(self.dataset, dimension))}
        deepest = max(self.dataset.data_vars.values(), key=lambda field: field.ndim, default=None)
        if deepest is not None and not {"x", "y"} <= set(self.axes.values()):
            self.axes = dict(zip(reversed(deepest.dims), "xyz"))  # no name tells: in order z y x

    def names(self):
        """The names of the variables that can be drawn."""
        return [name for name in self.dataset.data_vars
                if self.is_on_grid(name) and not name.startswith("mask")]

    def is_on_grid(self, name):
        """Whether there is such a field of numbers on x and y."""
        if name not in self.dataset.data_vars:
            return False
        field = self.dataset[name]
        axes = [self.axes[dimension] for dimension in field.dims if dimension in self.axes]
        return ({"x", "y"} <= set(axes) and len(set(axes)) == len(axes)
                and field.dtype.kind in "biuf")

    def field(self, name):
        """A field on (.., z, y, x), with the coordinates that order their cells."""
        field = self.dataset[name].reset_coords(drop=True)
        field = field.rename({dimension: self.axes[dimension] for dimension in field.dims
                              if self.axes.get(dimension, dimension) != dimension})
        if "z" in field.dims and "z" not in field.coords and "zt" in self.dataset:
            zt = self.dataset["zt"]
            if zt.shape == (field.sizes["z"],):
                field = field.assign_coords(z=("z", zt.values, zt.attrs))
        field = field.drop_vars([axis for axis in "xyz" if axis in field.coords
                                 and not is_ordered(field[axis].values)])
        return field.transpose(..., *[axis for axis in "zyx" if axis in field.dims])

    def wet(self):
        """Where there is water, on (z, y, x) or (y, x), by the mask or by kbot; else None."""
        if self.is_on_grid("maskT"):
            return self.flag("maskT") > 0
        if not self.is_on_grid("kbot"):
            return None
        kbot = self.flag("kbot")
        levels = max((self.field(name).sizes.get("z", 1) for name in self.names()), default=1)
        return (kbot > 0) & (xarray.DataArray(np.arange(levels), dims="z") >= kbot - 1)

    def flag(self, name):
        """A mask or kbot without coordinates, so that its cells match those of other fields by
        their place."""
        return leading(self.field(name))[0].drop_vars("xyz", errors="ignore")


# ---- a field ----

def with_units(coordinate):
    return f"{coordinate.name} = {float(coordinate):g} {coordinate.attrs.get('units', '')}".rstrip()


def leading(field):
    """The first of every axis but x, y and z, and a text that says so."""
    others = [axis for axis in field.dims if axis not in ("x", "y", "z")]
    first = field.isel({axis: 0 for axis in others})
    return first, [with_units(first[axis]) if axis in first.coords and first[axis].dtype.kind in "iuf" else
                   f"{axis} = 0" for axis in others]


def water(field, wet):
    """Where a field is in water. Where neither mask nor kbot of its size says so, columns of 0 are
    land."""
    if wet is not None and "z" in wet.dims and "z" not in field.dims:
        wet = wet.any("z")
    if wet is None or any(wet.sizes[axis] != field.sizes.get(axis) for axis in wet.dims):
        return (field != 0).any("z") if "z" in field.dims else True
    return wet


def with_grid(field, grid):
    """A field with the coordinates that it lacks and a field of the grid has."""
    axes = {axis: field.sizes[axis] for axis in "zyx" if axis in field.dims}
    for like in map(grid.field, grid.names()):
        if axes.items() <= like.sizes.items():
            return field.assign_coords({axis: like[axis] for axis in axes
                                        if axis in like.coords and axis not in field.coords})
    raise WrongUse(f"{grid.path}: has no field of {' x '.join(map(str, axes.values()))} cells, as "
                   f"{field.name} has")


def from_surface(field):
    """The indices of its levels, from the surface down: z is a height or a depth, else k = 0 is the
    bottom."""
    if "z" in field.coords:
        return np.argsort(np.abs(field.z.values), kind="stable")
    return np.arange(field.sizes["z"])[::-1]


def default_level(field):
    """The uppermost that is not all 0 or land."""
    filled = ((field != 0) & field.notnull()).any(("x", "y")).values
    levels = from_surface(field)
    return Cut("z", int(next((k for k in levels if filled[k]), levels[0])), True)


def cut(field, where):
    """The plane through a cut, and a text that says where it is."""
    axis, size, letter = where.axis, field.sizes[where.axis], LETTERS[where.axis]
    if where.by_index:
        if not -size <= where.value < size:
            raise WrongUse(f"{letter}={where.value}: there are {letter}=0 to {letter}={size - 1}")
        plane = field.isel({axis: where.value})
    elif axis in field.coords:
        plane = field.sel({axis: where.value}, method="nearest")
    else:
        raise WrongUse(f"{axis}={where.value:g}: the file has no coordinate {axis}; choose by "
                       f"index, {letter}=0 to {letter}={size - 1}")
    if axis not in field.coords:
        return plane, f"{letter} = {where.value % size} of {size}"
    return plane, with_units(plane[axis])


def planes(field, level, sections):
    """(plane, where it is): the map first; of a field without levels nothing else."""
    if "z" not in field.dims:
        return [(field, "")]
    cuts = [level or default_level(field)]
    if field.sizes["z"] > 1:
        middles = [Cut(axis, field.sizes[axis] // 2, True) for axis in "yx"]
        cuts += middles if sections is None else sections
    return [cut(field, where) for where in cuts]


def norm_of(values):
    """The scale of colours, and the colours, for all values but a hundredth at either end:
    symmetric about 0 if both signs matter, logarithmic if few values are large, else linear."""
    if not values.size:
        return Normalize(0, 1), "viridis"
    low, high = np.quantile(values, (0.01, 0.99))
    positive = values[values > 0]
    if values.min() >= 0 and positive.size and high > SKEWED * np.median(positive):
        return LogNorm(high / 10 ** DECADES, high), "viridis"
    if min(-low, high) > max(-low, high) / 4:
        return Normalize(-max(-low, high), max(-low, high)), "RdBu_r"
    return Normalize(*nonsingular(low, high)), "viridis"


# ---- a figure ----

def prepare(field, wet, options):
    """The planes of a field that are to be drawn, with their titles."""
    name = field.name
    field, first = leading(field)
    field = field.where(np.isfinite(field) & water(field, wet))
    return [(plane, ", ".join(filter(None, [name, *first, where])))
            for plane, where in planes(field, options.level, options.section)]


def draw_field(shown, path, below):
    """A map and its sections, in the same colours."""
    values = np.concatenate([plane.values.ravel() for plane, _ in shown])
    norm, colours = norm_of(values[np.isfinite(values)])
    figure, axes = plt.subplots(len(shown), 1, squeeze=False, layout="constrained",
                                figsize=(7, 0.9 + 2.6 * len(shown)))
    for axis, (plane, title) in zip(axes[:, 0], shown):
        image = draw_plane(axis, plane, norm, colours)
        axis.set_title(title, loc="left")
    first = shown[0][0]
    label = f"{first.attrs.get('long_name', first.name)} [{first.attrs.get('units', '?')}]"
    figure.colorbar(image, ax=axes[:, 0], extend="both", fraction=0.05, aspect=15 * len(shown),
                    label=textwrap.fill(label, 40))
    return figures.save(figure, path, below)


def draw_plane(axis, plane, norm, colours):
    """Draws a plane cell by cell: x along the figure, or y if there is no x; z up the figure,
    whichever way it counts."""
    along = "x" if "x" in plane.dims else "y"
    up = "y" if plane.dims == ("y", "x") else "z"
    if isinstance(norm, LogNorm):
        plane = plane.clip(min=norm.vmin, keep_attrs=True)  # 0 has no logarithm, but is not land
    axis.set_facecolor(LAND)
    axis.grid(False)
    is_depth = up == "z" and "z" in plane.coords and plane.z.values.min() >= 0
    image = plane.plot.pcolormesh(ax=axis, x=along, y=up, norm=norm, cmap=colours, rasterized=True,
                                  add_colorbar=False, yincrease=not is_depth)
    axis.set_title("")  # xarray's own, in the middle
    for name, label in ((along, axis.set_xlabel), (up, axis.set_ylabel)):
        if name not in plane.coords:
            label(LETTERS[name])
    return image


def text_of(path, attributes):
    """A title from the file: an output's program, input and day, or an input's title."""
    if {"version", "git_commit", "input", "time"} <= attributes.keys():
        return (f"{Path(path).name}: miniapp {attributes['version']} {attributes['git_commit']} on "
                f"{Path(attributes['input']).name}, {str(attributes['time'])[:10]}")
    return ": ".join(filter(None, (Path(path).name, str(attributes.get("title", "")))))


def draw(path, options, prefix):
    """A figure for each field: the files' names."""
    source = Source(path)
    grid = Source(options.grid) if options.grid else None
    known = source.names()
    if not known:
        raise Unusable(f"{path}: holds no field on x and y")
    for name in options.variable or ():
        if name not in known:
            raise WrongUse(f"{path} has no field '{name}'; it has {', '.join(known)}")
    below, wet = text_of(path, source.dataset.attrs), (grid or source).wet()
    shown = {}  # all of them first: after an error nothing is written
    for name in options.variable or known:
        field = with_grid(source.field(name), grid) if grid else source.field(name)
        shown[name] = prepare(field, wet, options)
    with figures.style():
        return [file for name, planes_ in shown.items()
                for file in draw_field(planes_, f"{prefix}-{name}", below)]
