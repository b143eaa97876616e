#!/usr/bin/env python3
"""Runs small oceans by Veros, with miniapp's plug-in and without; a Python that has Veros 1.7.0 runs it.

    PYTHONPATH=python/src venv/bin/python validation/physics/veros_plugin.py [--backend jax] [--steps 200] CASE...

Prints JSON: of each case and field how far both end from each other, how far plain Veros does from itself
when the last digits of what it starts from change, and the largest value; or what a refusal says.
"""

import argparse
import concurrent.futures
import copy
import json
import os
import signal
import tempfile
import types

import numpy as np
import veros

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--backend", default="numpy")
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("cases", nargs="*")
options = parser.parse_args()
veros.runtime_settings.backend = options.backend

# Veros takes its backend from the settings above when the rest of it is imported.
from veros_acc import SmallSetup  # noqa: E402  pylint: disable=wrong-import-position
from veros import restart, signals, veros_routine  # noqa: E402  pylint: disable=wrong-import-position
from veros.diagnostics.base import VerosDiagnostic  # noqa: E402  pylint: disable=wrong-import-position
import miniapp.veros as plugin  # noqa: E402  pylint: disable=wrong-import-position
from miniapp import UsageError  # noqa: E402  pylint: disable=wrong-import-position

STEPS, REMNANT, LEFT_BY_ROUNDING = options.steps, 1e-20, 1e-25
GLOBAL = {"eq_of_state_type": 5, "enable_tke_superbee_advection": True, "dt_mom": 1800.0}
SETUPS = {
    "acc": {},
    "acc_basic": {"enable_eke": False, "enable_eke_isopycnal_diffusion": False, "enable_Prandtl_tke": False},
    "global": {**GLOBAL, "enable_tempsalt_sources": True},
    "north_atlantic": {**GLOBAL, "enable_cyclic_x": False, "enable_eke": False, "tke_mxl_choice": 1,
                       "enable_eke_isopycnal_diffusion": False},
}
COMPARED = ["temp", "salt", "tke", "eke", "u", "v", "rho", "Nsqr", "kappaM", "kappaH", "K_gm",
            "P_diss_iso", "P_diss_v"]


class Setup(SmallSetup):
    """With tracers and sources that are rough, in a given number of steps."""

    def __init__(self, switches, change=None):
        super().__init__()
        self.switches, self.change = switches, change

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.dt_tracer = 21600.0
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
        rng = np.random.default_rng(5)
        noise = rng.standard_normal((2, *vs.maskT.shape)) * np.asarray(vs.maskT)
        cyclic_ghosts = noise[:, -4:-2], noise[:, 2:4]
        noise[:, :2], noise[:, -2:] = cyclic_ghosts if state.settings.enable_cyclic_x else (0, 0)
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
    if seed is not None:
        vs, rng = setup.state.variables, np.random.default_rng(seed)
        with vs.unlock():
            for name in ("temp", "salt"):
                values = np.array(getattr(vs, name))
                values += np.spacing(np.abs(values)) * rng.choice([-1, 1], values.shape) * (values != 0)
                setattr(vs, name, plugin.npx.asarray(values))
    return setup


def change_remnants(state, rng=np.random.default_rng(3)):
    """Turbulent kinetic energy that was cut to 0 at the surface is what rounding leaves, 0 or about 1e-26,
    and mixing lengths take its square root: it gets digits of which none is better."""
    vs = state.variables
    values = np.array(vs.tke)
    remnants = (np.abs(values) < REMNANT) & (np.asarray(vs.maskW)[..., None] > 0)
    vs.tke = plugin.npx.asarray(np.where(remnants, rng.uniform(0, LEFT_BY_ROUNDING, values.shape), values))


def run(setup, steps=STEPS):
    for _ in range(steps):
        setup.step(setup.state)
    return values_of(setup.state)


def values_of(state):
    vs, values = state.variables, {}
    for name in COMPARED:
        if name in vs:
            array = np.array(getattr(vs, name))
            values[name] = (array[..., int(vs.tau)] if array.ndim == 4 else array)[2:-2, 2:-2]
    return values


def compare(plain, other, nudged=()):
    return {name: [float(np.abs(other[name] - values).max()),
                   max((float(np.abs(each[name] - values).max()) for each in nudged), default=0.0),
                   float(np.abs(values).max())] for name, values in plain.items()}


def agree(switches, change=None):
    plain = run(start(Setup, switches, change))
    nudged = [run(start(Setup, switches, change, seed)) for seed in (1, 2)]
    if switches.get("enable_tke_superbee_advection"):
        nudged.append({**plain, "tke": run(start(Setup, switches, change_remnants))["tke"]})
    return compare(plain, run(start(WithPlugin, switches, change)), nudged)


def with_changes():
    """A setup that changes a tracer, a forcing and an energy after each step."""
    def change(state):
        vs = state.variables
        vs.temp = vs.temp + 0.01 * vs.maskT[..., None]
        vs.tke = vs.tke * 1.01
        vs.forc_tke_surface = vs.forc_tke_surface * 1.1
    return agree(SETUPS["acc"], change)


