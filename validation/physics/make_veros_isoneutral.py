#!/usr/bin/env python3
"""Write validation/physics/veros/isoneutral.h5: isoneutral mixing as Veros's own NumPy routines have it.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_isoneutral.py [-o validation/physics/veros/isoneutral.h5]

The state is that of Veros's setup `acc` on a small grid with an uneven sea floor, with noise.
The file is an input of miniapp, with ghosts: temperature and salinity of the time level tau, what taup1
holds before isoneutral mixing, the diffusivities, and the derivatives of dynamic enthalpy. The group
"outputs" holds what Veros makes of them: the tensor, both tracers, and the dissipation; "outputs_of_pyom"
the same in its pyom_compatibility_mode, where K_11 and K_22 act in skew diffusion, too.
"""

import numpy as np

from veros_acc import SmallSetup, cyclic, new_file, store, store_input  # it starts Veros, too

import veros
from veros import veros_routine
from veros.core import isoneutral
from veros.core.operators import at, update

GRID = ["dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "zw", "cost", "cosu", "kbot", "maskT",
        "maskU", "maskV", "maskW", "K_iso", "K_gm"]
SETTINGS = ["eq_of_state_type", "iso_slopec", "iso_dslope", "K_iso_steep", "dt_tracer"]
OUTPUTS = ["K_11", "K_22", "K_33", "P_diss_iso", "P_diss_skew"]


class Setup(SmallSetup):
    """With spacings of its own."""

    @veros_routine
    def set_grid(self, state):
        vs = state.variables
        vs.dxt = update(vs.dxt, at[...], 1.0)
        vs.dyt = update(vs.dyt, at[...], 1.0 + 0.1 * np.cos(np.arange(vs.dyt.size) / 3))
        vs.dzt = update(vs.dzt, at[...], np.array([600.0, 510.0, 340.0, 200.0, 100.0, 50.0]))


def in_order(values):
    """A copy with the axes turned round, (z, y, x): Veros writes into its arrays."""
    return np.array(values).T


def roughen(state):
    """Noise, so that slopes lie on both sides of the taper and no two differences are alike; another
    state at taup1, and diffusivities that differ from place to place."""
    vs = state.variables
    rng = np.random.default_rng(7)
    water = np.asarray(vs.maskT)
    new = {name: 1000 * (1 + 0.5 * rng.random(water.shape)) for name in ("K_iso", "K_gm")}
    for name, size in (("temp", 0.3), ("salt", 0.05)):
        tracer = np.array(getattr(vs, name))
        tracer[..., int(vs.tau)] += size * rng.standard_normal(water.shape) * water
        tracer[..., int(vs.taup1)] = tracer[..., int(vs.tau)] + size * rng.random(water.shape) * water
        new[name] = tracer
    with vs.unlock():
        vs.update({name: cyclic(values) for name, values in new.items()})


def mix(state):
    """What veros.core.thermodynamics does of isoneutral mixing, in its order."""
    vs = state.variables
    with vs.unlock():
        for name in ("P_diss_iso", "P_diss_skew", "dtemp_iso", "dsalt_iso"):
            setattr(vs, name, np.zeros_like(getattr(vs, name)))
        vs.update(isoneutral.isoneutral_diffusion_pre(state))
        for mixing in (isoneutral.isoneutral_diffusion, isoneutral.isoneutral_skew_diffusion):
            mixing(state, tr=vs.temp, istemp=True)
            mixing(state, tr=vs.salt, istemp=False)


def outputs_of(state, compatible):
    """By default as in Veros 1.7; the state is as it was before."""
    vs = state.variables
    taup1 = int(vs.taup1)
    before = {name: np.array(getattr(vs, name)) for name in ("temp", "salt")}
    object.__setattr__(veros.runtime_settings, "pyom_compatibility_mode", compatible)
    mix(state)
    object.__setattr__(veros.runtime_settings, "pyom_compatibility_mode", False)
    outputs = {name: in_order(getattr(vs, name)) for name in OUTPUTS}
    outputs |= {f"{name}_taup1": in_order(getattr(vs, name)[..., taup1]) for name in before}
    with vs.unlock():
        vs.update(before)
    return outputs


def write(file, state):
    vs = state.variables
    tau, taup1 = int(vs.tau), int(vs.taup1)
    fields = {name: in_order(getattr(vs, name)) for name in GRID}
    fields |= {name: in_order(getattr(vs, name)[..., tau]) for name in ("temp", "salt", "int_drhodT", "int_drhodS")}
    fields |= {f"{name}_taup1": in_order(getattr(vs, name)[..., taup1]) for name in ("temp", "salt")}
    store_input(file, fields, state.settings, SETTINGS)
    store(file.create_group("outputs"), outputs_of(state, False))
    store(file.create_group("outputs_of_pyom"), outputs_of(state, True))


def main():
    setup = Setup()
    with new_file(__doc__, "isoneutral.h5") as file:
        setup.setup()
        roughen(setup.state)
        write(file, setup.state)


if __name__ == "__main__":
    main()
