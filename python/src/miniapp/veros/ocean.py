"""The fields of the kernels beside Veros's variables, and how each gets what the other has made."""

from __future__ import annotations

import copyreg
import dataclasses
import threading
import warnings
import weakref

import numpy as np
from veros import distributed, runtime_settings, runtime_state
from veros.core.operators import numpy as npx
from veros.state import VerosVariables

from ..ghosts import copy_round, without_ghosts
from ..state import State
from . import CONSTANTS, other_constants, out_of_range, refuse, tracers_of
from .parts import (
    ALL_GHOSTS, EDDIES, ON_DEMAND, PARTS, SEQUENCE, TENSOR, as_veros_makes, mix_again, passive, unchanged_by_veros)

LEVELS = ("taum1", "tau", "taup1")
INSIDE = (..., slice(2, -2), slice(2, -2))
NO_GHOSTS = 4 * (0,)
# Variables whose ghosts Veros fills after it has made them; of all else, it makes those that the kernels make.
FILLED = {name: ALL_GHOSTS for name in ("u", "v", "temp", "salt", "tke", "eke", "E_iw", "psi", "dpsi", "K_diss_v")}
WITH_EDDIES = "enable_eddy_streamfunction"
AT_SET_UP = ("eq_of_state_type", "coord_degree", "enable_cyclic_x", "enable_tempsalt_sources", "miniapp_device",
             "miniapp_threads", "miniapp_tracers")  # settings that decide there what there is to do
SOLVER_TOLERANCE = 1e-13  # of the external mode; Veros's own solver ends between an absolute 1e-8 and rounding
# Where rounding does not allow that, nobody has chosen a tolerance out of reach.
warnings.filterwarnings("ignore", "the external mode is solved as far as rounding allows", RuntimeWarning, __name__)


def in_order(array) -> np.ndarray:
    """An array with Veros's axes, (x, y, z), as (z, y, x)."""
    return np.asarray(array).T


def fetch_all(keeper) -> None:
    """In one order in all processes, which make some variables together."""
    for variable in sorted(keeper.pending):
        keeper.fetch(variable)


class LazyVariables(VerosVariables):
    """Veros's variables, but those that a keeper holds, the kernels or their sums, are fetched when somebody reads
    them."""

    def __getattr__(self, name):
        """Called for an attribute that is not there, or was not when somebody looked: another thread may have fetched
        it since."""
        keeper = vars(self).get("_keeper")
        if keeper is not None and (name in keeper.pending or name in vars(self)):
            return keeper.fetch(name)
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        self._keeper.pending.discard(name)

    def values(self):
        """All; for a compiled function that does not want one, zeros do."""
        return (self._keeper.zeros(name) if name in self._keeper.unwanted and name in self._keeper.pending
                else getattr(self, name) for name in self.fields())

    def __reduce_ex__(self, _protocol):
        """A copy is all Veros's: it holds all values, and no kernels."""
        fetch_all(self._keeper)
        values = {name: value for name, value in vars(self).items() if name != "_keeper"}
        return copyreg.__newobj__, (VerosVariables,), values

    @classmethod
    def let_keep(cls, keeper, variables) -> None:
        vars(variables)["_keeper"] = keeper
        variables.__class__ = cls


class Kernels:
    """Kernels that run one after the other, and the fields that they take in and make."""

    def __init__(self, ocean, steps, others, prepare):
        self.plans, self.reads, self.writes, self.ghosts = [], [], [], {}
        for step in steps:
            names = {name: others.get(name, name) for name in step.fields.values()}
            self.reads += [names[name] for name in step.reads() if names[name] not in (*self.reads, *self.writes)]
            for name in step.writes():
                names[name] = others.setdefault(name, ocean.written(name))
                if names[name] not in self.writes:
                    self.writes.append(names[name])
            self.ghosts.update({names[name]: key.ghosts for key, name in step.fields.items() if name in step.writes()})
            for name in names.values():
                prepare(name)
            text = ",".join(f"{name}={other}" for name, other in names.items() if name != other)
            self.plans.append(ocean.state.plan(step.text, text))

    def run(self) -> None:
        for plan in self.plans:
            plan.run()


