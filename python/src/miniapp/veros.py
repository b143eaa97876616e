"""A plug-in of Veros 1.7 that makes a step's tracers, energies and diffusivities by miniapp.

    import miniapp.veros

    class MySetup(ACCSetup):
        __veros_plugins__ = (miniapp.veros,)

Momentum and forcing stay Veros's. The fields that the kernels need stay in a state; each step takes in those
arrays that Veros has replaced since the last one. Veros gets what the kernels made when somebody reads it;
with JAX, whose compiled functions read all variables, it gets that at once. A step whose diagnostics want
more, such as those of energy, is made by Veros's own routines.

In set_parameter a setup may say `settings.miniapp_device = "gpu"`, and `settings.miniapp_check = N`: every
N-th step is made both ways from the same fields, and the log says how far each field differs.
"""

from __future__ import annotations

import copyreg
import dataclasses
import threading
import weakref

import numpy as np

from .extras import needing

with needing("veros", "veros==1.7.0"):
    import veros
from veros import logger, runtime_settings, runtime_state, signals
from veros.core import advection, density, eke, isoneutral, thermodynamics, tke, utilities
from veros.core.operators import at, update
from veros.core.operators import numpy as npx
from veros.settings import Setting
from veros.state import VerosVariables

from .library import Type, UsageError
from .state import State

TESTED = "1.7.0"
SEQUENCE = "ocean_step_forced"
MADE_BY_FORCING = "surface_forcing"
BEFORE_MOMENTUM = ("eke_diffusivities", "tke_diffusivities")
# The parts of the sequence that a setup may do without, and the switch of each. All else goes by
# enable_tke, which WANTED demands.
SWITCHES = {"eke_diffusivities": "enable_eke", "eke": "enable_eke",
            "tempsalt_sources": "enable_tempsalt_sources"}
FIXED = (*SWITCHES.values(), "eq_of_state_type", "enable_cyclic_x")  # as long as a run lasts
WANTED = {"enable_tke": True, "enable_neutral_diffusion": True, "enable_skew_diffusion": True,
          "enable_hor_diffusion": False, "enable_biharmonic_mixing": False, "enable_TEM_friction": False,
          "enable_idemix": False, "enable_conserve_energy": True,  # without, Veros keeps Hd and its derivatives
          "rho_0": 1024.0, "grav": 9.81, "pi": np.pi}  # constants of the kernels
# Variables that only Veros's routines compute, for diagnostics alone.
ONLY_VEROS = {"dtemp_iso", "dsalt_iso", "dtemp_vmix", "dsalt_vmix", "dHd", "K_11", "K_22", "K_33", "Ai_ez", "Ai_nz",
              "Ai_bx", "Ai_by", "B1_gm", "B2_gm"}
ONLY_VEROS_DIAGNOSTICS = ("energy", "overturning")


def check(state) -> None:
    """Refuses in one line what the kernels do not cover."""
    settings = state.settings
    if veros.__version__ != TESTED:
        raise UsageError(f"Veros {veros.__version__} was not tested with miniapp.veros, only {TESTED}")
    if runtime_state.proc_num > 1:
        raise UsageError(f"miniapp.veros runs in one process, not in {runtime_state.proc_num}")
    if runtime_settings.pyom_compatibility_mode:
        raise UsageError("miniapp.veros does not cover Veros's pyom_compatibility_mode")
    if runtime_settings.float_type != "float64":
        raise UsageError(f"miniapp.veros computes in float64, not in {runtime_settings.float_type}")
    for name, wanted in WANTED.items():
        if getattr(settings, name) != wanted:
            raise UsageError(f"miniapp.veros does not cover {name} = {getattr(settings, name)}")


def has_levels(vs, variable) -> bool:
    return "timesteps" in vs.__metadata__[variable].dims


INSIDE = (..., slice(2, -2), slice(2, -2))


def in_order(array) -> np.ndarray:
    """An array with Veros's axes, (x, y, z), as (z, y, x)."""
    return np.asarray(array).T


def make_cyclic(values, axis) -> None:
    """Makes the ghosts along x copies, also where Veros does not."""
    along = np.moveaxis(values, axis, 0)
    along[:2], along[-2:] = along[-4:-2], along[2:4]


def same_inside(ours, theirs) -> bool:
    return np.array_equal(ours[INSIDE], theirs[INSIDE])


# ---- the state of the kernels ----

