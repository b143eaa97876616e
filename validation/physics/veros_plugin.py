#!/usr/bin/env python3
"""Runs small oceans by Veros, with miniapp's plug-in and without; a Python that has Veros 1.7.0 runs it.

    PYTHONPATH=python/src venv/bin/python validation/physics/veros_plugin.py [--backend jax] [--steps 200] CASE...
    mpirun -n 4 ... validation/physics/veros_plugin.py --cut 2x2 CASE...

Prints JSON: of each case and field how far both end from each other, how far plain Veros does from itself
when the last digits of what it starts from change, and the largest value; or what a refusal says.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import gc
import json
import os
import signal
import tempfile
import types
import weakref
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse.linalg
import veros

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--backend", default="numpy")
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--cut", default="1x1")
parser.add_argument("--begin", help="of values: a seed of other last digits, or rest: without Veros's initial flow")
parser.add_argument("cases", nargs="*")
options = parser.parse_args()
veros.runtime_settings.update(backend=options.backend, num_proc=options.cut.split("x"))

# Veros takes its backend from the settings above when the rest of it is imported.
from make_veros_external import solve_directly  # noqa: E402  pylint: disable=wrong-import-position
from make_veros_ocean import BENCHMARK  # noqa: E402  pylint: disable=wrong-import-position
from veros_acc import SmallSetup  # noqa: E402  pylint: disable=wrong-import-position
from veros_random import choose  # noqa: E402  pylint: disable=wrong-import-position
from veros import KernelOutput, distributed, restart, runtime_state, signals  # noqa: E402  pylint: disable=wrong-import-position
from veros import veros_kernel, veros_routine  # noqa: E402  pylint: disable=wrong-import-position
from veros.diagnostics.averages import Averages  # noqa: E402  pylint: disable=wrong-import-position
from veros.diagnostics.base import VerosDiagnostic  # noqa: E402  pylint: disable=wrong-import-position
from veros.core.diffusion import horizontal_diffusion  # noqa: E402  pylint: disable=wrong-import-position
from veros.core.isoneutral import diffusion  # noqa: E402  pylint: disable=wrong-import-position
from veros.core.operators import at, numpy as npx, update  # noqa: E402  pylint: disable=wrong-import-position
from veros.setups.acc.acc import ACCSetup  # noqa: E402  pylint: disable=wrong-import-position
from veros.setups.acc_basic.acc_basic import ACCBasicSetup  # noqa: E402  pylint: disable=wrong-import-position
from veros.variables import Variable  # noqa: E402  pylint: disable=wrong-import-position
import miniapp.veros as plugin  # noqa: E402  pylint: disable=wrong-import-position
from miniapp.veros.parts import passive_by_veros  # noqa: E402  pylint: disable=wrong-import-position

# Veros's own solver ends at an absolute residual of 1e-8, far above rounding: it would hide what a kernel gets wrong.
scipy.sparse.linalg.bicgstab = solve_directly
STEPS, REMNANT, LEFT_BY_ROUNDING, REMNANTS, REST = options.steps, 1e-20, 1e-25, "remnants", "rest"
FLOW = ("u", "v", "psi", "dpsi", "dpsin")
GLOBAL = {"eq_of_state_type": 5, "enable_tke_superbee_advection": True, "dt_mom": 1800.0}
SETUPS = {
    "acc": {},
    "acc_basic": {"enable_eke": False, "enable_eke_isopycnal_diffusion": False, "enable_Prandtl_tke": False},
    "global": {**GLOBAL, "enable_tempsalt_sources": True},
    "north_atlantic": {**GLOBAL, "enable_cyclic_x": False, "enable_eke": False, "tke_mxl_choice": 1,
                       "enable_eke_isopycnal_diffusion": False},
}
PLAIN_MEANS = Averages.diagnose  # until a setup has the plug-in
COMPARED = ["temp", "salt", "tke", "eke", "E_iw", "u", "v", "rho", "Nsqr", "kappaM", "kappaH", "K_gm",
            "P_diss_iso", "P_diss_v", "dye", "ddye", "age"]


class Setup(SmallSetup):
    """With tracers and sources that are rough, in a given number of steps."""
    roughness = 1.0

    def __init__(self, switches, change=None):
        super().__init__()
        self.switches, self.change = switches, change

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.dt_tracer, settings.nx, settings.ny = 21600.0, 10, 14
        for name, value in self.switches.items():
            setattr(settings, name, value)

    @veros_routine
    def set_grid(self, state):
        vs = state.variables
        vs.dxt, vs.dyt = vs.dxt + 4.0, vs.dyt + 4.0
        vs.dzt = vs.dzt + np.array([600.0, 510.0, 340.0, 200.0, 100.0, 50.0])

    @veros_routine
    def set_initial_conditions(self, state):
        super().set_initial_conditions(state)
        vs = state.variables
        nx, ny, nz = (state.dimensions[axis] for axis in ("xt", "yt", "zt"))
        noise = np.random.default_rng(5).standard_normal((2, nx + 4, ny + 4, nz))
        cyclic_ghosts = noise[:, -4:-2], noise[:, 2:4]
        noise[:, :2], noise[:, -2:] = cyclic_ghosts if state.settings.enable_cyclic_x else (0, 0)
        if runtime_state.proc_rank > 0:
            noise = np.zeros((2, *vs.maskT.shape))  # of which the first process fills its part
        noise = np.array([distributed.scatter(each, state.dimensions, ("xt", "yt", "zt")) for each in noise])
        noise *= self.roughness * np.asarray(vs.maskT)
        vs.temp, vs.salt = vs.temp + 0.3 * noise[0, ..., None], vs.salt + 0.05 * noise[1, ..., None]
        if state.settings.enable_tempsalt_sources:
            vs.temp_source = vs.temp_source + 1e-7 * noise[0]
            vs.salt_source = vs.salt_source + 1e-8 * noise[1]

    @veros_routine
    def after_timestep(self, state):
        if self.change:
            self.change(state)


class WithPlugin(Setup):
    __veros_plugins__ = (plugin,)


def start(kind, switches, change=None, seed=None):
    setup = kind(switches, change)
    setup.setup()
    vs = setup.state.variables
    if seed == REMNANTS:
        setup.change = lambda state: [act(state) for act in (change, change_remnants) if act]
    elif seed == REST:
        with vs.unlock():
            vs.update({name: 0 * getattr(vs, name) for name in FLOW if name in vs})
    elif seed is not None:
        rng = np.random.default_rng(int(seed))
        with vs.unlock():
            for name in ("temp", "salt"):
                values = np.array(getattr(vs, name))
                values += np.spacing(np.abs(values)) * rng.choice([-1, 1], values.shape) * (values != 0)
                setattr(vs, name, npx.asarray(values))
    return setup


def change_remnants(state, rng=np.random.default_rng(3)):
    """Turbulent kinetic energy that was cut to 0 at the surface is what rounding leaves, 0 or about 1e-26,
    and mixing lengths take its square root: it gets digits of which none is better."""
    vs = state.variables
    values = np.array(vs.tke)
    remnants = (np.abs(values) < REMNANT) & (np.asarray(vs.maskW)[..., None] > 0)
    vs.tke = npx.asarray(np.where(remnants, rng.uniform(0, LEFT_BY_ROUNDING, values.shape), values))


def run(setup, steps=STEPS):
    for _ in range(steps):
        setup.step(setup.state)
    return values_of(setup.state)


def values_of(state, names=COMPARED):
    vs, values = state.variables, {}
    for name in names:
        if name in vs:
            array = np.array(getattr(vs, name))
            has_levels = "timesteps" in state.var_meta[name].dims
            values[name] = (array[..., int(vs.tau)] if has_levels else array)[2:-2, 2:-2]
    return values


def compare(plain, other, nudged=()):
    return {name: [float(np.abs(other[name] - values).max()),
                   max((float(np.abs(each[name] - values).max()) for each in nudged), default=0.0),
                   float(np.abs(values).max())] for name, values in plain.items()}


def beside(make, *more):
    """Results of `make` by the plug-in, beside plain Veros, and when last digits change."""
    plain, *nudged = [make(Setup, seed) for seed in (None, 1, 2, *more)]
    return compare(plain, make(WithPlugin, None), nudged)


def agree(switches, change=None, by=lambda kind: kind):
    return beside(lambda kind, seed: run(start(by(kind), switches, change, seed)), *remnants(switches))


def remnants(switches):
    has_tke = switches.get("enable_tke", True)
    return [REMNANTS] if has_tke and switches.get("enable_tke_superbee_advection") else []


def with_changes():
    """A setup that changes a tracer, a forcing and an energy after each step."""
    def change(state):
        vs = state.variables
        vs.temp = vs.temp + 0.01 * vs.maskT[..., None]
        vs.tke = vs.tke * 1.01
        vs.forc_tke_surface = vs.forc_tke_surface * 1.1
    return agree(SETUPS["acc"], change)


def every_variable(switches, change=lambda state: None):
    def changed_and_read(state):
        change(state)
        read_all(state)
    return beside(lambda kind, seed: all_read(start(kind, switches, changed_and_read, seed)), *remnants(switches))


def changes_at_random(seed):
    """A setup that changes some variables after each step and reads others."""
    def act(state):
        vs, rng = state.variables, np.random.default_rng([seed, int(state.variables.itt)])
        for name in fields_in_space(state):
            what = rng.random()
            if what < 0.1 and name not in ("dHd", "K_gm"):  # of which Veros makes B1_gm and B2_gm then
                setattr(vs, name, getattr(vs, name) * 1.001)
            elif what < 0.2:
                getattr(vs, name)
    return act


def by_one_process(state):
    """The last process alone reads two variables, and changes one in its last cell; all copy what they have."""
    vs = state.variables
    if runtime_state.proc_rank == runtime_state.proc_num - 1:
        vs.salt = update(vs.salt, at[-3, -3], 1.001 * vs.salt[-3, -3] + 0 * vs.temp[-3, -3])
    if vs.itt == STEPS // 2:
        copy.deepcopy(vs)
    read_all(state)


def more_mixed(state):
    """The next step begins with other values than this one did."""
    state.variables.temp = state.variables.temp * 1.001
    with state.settings.unlock():
        state.settings.K_h = 1.1 * state.settings.K_h


def read_all(state, last=STEPS):
    """As after_timestep of the last step reads each variable, on water."""
    vs, state.found = state.variables, {}
    for name, meta in state.var_meta.items():
        if vs.itt == last and meta.active and name != "land_map" and (meta.dims or ("",))[0] in ("xt", "xu"):
            array = np.array(getattr(vs, name), dtype=float)
            now = array[..., int(vs.tau)] if meta.dims[-1] == "timesteps" else array
            if meta.dims[2:3] in (("zt",), ("zw",)):
                now = (now.T * np.asarray(vs.maskT).T).T
            inside = (slice(2, -2),) * min(now.ndim, 2)
            state.found[name] = distributed.gather(now, state.dimensions, meta.dims)[inside]


def all_read(setup):
    run(setup)
    return setup.state.found


def values(switches, by=lambda kind: kind, change=read_all):
    """The variables that the plug-in makes, of the whole ocean in the first process."""
    return as_lists(all_read(start(by(WithPlugin), switches, change, options.begin)))


def as_lists(found):
    return {name: array.tolist() for name, array in found.items()}


class Mixing(VerosDiagnostic):
    """A diagnostic of a user, which reads what no step needs."""
    name = "mixing"
    output_path = "{identifier}.mixing.nc"
    var_meta = {name: Variable(name, None, "", name) for name in ("slope", "bolus", "mixed")}

    def __init__(self, state):
        self.output_variables = list(self.var_meta)

    def initialize(self, state):
        self.initialize_variables(state)
        self.initialize_output(state)

    def diagnose(self, state):
        vs, own = state.variables, self.variables
        bolus = vs.B1_gm if "B1_gm" in vs else vs.K_gm
        own.slope, own.bolus, own.mixed = (distributed.global_sum(abs(values[2:-2, 2:-2]).sum())
                                           for values in (vs.K_33, bolus, vs.dtemp_vmix))

    def output(self, state):
        self.write_output(state)


@veros_kernel
def forcing_in_time(state):
    vs = state.variables
    return KernelOutput(surface_taux=vs.surface_taux * (1 + 0.02 * npx.sin(vs.time)),
                        forc_salt_surface=1e-6 * vs.maskT[..., -1] * npx.cos(vs.salt[..., -1, vs.tau] + vs.time))


def slower(state):
    """A step twice as long, so that more is due at its end than was known at its begin."""
    settings = state.settings
    if state.variables.itt == 5:
        with settings.unlock():
            settings.dt_tracer, settings.dt_mom = 2 * settings.dt_tracer, 1.1 * settings.dt_mom


def forced_in_time(base):
    class Forced(base):
        @veros_routine
        def set_forcing(self, state):
            super().set_forcing(state)
            state.variables.update(forcing_in_time(state))
    return Forced


def fields_in_space(state):
    return [name for name, meta in state.var_meta.items() if meta.active and meta.time_dependent
            and (meta.dims or ("",))[0] in ("xt", "xu") and "isle" not in meta.dims and "tensor1" not in meta.dims]


def writing(base, with_all):
    """All diagnostics; the snapshot, and means that are sampled in each step, of all variables."""
    class Writing(forced_in_time(base)):
        @veros_routine
        def set_diagnostics(self, state):
            step, diagnostics = state.settings.dt_tracer, state.diagnostics
            diagnostics["mixing"] = Mixing(state)
            fields = fields_in_space(state)
            for diagnostic in diagnostics.values():
                diagnostic.sampling_frequency, diagnostic.output_frequency = STEPS // 6 * step, STEPS // 3 * step
            diagnostics["averages"].sampling_frequency = step
            diagnostics["averages"].output_variables = fields if with_all else ["temp", "u", "psi", "surface_taux"]
            if with_all:
                diagnostics["snapshot"].output_variables = fields
    return Writing


def islands(base):
    """A basin with two islands and a ridge, and a sponge in the north by sources that follow the tracers."""
    class Islands(base):
        roughness = 0.001

        @veros_routine
        def set_grid(self, state):
            vs, nz = state.variables, state.settings.nz
            vs.dxt, vs.dyt, vs.dzt = vs.dxt + 1.0, vs.dyt + 1.0, vs.dzt + npx.linspace(300.0, 60.0, nz)

        @veros_routine(dist_safe=False, local_variables=["kbot"])
        def set_topography(self, state):
            vs = state.variables
            x, y = np.indices(vs.kbot.shape)
            kbot = 1 + np.rint(9 * np.exp(-((x - 26) / 3) ** 2) + 1.5 * np.sin(x) ** 2).astype(int)
            is_land = (x < 4) | (x > 36) | (y < 4) | (y > 28)
            is_land |= (np.hypot(x - 11, y - 17) < 3) | (abs(x - 31) < 2) & (abs(y - 12) < 3)
            vs.kbot = np.where(is_land, 0, kbot)

        @veros_routine
        def set_forcing(self, state):
            super().set_forcing(state)
            vs = state.variables
            sponge = vs.maskT * (vs.yt > distributed.global_max(vs.yt[-10]))[None, :, None] / 864000
            vs.temp_source = sponge * (8.0 - vs.temp[..., vs.tau])
            vs.salt_source = sponge * (34.5 - vs.salt[..., vs.tau])
    return Islands


def files(switches, with_all=True, by=lambda kind: kind):
    """All files of a run, with the diagnostics of `writing`."""
    change = slower if switches.get("enable_streamfunction", True) else None  # else Veros solves with its first step
    return files_of(lambda kind, seed: start(writing(by(kind), with_all), {
        **switches, "restart_output_filename": "restart.h5"}, change, seed), *remnants(switches))


def as_it_ships(base):
    """All files of one of Veros's setups, to which only the plug-in and a restart are added."""
    def begin(kind, seed):
        plugins = {"__veros_plugins__": (plugin,)} if kind is WithPlugin else {}
        return start(lambda switches, _: type("Shipped", (base,), plugins)(override=switches),
                     {"identifier": "run", "restart_output_filename": "restart.h5"}, seed=seed)
    return files_of(begin)


