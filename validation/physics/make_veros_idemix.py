#!/usr/bin/env python3
"""Write validation/physics/veros/idemix.h5: internal waves as Veros's own NumPy routines make them.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_idemix.py [-o validation/physics/veros/idemix.h5]

The file is an input of miniapp, with ghosts: a small `acc` with an uneven sea floor, rough energies and a flow. Each
group below "outputs" has settings as its attributes, and what Veros's routines make with them of that input: in
"parameters" and "diffusivities" the routines before, in the others integrate_idemix, which reads the parameters.
"""

import numpy as np

from make_veros_step import roughen  # it starts Veros, too
from veros_acc import (OF_IDEMIX, SETTINGS, SmallSetup, cyclic, in_order, inputs, level, new_file, stepped, store,
                       store_input)

from veros import veros_routine
from veros.core import advection, idemix, tke

STEPS = 6
LATERAL = ("enable_idemix_hor_diffusion", "enable_idemix_superbee_advection")
CASES = {
    "superbee": ("enable_eke", *LATERAL),
    "upwind, at the bottom": ("enable_eke", "enable_idemix_upwind_advection", "enable_eke_diss_bottom"),
    "at the bottom and the surface": ("enable_eke", "enable_idemix_hor_diffusion", "enable_eke_diss_surfbot"),
    "without eddies": ("enable_store_bottom_friction_tke",),
    "without eddies, mixing stored": ("enable_store_cabbeling_heat",),
}
SWITCHES = sorted({name for switches in CASES.values() for name in switches})


class Setup(SmallSetup):
    """With internal waves."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.dt_tracer, settings.eke_diss_surfbot_frac = 21600.0, 0.3
        settings.enable_idemix = settings.enable_idemix_hor_diffusion = True
        settings.enable_idemix_superbee_advection = True


def roughen_waves(state):
    """Energies and their sources of which no two neighbours are alike."""
    vs = state.variables
    rng = np.random.default_rng(16)
    water = np.asarray(vs.maskW)

    def noise(size, mask=water):
        return cyclic(size * rng.uniform(0, 1, mask.shape) * mask)

    new = {"E_iw": np.array(vs.E_iw), "dE_iw": np.array(vs.dE_iw)}
    new["E_iw"][..., int(vs.tau)] += noise(2e-3) - noise(1e-4)
    new["dE_iw"][..., int(vs.taum1)] += noise(1e-9) - noise(1e-9)
    new |= {name: noise(2e-9) for name in ("eke_diss_iw", "K_diss_gm", "K_diss_h", "P_diss_skew", "P_diss_hmix",
                                           "P_diss_iso", "K_diss_bot")}
    new |= {name: noise(1e-6, water[..., -1]) for name in ("forc_iw_bottom", "forc_iw_surface")}
    with vs.unlock():
        vs.update(new)


def rough_ocean():
    state = stepped(Setup(), STEPS).state
    roughen(state)
    roughen_waves(state)
    advection.calculate_velocity_on_wgrid(state)
    return state


def inputs_of(state):
    vs = state.variables
    names = ("eke_diss_iw", "forc_iw_bottom", "forc_iw_surface", "u_wgrid", "v_wgrid", "w_wgrid")
    fields = inputs(state) | {name: in_order(getattr(vs, name)) for name in names}
    fields |= {"E_iw": in_order(level(vs, "E_iw", "tau")), "E_iw_taup1": in_order(level(vs, "E_iw", "taup1")),
               "dE_iw_taum1": in_order(level(vs, "dE_iw", "taum1"))}
    return {name: values for name, values in fields.items() if values.any()}


def step_waves(state):
    """Makes a step by integrate_idemix; time levels stay as they were before."""
    vs = state.variables
    before = {name: np.array(getattr(vs, name)) for name in ("E_iw", "dE_iw")}
    before["dE_iw"][..., int(vs.tau)] = 0  # it is left as it was where there is no advection
    with vs.unlock():
        vs.dE_iw = np.array(before["dE_iw"])
    idemix.integrate_idemix(state)
    made = {"E_iw_taup1": in_order(level(vs, "E_iw", "taup1")), "dE_iw": in_order(level(vs, "dE_iw", "tau")),
            "iw_diss": in_order(vs.iw_diss)}
    with vs.unlock():
        vs.update(before)
    return made


def write(file, state):
    vs, settings = state.variables, state.settings
    store_input(file, inputs_of(state), settings, (*SETTINGS, *OF_IDEMIX))

    def add(case, values, **chosen):
        store(file.create_group(f"outputs/{case}"), values, chosen)

    with vs.unlock():
        vs.update(idemix.set_idemix_parameter(state))
    add("parameters", {name: in_order(getattr(vs, name)) for name in ("c0", "v0", "alpha_c")})
    for case, switches in CASES.items():
        chosen = {name: name in switches for name in SWITCHES}
        with settings.unlock():
            settings.update(chosen)
        add(case, step_waves(state), **chosen)
    tke.set_tke_diffusivities(state)
    add("diffusivities", {name: in_order(getattr(vs, name)) for name in ("kappaM", "kappaH", "Prandtlnumber")})


if __name__ == "__main__":
    with new_file(__doc__, "idemix.h5") as new:
        write(new, rough_ocean())