def with_diagnostics():
    """Where some steps are Veros's own; the last one is."""
    class Energy(WithPlugin):
        @veros_routine
        def set_diagnostics(self, state):
            kept = state.diagnostics["energy"]
            super().set_diagnostics(state)
            state.diagnostics["energy"] = kept
            kept.sampling_frequency, kept.output_frequency = 4 * state.settings.dt_tracer, 0.0
    plain = run(start(Setup, {}))
    nudged = [run(start(Setup, {}, seed=seed)) for seed in (1, 2)]
    return compare(plain, run(start(Energy, {})), nudged)


def every_variable(switches):
    """As after_timestep of the last step reads each, on water. What cannot be read is named apart."""
    def read(state):
        vs = state.variables
        for name, meta in state.var_meta.items():
            if vs.itt == STEPS and meta.active and (meta.dims or ())[2:3] in (("zt",), ("zw",)):
                try:
                    array = np.array(getattr(vs, name))
                except UsageError as error:
                    state.refused[name] = str(error)
                    continue
                now = array[..., int(vs.tau)] if meta.dims[-1] == "timesteps" else array
                on_water = 1.0 * now.T * np.asarray(vs.maskT).T  # P_diss_adv of Veros is not 0 on land
                state.found[name] = on_water[..., 2:-2, 2:-2]

    def make(kind, seed=None):
        setup = start(kind, switches, read, seed)
        setup.state.found, setup.state.refused = {}, {}
        run(setup)
        return setup.state
    plain, nudged, own = make(Setup), [make(Setup, seed).found for seed in (1, 2)], make(WithPlugin)
    readable = {name: values for name, values in plain.found.items() if name in own.found}
    return {"compared": compare(readable, own.found, nudged), "refused": own.refused}


class Mixing(VerosDiagnostic):
    """A diagnostic of a user, which reads what only Veros's own routines make."""
    name = "mixing"
    found = 0.0

    def initialize(self, state):
        pass

    def diagnose(self, state):
        vs = state.variables
        self.found = float(np.abs(vs.K_33).sum() + np.abs(vs.B1_gm).sum() + 1e6 * np.abs(vs.dtemp_vmix).sum())

    def output(self, state):
        pass


def diagnosed(diagnostic, base, change=None, **frequencies):
    class Diagnosed(base):
        @veros_routine
        def set_diagnostics(self, state):
            super().set_diagnostics(state)
            state.diagnostics[diagnostic.name] = diagnostic(state)
            for name, value in frequencies.items():
                setattr(state.diagnostics[diagnostic.name], name, value)
    setup = start(Diagnosed, {}, change)
    run(setup)
    return setup.state.diagnostics[diagnostic.name].found


def diagnosed_by_veros():
    """In those steps in which the diagnostic is due."""
    class Declared(Mixing):
        needs_veros = True
    plain, own = (diagnosed(Declared, base, sampling_frequency=4 * 21600.0) for base in (Setup, WithPlugin))
    return {"mixing": [abs(own - plain), 0.0, plain]}


def said_by(function, *arguments, **more):
    try:
        function(*arguments, **more)
        return "none"
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {error}"


def slower(state):
    """A step twice as long, so that more is due at its end than was known at its begin."""
    if state.variables.itt == 5:
        with state.settings.unlock():
            state.settings.dt_tracer = state.settings.dt_mom = 2 * 21600.0


def dye(state):
    vs = state.variables
    plugin.isoneutral.diffusion.isoneutral_diffusion_tracer(state, vs.temp, vs.dtemp_iso, iso=True)


def quiet(base):
    """Where nothing reads tracers: the surface is not restored."""
    class Quiet(base):
        @veros_routine
        def set_forcing(self, state):
            pass
    return Quiet


def all_levels(setup):
    vs = setup.state.variables
    return {f"{name}[..., {slot}]": np.array(getattr(vs, name))[2:-2, 2:-2, ..., slot]
            for name in ("temp", "dsalt", "int_drhodT", "tke", "deke") for slot in range(3)}


def unread():
    """What nobody has read for some steps comes when somebody does, with all of its levels."""
    setups = [start(quiet(Setup), {}), *(start(quiet(Setup), {}, seed=seed) for seed in (1, 2))]
    fields = [{**run(setup), **all_levels(setup)} for setup in setups]
    lazy = start(quiet(WithPlugin), {})
    for _ in range(STEPS):
        lazy.step(lazy.state)
    assert not {"temp", "dsalt", "int_drhodT", "P_diss_v"} & set(vars(lazy.state.variables))
    return compare(fields[0], {**values_of(lazy.state), **all_levels(lazy)}, fields[1:])


def beside_plain(switches, change=None, make=run, **only_by_plugin):
    """What both end in where nothing reads tracers."""
    plain, *nudged = (make(start(quiet(Setup), switches, change, seed)) for seed in (None, 1, 2))
    return compare(plain, make(start(quiet(WithPlugin), {**switches, **only_by_plugin}, change)), nudged)