def files_of(begin, *more):
    """The contents of a setup's files, which are laid out as Veros's."""
    layouts = []
    fields = beside(lambda kind, seed: written(lambda: begin(kind, seed), layouts), *more)
    assert all(layout == layouts[0] for layout in layouts)
    return fields


def layout(data):
    """All of a dataset but its values."""
    attributes = {name: str(value) for name, value in data.attrs.items() if not name.endswith("_LIST")}  # references
    return [data.shape, data.dtype, data.chunks, data.compression_opts, attributes, [axis.keys() for axis in data.dims]]


def values_of_files(switches, by=lambda kind: kind):
    """The contents of all files, of the whole ocean, in the first process."""
    def begin():
        return start(writing(by(WithPlugin), True), {**switches, "restart_output_filename": "restart.h5"}, slower)
    return as_lists(written(begin, []))


@contextlib.contextmanager
def common_folder():
    """A folder of all processes, to be in."""
    before, comm = os.getcwd(), veros.runtime_settings.mpi_comm
    with tempfile.TemporaryDirectory() as place:
        os.chdir(comm.bcast(place) if comm else place)
        yield Path.cwd()
        os.chdir(before)
        if comm:
            comm.barrier()


def written(begin, layouts):
    """{file and variable: its values} of the run of a setup in a folder of its own."""
    found = {}
    layouts.append({})
    with common_folder() as place:
        setup = begin()
        run(setup)
        restart.write_restart(setup.state, force=True)
        for path in sorted(place.iterdir()) if runtime_state.proc_rank == 0 else ():
            with h5py.File(path) as file:
                for name, data in datasets(file):
                    layouts[-1][f"{path.name} {name}"] = layout(data)
                    if data.size:
                        found[f"{path.name} {name}"] = np.nan_to_num(inside(data))
    for name in ("core/dHd", "averages/P_diss_adv"):  # which of dHd nobody reads, or on land
        found.pop(f"restart.h5 {name}", None)
    return found


