#!/usr/bin/env python3
"""Write validation/physics/veros/ocean.h5: oceans after 1 and 100 whole steps of Veros.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0 mpmath
    venv/bin/python validation/physics/make_veros_ocean.py [-o validation/physics/veros/ocean.h5] [CASE ...]

Veros's own step runs, with NumPy; but the external mode is solved for directly, since the tolerance of BiCGSTAB is
absolute. Each group is an input of miniapp with ghosts: a small ocean in the midst of a run, with tracers and
energies that have been made rough; `rest` is at rest, with temperature and salinity alone, and `acc_benchmark` is
Veros's benchmark as it begins. Its groups "1" and "100" hold what that many steps make of it, without ghosts. The
attribute `spread` of each of their fields is how far apart Veros ends when the last digits of what each step starts
from change at random, as rounding in another order changes them, the largest of some tries. Without turbulence, hardly
anything amplifies what changes before the first step alone. make_veros_steps.py says what has no more digits to lose,
and how that is changed, too. With TEOS-10, the group "exact" holds what one step makes with density in 80-bit
arithmetic, of those fields that Veros's own density moves by more than 1e-12 of the largest value.
"""

import argparse
import os
import tempfile
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse.linalg

from make_veros_external import solve_directly  # it starts Veros, too
from make_veros_step import roughen
from make_veros_steps import change_remnants, density_in_80_bits, nudge, store_steps
from veros_acc import (OF_IDEMIX, OF_MOMENTUM, SETTINGS, SmallSetup, cyclic, has, in_order, inputs_at_rest, level,
                       stepped, store, store_input, tendency)

from veros import veros_routine
from veros.core import thermodynamics
from veros.core.operators import at, update
from veros.core.thermodynamics import calc_eq_of_state
from veros.variables import VARIABLES

OCEANS = Path(__file__).resolve().parent / "veros" / "ocean.h5"
WARM_UP, STEPS, TRIES = 12, (1, 100), 5
PROGNOSTIC = ("temp", "salt", "u", "v", "w", "tke", "eke", "E_iw", "psi")
OF_BEFORE = ("du", "dv", "dtemp", "dsalt", "dtke", "deke", "dE_iw", "psi")
GIVEN = ("K_diss_v", "K_diss_gm", "P_diss_hmix", "forc_iw_bottom", "forc_iw_surface")
INSIDE = (..., slice(2, -2), slice(2, -2))

# Switches beside the setup `acc`
WITHOUT_EKE = {"enable_eke": False, "enable_eke_isopycnal_diffusion": False, "enable_Prandtl_tke": False}
BENCHMARK = {  # Veros's benchmarks/acc_benchmark.py, which is of any size
    "dt_mom": 600.0, "dt_tracer": 600.0, "enable_kappaH_profile": False, "kappaH_min": 0.0,
    "enable_Prandtl_tke": False, "enable_streamfunction": False, "enable_idemix": True,
    "enable_idemix_hor_diffusion": True, "enable_idemix_superbee_advection": True, "enable_eke_diss_surfbot": True,
    "eke_diss_surfbot_frac": 0.2, "eq_of_state_type": 5}
CASES = {
    "acc": {},
    "acc_basic": WITHOUT_EKE,
    "islands": {"eq_of_state_type": 5, "enable_tke_superbee_advection": True, "dt_mom": 1800.0, "nx": 12, "ny": 15},
    "basin": {"enable_cyclic_x": False, "enable_tempsalt_sources": True},
    "surface": {"enable_streamfunction": False, **WITHOUT_EKE},
    "drag": {"enable_bottom_friction": False, "enable_quadratic_bottom_friction": True, "r_quad_bot": 2e-3,
             "enable_noslip_lateral": True, "enable_ray_friction": True, "r_ray": 1e-7,
             "enable_superbee_advection": True},
    "waves": {"enable_idemix": True, "enable_idemix_hor_diffusion": True, "enable_idemix_superbee_advection": True,
              "enable_eke_diss_bottom": True, "enable_store_cabbeling_heat": True},
    "rough benchmark": BENCHMARK,
    "acc_benchmark": {**BENCHMARK, "nx": 20, "ny": 24, "nz": 10},
    "eddies": {"enable_TEM_friction": True, "enable_skew_diffusion": False, "enable_biharmonic_friction": True,
               "A_hbi": 2e15, "biharmonic_friction_cosPower": 2, "enable_hor_diffusion": True, "K_h": 2000.0,
               "enable_biharmonic_mixing": True, "K_hbi": 1e14},
    "without TKE": {"enable_tke": False, "enable_eke": False, "enable_eke_isopycnal_diffusion": False,
                    "enable_neutral_diffusion": False, "enable_skew_diffusion": False,
                    "enable_implicit_vert_friction": False, "enable_explicit_vert_friction": True,
                    "kappaM_0": 1e-3, "kappaH_0": 1e-4, "enable_hor_diffusion": True, "K_h": 1000.0,
                    "enable_ray_friction": True, "r_ray": 5e-6},
    "rest": {},
}
AT_REST = ("acc_benchmark", "rest")