def replaced():
    """A tracer that nobody has read, before a step that is Veros's own; a flux in an array that stays; and
    settings, each in the middle of a run."""
    def change(state):
        vs, settings = state.variables, state.settings
        if vs.itt == 1:
            state.kept_temp = plugin.npx.array(vs.temp)
            state.kept_flux = np.array(vs.forc_temp_surface)
        if vs.itt == 3:
            vs.temp = state.kept_temp
        state.kept_flux[...] += 1e-6
        vs.forc_temp_surface = plugin.npx.asarray(state.kept_flux)
        with settings.unlock():
            settings.c_k = 0.1 + 0.01 * int(vs.itt)
    return beside_plain({}, change, miniapp_check=4)


def in_place():
    """A setup that changes its forcing in the arrays that Veros has."""
    def change(state):
        for source in (state.variables.temp_source, state.variables.salt_source):
            source *= 1.1
    return agree({"enable_tempsalt_sources": True}, change)


def failed():
    """A step that fails after all is made, and is made once more."""
    def fail(state):
        if state.variables.itt == 5 and not hasattr(state, "has_failed"):
            state.has_failed = True
            raise ValueError

    def make(setup):
        for _ in range(STEPS):
            try:
                setup.step(setup.state)
            except ValueError:
                pass
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
            assert np.isnan(other.K_11).all() == (setup.state in plugin.OCEANS)
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
    part = plugin.OCEANS[setup.state].after
    plan, written = part.plans[5]

    def pressed():
        os.kill(os.getpid(), signal.SIGINT)
        plan.run()
    part.plans[5] = types.SimpleNamespace(run=pressed), written
    try:
        with signals.signals_to_exception():
            setup.step(setup.state)
    except SystemExit:
        names = ("temp", "salt", "tke", "rho")  # whose levels Veros has not permuted
        vs, wanted = setup.state.variables, values_of(plain.state)
        found = {name: np.array(getattr(vs, name))[2:-2, 2:-2, :, int(vs.taup1)] for name in names}
        return compare({name: wanted[name] for name in names}, found)
    return {}


def check():
    """Two of the steps are made both ways."""
    setup = start(WithPlugin, {"miniapp_check": 5})
    run(setup)
    found = plugin.OCEANS[setup.state].differences
    return {name: [difference, 0, most] for name, (difference, most) in found.items()}


def restarts(first, second):
    """A restart that one writes goes on by the other."""
    whole = run(start(Setup, {}))
    nudged = [run(start(Setup, {}, seed=seed)) for seed in (1, 2)]
    path = f"half of {first.__name__}.h5"
    written = start(first, {"restart_output_filename": path})
    run(written, STEPS // 2)
    restart.write_restart(written.state, force=True)
    return compare(whole, run(start(second, {"restart_input_filename": path}), STEPS // 2), nudged)


def refusal(change=None, **switches):
    return said_by(lambda: run(start(WithPlugin, switches, change), 2 if change else 0))


def another_gravity(state):
    with state.settings.unlock():
        state.settings.grav = 9.8


def another_version():
    """As if another one had been tested."""
    tested, plugin.TESTED = plugin.TESTED, "1.6.0"
    said = refusal()
    plugin.TESTED = tested
    return said


CASES = {
    **{name: lambda switches=switches: agree(switches) for name, switches in SETUPS.items()},
    "changes": with_changes,
    "diagnostics": with_diagnostics,
    "unread": unread,
    "replaced": replaced,
    "in place": in_place,
    "failed": failed,
    "copied": copied,
    "interrupted": interrupted,
    "check": check,
    "restart of the plug-in": lambda: restarts(WithPlugin, Setup),
    "restart of Veros": lambda: restarts(Setup, WithPlugin),
    "diffusion": lambda: refusal(enable_hor_diffusion=True),
    "device": lambda: refusal(miniapp_device="gpu:7"),
    "no skew": lambda: refusal(enable_skew_diffusion=False),
    "density": lambda: refusal(rho_0=1025.0),
    "gravity": lambda: refusal(another_gravity),
    "pi": lambda: refusal(pi=3.14),
    "version": another_version,
    "energy that is not conserved": lambda: refusal(enable_conserve_energy=False),
    "every variable": lambda: every_variable({}),
    "every variable of others": lambda: every_variable({"eq_of_state_type": 5, "enable_cyclic_x": False,
                                                        "enable_eke": False, "enable_tempsalt_sources": True,
                                                        "enable_eke_isopycnal_diffusion": False}),
    "a diagnostic that needs Veros": diagnosed_by_veros,
    "a diagnostic that does not say so": lambda: said_by(diagnosed, Mixing, WithPlugin, sampling_frequency=21600.0),
    "a dye": lambda: refusal(dye),
    "due late": lambda: said_by(diagnosed, type("Late", (Mixing,), {"needs_veros": True}), WithPlugin, slower,
                                sampling_frequency=4 * 21600.0),
}

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    print(json.dumps({name: CASES[name]() for name in options.cases or CASES}))
    os.chdir("/")