def datasets(group):
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield from ((f"{name}/{inner}", data) for inner, data in datasets(item))
        else:
            yield name, item


def inside(data):
    array = data[...].astype(float)
    is_field = data.name.startswith(("/core", "/averages")) and array.ndim > 1 and len(array) > 4
    return array[2:-2, 2:-2] if is_field else array


def said_by(function, *arguments, **more):
    try:
        function(*arguments, **more)
        return "none"
    except (Exception, SystemExit) as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {error}"


def dye(state):
    """A passive tracer, mixed by Veros's own routine."""
    vs = state.variables
    tracer = getattr(state, "dye", vs.temp)
    state.dye = diffusion.isoneutral_diffusion_tracer(state, tracer, vs.dtemp_iso, iso=True)[0]


def dyed():
    def make(kind, seed):
        setup = start(kind, {}, dye, seed)
        return {**run(setup), "dye": np.array(setup.state.dye)[2:-2, 2:-2]}
    return beside(make)


def dyeing(base):
    """With two passive tracers, which plain Veros steps by its own routines, after the rest."""
    class Dyeing(base):
        @veros_routine
        def set_parameter(self, state):
            super().set_parameter(state)
            if base is WithPlugin:
                state.settings.miniapp_tracers = "dye, age"
            else:
                state.var_meta.update({**plugin.variables_of("dye"), **plugin.variables_of("age")})

        @veros_routine
        def set_initial_conditions(self, state):
            super().set_initial_conditions(state)
            vs = state.variables
            vs.dye, vs.age = vs.temp ** 2 * vs.maskT[..., None], vs.salt * vs.maskT[..., None]
            vs.forc_age_surface = 1e-5 * vs.maskT[..., -1]

        @veros_routine
        def after_timestep(self, state):
            super().after_timestep(state)
            for name in ("dye", "age") if base is Setup else ():
                passive_by_veros(state, name)
    return Dyeing


