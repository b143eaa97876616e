#!/usr/bin/env python3
"""Write validation/physics/veros/step.h5: parts of a step as Veros's own NumPy routines make them.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_step.py [-o validation/physics/veros/step.h5]

The file is an input of miniapp, with ghosts: a small `acc` with an uneven sea floor after some steps,
its energies and tracers made rough. The groups below "outputs" hold what each of Veros's routines makes
of it, or of what those before it made: of their outputs it reads what "inputs" of the group names.
"advect_by_superbee" is advect_temp_salt_enthalpy with another scheme; "frozen_step" all of a step but
momentum.
"""

import numpy as np

from veros_acc import (  # it starts Veros, too
    SETTINGS, SmallSetup, cyclic, has, in_order, inputs, level, new_file, stepped, store, store_input)

from veros import veros_routine
from veros.core import advection, diffusion, eke, momentum, thermodynamics, tke

STEPS = 6
OF_LATERAL_MIXING = ("K_h", "K_hbi", "enable_hor_friction_cos_scaling", "hor_friction_cosPower")


class Setup(SmallSetup):
    """With sources in the water."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.dt_tracer = 21600.0
        settings.enable_tempsalt_sources = True
        settings.K_h, settings.K_hbi = 2e4, 1e16


def roughen(state):
    """Noise, so that no two differences are alike: in tracers, energies and their sources. Density and
    what follows from it is made anew."""
    vs = state.variables
    rng = np.random.default_rng(11)
    water = np.asarray(vs.maskT)
    tau, new = int(vs.tau), {}
    for name, size in (("temp", 0.3), ("salt", 0.05), ("tke", 2e-5), ("eke", 1e-3), ("E_iw", 1e-5)):
        if not has(vs, name):
            continue
        values = np.array(getattr(vs, name))
        values[..., tau] += size * rng.standard_normal(water.shape) * water
        new[name] = values
    for name, size in (("temp_source", 1e-7), ("salt_source", 1e-8)):
        if has(vs, name):
            new[name] = size * rng.standard_normal(water.shape) * water
    for name in ("K_diss_gm", "P_diss_hmix", "P_diss_skew", "P_diss_iso"):
        if has(vs, name):
            new[name] = 1e-9 * rng.standard_normal(water.shape) * water
    for values in new.values():
        cyclic(values)
    with vs.unlock():
        vs.update(new)
        vs.update(thermodynamics.calc_eq_of_state(state, vs.tau))


def rough_ocean():
    """The same each time."""
    setup = stepped(Setup(), STEPS)
    roughen(setup.state)
    return setup


def made_by(vs):
    """A function that gathers fields by name, or by name and time level."""
    def made(*names, **levels):
        return {name: in_order(getattr(vs, name)) for name in names} | {
            name: in_order(level(vs, name.removesuffix(f"_{when}"), when))
            for name, when in levels.items()}

    return made


def frozen_step(setup):
    """All of a step but momentum."""
    state = setup.state
    setup.set_forcing(state)
    eke.set_eke_diffusivities(state)
    tke.set_tke_diffusivities(state)
    with state.variables.unlock():
        thermodynamics.thermodynamics(state)
    advection.calculate_velocity_on_wgrid(state)
    eke.integrate_eke(state)
    tke.integrate_tke(state)
    return made_by(state.variables)(
        "K_gm", "kappaH", "P_diss_adv", "P_diss_v", "P_diss_nonlin", Nsqr="taup1", temp_taup1="taup1",
        salt_taup1="taup1", tke_taup1="taup1", eke_taup1="taup1"), []


def outputs(setup):
    """{routine: (its outputs, what it reads of those before)}, in the order of Veros's step. Of what a
    routine does not read the file has what it was before."""
    state = setup.state
    vs, settings, made = state.variables, state.settings, made_by(state.variables)
    result = {}
    setup.set_forcing(state)
    result["set_forcing"] = made("forc_temp_surface"), []
    eke.set_eke_diffusivities(state)
    result["set_eke_diffusivities"] = made("L_rossby", "L_rhines", "eke_len", "sqrteke", "K_gm", "K_iso"), []
    tke.set_tke_diffusivities(state)
    result["set_tke_diffusivities"] = made("sqrttke", "mxl", "kappaM", "kappaH", "Prandtlnumber"), []
    for routine, by_superbee in (("advect_by_superbee", True), ("advect_temp_salt_enthalpy", False)):
        with vs.unlock(), settings.unlock():
            settings.enable_superbee_advection = by_superbee
            vs.update(thermodynamics.advect_temp_salt_enthalpy(state))
        result[routine] = made("P_diss_adv", dtemp="tau", dsalt="tau", temp_taup1="taup1", salt_taup1="taup1"), []
    with vs.unlock():
        vs.update(diffusion.tempsalt_sources(state))
    result["tempsalt_sources"] = made(
        "P_diss_sources", temp_taup1="taup1", salt_taup1="taup1"), [
        "advect_temp_salt_enthalpy/temp_taup1", "advect_temp_salt_enthalpy/salt_taup1"]
    advection.calculate_velocity_on_wgrid(state)
    result["calculate_velocity_on_wgrid"] = made("u_wgrid", "v_wgrid", "w_wgrid"), []
    on_wgrid = [f"calculate_velocity_on_wgrid/{name}_wgrid" for name in ("u", "v", "w")]
    eke.integrate_eke(state)
    result["integrate_eke"] = made("eke_diss_iw", eke_taup1="taup1", deke="tau"), [
        "set_eke_diffusivities/eke_len", "set_eke_diffusivities/K_gm", "set_tke_diffusivities/kappaM",
        *on_wgrid]
    tke.integrate_tke(state)
    result["integrate_tke"] = made("tke_surf_corr", "tke_diss", tke_taup1="taup1", dtke="tau"), [
        "set_tke_diffusivities/mxl", "set_tke_diffusivities/kappaM",
        "advect_temp_salt_enthalpy/P_diss_adv", "integrate_eke/eke_diss_iw", *on_wgrid]
    with vs.unlock():
        for name in ("u", "v"):
            values = np.array(getattr(vs, name))
            values[..., int(vs.taup1)] = values[..., int(vs.tau)]
            setattr(vs, name, values)
    momentum.vertical_velocity(state)
    result["vertical_velocity"] = made(w_taup1="taup1"), []
    before = "tempsalt_sources"
    for name in ("tempsalt_diffusion", "tempsalt_biharmonic"):
        with vs.unlock():
            vs.update(getattr(diffusion, name)(state))
        result[name] = made("P_diss_hmix", temp_taup1="taup1", salt_taup1="taup1"), [
            f"{before}/temp_taup1", f"{before}/salt_taup1"]
        before = name
    return result


def main():
    with new_file(__doc__, "step.h5") as file:
        setup = rough_ocean()
        store_input(file, inputs(setup.state), setup.state.settings, (*SETTINGS, *OF_LATERAL_MIXING))
        results = {"frozen_step": frozen_step(rough_ocean())} | outputs(setup)
        for routine, (values, reads) in results.items():
            group = file.create_group(f"outputs/{routine}")
            group.attrs["inputs"] = np.bytes_(" ".join(reads))
            store(group, values)


if __name__ == "__main__":
    main()
