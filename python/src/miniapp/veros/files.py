"""The files of Veros's diagnostics, to which h5py adds records.

Veros does that by h5netcdf, which looks at all variables and dimensions anew whenever it opens a file: in a small ocean
that takes longer than the steps between two records."""

from __future__ import annotations

import h5py
from veros import runtime_settings, runtime_state, signals, time
from veros.diagnostics.base import VerosDiagnostic
from veros.io_tools import netcdf
from veros.variables import TIMESTEPS

from . import OCEANS


class Dataset:
    """As much of a variable of h5netcdf as Veros writes records by."""

    def __init__(self, data, dimensions):
        self.data, self.dimensions = data, dimensions

    def __len__(self):
        return len(self.data)

    def __setitem__(self, key, values):
        self.data[key] = values


class Records:
    """As much of a file of h5netcdf."""

    def __init__(self, file, var_meta):
        self.variables = {"Time": Dataset(file["Time"], ("Time",))}
        for name, var in var_meta.items():
            dims = tuple(dim for dim in reversed(var.dims or ()) if dim not in TIMESTEPS)
            self.variables[name] = Dataset(file[name], ("Time",) * (file[name].ndim - len(dims)) + dims)

    def resize_dimension(self, name, size):
        for variable in self.variables.values():
            if name in variable.dimensions:
                variable.data.resize(size, 0)


@signals.do_not_disturb
def write_output(self, state, plain=VerosDiagnostic.write_output):
    """Does as Veros's VerosDiagnostic.write_output does."""
    if state not in OCEANS or runtime_settings.diskless_mode or runtime_settings.use_io_threads:
        plain(self, state)
        return
    shared = {"driver": "mpio", "comm": runtime_settings.mpi_comm} if runtime_state.proc_num > 1 else {}
    with h5py.File(self.get_output_file_name(state), "r+", **shared) as file:
        records = Records(file, {name: self.var_meta[name] for name in self.output_variables})
        netcdf.advance_time(time.convert_time(state.variables.time, "seconds", "days"), records)
        for name in self.output_variables:
            netcdf.write_variable(state, name, self.var_meta[name], self.variables.get(name), records)


VerosDiagnostic.write_output = write_output
