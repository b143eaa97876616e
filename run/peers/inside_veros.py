"""Oceans that Veros steps, in a process of their own with a Python that has Veros;
run/compare-veros sends it requests."""

# Modules that need Veros, and with it a backend, are imported where an ocean is made.
# pylint: disable=import-outside-toplevel

import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import safely
from safely import ROOT

# for so fine a grid, which diverges after some 30 steps with acc's own viscosity
FINE = {"dt_mom": 1800.0, "dt_tracer": 1800.0, "A_h": 2e4}
WARM_UP = 3
WAVES = {"enable_idemix": True, "enable_idemix_hor_diffusion": True, "enable_idemix_superbee_advection": True}
LATERAL = {"A_hbi": 1e11, "K_h": 1000.0, "K_hbi": 1e11}
FRICTION = {"enable_biharmonic_friction": True, "enable_TEM_friction": True, "enable_implicit_vert_friction": True}
SAMPLED = 10  # energy and overturning, in one of so many steps
WRITTEN = 61  # steps after which acc, as it ships, has written all its files but the means of a year
MEANS = ["surface_taux", "surface_tauy", "forc_temp_surface", "forc_salt_surface", "psi", "temp", "salt", "u", "v", "w",
         "Nsqr", "Hd", "rho", "kappaH", "B1_gm", "B2_gm", "tke", "Prandtlnumber", "mxl", "tke_diss", "forc_tke_surface",
         "tke_surf_corr", "eke", "K_gm", "L_rossby", "L_rhines"]  # in each step


