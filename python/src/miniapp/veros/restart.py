"""A state of Veros as a run of miniapp has left it, and the restart that Veros writes of it.

The state is that of a setup before its first step, and gets what the program keeps for its own next step. Density and
what follows from it is made by Veros, of temperature and salinity. Veros: restart.py; variables.py, `write_to_restart`.
"""

import h5py
import numpy as np
from veros import restart, runtime_settings
from veros.core import thermodynamics
from veros.core.operators import numpy as npx
from veros.core.utilities import enforce_boundaries

from ..library import HALO, InputError, run_of
from ..whole import replacing
from . import other_constants
from .ocean import LEVELS, Islands

BESIDE_TAU = {"psi": "taum1", "dpsi": "taum1", "tke": "taup1", "eke": "taup1", "E_iw": "taup1"}  # a step reads, too
NOT_TAKEN = {*LEVELS, "time", "dpsin", "rho", "Nsqr", "Hd", "int_drhodT", "int_drhodS",
             "dHd"}  # which a step makes before it reads it
WITHOUT_MIXING = {"enable_skew_diffusion", "K_iso_0", "K_iso_steep"}  # 0 here where neutral diffusion is off


def levels_of(name, variables):
    """Those time levels of a variable that a step reads."""
    if name in BESIDE_TAU:
        return ("tau", BESIDE_TAU[name])
    return ("taum1",) if name[0] == "d" and name[1:] in variables else ("tau",)  # of tendencies, and others


def dataset_of(name, level):
    return name if level == "tau" else f"{name}_{level}"


class End:
    """The output of a run, for a state of Veros."""

    def __init__(self, path, file, state):
        self.path, self.file, self.state, self.attributes = path, file, state, {}
        for name in ("sequence", "settings"):
            text = file.attrs.get(name, b"")
            self.attributes[name] = text.decode() if isinstance(text, bytes) else str(text)
        try:
            self.settings, self.time = run_of(self.attributes["settings"], float(file.attrs["itt"][0]))
        except (KeyError, ValueError, IndexError, TypeError):
            self.time = np.nan
        if not np.isfinite(self.time):
            self.refuse("has no step or no settings, expected what miniapp --steps N -o writes")

    def refuse(self, why):
        raise InputError(f"{self.path}: {why}")

    def values(self, name, rank):
        """A field at one time level, with ghosts and Veros's axes."""
        dataset, settings = self.file[name], self.state.settings
        values = dataset[0] if dataset.ndim > rank else dataset[()]  # a snapshot has one record
        inner = (settings.nz, settings.ny, settings.nx)[-rank:]
        outer = (*inner[:-2], settings.ny + 2 * HALO, settings.nx + 2 * HALO)
        if values.shape not in (inner, outer):
            self.refuse(f"{name} has shape {values.shape}, expected the setup's {inner}, or {outer} with ghosts")
        wall = dataset.attrs.get("southern_wall")
        if values.shape == outer:
            wall, values = values[..., HALO - 1, HALO:-HALO], values[..., HALO:-HALO, HALO:-HALO]
        if not np.isfinite(values).all():
            self.refuse(f"{name} is not finite everywhere")
        made = np.zeros(outer)
        made[..., HALO:-HALO, HALO:-HALO] = np.where(values == dataset.attrs.get("_FillValue"), 0, values)
        if "psi" in name and settings.enable_streamfunction:
            if wall is None:
                self.refuse(f"{name} has no attribute southern_wall")
            made[HALO - 1, HALO:-HALO] = wall
        return np.array(enforce_boundaries(npx.asarray(made.T), settings.enable_cyclic_x))

    def variable(self, name):
        """With all time levels. Those that no step reads are as after Veros's initial conditions."""
        variables = self.state.var_meta
        dims = [dim for dim in variables[name].dims if dim != "timesteps"]
        if len(dims) == len(variables[name].dims):
            return self.values(name, len(dims))
        read = {level: self.values(dataset_of(name, level), len(dims)) for level in levels_of(name, variables)}
        other = read.get("tau", np.zeros_like(read.get("taum1")))
        return np.stack([read.get(level, other) for level in LEVELS], axis=-1)


def restarted(state):
    """The variables of a restart that are taken from an output."""
    return [name for name, meta in state.var_meta.items()
            if meta.active and meta.write_to_restart and name not in NOT_TAKEN]


def check_settings(end):
    settings = end.state.settings
    theirs = {**dict(settings.items()), "pyom_compatibility_mode": runtime_settings.pyom_compatibility_mode}
    odd = [f"{name} = {value:.17g}, not {theirs[name]:.17g}" for name, value in end.settings.items()
           if value != theirs.get(name, value) and (settings.enable_neutral_diffusion or name not in WITHOUT_MIXING)]
    if odd := [*odd, *other_constants(settings)]:
        end.refuse(f"is of a run with {'; '.join(odd)} of the setup")


def check_fields(end):
    variables, found = end.state.var_meta, {name for name, each in end.file.items() if each.ndim > 1}
    wanted = [dataset_of(name, level) for name in restarted(end.state) for level in levels_of(name, variables)]
    if missing := [name for name in wanted if name not in found]:
        end.refuse(f"missing: {', '.join(missing)}, expected an output of the sequence ocean")
    tracers = {name for name in found if f"d{name}_taum1" in found}
    if strange := sorted(tracers - set(variables)):
        end.refuse(f"has the tracers {', '.join(strange)}, expected a setup with them in miniapp_tracers")


def check(end):
    """Refuses the end of another run, in one line."""
    vs = end.state.variables
    if end.attributes["sequence"].split("+")[0] not in ("", "ocean"):  # which the end of a run without --every lacks
        end.refuse(f"is of the sequence {end.attributes['sequence']}, expected ocean")
    check_fields(end)
    is_water = (end.values("temp", 3) != 0) | (end.values("salt", 3) != 0)  # either may be 0 in water
    if (is_water != (np.asarray(vs.maskT) != 0)).any():
        end.refuse("its land is not the setup's")
    for axis in "xyz" if end.state.settings.coord_degree else "z":
        theirs, ours = np.asarray(getattr(vs, f"{axis}t")), end.file.get(f"{axis}t", end.file.get(axis))
        inside = slice(HALO, -HALO) if axis != "z" else slice(None)
        if ours is not None and not np.allclose(theirs[inside], ours[inside if len(ours) == len(theirs) else ...]):
            end.refuse(f"its points along {axis} are not the setup's")


def fill(state, path):
    """Gives a state at rest all that a restart holds."""
    with h5py.File(path) as file, state.variables.unlock():
        vs, end = state.variables, End(path, file, state)
        check(end)
        check_settings(end)
        for name in restarted(state):
            made = end.variable(name)
            parts = Islands(vs).parts(made) if name == "dpsi" else {name: made}
            vs.update({part: npx.asarray(values) for part, values in parts.items()})
        for level in LEVELS:
            vs.update(thermodynamics.calc_eq_of_state(state, getattr(vs, level)))
        vs.time = end.time


def write(state, path):
    """Lets Veros write the restart, in the place of a file that is there."""
    for name in ("diskless_mode", "use_io_threads"):
        object.__setattr__(runtime_settings, name, False)  # Veros would refuse it after its start
    with replacing(path) as place, state.settings.unlock():
        state.settings.restart_output_filename = str(place).replace("{", "{{").replace("}", "}}")
        restart.write_restart(state, force=True)