def dyed_as_temperature():
    """A passive tracer that starts as temperature, and gets the same through the surface, stays that; and the tendency
    by lateral diffusion is that of Veros's kernel."""
    class Dyed(WithPlugin):
        @veros_routine
        def set_parameter(self, state):
            super().set_parameter(state)
            state.settings.miniapp_tracers = "dye"

        @veros_routine
        def set_initial_conditions(self, state):
            super().set_initial_conditions(state)
            state.variables.dye = state.variables.temp

        @veros_routine
        def set_forcing(self, state):
            super().set_forcing(state)
            state.variables.forc_dye_surface = state.variables.forc_temp_surface
    setup = start(Dyed, PARTLY["lateral diffusion"])
    found, state, vs = run(setup), setup.state, setup.state.variables
    mixed = horizontal_diffusion(state, vs.temp[..., vs.taum1], state.settings.K_h)[0]
    return compare({"temp": found["temp"], "dtemp_hmix": mixed}, {"temp": found["dye"], "dtemp_hmix": vs.dtemp_hmix})


def tracers_once():
    """Passive tracers beside plain Veros, which by JAX compiles for most of a minute."""
    setups = [start(dyeing(kind), {}) for kind in (Setup, WithPlugin)]
    for setup in setups:
        run(setup)
    return compare(*(values_of(setup.state, [*COMPARED, "w", "psi"]) for setup in setups))