class Part:
    """Kernels that run one after the other, and the fields that they take in and make."""

    def __init__(self, state: State, steps, made=()):
        self.plans = []  # each with the fields that no earlier one writes
        self.reads, self.writes = [], []
        for step in steps:
            self.reads += [name for name in step.reads() if name not in (*self.reads, *self.writes, *made)]
            new = [name for name in step.writes() if name not in self.writes]
            self.writes += new
            self.plans.append((state.plan(step.text), new))

    def run(self, before_write):
        for plan, written in self.plans:
            for name in written:
                before_write(name)
            plan.run()


class LazyVariables(VerosVariables):
    """Veros's variables, but those that the kernels have made are fetched when somebody reads them."""

    def __getattr__(self, name):
        """Called for an attribute that is not there, or was not when somebody looked: another thread may have fetched
        it since."""
        ocean = vars(self).get("_ocean")
        if ocean is not None and (name in ocean.pending or name in vars(self)):
            return ocean.fetch(self, name)
        if ocean is not None and name in ocean.hidden:
            raise UsageError(f"{name} was not made in this step, which miniapp.veros made. A diagnostic that reads it "
                             "needs the attribute `needs_veros = True`; elsewhere, read it without this plug-in")
        return super().__getattr__(name)

    def items(self):
        """Those that can be read. Veros puts them all into names of files."""
        return ((name, getattr(self, name)) for name in self.fields() if name not in self._ocean.hidden)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        self._ocean.pending.pop(name, None)

    def __reduce_ex__(self, _protocol):
        """A copy is all Veros's: it holds all values, NaN where nobody made any, and no kernels."""
        self._ocean.fetch_all(self)
        unmade = {name: np.full_like(value, np.nan) for name, value in self._ocean.hidden.items()}
        values = {name: value for name, value in {**unmade, **vars(self)}.items() if name != "_ocean"}
        return copyreg.__newobj__, (VerosVariables,), values


@dataclasses.dataclass
class Pending:
    """A variable that Veros has not read since the kernels made it. If it has time levels, `before` is the
    array that Veros had, and `new_levels` says how many of the newest levels that lacks; `before` is None if it
    lacks all."""
    before: object
    new_levels: int