class Setup(SmallSetup):
    """With other switches; some have islands: one on the seam, two that touch at a corner."""

    def __init__(self, case):
        super().__init__()
        self.case = case

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        state.settings.nz = 5
        for name, value in CASES[self.case].items():
            setattr(state.settings, name, value)

    @veros_routine
    def set_grid(self, state):
        vs, settings = state.variables, state.settings
        if self.case == "acc_benchmark":
            vs.dxt = update(vs.dxt, at[...], 120 / settings.nx)
            vs.dyt = update(vs.dyt, at[...], 80 / settings.ny)
            vs.dzt = update(vs.dzt, at[...], 4000 / settings.nz)
            return
        vs.dxt = update(vs.dxt, at[...], 4.0)
        vs.dyt = update(vs.dyt, at[...], 4.0 + 0.4 * np.cos(np.arange(vs.dyt.size) / 3))
        vs.dzt = update(vs.dzt, at[...], np.array([600.0, 510.0, 340.0, 150.0, 50.0]))

    @veros_routine
    def set_topography(self, state):
        vs = state.variables
        if self.case == "acc_benchmark":
            super(SmallSetup, self).set_topography(state)  # that of Veros
            return
        super().set_topography(state)
        if self.case == "islands":
            kbot = np.array(vs.kbot)
            kbot[:4, 5:7], kbot[-4:, 5:7] = 0, 0
            kbot[7:9, 6:8], kbot[9:11, 8:10] = 0, 0
            vs.kbot = kbot

    @veros_routine
    def set_initial_conditions(self, state):
        super().set_initial_conditions(state)
        vs = state.variables
        if state.settings.enable_idemix:
            vs.forc_iw_bottom = 1e-6 * vs.maskW[:, :, -1]
            vs.forc_iw_surface = 1e-7 * vs.maskW[:, :, -1]
        if self.case == "rest":  # with pressure that drives a flow
            noise = cyclic(0.3 * np.random.default_rng(14).standard_normal(vs.maskT.shape))
            vs.temp = vs.temp + (noise * np.asarray(vs.maskT))[..., np.newaxis]


def start(case):
    setup = stepped(Setup(case), 0 if case in AT_REST else WARM_UP)
    if case in AT_REST:
        return setup
    roughen(setup.state)
    if not setup.state.settings.enable_skew_diffusion:  # then Veros leaves what was there
        with setup.state.variables.unlock():
            setup.state.variables.P_diss_skew = 0 * setup.state.variables.P_diss_skew
    return setup


def ordered(state, values):
    return in_order(values, state.settings.enable_cyclic_x)


def prognostic(state):
    vs = state.variables
    return {name: ordered(state, level(vs, name, "tau")) for name in PROGNOSTIC if has(vs, name)}


def inputs(state, case):
    vs = state.variables
    fields = inputs_at_rest(state, state.settings.enable_cyclic_x)
    fields |= {name: ordered(state, getattr(vs, name)) for name in GIVEN if has(vs, name)}
    if case in AT_REST:
        return fields
    fields |= prognostic(state)
    fields |= {f"{name}_taum1": ordered(state, level(vs, name, "taum1")) for name in OF_BEFORE if has(vs, name)}
    if state.settings.enable_streamfunction:
        fields["dpsi"] = fields["dpsi_taum1"] = ordered(state, tendency(vs, "tau", "taum1"))
    return fields


def run(case, seed=None, is_exact=False, last=max(STEPS), nudged=max(STEPS)):
    """The state before, and after so many steps; with a seed, the first so many start from nudged values."""
    thermodynamics.calc_eq_of_state = calc_eq_of_state
    setup = start(case)
    state, rng = setup.state, np.random.default_rng(seed)
    before, after = inputs(state, case), {}
    if is_exact:
        thermodynamics.calc_eq_of_state = density_in_80_bits
        with state.variables.unlock():
            state.variables.update(density_in_80_bits(state, state.variables.tau))
    for done in range(1, last + 1):
        if seed is not None and done <= nudged:
            nudge(state, prognostic(state), rng)
            if state.settings.enable_tke and nudged > 1:
                change_remnants(state, rng)
        setup.step(state)
        if done in STEPS:
            after[done] = {name: values[INSIDE] for name, values in prognostic(state).items()}
    return state.settings, before, after


def write(group, case):
    settings, before, after = run(case)
    store_input(group, before, settings, (*SETTINGS, *OF_MOMENTUM, *OF_IDEMIX),
                cyclic_x=int(settings.enable_cyclic_x), pyom_compatibility_mode=0.0)
    by_teos10 = settings.eq_of_state_type == 5
    store_steps(group, after, [run(case, seed, by_teos10)[2] for seed in range(TRIES)])
    if by_teos10:
        exact = run(case, is_exact=True, last=1)[2][1]
        store(group.create_group("exact"), {name: values for name, values in exact.items()
                                            if np.abs(values - after[1][name]).max() > 1e-12 * np.abs(values).max()})


def write_cases(description, path, write_case):
    """A group of a new file for each case, or of one that is there for those that are named."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=path)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE",
                        help="those that are made anew in a file that is there [all]")
    options = parser.parse_args()
    path = options.output.resolve()
    scipy.sparse.linalg.bicgstab = solve_directly
    VARIABLES["ssh"].active = True  # which the routine of the free surface writes
    with tempfile.TemporaryDirectory() as folder, h5py.File(
            path, "a" if options.cases else "w", libver=("v110", "v110")) as file:
        os.chdir(folder)
        for case in options.cases or CASES:
            if case in file:
                del file[case]
            write_case(file.create_group(case), case)
        os.chdir("/")


if __name__ == "__main__":
    write_cases(__doc__, OCEANS, write)