def main(kind, path, shape, *setup_and_steps):
    """Answers the requests of standard input, until it ends. The kind of ocean is a class below; the file is made if
    it is missing."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Veros has much to say there
    importlib.import_module("veros")  # if it is missing, the folder of this name there must not be taken for it
    sys.path.insert(0, str(ROOT / "validation" / "physics"))
    ocean = globals()[kind]([int(length) for length in shape.split(",")], *setup_and_steps)
    if not Path(path).exists() and kind != "Models":
        ocean.write(path)
    ocean.times()  # compiles
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request, *words = line.split()
        found = ocean.apart(*words) if request == "compare" else ocean.times()
        print(json.dumps(found), file=answers, flush=True)


def set_up(base, shape, switches, plugins=()):
    """A setup of Veros on a larger grid, ready to step."""
    from veros import veros_routine
    from veros.core.operators import at, update

    class Large(base):
        __veros_plugins__ = plugins

        @veros_routine
        def set_parameter(self, state):
            super().set_parameter(state)
            settings = state.settings
            settings.nx, settings.ny, settings.nz = shape
            settings.enable_streamfunction = False
            for name, value in switches.items():
                setattr(settings, name, value)

        @veros_routine
        def set_grid(self, state):
            vs = state.variables
            vs.dxt = update(vs.dxt, at[...], 0.5)
            vs.dyt = update(vs.dyt, at[...], 0.3)
            vs.dzt = update(vs.dzt, at[...], 100.0)

    setup = Large()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        setup.setup()
        os.chdir("/")
    return setup


class Kernels:
    """Routines of Veros, each on its own."""

    def __init__(self, shape):
        import make_veros_isoneutral as made
        import numpy as np
        from veros.core import idemix
        self.made = made
        self.state = set_up(made.SmallSetup, shape, {"eq_of_state_type": 5, **WAVES, **LATERAL, **FRICTION}).state
        vs = self.state.variables
        made.roughen(self.state)
        rng = np.random.default_rng(5)
        water = np.asarray(vs.maskT)
        tke, shear = np.array(vs.tke), 1e-9 * rng.random(water.shape) * water
        tke[...] = (1e-4 * rng.random(water.shape) * water)[..., None]
        waves = np.array(vs.E_iw)
        waves[...] = (1e-3 * rng.random(water.shape) * water)[..., None]
        with vs.unlock():
            vs.tke, vs.K_diss_v, vs.E_iw = made.cyclic(tke), made.cyclic(shear), made.cyclic(waves)
            for name, mask in (("u", vs.maskU), ("v", vs.maskV)):
                flow = np.array(getattr(vs, name))
                flow[...] = (rng.uniform(-0.1, 0.1, water.shape) * np.asarray(mask))[..., None]
                setattr(vs, name, made.cyclic(flow))
            vs.update(idemix.set_idemix_parameter(self.state))

    def write(self, path):
        from veros_acc import OF_MOMENTUM
        made, vs = self.made, self.state.variables
        names = [*made.GRID, "K_diss_v", "coriolis_t", "c0", "v0", "alpha_c", "u_wgrid", "v_wgrid", "w_wgrid",
                 "kappaM", "K_gm", "tantr"]
        fields = {name: made.in_order(getattr(vs, name)) for name in names}
        fields |= {name: made.in_order(getattr(vs, name)[..., int(vs.tau)])
                   for name in ("temp", "salt", "int_drhodT", "int_drhodS", "tke", "Nsqr", "E_iw", "u", "v", "rho")}
        names = {*made.SETTINGS, *list(WAVES)[1:], *LATERAL, *OF_MOMENTUM, "dt_mom", "AB_eps"}
        write(path, fields, self.state.settings, names)

    def times(self):
        """{what: nanoseconds a point} of each routine, once."""
        from veros.core import diffusion, eke, friction, idemix, isoneutral, thermodynamics
        state = self.state

        def updating(*routines):
            return lambda: [state.variables.update(routine(state)) for routine in routines]
        return {name: time_a_call(state, routine) for name, routine in (
            ("isoneutral_diffusion_pre", updating(isoneutral.isoneutral_diffusion_pre)),
            ("isoneutral", lambda: self.mix(False)),
            ("isoneutral with dissipation", lambda: self.mix(True)),
            ("calc_eq_of_state", lambda: state.variables.update(
                thermodynamics.calc_eq_of_state(state, state.variables.tau))),
            ("set_tke_diffusivities", lambda: self.diffusivities_without("enable_idemix")),
            ("set_idemix_parameter", updating(idemix.set_idemix_parameter)),
            ("integrate_idemix", lambda: idemix.integrate_idemix(state)),
            ("convective adjustment", lambda: self.diffusivities_without("enable_tke")),
            ("momentum without solver", self.momentum),
            ("isoneutral_friction", updating(eke.update_kappa_gm, isoneutral.isoneutral_friction)),
            ("explicit_vert_friction", updating(friction.explicit_vert_friction)),
            ("biharmonic_friction", updating(friction.biharmonic_friction)),
            ("tempsalt_diffusion", updating(diffusion.tempsalt_diffusion)),
            ("tempsalt_biharmonic", updating(diffusion.tempsalt_biharmonic)))}

    def momentum(self):
        """With the frictions of acc, and the surface pressure that there is."""
        from veros.core import friction, momentum
        import veros.core.external  # noqa: F401  pylint: disable=unused-import
        pressure = sys.modules["veros.core.external.solve_pressure"]  # the package has a function of this name
        state, vs, others = self.state, self.state.variables, ("enable_biharmonic_friction", "enable_TEM_friction")
        with state.settings.unlock():
            for switch in others:
                setattr(state.settings, switch, False)
            for routine in (momentum.tend_coriolisf, momentum.tend_tauxyf, momentum.momentum_advection):
                vs.update(routine(state))
            friction.friction(state)
            vs.update(pressure.prepare_forcing(state)[0])
            vs.update(pressure.barotropic_velocity_update(state))
            vs.update(momentum.vertical_velocity_kernel(state))
            for switch in others:
                setattr(state.settings, switch, True)

    def diffusivities_without(self, switch):
        from veros.core import tke
        with self.state.settings.unlock():
            setattr(self.state.settings, switch, False)
            tke.set_tke_diffusivities(self.state)
            setattr(self.state.settings, switch, True)

    def mix(self, conserves):
        with self.state.settings.unlock():
            self.state.settings.enable_conserve_energy = conserves
        self.made.mix(self.state)


class Stepped:
    """Veros's whole step, from the midst of a run."""

    def __init__(self, shape, setup, steps):
        import make_veros_ocean as made
        from make_veros_steps import SETUPS
        from veros_acc import SmallSetup
        self.made, self.steps, self.end = made, int(steps), None
        self.setup = set_up(SmallSetup, shape, {**SETUPS[setup], **FINE, "enable_streamfunction": True})
        for _ in range(WARM_UP):
            self.setup.step(self.setup.state)
        made.roughen(self.setup.state)

    def write(self, path):
        fields = self.made.inputs(self.setup.state, "")
        settings = (*self.made.SETTINGS, *self.made.OF_MOMENTUM)
        write(path, fields, self.setup.state.settings, settings)

    def times(self):
        """The least time of some steps; the first call keeps the state in which they end."""
        state = self.setup.state
        least = min(time_a_call(state, lambda: self.setup.step(state)) for _ in range(self.steps))
        self.end = self.end or self.made.prognostic(state)
        return {"step": least}

    def apart(self, path):
        """{field: its largest difference from that of a file, as a share of its largest value}"""
        import h5py
        import numpy as np
        inside = (..., slice(2, -2), slice(2, -2))
        with h5py.File(path) as file:
            return {name: float(np.abs(file[name][inside] - values[inside]).max() / np.abs(values[inside]).max())
                    for name, values in self.end.items()}