def content(state):
    vs = state.variables
    amount = vs.dye[..., vs.tau] * vs.maskT * vs.area_t[..., None] * vs.dzt
    return float(amount[2:-2, 2:-2].sum())


def passive(switches):
    agreed = agree(switches, by=dyeing)
    setup = start(dyeing(WithPlugin), switches)
    before = content(setup.state)
    run(setup)
    return {**agreed, "content": [content(setup.state) - before, 0, before]}


def quiet(base):
    """Where nothing reads tracers: the surface is not restored."""
    class Quiet(base):
        @veros_routine
        def set_forcing(self, state):
            pass
    return Quiet


def all_levels(setup, names=("temp", "dsalt", "int_drhodT", "tke", "deke")):
    vs = setup.state.variables
    return {f"{name}[..., {slot}]": np.array(getattr(vs, name))[2:-2, 2:-2, ..., slot]
            for name in names for slot in range(3)}


def levels_that_are_set(switches):
    """Before the last step, which makes only one of them, and need not read any."""
    names = ("u", "w", "temp", "dtemp", "Hd", "rho", "Nsqr", "int_drhodS")

    def change(state):
        for name in names if state.variables.itt == STEPS - 1 else ():
            setattr(state.variables, name, getattr(state.variables, name) * 1.001)

    def make(kind, seed):
        setup = start(kind, switches, change, seed)
        return {**run(setup), **all_levels(setup, names)}
    return beside(make)


def unread():
    """What nobody has read for some steps comes when somebody does, with all of its levels."""
    def make(kind, seed):
        setup = start(quiet(kind), {}, seed=seed)
        for _ in range(STEPS):
            setup.step(setup.state)
        assert setup.state not in plugin.OCEANS or not {"temp", "dsalt", "P_diss_v"} & set(vars(setup.state.variables))
        return {**values_of(setup.state), **all_levels(setup)}
    return beside(make)


def beside_plain(switches, change=None, make=run, **only_by_plugin):
    """What both end in where nothing reads tracers."""
    return beside(lambda kind, seed: make(start(
        quiet(kind), {**switches, **(only_by_plugin if kind is WithPlugin else {})}, change, seed)))


def replaced():
    """A tracer that nobody has read, before a step that is Veros's own; a flux in an array that stays; and
    settings, each in the middle of a run."""
    def change(state):
        vs, settings = state.variables, state.settings
        if vs.itt == 1:
            state.kept_temp = npx.array(vs.temp)
            state.kept_flux = np.array(vs.forc_temp_surface)
        if vs.itt == 3:
            vs.temp = state.kept_temp
        state.kept_flux[...] += 1e-6
        vs.forc_temp_surface = npx.asarray(state.kept_flux)
        with settings.unlock():
            settings.c_k = 0.1 + 0.01 * int(vs.itt)
    return beside_plain({}, change, miniapp_check=4)


def in_place():
    """A setup that changes its forcing in the arrays that Veros has."""
    def change(state):
        vs = state.variables
        for source in (vs.temp_source, vs.salt_source):
            source *= 1.1
        vs.forc_iw_bottom[...] += 1e-6
    return agree({"enable_tempsalt_sources": True, **PARTLY["IDEMIX"]}, change)


