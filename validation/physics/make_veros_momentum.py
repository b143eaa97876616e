#!/usr/bin/env python3
"""Write validation/physics/veros/momentum.h5: momentum as Veros's own NumPy routines make it.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_momentum.py [-o validation/physics/veros/momentum.h5]

The file is an input of miniapp, with ghosts: a small `acc` with an uneven sea floor and a rough flow. Each
group below "outputs" has settings as its attributes, and what Veros's routines make with them of that input.
What a group before it has made the same is not stored again.
"""

import numpy as np

from make_veros_external import PRESSURE, STREAM  # it starts Veros, too
from veros_acc import SmallSetup, cyclic, in_order, inputs, level, new_file, stepped, store, store_input

from veros import veros_routine
from veros.core import eke, friction, momentum
from veros.variables import VARIABLES

FIELDS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "cost", "cosu", "kbot", "maskT", "maskU", "maskV", "maskW",
          "coriolis_t", "rho")
OF_MOMENTUM = ("tantr", "kappaM", "K_gm", "surface_taux", "surface_tauy", "r_bot_var_u", "r_bot_var_v", "u_source", "v_source")
SWITCHES = ("enable_implicit_vert_friction", "enable_hor_friction", "enable_hor_friction_cos_scaling",
            "enable_noslip_lateral", "enable_ray_friction", "enable_bottom_friction", "enable_bottom_friction_var",
            "enable_quadratic_bottom_friction", "enable_momentum_sources", "enable_biharmonic_friction",
            "enable_explicit_vert_friction", "enable_TEM_friction")
NUMBERS = ("dt_mom", "AB_eps", "A_h", "hor_friction_cosPower", "A_hbi", "biharmonic_friction_cosPower", "r_ray", "r_bot",
           "r_quad_bot")
ACC = ("enable_implicit_vert_friction", "enable_hor_friction", "enable_hor_friction_cos_scaling",
       "enable_bottom_friction")
CASES = {
    "acc": ACC,
    "free slip": ("enable_hor_friction",),
    "no slip": ("enable_hor_friction", "enable_noslip_lateral", "enable_hor_friction_cos_scaling"),
    "drag": ("enable_ray_friction", "enable_bottom_friction", "enable_bottom_friction_var",
             "enable_quadratic_bottom_friction"),
    "sources": ("enable_momentum_sources",),
    "explicit": ("enable_explicit_vert_friction",),
    "explicit and implicit": ("enable_explicit_vert_friction", "enable_implicit_vert_friction"),
    "eddies": (*ACC, "enable_TEM_friction"),
    "eddies alone": ("enable_TEM_friction",),
    "biharmonic": (*ACC, "enable_biharmonic_friction"),
    "biharmonic without slip": ("enable_biharmonic_friction", "enable_noslip_lateral"),
}