class Ocean:
    """The fields of the kernels beside those of Veros's state."""

    def __init__(self, state):
        vs, settings = state.variables, state.settings
        self.is_cyclic = bool(settings.enable_cyclic_x)
        self.state = State(in_order(vs.maskT).shape, settings.miniapp_device, cyclic_x=self.is_cyclic,
                           check=False)  # Veros has its own
        self.library = self.state.library
        self.state["p"] = np.abs(np.asarray(vs.zt))
        self.steps = [step for step in self.library.steps(SEQUENCE) if step.kernel.name != MADE_BY_FORCING
                      and getattr(settings, SWITCHES.get(step.kernel.name, "enable_tke"))]
        self.settings = self.settings_of(settings)
        self.take_settings()
        before = [step for step in self.steps if step.kernel.name in BEFORE_MOMENTUM]
        self.before = Part(self.state, before)
        self.after = Part(self.state, [step for step in self.steps if step not in before], self.before.writes)
        self.known = {}  # the array of Veros's that a field was taken from, or given as
        self.given = set()  # the variables that were made here
        self.is_in_charge = self.is_checked = self.has_failed = False
        self.differences = {}  # of the last step that was checked, by variable
        self.pending, self.lock = {}, threading.RLock()
        self.hidden, self.blanks = {}, {}  # what Veros had of ONLY_VEROS, and NaN in its place
        self.pairs = self.library.levels(SEQUENCE)
        self.fields_of = {variable: self.with_older(vs, name, variable)
                          for name, variable, _ in self.made(vs, (*self.before.writes, *self.after.writes))}
        self.readers = {variable: [name for name in (*self.before.reads, *self.after.reads)
                                   if self.where(vs, name, vs.tau)[0] == variable]
                        for variable in self.fields_of}
        self.is_lazy = runtime_settings.backend == "numpy"
        self.start_from(vs)
        if self.is_lazy:
            vars(vs)["_ocean"] = self
            vs.__class__ = LazyVariables

    # -- time levels --

    def with_older(self, vs, name, variable):
        """The fields that hold a variable's time levels between steps, the newest first. Veros has three,
        the kernels need two of what they step, and one of all else."""
        if not has_levels(vs, variable):
            return [name]
        others = [other for pair in self.pairs for other in pair if name in pair and other != name]
        return [*others, name, *(f"{variable}_older_{age}" for age in range(len(others) + 1, 3))]

    def slots_of(self, names):
        """Where Veros has these levels: a tendency is stored with the level from which its step starts."""
        is_tendency = names[0] == f"{names[1]}_taum1"
        return (*self.slots[1:], self.slots[0]) if is_tendency else self.slots

    def start_from(self, vs):
        """Takes all that the kernels need from Veros's variables as they are."""
        self.fetch_all(vs)
        self.known.clear()
        self.given.clear()
        self.slots = (int(vs.tau), int(vs.taum1), int(vs.taup1))  # of time levels, the newest first
        for variable, names in self.fields_of.items():
            if self.is_lazy and len(names) > 1:
                for name, slot in zip(names, self.slots_of(names)):
                    if name not in self.library.fields and name not in self.state.added:
                        self.state.add(name, names[0])
                    self.fill(name, getattr(vs, variable)[..., slot])

    def make_room_for_new_levels(self):
        """The kernels write into the memory of the oldest level, as Veros does."""
        for names in self.fields_of.values():
            if self.is_lazy and len(names) > 1 and names[1] in self.library.fields:
                _, written, *older = names
                self.state.rotate(written, *older)

    def keep(self, name):
        """Keeps the level that a kernel is about to overwrite, if the kernels have no use for it, but Veros may
        have."""
        names = self.fields_of.get(name, [])
        if self.is_lazy and len(names) > 1 and names[1] not in self.library.fields:
            self.state.rotate(name, *reversed(names[1:]))

    # -- settings --

    def settings_of(self, settings):
        """The settings that matter here."""
        names = {setting.name for step in self.steps for setting in step.kernel.settings}
        names |= {*WANTED, *FIXED}
        return {name: getattr(settings, name) for name in names if hasattr(settings, name)}

    def follow(self, state):
        """Takes in what has changed between two steps: settings, or the time levels, as after a restart was
        read or a step has failed."""
        now = self.settings_of(state.settings)
        if now != self.settings:
            check(state)
            for name in FIXED:
                if now[name] != self.settings[name]:
                    raise UsageError(f"miniapp.veros does not cover another {name} in the middle of a run")
            self.settings = now
            self.take_settings()
        if self.slots[0] != int(state.variables.tau):
            self.start_from(state.variables)

    def take_settings(self):
        for name, value in self.settings.items():
            if name in self.library.settings:
                self.state.set_setting(name, value)
        self.state.set_setting("pyom_compatibility_mode", 0)

    # -- from Veros --

    def take(self, vs, names) -> None:
        """Takes in those arrays that are not the same as before, unless they were made here."""
        for name in names:
            variable, slot = self.where(vs, name, vs.tau)
            if variable not in vs:
                if name not in self.state:
                    self.state.write(name)[...] = 0
            elif variable in vars(vs):  # else nobody has read what was made here
                array = vars(vs)[variable]
                if not self.is_known(name, array) and not self.is_ours(name, variable, slot, array):
                    self.fill(name, array if slot is None else array[..., slot])
                self.known[name] = array

    def is_known(self, name, array) -> bool:
        """Whether the array was taken before. Its values are compared, too, because a setup may always write its
        forcing into the same array; but neither masks nor what has time levels, which Veros replaces."""
        return self.known.get(name) is array and (
            array.ndim > 3 or self.library.fields[name].type is Type.MASK
            or np.array_equal(self.state.read(name), in_order(array)))

    def is_ours(self, name, variable, slot, array) -> bool:
        """Whether the field holds it already: Veros copies some arrays to exchange their ghosts. A level
        that the kernels are about to write does not count."""
        if variable not in self.given or name not in self.state:
            return False
        return name.endswith("_taup1") or same_inside(
            self.state.read(name), in_order(array if slot is None else array[..., slot]))

    def fill(self, name, values):
        memory = self.state.write(name)
        memory[...] = in_order(values)
        if self.is_cyclic and memory.ndim > 1:
            make_cyclic(memory, -1)

    def where(self, vs, name, slot):
        """The variable of a field and its time level, which is `slot` if the name tells none."""
        variable = name
        for level in ("taup1", "taum1"):
            if name.endswith(f"_{level}"):
                variable, slot = name.removesuffix(f"_{level}"), getattr(vs, level)
        return variable, int(slot) if variable in vs and has_levels(vs, variable) else None

    # -- to Veros --

    def made(self, vs, names):
        """Each with its variable and level: tendencies belong to tau, all else that has levels to taup1."""
        for name in names:
            is_tendency = f"{name}_taum1" in self.library.fields
            variable, slot = self.where(vs, name, vs.tau if is_tendency else vs.taup1)
            if variable in vs:
                yield name, variable, slot

    def give(self, vs, names) -> None:
        """Notes that what Veros holds of these fields is out of date."""
        for _, variable, _ in self.made(vs, names):
            pending = self.pending.setdefault(variable, Pending(vars(vs).get(variable), 0))
            pending.new_levels += 1
            if pending.new_levels >= len(self.fields_of[variable]):
                pending.before = None
            vars(vs).pop(variable, None)
            self.given.add(variable)
            for name in self.readers[variable]:
                self.known.pop(name, None)
        if not self.is_lazy:
            self.fetch_all(vs)

    def fetch(self, vs, variable):
        """Gives Veros what its own routines would have made. Any thread may ask for it."""
        with self.lock:
            if variable not in vars(vs):
                if self.has_failed:
                    raise RuntimeError(f"{variable}: the step that was to make it has failed")
                array = npx.asarray(self.all_levels(variable, self.pending[variable]))
                if self.is_lazy:
                    array.flags.writeable = False  # because changes in place would go unnoticed
                vars(vs)[variable] = array
                for name in self.readers[variable]:
                    self.known[name] = array
                del self.pending[variable]
            return vars(vs)[variable]

    def all_levels(self, variable, pending):
        names = self.fields_of[variable]
        if len(names) == 1:
            return self.as_veros(self.state.read(names[0]))
        levels = list(zip(names, self.slots_of(names)))[:pending.new_levels]
        size = self.state.shape(names[0])[::-1]
        array = np.empty((*size, len(names))) if pending.before is None else np.array(pending.before)
        for name, slot in levels:
            array[..., slot] = self.as_veros(self.state.read(name))
        return array

    def hide(self, vs) -> None:
        """Takes away what this step has not made, so that nobody reads old values. Restarts, in which nobody reads
        it, get NaN, and so does JAX, whose functions take all variables."""
        for name in ONLY_VEROS & set(vars(vs)):
            array = vars(vs)[name]
            if array is not self.blanks.get(name):
                self.hidden[name] = array
                if self.is_lazy and not vs.__metadata__[name].write_to_restart:
                    del vars(vs)[name]
                else:
                    vars(vs)[name] = self.blanks[name] = npx.full_like(array, npx.nan)

    def show(self, vs) -> None:
        """Gives back what Veros had, which its own routines write into."""
        vars(vs).update(self.hidden)
        self.hidden.clear()

    def fetch_all(self, vs) -> None:
        for variable in list(self.pending):
            self.fetch(vs, variable)

    def as_veros(self, values) -> np.ndarray:
        values = np.array(values.T, order="C")
        if self.is_cyclic:
            make_cyclic(values, 0)
        return values

    def compare(self, vs) -> None:
        """Compares with what Veros's own routines have made of the same: the largest differences on water."""
        water = self.state.read("maskT")[INSIDE]
        for name, variable, slot in self.made(vs, (*self.before.writes, *self.after.writes)):
            array = getattr(vs, variable)
            theirs = in_order(array if slot is None else array[..., slot])[INSIDE]
            factor = water if theirs.ndim == 3 else 1
            self.differences[variable] = tuple(
                float(np.abs(values * factor).max())
                for values in (in_order(self.as_veros(self.state.read(name)))[INSIDE] - theirs, theirs))

    # -- a step --

    def make_diffusivities(self, state):
        vs = state.variables
        vs.K_diss_v = utilities.enforce_boundaries(vs.K_diss_v, state.settings.enable_cyclic_x)
        self.take(vs, self.before.reads)
        self.before.run(self.keep)
        if self.is_in_charge:
            self.give(vs, self.before.writes)

    def make_all_else(self, state):
        self.has_failed = True  # until it is done
        self.make_room_for_new_levels()
        self.take(state.variables, self.after.reads)
        self.after.run(self.keep)
        if self.is_in_charge:
            self.finish(state)
        self.has_failed = False

    def finish(self, state):
        vs = state.variables
        for pair in self.pairs:
            if all(name in self.state for name in pair):
                self.state.rotate(*pair)
        self.slots = (int(vs.taup1), int(vs.tau), int(vs.taum1))
        self.has_failed = False
        self.give(vs, self.after.writes)
        self.hide(vs)
        self.force_density(state)

    def force_density(self, state):
        """Does what Veros's surf_densityf does, which would read all of both tracers."""
        vs = state.variables
        water = [npx.asarray(self.as_veros(self.state.read(name)[-1])) for name in ("salt", "temp")]
        depth = npx.abs(vs.zt[-1])
        vs.forc_rho_surface = vs.maskT[..., -1] * (
            density.get_drhodT(state, *water, depth) * vs.forc_temp_surface
            + density.get_drhodS(state, *water, depth) * vs.forc_salt_surface)