def failed():
    """A step that fails after all is made, and is made once more."""
    def fail(state):
        if state.variables.itt == 5 and not hasattr(state, "has_failed"):
            state.has_failed = True
            raise ValueError

    def make(setup):
        for _ in range(STEPS):
            with contextlib.suppress(ValueError):
                setup.step(setup.state)
        return values_of(setup.state)
    return beside_plain({}, fail, make)


def copied():
    """Read by a thread, and in a copy; the rest of the run is as if nobody had."""
    def make(setup):
        run(setup, STEPS // 2)
        vs = setup.state.variables
        both = copy.copy(vs), copy.deepcopy(vs)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            read = list(pool.map(lambda name: np.array(getattr(vs, name)), 8 * ["salt", "temp", "eke"]))
        for other in both:
            for values, name in zip(read, ("salt", "temp", "eke")):
                np.testing.assert_array_equal(getattr(other, name), values)
        return run(setup, STEPS // 2)
    return beside_plain({}, None, make)


def interrupted():
    """By a signal between two kernels, as when somebody presses Ctrl-C: all of them are done before it ends
    the step."""
    plain, setup = start(quiet(Setup), {}), start(quiet(WithPlugin), {})
    run(plain, 4)
    run(setup, 3)
    plans = plugin.OCEANS[setup.state].kernels["momentum"].plans
    plan = plans[1]

    def pressed():
        os.kill(os.getpid(), signal.SIGINT)
        plan.run()
    plans[1] = types.SimpleNamespace(run=pressed)
    try:
        with signals.signals_to_exception():
            setup.step(setup.state)
    except SystemExit:
        names = ("temp", "salt", "tke", "rho", "u")  # whose levels Veros has not permuted
        vs, wanted = setup.state.variables, values_of(plain.state)
        found = {name: np.array(getattr(vs, name))[2:-2, 2:-2, :, int(vs.taup1)] for name in names}
        return compare({name: wanted[name] for name in names}, found)
    return {}


def check():
    """Two of the steps are made both ways."""
    setup = start(dyeing(WithPlugin), {"miniapp_check": 5})
    run(setup)
    found = plugin.OCEANS[setup.state].differences
    return {name: [difference, 0, most] for name, (difference, most) in found.items()}


def eddies():
    """Those that a step makes, since somebody read them after the step before, beside those that are made on demand;
    and how many steps made them."""
    def make(switches, is_read):
        def change(state):
            made.append(plugin.OCEANS[state].state.setting("enable_eddy_streamfunction"))
            if is_read(state.variables.itt):
                found.update(values_of(state, ["temp", "B1_gm", "B2_gm"]))
        made, found = [], {}
        run(start(WithPlugin, switches, change))
        return found, sum(made)
    compared = {}
    for name in ("acc", "global"):
        (always, often), (once, never) = (make(SETUPS[name], is_read)
                                          for is_read in (lambda step: True, lambda step: step == STEPS))
        compared |= {f"{name} {key}": both for key, both in compare(once, always).items()}
        compared |= {f"{name} often": often, f"{name} never": never}
    return compared


def means_made_twice(sampled, change=None):
    """The sums of the plug-in's means of all variables and a mask, and those that Veros's own routine makes of them.
    The step after which `change` raises an error is made once more."""
    class Averaging(quiet(WithPlugin)):
        @veros_routine
        def set_diagnostics(self, state):
            diagnostics = state.diagnostics
            diagnostics["theirs"], diagnostics["again"] = Averages(state), Averages(state)
            for name in ("averages", "theirs", "again"):
                diagnostics[name].output_variables = ["maskT", *fields_in_space(state)]
                diagnostics[name].sampling_frequency = sampled * state.settings.dt_tracer
                diagnostics[name].output_path = "{identifier}." + name + ".nc"
            diagnostics["theirs"].diagnose = lambda state: PLAIN_MEANS(diagnostics["theirs"], state)

    with common_folder():
        setup = start(Averaging, {"miniapp_check": 7 * bool(change)}, change)
        for _ in range(STEPS):
            with contextlib.suppress(ValueError):
                setup.step(setup.state)
        ours, theirs, again = (setup.state.diagnostics[name] for name in ("averages", "theirs", "again"))
        sums = [{name: np.array(getattr(each.variables, name), float)[2:-2, 2:-2] for name in each.output_variables}
                for each in (theirs, ours, again)]
        counts = {float(each.variables.average_nitts) for each in (theirs, ours, again)}
    assert len(counts) == 1 and (change or counts == {STEPS // sampled})
    repeated = compare(sums[0], sums[2])
    return {**compare(sums[0], sums[1]), **{f"{name} again": all_of for name, all_of in repeated.items()}}


def means_while_much_changes():
    """Variables that a setup sets, sums that are read or set, and a step that fails, one thing after each step."""
    def change(state):
        vs, sums = state.variables, state.diagnostics["averages"].variables
        if vs.itt == 2:
            vs.temp, vs.K_gm = vs.temp * 1.001, vs.K_gm * 1.1
        if vs.itt == 4:
            state.read = np.array(sums.temp), np.array(sums.K_gm)
        if vs.itt == 5 and not hasattr(state, "has_failed"):
            state.has_failed = True
            raise ValueError
        if vs.itt == 8:
            for name in ("averages", "theirs", "again"):
                state.diagnostics[name].output(state)
        if vs.itt == 10:
            for name in ("averages", "theirs", "again"):
                of = state.diagnostics[name].variables
                of.salt, of.mxl = 2 * of.salt, 0 * of.mxl
    return means_made_twice(1, change)


def continued(first, second, change=None):
    """A run of which one makes the first half, with a restart, and the other the rest; and its results."""
    with common_folder():
        half = start(first, {"restart_output_filename": "half.h5"})
        run(half, STEPS // 2)
        restart.write_restart(half.state, force=True)
        setup = start(second, {"restart_input_filename": "half.h5"}, change)
        return setup, run(setup, STEPS // 2)


def restarts(first, second, plain=Setup):
    """A restart that one writes goes on by the other."""
    return beside(lambda kind, seed: run(start(plain, {}, seed=seed)) if kind is Setup else continued(first, second)[1])


def values_after_restart(first, second):
    return as_lists(continued(first, second, lambda state: read_all(state, STEPS // 2))[0].state.found)


def refusal(change=None, kind=WithPlugin, **switches):
    return said_by(lambda: run(start(kind, switches, change), 2))


def spoilt(method, name, where, value):
    """A setup of which one method leaves a value that no ocean can begin with."""
    @veros_routine
    def spoil(self, state):
        getattr(super(Spoilt, self), method)(state)
        setattr(state.variables, name, update(getattr(state.variables, name), at[where], value))
    Spoilt = type("Spoilt", (WithPlugin,), {method: spoil})
    return Spoilt


def another(**settings):
    """Other settings after the first step."""
    def change(state):
        with state.settings.unlock():
            state.settings.update(settings)
    return change


def gone():
    """Whether the state of a model that nobody has any more is still in memory."""
    setup = start(WithPlugin, {})
    run(setup, 1)
    state = weakref.ref(setup.state)
    del setup
    gc.collect()
    return state() is not None


def empty(state):
    state.variables.temp[...] = 0


def read_only_in_a_diagnostic():
    setup = start(WithPlugin, {})
    setup.state.diagnostics["mine"] = types.SimpleNamespace(sampling_frequency=1.0, diagnose=empty)
    return said_by(lambda: run(setup, 1))


def another_version():
    """As if another one had been tested."""
    tested, plugin.TESTED = plugin.TESTED, "1.6.0"
    said = refusal()
    plugin.TESTED = tested
    return said


PARTLY = {  # settings beside those of Veros's setups
    "lateral diffusion": {"enable_hor_diffusion": True, "K_h": 500.0},
    "biharmonic diffusion": {"enable_biharmonic_mixing": True, "K_hbi": 1e12},
    "biharmonic friction": {"enable_biharmonic_friction": True, "A_hbi": 1e14},
    "explicit friction": {"enable_explicit_vert_friction": True},
    "explicit friction alone": {"enable_explicit_vert_friction": True, "enable_implicit_vert_friction": False,
                                "enable_tke": False, "kappaM_0": 1e-3, "kappaH_0": 1e-4},
    "TEM": {"enable_TEM_friction": True, "enable_skew_diffusion": False},
    "IDEMIX": {"enable_idemix": True},
    "no TKE": {"enable_tke": False, "kappaM_0": 1e-3, "kappaH_0": 1e-4, "enable_implicit_vert_friction": True},
    "no skew diffusion": {"enable_skew_diffusion": False},
    "no isoneutral mixing": {"enable_neutral_diffusion": False, "enable_skew_diffusion": False},
}
OTHERS = {
    "free surface": {"enable_streamfunction": False},
    "energy that is not conserved": {"enable_conserve_energy": False},
    "equation of state": {"eq_of_state_type": 1},
    "basin": {"eq_of_state_type": 5, "enable_cyclic_x": False, "enable_eke": False, "enable_tempsalt_sources": True,
              "enable_eke_isopycnal_diffusion": False},
}
ISLANDS = {**SETUPS["global"], "enable_tke_superbee_advection": False, "dt_mom": 3600.0, "dt_tracer": 3600.0,
           "enable_cyclic_x": False, "nx": 37, "ny": 29, "nz": 18}
WRITTEN = ("IDEMIX", "lateral diffusion", "TEM", "no TKE", "free surface", "energy that is not conserved")
CASES = {
    **{name: lambda switches=switches: agree(switches) for name, switches in {**SETUPS, **PARTLY, **OTHERS}.items()},
    **{f"files of {name}": lambda switches=switches: files(switches) for name, switches in {
        **SETUPS, **{name: {**PARTLY, **OTHERS}[name] for name in WRITTEN}}.items()},
    **{f"values of {name}": lambda switches=switches: values(switches)
       for name, switches in {**SETUPS, **PARTLY, **OTHERS}.items()},
    "files of acc_benchmark": lambda: files(BENCHMARK),
    "files of islands": lambda: files(ISLANDS, by=islands),
    "values of acc_benchmark": lambda: values(BENCHMARK),
    "values of islands": lambda: values({**ISLANDS, "nx": 38, "ny": 30}, lambda kind: forced_in_time(islands(kind)),
                                        lambda state: (slower(state), read_all(state))),
    "acc as it ships": lambda: as_it_ships(ACCSetup),
    "acc_basic as it ships": lambda: as_it_ships(ACCBasicSetup),
    "values of files": lambda: values_of_files({"nx": 12, "ny": 16}),  # its sides may be cut into four
    "values of files of islands": lambda: values_of_files({**ISLANDS, "nx": 40, "ny": 32}, islands),
    "files as usual": lambda: files({}, with_all=False),
    "changes": with_changes,
    "unread": unread,
    "levels that are set": lambda: levels_that_are_set({}),
    "levels that are set without TKE": lambda: levels_that_are_set(PARTLY["no TKE"]),
    "replaced": replaced,
    "in place": in_place,
    "failed": failed,
    "copied": copied,
    "interrupted": interrupted,
    "check": check,
    "eddies": eddies,
    "means": lambda: means_made_twice(1),
    "means of every other step": lambda: means_made_twice(2),
    "means while much changes": means_while_much_changes,
    "restart of the plug-in": lambda: restarts(WithPlugin, Setup),
    "restart of Veros": lambda: restarts(Setup, WithPlugin),
    "values of a restart of the plug-in": lambda: values_after_restart(WithPlugin, Setup),
    "values of a restart of Veros": lambda: values_after_restart(Setup, WithPlugin),
    "values of a restart of the plug-in for itself": lambda: values_after_restart(WithPlugin, WithPlugin),
    "every variable": lambda: every_variable({}),
    "every variable of a basin": lambda: every_variable({**OTHERS["basin"], **PARTLY["lateral diffusion"]}, more_mixed),
    **{f"at random {seed}": lambda seed=seed: every_variable(choose(seed), changes_at_random(seed))
       for seed in range(30)},
    **{f"values of switches at random {seed}": lambda act=changes_at_random(seed), seed=seed: values(
        choose(seed), change=lambda state: (act(state), read_all(state))) for seed in range(30)},
    "values of one process": lambda: values({}, change=by_one_process),
    "a dye": dyed,
    "passive tracers": lambda: passive({}),
    "passive tracers of a basin": lambda: passive(OTHERS["basin"]),
    "passive tracers with lateral mixing": lambda: passive({
        **PARTLY["lateral diffusion"], **PARTLY["biharmonic diffusion"]}),
    "passive tracers without isoneutral mixing": lambda: passive(PARTLY["no isoneutral mixing"]),
    "passive tracers once": tracers_once,
    "values of passive tracers": lambda: values({}, dyeing),
    "a dye as temperature": dyed_as_temperature,
    "restart of passive tracers": lambda: restarts(dyeing(WithPlugin), dyeing(WithPlugin), dyeing(Setup)),
    "several": lambda: refusal(rho_0=1025.0, pi=3.14, miniapp_device="gpu:7"),
    "tracers": lambda: refusal(miniapp_tracers="temp,dtemp_hmix", enable_hor_diffusion=True),
    "friction": lambda: refusal(enable_implicit_vert_friction=False, enable_tke=False),
    "gravity": lambda: refusal(another(grav=9.8)),
    "middle of a run": lambda: refusal(another(
        enable_tempsalt_sources=True, coord_degree=False, miniapp_threads=2, dt_tracer=0.0)),
    "version": another_version,
    "time steps": lambda: refusal(dt_tracer=0.0, dt_mom=float("nan")),
    "levels": lambda: refusal(kind=spoilt("set_grid", "dzt", slice(1, 4, 2), 10.0)),
    "land": lambda: refusal(kind=spoilt("set_topography", "kbot", ..., 0)),
    "walls": lambda: refusal(kind=spoilt("set_initial_conditions", "maskU", 5, 0)),
    "negative kbot": lambda: refusal(kind=spoilt("set_topography", "kbot", (5, 5), -1)),
    "kbot below the bottom": lambda: refusal(kind=spoilt("set_topography", "kbot", (5, 5), 7)),
    "temperature": lambda: refusal(kind=spoilt("set_initial_conditions", "temp", (5, 5, 5), np.nan)),
    "read-only": lambda: refusal(empty),
    "read-only in a diagnostic": read_only_in_a_diagnostic,
    "gone": gone,
}

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    answers = json.dumps({name: CASES[name]() for name in options.cases or CASES})
    if runtime_state.proc_rank == 0:
        print(answers)
    os.chdir("/")
