#!/usr/bin/env python3
"""Write validation/physics/veros/steps.h5: oceans after 1 and 100 steps of Veros's own routines.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0 mpmath
    venv/bin/python validation/physics/make_veros_steps.py [-o validation/physics/veros/steps.h5]

The flow is frozen: velocities, their dissipation and the surface fluxes stay what they are, and all
else steps as in Veros. Each group is an input of miniapp with ghosts, named after the setup of Veros
whose switches it has, and holds the groups "1" and "100" of what that many steps make of it. The
attribute `spread` of each of their fields is how far apart Veros ends when the last digits of what it
starts from change at random, the largest of some tries. Two things have no more digits to lose, and
are others, too. By TEOS-10 density is computed in 80-bit arithmetic, since Veros takes differences of
large numbers there. And where turbulent kinetic energy is what rounding left of 0, which mixing
lengths take the square root of, it gets other digits in each step.
"""

import numpy as np

import make_veros_step  # it starts Veros, too
from make_veros_step import roughen
from veros_acc import SETTINGS, in_order, inputs, level, new_file, stepped, store, store_input

from veros import veros_routine
from veros.core import advection, eke, thermodynamics, tke, utilities
from veros.core.operators import at, update
from veros.core.thermodynamics import calc_eq_of_state

WARM_UP, STEPS, TRIES = 6, (1, 100), 5
REMNANT = 1e-20  # of values of 1e-4
PROGNOSTIC = ["temp", "salt", "tke", "eke"]

# What a setup of Veros switches, beside the setup `acc`
SETUPS = {
    "acc_basic": {"enable_eke": False, "enable_eke_isopycnal_diffusion": False,
                  "enable_Prandtl_tke": False},
    "acc": {},
    "global": {"eq_of_state_type": 5, "enable_tke_superbee_advection": True, "dt_mom": 1800.0},
}


class Setup(make_veros_step.Setup):
    """With other switches, and forcing that the state does not change."""

    def __init__(self, switches):
        super().__init__()
        self.switches = switches

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.enable_tempsalt_sources = False
        for name, value in self.switches.items():
            setattr(settings, name, value)


def step(state):
    """As Veros's own, in its order, but for momentum and forcing. The flow has to be frozen."""
    vs, settings = state.variables, state.settings
    eke.set_eke_diffusivities(state)
    tke.set_tke_diffusivities(state)
    thermodynamics.thermodynamics(state)
    advection.calculate_velocity_on_wgrid(state)
    if settings.enable_eke:
        eke.integrate_eke(state)
    tke.integrate_tke(state)
    with vs.unlock():
        for name in ("tke", "eke") if settings.enable_eke else ("tke",):
            setattr(vs, name, utilities.enforce_boundaries(getattr(vs, name), settings.enable_cyclic_x))
        vs.taum1, vs.tau, vs.taup1 = vs.tau, vs.taup1, vs.taum1


def freeze(state):
    """Makes the flow the same at all time levels, which change places."""
    vs = state.variables
    with vs.unlock():
        for name in ("u", "v", "w"):
            flow = getattr(vs, name)
            setattr(vs, name, update(flow, at[...], flow[..., vs.tau, np.newaxis]))


def start(switches):
    state = stepped(Setup(switches), WARM_UP).state
    roughen(state)
    freeze(state)
    return state


def prognostic(state):
    names = PROGNOSTIC if state.settings.enable_eke else PROGNOSTIC[:3]
    return {name: in_order(level(state.variables, name, "tau")) for name in names}


def nudge(state, names, rng):
    """Moves each value of fields that a step starts from by one unit in the last place, up or down."""
    vs = state.variables
    with vs.unlock():
        for name in names:
            values = np.array(getattr(vs, name))
            now = values[..., int(vs.tau)]
            now += np.spacing(np.abs(now)) * rng.choice([-1, 1], now.shape) * (now != 0)
            setattr(vs, name, values)


def change_remnants(state, rng):
    vs = state.variables
    with vs.unlock():
        values = np.array(vs.tke)
        now = values[..., int(vs.tau)]
        now *= np.where(np.abs(now) < REMNANT, rng.uniform(0, 2, now.shape), 1)
        vs.tke = values


def run(switches, seed=None):
    """The state before, and after so many steps; with a seed, from nudged values."""
    by_teos10 = switches.get("eq_of_state_type") == 5
    is_exact = by_teos10 and seed is not None
    thermodynamics.calc_eq_of_state = density_in_80_bits if is_exact else calc_eq_of_state
    state = start(switches)
    rng = np.random.default_rng(seed)
    if seed is not None:
        nudge(state, prognostic(state), rng)
    before, after = all_inputs(state), {}
    for done in range(1, max(STEPS) + 1):
        if seed is not None:
            change_remnants(state, rng)
        step(state)
        if done in STEPS:
            after[done] = prognostic(state)
    return state.settings, before, after


def density_in_80_bits(state, level):
    """In the place of Veros's calc_eq_of_state."""
    # It needs mpmath, which run/compare-veros does without.
    from reference import density  # pylint: disable=import-outside-toplevel
    vs = state.variables
    fields = {name: in_order(getattr(vs, name)) for name in ("zt", "dzw", "maskT", "maskW")}
    fields |= {name: in_order(getattr(vs, name)[..., int(level)]) for name in ("salt", "temp")}
    made = density.reference(fields, {"eq_of_state_type": 5})
    return {name: update(getattr(vs, name), at[..., level], values.T)
            for name, values in made.items() if name != "prho"}


def all_inputs(state):
    vs = state.variables
    fields = inputs(state)
    fields |= {name: in_order(getattr(vs, name)) for name in ("forc_temp_surface", "forc_salt_surface")}
    if not state.settings.enable_eke:
        fields |= {name: in_order(getattr(vs, name)) for name in ("K_gm", "K_iso")}
    return fields


def store_steps(group, after, nudged):
    """The results of steps, and how far apart the nudged ones end."""
    for steps, fields in after.items():
        made = group.create_group(str(steps))
        store(made, fields)
        for name, values in fields.items():
            spread = max(np.abs(values - other[steps][name]).max() for other in nudged)
            made[name].attrs["spread"] = spread
            print(f"{group.name} {name} after {steps}: {np.abs(values).max():.2e}, "
                  f"{spread / np.abs(values).max():.1e} of it")


def main():
    with new_file(__doc__, "steps.h5") as file:
        for name, switches in SETUPS.items():
            settings, before, after = run(switches)
            group = file.create_group(name)
            store_input(group, before, settings, SETTINGS, pyom_compatibility_mode=0.0)
            store_steps(group, after, [run(switches, seed)[2] for seed in range(TRIES)])


if __name__ == "__main__":
    main()