# ---- in the place of Veros's routines ----

OCEANS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def due(state, time):
    """The diagnostics due at a time that want what only Veros's routines make."""
    step = state.settings.dt_tracer
    return [name for name, diagnostic in state.diagnostics.items()
            if name in ONLY_VEROS_DIAGNOSTICS or ONLY_VEROS & set(diagnostic.output_variables or ())
            or getattr(diagnostic, "needs_veros", False)
            if any(frequency and time % frequency < step
                   for frequency in (diagnostic.sampling_frequency, diagnostic.output_frequency))]


def undisturbed(function):
    """Makes a signal wait, as when Veros writes a file: nobody can use half a step."""
    if threading.current_thread() is threading.main_thread():
        return signals.do_not_disturb(function)
    return function


def begin(ocean, state, original):
    """The first routine of a step. Without EKE, the diffusivities that it makes are Veros's."""
    ocean.follow(state)
    every = state.settings.miniapp_check
    ocean.is_checked = every > 0 and (int(state.variables.itt) + 1) % every == 0
    vs = state.variables
    ocean.is_in_charge = not ocean.is_checked and not due(state, vs.time + state.settings.dt_tracer)
    if not ocean.is_in_charge:
        ocean.fetch_all(vs)
        ocean.show(vs)
    if not ocean.is_in_charge or not state.settings.enable_eke:
        original(state)