def diagnosed(base):
    """With the diagnostics that Veros's setup global_flexible has."""
    from veros import veros_routine

    class Diagnosed(base):
        @veros_routine
        def set_diagnostics(self, state):
            step, diagnostics = state.settings.dt_tracer, state.diagnostics
            diagnostics["averages"].sampling_frequency = step
            diagnostics["averages"].output_variables = MEANS
            for name in ("energy", "overturning"):
                diagnostics[name].sampling_frequency = SAMPLED * step
    return Diagnosed


def shipped(identifier, plugins):
    """Veros's acc; only its files are not where the other one's are."""
    from veros.setups.acc.acc import ACCSetup
    setup = type("Shipped", (ACCSetup,), {"__veros_plugins__": plugins})(override={"identifier": identifier})
    setup.setup()
    return setup


class Models:
    """Veros's whole step, momentum and all, without the plug-in and with it."""

    def __init__(self, shape, setup, steps):
        import make_veros_steps as made
        from veros_acc import SmallSetup
        from miniapp import veros as plugin  # which starts Veros
        kinds = {"model": (), "with plug-in": (plugin,)}
        if setup == "shipped":
            self.at_once, self.turns, self.folder = WRITTEN, 1, tempfile.TemporaryDirectory()
            os.chdir(self.folder.name)
            self.setups = {name: shipped(name, plugins) for name, plugins in kinds.items()}
            return
        is_diagnosed = setup == "diagnosed"
        switches = {**made.SETUPS["global" if is_diagnosed else setup], **FINE, "enable_streamfunction": True}
        base = diagnosed(SmallSetup) if is_diagnosed else SmallSetup
        self.at_once = SAMPLED if is_diagnosed else 1
        self.turns = -(-int(steps) // self.at_once)
        self.setups = {name: set_up(base, shape, switches, plugins) for name, plugins in kinds.items()}

    def times(self):
        """The least time of some steps, and what the kernels took of that step."""
        found = {}
        for name, setup in self.setups.items():
            least = min(self.step(setup) for _ in range(self.turns))
            found |= {name: least[0], f"{name}, kernels": least[1]}
        return found

    def step(self, setup):
        kernels = setup.state.timers["miniapp"]
        before = kernels.total_time
        whole = time_a_call(setup.state, lambda: [setup.step(setup.state) for _ in range(self.at_once)])
        points = setup.state.variables.maskT.size
        return whole / self.at_once, 1e9 * (kernels.total_time - before) / points / self.at_once

    def apart(self):
        """{field: the largest difference between the two, as a share of its largest value}"""
        import make_veros_steps as made
        import numpy as np
        plain, other = (made.prognostic(setup.state) for setup in self.setups.values())
        return {name: float(np.abs(values - other[name]).max() / np.abs(values).max())
                for name, values in plain.items()}


def write(path, fields, settings, names):
    import h5py
    import numpy as np
    with h5py.File(path, "w") as file:
        file.attrs.update({name: float(getattr(settings, name)) for name in names})
        file.attrs.update({"halo": 2, "cyclic_x": 1, "pyom_compatibility_mode": 0.0})
        for name, value in fields.items():
            file[name] = value.astype(np.uint8) if name.startswith("mask") else value


def time_a_call(state, routine):
    """Nanoseconds a point."""
    wait(state)
    start = time.perf_counter()
    with state.variables.unlock():
        routine()
    wait(state)
    return 1e9 * (time.perf_counter() - start) / state.variables.maskT.size


def wait(state):
    """Waits for JAX, which returns before it is done. Results of the plug-in that nobody has
    read stay unread."""
    for name in ("temp", "salt", "tke", "eke", "K_33", "P_diss_iso", "P_diss_skew", "rho", "Hd", "Nsqr",
                 "int_drhodT", "kappaM", "kappaH", "u", "v", "w"):
        value = vars(state.variables).get(name)
        if hasattr(value, "block_until_ready"):
            value.block_until_ready()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ModuleNotFoundError as missing:
        print(f"run/compare-veros: {sys.executable} lacks {missing.name}; --help says how to make one that has all",
              file=sys.stderr)
        sys.exit(safely.UNUSABLE)
