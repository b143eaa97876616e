#!/usr/bin/env python3
"""Oceans with switches that are on or off at random, and one step of Veros; a Python that has Veros 1.7.0 runs it.

    venv/bin/python validation/physics/veros_random.py OUT.h5 SEED...

Each group of OUT.h5, named by its seed, is what a group of ocean.h5 is (make_veros_ocean.py), but for what 100 steps
make. TEOS-10 is left out, whose derivatives Veros has less exactly.
"""

import os
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse.linalg

import make_veros_ocean  # it starts Veros, too
from make_veros_external import solve_directly
from make_veros_ocean import CASES, TRIES, run, start
from make_veros_steps import store_steps
from veros_acc import OF_IDEMIX, OF_MOMENTUM, SETTINGS, store_input

from veros.variables import VARIABLES

NAMES = (*SETTINGS, *OF_MOMENTUM, *OF_IDEMIX, "K_h_tke")
SWITCHES = sorted({name for name in NAMES if name.startswith("enable_")} | {
    "enable_cyclic_x", "enable_tempsalt_sources"})
NUMBERS = {"A_hbi": 2e15, "K_h": 2000.0, "K_hbi": 1e14, "r_ray": 1e-6, "r_quad_bot": 2e-3, "kappaM_0": 1e-3,
           "kappaH_0": 1e-4, "eke_diss_surfbot_frac": 0.2, "K_h_tke": 1500.0}
# A step makes them or leaves them as they were, by its switches
INVENTED = ("K_diss_gm", "P_diss_hmix", "P_diss_skew", "P_diss_iso")


def choose(seed):
    """Without any vertical friction, Veros would add up friction from step to step; it refuses TKE without implicit."""
    rng = np.random.default_rng(seed)
    return {name: bool(rng.integers(2)) for name in SWITCHES} | NUMBERS | {
        "enable_implicit_vert_friction": True, "eq_of_state_type": int(rng.integers(1, 5)),
        "tke_mxl_choice": int(rng.integers(1, 3)), "hor_friction_cosPower": int(rng.integers(4)),
        "biharmonic_friction_cosPower": int(rng.integers(4)), "AB_eps": float(rng.choice([0.05, 0.1])),
        "dt_tracer": float(rng.choice([4800.0, 21600.0]))}


def start_without_inventions(case):
    setup = start(case)
    vs = setup.state.variables
    with vs.unlock():
        vs.update({name: 0 * getattr(vs, name) for name in INVENTED})
    return setup


def main():
    path, seeds = Path(sys.argv[1]).resolve(), sys.argv[2:]
    scipy.sparse.linalg.bicgstab = solve_directly
    VARIABLES["ssh"].active = True  # which the routine of the free surface writes
    make_veros_ocean.start = start_without_inventions
    CASES.update({seed: choose(int(seed)) for seed in seeds})
    with tempfile.TemporaryDirectory() as folder, h5py.File(path, "w") as file:
        os.chdir(folder)
        for seed in seeds:
            settings, before, after = run(seed, last=1)
            group = file.create_group(seed)
            store_input(group, before, settings, NAMES, cyclic_x=int(settings.enable_cyclic_x),
                        pyom_compatibility_mode=0.0)
            store_steps(group, after, [run(seed, each, last=1)[2] for each in range(TRIES)])
        os.chdir("/")


if __name__ == "__main__":
    main()