def by_kernels(make):
    """Makes results by a method of the ocean, where the kernels are in charge or are to be compared."""
    def replacement(ocean, state, original):
        if ocean.is_in_charge or ocean.is_checked:
            undisturbed(make)(ocean, state)
        unless_in_charge(ocean, state, original)
    return replacement


def unless_in_charge(ocean, state, original):
    """Runs Veros's routine, unless the kernels have made its results, or will make them."""
    if not ocean.is_in_charge:
        original(state)


def end(ocean, state, original):
    """The last routine of a step."""
    unless_in_charge(ocean, state, original)
    if ocean.is_checked:
        ocean.compare(state.variables)
        logger.info("miniapp: step {} by Veros's own routines differs by, and has at most: {}",
                    int(state.variables.itt) + 1,
                    ", ".join(f"{name} {difference:.1e} {most:.1e}"
                              for name, (difference, most) in ocean.differences.items()))


def before_diagnostics(ocean, state, original):
    """The first routine after after_timestep, which may have changed what is due."""
    if ocean.is_in_charge and (late := due(state, state.variables.time)):
        raise UsageError(f"the diagnostic {late[0]} is due only since after_timestep changed the time step or a "
                         "frequency, and miniapp.veros has made this step without it: change them in set_forcing")
    unless_in_charge(ocean, state, original)


REPLACED = [(eke, "set_eke_diffusivities", begin),
            (tke, "set_tke_diffusivities", by_kernels(Ocean.make_diffusivities)),
            (thermodynamics, "thermodynamics", by_kernels(Ocean.make_all_else)),
            (advection, "calculate_velocity_on_wgrid", unless_in_charge),
            (eke, "integrate_eke", unless_in_charge), (tke, "integrate_tke", end),
            (isoneutral, "isoneutral_diag_streamfunction", before_diagnostics)]


def replace(module, name, replacement) -> None:
    """Replaces a routine in this process, for setups with the plug-in; for others it stays what it was."""
    original = getattr(module, name)
    if hasattr(original, "is_by_miniapp"):
        return

    def routine(state):
        if state in OCEANS:
            replacement(OCEANS[state], state, original)
        else:
            original(state)
    routine.__name__ = routine.__qualname__ = name
    routine = veros.veros_routine(routine)
    routine.is_by_miniapp = True
    setattr(module, name, routine)


def set_up(state) -> None:
    check(state)
    OCEANS[state] = Ocean(state)
    for module, name, replacement in REPLACED:
        replace(module, name, replacement)


def run(_state) -> None:
    """Does nothing: the step is made by the replaced routines."""


__VEROS_INTERFACE__ = {
    "name": "miniapp", "setup_entrypoint": set_up, "run_entrypoint": run,
    "settings": {
        "miniapp_device": Setting("cpu", str, "where miniapp's kernels run: cpu, gpu, gpu:N"),
        "miniapp_check": Setting(0, int, "every N-th step is made by Veros, too, and compared; 0: none"),
    }}
