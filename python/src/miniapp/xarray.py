"""Kernels on xarray's Datasets.

    import miniapp.xarray
    density = xarray.open_dataset("ocean.nc").isel(Time=-1).ocean.density(eq_of_state_type=5)

The importer lays out the fields as in a file that has them by name: docs/your-data.md says what may be missing,
and what units, missing values, levels and ghosts mean.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .extras import needing

with needing("xarray", "xarray"):
    import xarray

from . import ghosts
from . import library as libraries
from .importer import complete, plausible, table
from .importer.problem import NOTES
from .library import Field, InputError, UsageError

PATH = "the Dataset"
KEPT = ("units", "standard_name", "positive", "axis", "scale_factor", "add_offset", "_FillValue", "missing_value",
        "_Unsigned", "valid_min", "valid_max", "valid_range")
WATER = ("salt", "temp", "maskT", "maskW", "kbot")  # what tells land, where a kernel needs to know


@xarray.register_dataset_accessor("ocean")
class Ocean:
    """Each kernel as a method: `ds.ocean.density(device="cpu", precision="float64", **settings)`.

    Fields are found by name, or else by CF standard name; their dimensions may be in any order, with others of
    length 1. The result is a DataArray, or a Dataset if a kernel has several, in the order z, y, x; it is missing
    where the first field with these dimensions is. A Dataset that cannot be used raises a miniapp.Error.
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
        part, own, cyclic, halo = self.read(library, kernel)
        made = ghosts.run(library, PATH, kernel, part.g, halo, cyclic, device, precision, walls=self.walls(library),
                          **{**own, **settings})
        results = xarray.Dataset({argument.field.name: as_result(argument.field, made[argument.field.name], part)
                                  for argument in library.kernels[kernel].writes()
                                  if argument.field.name in made})
        return results if len(results) > 1 else results[next(iter(results))]

    def read(self, library, kernel):
        """The fields laid out and checked, settings, whether x is cyclic, and ghosts."""
        NOTES.clear()
        names = [*library.reads(kernel), *WATER]
        names += [field.stand_in for field in map(library.fields.get, names) if field.stand_in]
        wanted = [field for name, field in library.fields.items() if name in names]
        decoded = self.decoded(wanted)
        part = complete.Part(PATH, decoded, wanted, lambda field: self.find(field, decoded), one_record)
        settings = {name: value for name, value in self.dataset.attrs.items()
                    if name in {setting.name for setting in library.kernels[kernel].settings}}
        cyclic = complete.cyclic_of(PATH, complete.attributes_of(PATH, self.dataset))
        halo = complete.halo_of(part)
        complete.finish(PATH, part.g, bool(cyclic), halo, {})
        complete.check_ranges(PATH, part.g)
        if faults := plausible.faults_of({**part.g, **part.coordinates()}, bool(cyclic), halo):
            raise InputError(f"{PATH}: {'; '.join(faults)}")
        return part, complete.settings_of(PATH, settings), bool(cyclic), halo

    def walls(self, library) -> dict[str, object]:
        """The values of fields on corners on the southern wall, where the Dataset has them."""
        found = {name: self.find(field) for name, field in library.fields.items() if field.has_wall}
        return {name: variable.attrs["southern_wall"] for name, variable in found.items()
                if variable is not None and "southern_wall" in variable.attrs}

    def decoded(self, wanted) -> xarray.Dataset:
        """The variables of the Dataset that are needed, unpacked and computed once."""
        names = {variable.name for field in wanted if (variable := self.find(field)) is not None}
        lines = [name for name in (*self.dataset.coords, "zt", "zw") if name in self.dataset.variables]
        part = self.dataset[[*names]].assign({name: self.dataset[name] for name in lines})
        for variable in part.variables.values():
            variable.attrs = {name: value for name, value in variable.attrs.items() if name in KEPT
                              and (isinstance(value, (str, int, float, np.number, np.ndarray, list, tuple)))}
        part.attrs = {name: value for name, value in self.dataset.attrs.items() if name in ("halo", "setup_settings")}
        try:
            return xarray.decode_cf(part, decode_times=False, decode_coords=False).compute()
        except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
            raise InputError(f"{PATH}: cannot be decoded: {' '.join(str(error).split())}") from error

    def find(self, field: Field, dataset=None) -> xarray.DataArray | None:
        """The variable of a field, by name or else by standard name."""
        dataset = self.dataset if dataset is None else dataset
        if field.name in dataset.variables:
            return dataset[field.name]
        found = [name for name, variable in dataset.variables.items()
                 if field.standard_name and variable.attrs.get("standard_name") == field.standard_name]
        if len(found) > 1:
            raise UsageError(f"{field.name}: {' and '.join(map(str, found))} have its standard name")
        return dataset[found[0]] if found else None


def one_record(path, variable, dimension):
    if variable.sizes[dimension] != 1:
        raise InputError(f"{path}: '{variable.name}' has {variable.sizes[dimension]} records along '{dimension}', "
                         f"expected one: .isel({dimension}=0) takes the first")
    return variable.isel({dimension: 0})


def as_result(field, values, part) -> xarray.DataArray:
    """A DataArray with the dimensions, coordinates and direction of levels of what the kernel read."""
    if part.is_surface_first and "z" in field.axes:
        values = np.flip(values, field.axes.index("z"))
    attributes = table.attributes_of(field.name)
    attributes |= {key: getattr(field, key) for key in ("units", "long_name") if key in attributes}
    for name, variable in part.theirs.items():
        if table.fields()[name].axes == field.axes and name not in WATER[2:]:
            dims = part.dims[name]
            like = variable.squeeze([one for one in variable.dims if one not in dims]).transpose(*dims)
            return xarray.DataArray(values, like.coords, like.dims, field.name, attributes).where(like.notnull())
    return xarray.DataArray(values, dims=field.axes, name=field.name, attrs=attributes)