class Ocean:
    """The fields of the kernels beside the variables of a state of Veros.

    A variable with three time levels is three fields, NAME_taum1, NAME and NAME_taup1, which change places at
    the beginning of a step. `known` has the arrays of Veros's that are what the fields hold; a variable that is
    `pending` is in no array: Veros gets it when somebody reads it."""

    def __init__(self, state):
        self.ref, self.vs = weakref.ref(state), state.variables  # which goes when nobody else has it
        vs, settings = self.vs, state.settings
        self.is_cyclic = bool(settings.enable_cyclic_x)
        self.turns = self.is_cyclic and runtime_settings.num_proc[0] == 1  # this process has both sides of the ocean
        self.state = State(in_order(vs.maskT).shape, settings.miniapp_device, runtime_settings.float_type,
                           self.is_cyclic, check=False)  # Veros has its own
        self.state.share(*runtime_settings.num_proc)
        self.library = self.state.library
        self.library.set_threads(settings.miniapp_threads)
        self.fields, self.place = {}, {}  # the fields of each variable; the variable of each field, and its level
        self.known, self.pending, self.lock = {}, set(), threading.RLock()
        self.slots = self.slots_of_veros()
        self.is_checked, self.is_in_step, self.differences = False, False, {}
        self.settings = self.settings_of(settings)
        self.take_settings()
        self.islands = Islands(vs) if settings.enable_streamfunction else None
        others = {}  # the fields in the place of those that a kernel has made for the new level
        self.parts = [part for part in PARTS if part.is_needed(settings)]
        handle, tracers = self.state.call(self.library.c.state_settings), tracers_of(settings)
        whole = self.library.steps(SEQUENCE, handle)
        steps = {part: [step for step in whole if step.kernel.name in part.kernels] for part in self.parts}
        self.steps = [step for step in whole if any(step in of_part for of_part in steps.values())]
        if tracers:
            self.parts.append(passive(tracers))
            with_tracers = self.library.steps("+".join((SEQUENCE, *tracers)), handle)
            steps[self.parts[-1]] = [self.spared(step) for step in with_tracers[len(whole):]]
        self.filled = {**FILLED, **dict.fromkeys(tracers, ALL_GHOSTS)}
        self.kernels = {part.name: Kernels(self, of_part, others, self.register) for part, of_part in steps.items()}
        self.last = {field: part for part, kernels in self.kernels.items() for field in kernels.writes}
        self.ghosts = {self.place[field][0]: widths for kernels in self.kernels.values()
                       for field, widths in kernels.ghosts.items() if field in self.place}
        self.ghosts |= {**self.filled, "w": (1, 2, 1, 2)}
        self.unchanged = unchanged_by_veros(settings)
        self.plans = {}  # those of kernels that are run on demand
        self.wants_eddies = False
        self.unwanted, self.blanks = frozenset(), {}
        self.begin_with_all = True
        self.means = []
        LazyVariables.let_keep(self, vs)

    @property
    def veros(self):
        return self.ref()

    @property
    def description(self) -> str:
        threads = self.library.c.host_threads()
        on = f"{self.state.device}, " + f"each of {runtime_state.proc_num} processes " * (runtime_state.proc_num > 1)
        return f"miniapp {self.library.version} on {on}{threads} thread{'s' * (threads > 1)}, makes the whole step"

    # -- fields --

    def written(self, name):
        """The field in the place of `name` for a kernel that writes it: the new level, where Veros has levels but the
        kernels make it in place."""
        row = self.library.fields
        in_place = self.has_levels(name) and not {f"{name}_taum1", f"{name}_taup1"} & set(row)
        return f"{name}_taup1" if in_place else name

    def spared(self, step):
        """A step of a passive tracer, whose lateral mixing need not write a level that Veros's tracers lack: with
        another field in its place."""
        return dataclasses.replace(step, fields={
            key: "tracer_taup1" if key.name == "salt_taup1" else name for key, name in step.fields.items()})

    def has_levels(self, variable) -> bool:
        return variable in self.vs and "timesteps" in self.vs.__metadata__[variable].dims

    def register(self, field) -> None:
        """Notes of which variable it is a level, and adds those levels that the library lacks; without a variable of
        Veros's that is active and is not made on demand, it is 0."""
        variable = field
        for level in ("_taum1", "_taup1"):
            variable = variable.removesuffix(level)
        if variable not in self.vs or variable in TENSOR:
            if field not in self.state:
                self.state.write(field)[...] = 0
        elif variable not in self.fields:
            names = [f"{variable}_taum1", variable, f"{variable}_taup1"] if self.has_levels(variable) else [variable]
            self.fields[variable] = names
            for name, level in zip(names, LEVELS if len(names) > 1 else (None,)):
                self.place[name] = variable, level
                if name not in self.library.fields:
                    self.state.add(name, variable)

    def slots_of_veros(self):
        return tuple(int(getattr(self.vs, level)) for level in LEVELS)

    # -- from Veros --

    def take(self, variables) -> None:
        """Takes in those arrays that are not the same as before, in all processes or in one. A variable may have none
        here, because it stayed with the kernels, and one in another process, which has read or set it."""
        known = distributed.global_and(np.array([name in self.pending or self.is_known(name, vars(self.vs)[name])
                                                 for name in variables], bool))
        for variable in (name for name, is_known in zip(variables, known) if not is_known):
            self.known[variable] = getattr(self.vs, variable)
            self.fill(variable, self.known[variable])

    def is_known(self, variable, array) -> bool:
        """Whether the array was taken before. Where a setup may write into it, its values are compared, too; but
        neither the grid's, nor those of what has time levels, which Veros replaces. The forcing of internal waves
        depends on time, too, whatever Veros says."""
        is_fixed = not (self.vs.__metadata__[variable].time_dependent or variable.startswith("forc_"))
        return self.known.get(variable) is array and (
            array.ndim > 3 or is_fixed
            or not getattr(getattr(array, "flags", None), "writeable", False)
            or np.array_equal(self.state.read(variable), in_order(array)))

    def fill(self, variable, array) -> None:
        for means in self.means:
            means.settle(variable)
        array = distributed.exchange_overlap(array, self.vs.__metadata__[variable].dims, self.is_cyclic)
        if variable == "dpsi":
            array = self.islands.whole(np.asarray(array), np.asarray(self.vs.dpsin))
        for field, slot in self.fields_and_slots(variable):
            memory = self.state.write(field)
            memory[...] = in_order(array if slot is None else array[..., slot])
            if self.turns and memory.ndim > 1:
                copy_round(memory)

    def fields_and_slots(self, variable):
        names = self.fields[variable]
        return zip(names, self.slots if len(names) > 1 else (None,))

    # -- to Veros --

    def give(self, variables) -> None:
        """Notes that what Veros holds of these variables is out of date."""
        for variable in variables:
            if variable in self.vs and variable not in self.unchanged:
                vars(self.vs).pop(variable, None)
                self.known.pop(variable, None)
                self.pending.add(variable)

    def fetch(self, variable):
        """Gives Veros what its own routines would have made. Any thread may ask for it."""
        with self.lock:
            if variable not in vars(self.vs):
                for name, values in self.made(variable).items():
                    if name in self.pending:
                        array = npx.asarray(values, runtime_settings.float_type)
                        if runtime_state.proc_num > 1:  # Veros gives MPI the memory of arrays, whatever their order is
                            array = np.ascontiguousarray(array)
                        if isinstance(array, np.ndarray):
                            array.flags.writeable = False  # because changes in place would go unnoticed
                        vars(self.vs)[name] = self.known[name] = array
                        self.pending.discard(name)
            return vars(self.vs)[variable]

    def made(self, variable):
        """{name: values} of the variable, and of those that come with it."""
        if variable in EDDIES:
            self.make_eddies()
        if variable in ("dpsi", "dpsin"):
            return self.islands.parts(self.as_veros("dpsi"))
        if variable in self.fields:
            return {variable: self.as_veros(variable)}
        names = next(names for part in self.parts for names in part.on_demand if variable in names)
        if self.is_in_step:  # a routine of Veros's reads it, which is about to make it
            return {name: np.zeros(self.shape_of(name)) for name in names}
        return dict(zip(names, ON_DEMAND[names](self)))

    def as_veros(self, variable) -> np.ndarray:
        """A copy with Veros's axes, but with the order in memory of the kernels."""
        fields = list(self.fields_and_slots(variable))
        block = np.empty((len(fields), *self.state.shape(fields[0][0])), self.state.dtype(fields[0][0]))
        for field, slot in fields:
            block[slot or 0] = self.state.read(field)
        return self.with_ghosts(block if len(fields) > 1 else block[0], self.ghosts.get(variable, ALL_GHOSTS)).T

    def zeros(self, variable):
        shape = self.shape_of(variable)
        if shape not in self.blanks:
            self.blanks[shape] = npx.zeros(shape)
        return self.blanks[shape]

    def holds(self, variable) -> bool:
        """Whether its field at the level tau is current, because nobody has set the variable."""
        is_held = variable in self.fields and variable not in (*self.unchanged, "dpsi") and (
            variable in self.pending or self.is_known(variable, vars(self.vs)[variable]))
        if is_held and variable in EDDIES:
            self.make_eddies()
        return is_held

    def now(self, variable) -> np.ndarray:
        """Its values at the level tau, in the kernels' order: their field itself, if nobody has set the variable."""
        if self.holds(variable):
            return self.state.read(variable)
        array = in_order(getattr(self.vs, variable))
        return array[self.slots[1]] if self.has_levels(variable) else array

    def shape_of(self, variable):
        return self.vs._get_expected_shape(self.vs.__metadata__[variable].dims)  # pylint: disable=protected-access

    def with_ghosts(self, values, widths=NO_GHOSTS):
        """Cells that Veros does not make, farther out than these widths in the west, east, south and north, are 0."""
        if self.turns:
            copy_round(values)
        west, east, south, north = widths
        length, breadth = values.shape[-1], values.shape[-2]
        values[..., :2 - west] = values[..., length - 2 + east:] = 0
        values[..., :2 - south, :] = values[..., breadth - 2 + north:, :] = 0
        return values

    def make_eddies(self) -> None:
        """Makes B1_gm and B2_gm of the last step, if it has not, and lets the next one make them with the rest."""
        if not self.state.setting(WITH_EDDIES):
            self.state.set_setting(WITH_EDDIES, 1)
            mix_again(self)
        self.wants_eddies = True

    # -- settings --

    def settings_of(self, settings):
        names = [*self.library.settings, *CONSTANTS, *AT_SET_UP]
        return {name: getattr(settings, name) for name in names if hasattr(settings, name)}

    def follow(self) -> None:
        """Takes in what has changed between two steps."""
        now = self.settings_of(self.veros.settings)
        if now != self.settings:
            changed = [name for name in now if now[name] != self.settings[name]]
            reasons = [*other_constants(self.veros.settings), *out_of_range(self.veros.settings), *(
                f"it does not cover another {name} in the middle of a run" for name in changed
                if name.startswith("enable_") or name in AT_SET_UP)]
            if reasons:
                refuse(reasons)
            self.settings = now
            self.take_settings()

    def take_settings(self) -> None:
        for name, value in self.settings.items():
            if name in self.library.settings:
                self.state.set_setting(name, value)
        self.state.set_setting("pyom_compatibility_mode", 0)
        self.state.set_setting("solver_tolerance", SOLVER_TOLERANCE)

    # -- a step --

    def begin(self) -> None:
        self.follow()
        now = self.slots_of_veros()
        is_next = now == (*self.slots[1:], self.slots[0])
        for means in self.means:
            means.follow(is_next)
        if is_next:
            for names in self.fields.values():
                if len(names) > 1:
                    oldest, middle, newest = names
                    self.state.rotate(middle, newest, oldest)
        elif now != self.slots:  # a restart was read; a step that has failed is made once more with the same slots
            fetch_all(self)
            self.known.clear()
        self.slots, self.is_in_step = now, True
        self.state.set_setting(WITH_EDDIES, self.wants_eddies or self.is_checked)
        self.wants_eddies = False
        if self.begin_with_all:
            self.take(self.fields)
            if reasons := list(self.faults()):
                refuse(reasons)
            self.state["p"] = np.abs(self.state.read("zt"))
            self.begin_with_all = False

    def faults(self):
        """A line for each thing that no ocean can begin with."""
        water = self.state.read("maskT")[INSIDE]
        if not distributed.global_max(water.max()):
            yield "there is no water: kbot is 0 everywhere"
        kbot, levels = self.state.read("kbot")[INSIDE], len(self.state.read("zt"))
        if distributed.global_max(max(-kbot.min(), kbot.max() - levels)) > 0:
            yield f"kbot is not from 0, which is land, to {levels}, the number of levels"
        made = as_veros_makes(self.veros)
        if odd := [name for name, is_so in zip(made, distributed.global_and(np.array([*made.values()]))) if not is_so]:
            yield f"its kernels make masks, depths and areas of kbot and spacings, but others are set: {', '.join(odd)}"
        found = []
        for field, (variable, _) in self.place.items():
            values = without_ghosts(self.state.field(field).axes, self.state.read(field))
            if values.ndim > 1:
                values = values[..., water[-1] > 0] if values.ndim == 2 else values[water > 0]
            is_spacing = self.state.field(field).least > 0 and not self.vs.__metadata__[variable].time_dependent
            found.append((not np.isfinite(values).all(), is_spacing and not (values > 0).all()))
        found = distributed.global_max(np.array(found, float)) > 0
        for bad, reason in zip(found.T, ("not finite", "not above 0")):
            if names := {variable: None for is_bad, (variable, _) in zip(bad, self.place.values()) if is_bad}:
                uneven = ": Veros makes dzw of dzt, whose levels are of too uneven heights" * ("dzw" in names)
                yield f"values are {reason} in {', '.join(names)}{uneven}"

    def make(self, part, state) -> None:
        """Makes a part by kernels; and by Veros's routine, too, from the same fields, if the step is checked."""
        kernels = self.kernels[part.name]
        places = {field: self.place[field] for field in (*kernels.reads, *kernels.writes) if field in self.place}
        self.take({variable: None for field, (variable, level) in places.items()
                   if level or field in kernels.reads})  # kernels that make one level leave the others
        kernels.run()
        for field in kernels.writes:
            if self.last[field] == part.name and self.place.get(field, ("",))[0] in self.filled:
                self.state.exchange(field)
        if part.after:
            part.after(self)
        if self.is_checked:
            part.by_veros(state)
            self.compare(kernels.writes)
        else:
            self.give({self.place[field][0]: None for field in kernels.writes if field in self.place})
            self.give(name for names in part.on_demand for name in names)

    def end(self) -> None:
        self.is_in_step = False

    def compare(self, fields) -> None:
        """Compares with what Veros's own routine has made of the same: the largest differences on water."""
        water = self.state.read("maskT")[INSIDE]
        for variable, level in (self.place[name] for name in fields if name in self.place):
            if variable in self.unchanged:
                continue
            array = getattr(self.vs, variable)
            theirs = in_order(array if level is None else array[..., self.slots[LEVELS.index(level)]])[INSIDE]
            ours = self.made(variable)[variable]
            ours = in_order(ours if level is None else ours[..., self.slots[LEVELS.index(level)]])[INSIDE]
            factor = water if theirs.ndim == 3 else 1
            both = tuple(float(distributed.global_max(np.abs(values * factor).max())) for values in (ours - theirs, theirs))
            self.differences[variable] = max(both, self.differences.get(variable, both))  # of all parts that make it

    # -- on demand --

    def added(self, name, like):
        if name not in self.state.added:
            self.state.add(name, like)
        return name

    def beside(self, *names, others=None):
        """Kernels of the sequence by their names, or of others beside it, with other fields in the place of some."""
        if names not in self.plans:
            steps = [step for step in self.steps if step.kernel.name in names]
            if not any(names[0] in part.kernels for part in PARTS):
                steps = self.library.steps(names[0].rstrip(":"))
            self.plans[names] = Kernels(self, steps, dict(others or {}), lambda name: None)
        return self.plans[names]


class Islands:
    """The tendency of the streamfunction, which the kernels keep as a whole, and Veros as that without islands and
    of a value for each island from the second on, which it stores a time level earlier."""

    def __init__(self, vs):
        self.psin = np.asarray(vs.psin)[..., 1:]
        coasts = sum(np.asarray(getattr(vs, f"line_dir_{side}_mask")) for side in ("south", "north", "east", "west"))
        self.coasts = coasts[..., 1:, None].astype(bool)

    def whole(self, dpsi, dpsin):
        return dpsi + self.psin @ np.roll(dpsin, 1, axis=1)[1:]

    def parts(self, whole):
        values = distributed.global_max(np.where(self.coasts, whole[:, :, None], -np.inf).max((0, 1)))
        dpsin = np.zeros((len(values) + 1, whole.shape[-1]))
        dpsin[1:] = np.roll(values, -1, axis=1)
        return {"dpsi": whole - self.psin @ values, "dpsin": dpsin}
