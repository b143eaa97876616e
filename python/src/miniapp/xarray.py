"""Kernels on xarray's Datasets.

    import miniapp.xarray
    density = xarray.open_dataset("ocean.nc").isel(Time=-1).ocean.density(eq_of_state_type=5)

A Dataset is written to a file in memory, which the library's own reader takes: docs/input.md says what
may be missing, and what units, missing values, levels and ghosts mean.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray

from . import library as libraries
from .functions import WRITES, arguments_of
from .inputs import as_in_file, load
from .library import Field, UsageError

IN_MEMORY = Path("/dev/shm")
KEPT = ("units", "standard_name", "long_name", "positive", "axis")


@xarray.register_dataset_accessor("ocean")
class Ocean:
    """Each kernel as a method: `ds.ocean.density(device="cpu", precision="float64", **settings)`.

    Fields are found by name, or else by CF standard name; their dimensions may be in any order. The result
    is a DataArray, or a Dataset if a kernel has several, in the order z, y, x; it is missing where the first
    field with these dimensions is.
    """

    def __init__(self, dataset: xarray.Dataset):
        self.dataset = dataset

    def __dir__(self):
        return [*super().__dir__(), *libraries.default().kernels]

    def __getattr__(self, name: str) -> Callable:
        if name.startswith("_") or name not in libraries.default().kernels:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def method(device="cpu", precision="float64", **settings):
            return self.run(name, device, precision, settings)
        method.__name__ = name
        method.__doc__ = f"{libraries.default().kernels[name].summary}: help(miniapp.{name}) describes it."
        return method

    def run(self, kernel, device, precision, settings):
        library = libraries.default()
        fields = [library.fields[name] for name in library.reads(kernel)]
        found = {field: variable for field in fields if (variable := self.find(field)) is not None}
        if (heights := self.heights(found)) is not None:
            found[library.fields["zt"]] = heights
        with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
            path = Path(folder) / "dataset.nc"
            as_input(self.dataset, found).to_netcdf(path)
            try:
                state = load(path, kernel, device, precision, **settings)
            except libraries.Error as error:
                raise type(error)(str(error).replace(str(path), "the Dataset")) from None
        with state:
            state.run(kernel)
            made = xarray.Dataset({argument.field.name: as_result(argument.field, state, found)
                                   for argument in arguments_of(library.kernels[kernel], WRITES)})
        return made if len(made) > 1 else made[next(iter(made))]

    def find(self, field: Field) -> xarray.DataArray | None:
        """By name, or else by standard name."""
        if field.name in self.dataset.variables:
            return self.dataset[field.name]
        found = [name for name, variable in self.dataset.variables.items()
                 if field.standard_name and variable.attrs.get("standard_name") == field.standard_name]
        if len(found) > 1:
            raise UsageError(f"{field.name}: {' and '.join(map(str, found))} have its standard name")
        return self.dataset[found[0]] if found else None

    def heights(self, found) -> xarray.DataArray | None:
        """The heights by which the reader knows which level is the bottom: zt, or the vertical coordinate."""
        if "zt" in self.dataset.variables:
            return self.dataset["zt"]
        for field, variable in found.items():
            if field.axes == ("z", "y", "x") and variable.dims[0] in self.dataset.coords:
                vertical = self.dataset[variable.dims[0]]
                sign = {"up": 1, "down": -1}.get(vertical.attrs.get("positive"))
                return sign and sign * vertical
        return None


def as_input(dataset, found) -> xarray.Dataset:
    """What the reader takes: the fields by their own names, and what may be a setting."""
    result = xarray.Dataset(attrs={name: value for name, value in dataset.attrs.items()
                                   if isinstance(value, (str, int, float, np.number))})
    for field, variable in found.items():
        values = variable.values.astype("uint8") if variable.dtype == bool else variable.values
        attributes = {name: value for name, value in variable.attrs.items() if name in KEPT}
        result[field.name] = (variable.dims, values, attributes)
    for name in dataset.coords:
        if name in result.dims and name not in result:
            result[name] = (dataset[name].dims, dataset[name].values, dataset[name].attrs)
    return result


def in_order(variable, places) -> xarray.DataArray:
    """A variable by its dimensions along z, y and x, which the reader has found; that of time has one record."""
    dimensions = [variable.dims[place] for place in places]
    return variable.squeeze([name for name in variable.dims if name not in dimensions]).transpose(*dimensions)


def as_result(field, state, found) -> xarray.DataArray:
    """A DataArray with the dimensions and coordinates of what the kernel read."""
    values = as_in_file(state, field.name)
    attributes = {"units": field.units, "long_name": field.long_name}
    if field.standard_name:
        attributes["standard_name"] = field.standard_name
    for given, variable in found.items():
        if given.axes == field.axes and given.name in state.dimensions:
            like = in_order(variable, state.dimensions[given.name])
            return xarray.DataArray(values, like.coords, like.dims, field.name,
                                    attributes).where(like.notnull())
    return xarray.DataArray(values, dims=field.axes, name=field.name, attrs=attributes)