class Setup(SmallSetup):
    """With all that friction can read."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.enable_bottom_friction_var = settings.enable_momentum_sources = True
        settings.hor_friction_cosPower, settings.r_ray, settings.r_quad_bot = 2, 3e-6, 2e-3
        settings.enable_TEM_friction = True
        settings.A_hbi, settings.biharmonic_friction_cosPower = 1e19, 3


def roughen(state):
    """No two neighbours alike, with a flow on water alone."""
    vs = state.variables
    rng = np.random.default_rng(12)
    tau, before = int(vs.tau), int(vs.taum1)

    def noise(size, mask):
        return cyclic(size * rng.uniform(-1, 1, mask.shape) * np.asarray(mask))

    new = {name: np.array(getattr(vs, name)) for name in ("u", "v", "w", "du", "dv", "rho", "psi")}
    for name, mask, size in (("u", vs.maskU, 0.3), ("v", vs.maskV, 0.3), ("w", vs.maskW, 1e-4)):
        new[name][..., tau] = noise(size, mask)
    for name, mask in (("du", vs.maskU), ("dv", vs.maskV)):
        new[name][..., before] = noise(1e-5, mask)
    new["rho"][..., tau] += noise(1.0, vs.maskT)
    new["psi"] += noise(1e5, np.ones(vs.psi.shape))
    new["kappaM"] = 10 ** noise(3, np.ones(vs.maskT.shape)) * np.asarray(vs.maskW)
    for name in ("surface_taux", "surface_tauy"):
        new[name] = noise(0.2, np.ones(vs.kbot.shape))
    for name, mask in (("u_source", vs.maskU), ("v_source", vs.maskV)):
        new[name] = noise(1e-6, mask)
    for name in ("r_bot_var_u", "r_bot_var_v"):
        new[name] = 2e-5 + noise(1e-5, np.ones(vs.kbot.shape))
    with vs.unlock():
        vs.update(new)


def inputs_of(state):
    vs = state.variables
    fields = inputs(state)
    fields = {name: fields[name] for name in (*FIELDS, "u", "v", "w")}
    fields |= {name: in_order(getattr(vs, name)) for name in OF_MOMENTUM}
    fields["Nsqr"] = in_order(level(vs, "Nsqr", "tau"))
    return fields | {f"d{name}_taum1": in_order(level(vs, f"d{name}", "taum1")) for name in ("u", "v")}


def tendencies(state):
    vs = state.variables
    with vs.unlock():
        vs.update(momentum.tend_coriolisf(state))
        vs.update(momentum.tend_tauxyf(state))
        vs.update(momentum.momentum_advection(state))
        vs.update(eke.update_kappa_gm(state))
        for name in ("du_mix", "dv_mix", "K_diss_h", "K_diss_gm"):  # else friction adds to what the last call left
            setattr(vs, name, np.zeros(vs.maskT.shape))
        friction.friction(state)


def flow_after(state, solve):
    """The flow when an external mode has been added, and w."""
    vs = state.variables
    with vs.unlock():
        vs.update(solve(state))
        for name in ("u", "v"):
            cyclic(getattr(vs, name))
        vs.update(momentum.vertical_velocity_kernel(state))
    return {f"{name}_taup1": in_order(level(vs, name, "taup1")) for name in ("psi", "u", "v", "w")}


def outputs(state):
    vs = state.variables
    tendencies(state)
    before = {name: np.array(getattr(vs, name)) for name in ("du", "dv")}
    result = {name: in_order(getattr(vs, name)) for name in ("K_diss_v", "K_diss_h", "K_diss_bot", "K_diss_gm", "kappa_gm")}
    with vs.unlock():
        _, (_, uloc, vloc) = STREAM.prepare_forcing(state)
        result |= {"du_mean": in_order(uloc), "dv_mean": in_order(vloc)}
        vs.update(before)
        changed, _ = PRESSURE.prepare_forcing(state)
        vs.update(changed)
    result |= {name: in_order(level(vs, name, "tau")) for name in ("du", "dv")}
    result |= {f"{name}_taup1": in_order(level(vs, name, "taup1")) for name in ("u", "v")}
    return result, (uloc, vloc)


def write(file, state):
    store_input(file, inputs_of(state), state.settings, NUMBERS)
    seen = {}

    def add(case, values, **settings):
        values = {name: value for name, value in values.items() if not np.array_equal(seen.get(name), value)}
        store(file.create_group(f"outputs/{case}"), values, settings)
        seen.update(values)

    for case, switches in CASES.items():
        chosen = {name: name in switches for name in SWITCHES}
        with state.settings.unlock():
            state.settings.update(chosen)
        made, means = outputs(state)
        add(case, made, **chosen)
        if case == "acc":  # u_taup1 of which is what these read
            with state.variables.unlock():
                state.variables.psi = state.variables.psi * 1e-5  # m2 s-2, not m3 s-1
            add("pressure", flow_after(state, PRESSURE.barotropic_velocity_update), enable_streamfunction=0)
            add("stream", flow_after(state, lambda state, means=means: STREAM.barotropic_velocity_update(
                state, *means)), enable_streamfunction=1)


def main():
    with new_file(__doc__, "momentum.h5") as file:
        VARIABLES["ssh"].active = True  # which the routine of the free surface writes
        state = stepped(Setup(), 3).state
        roughen(state)
        write(file, state)


if __name__ == "__main__":
    main()
