#!/usr/bin/env python3
"""Write validation/physics/veros/runs.tar.xz: for each of Veros's switches, the files of a run, and its next state.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_runs.py [-o validation/physics/veros/runs.tar.xz]

Each folder is a small `acc` with hills and rough tracers. `run.restart.h5` is written at the start of its last
step, `run.snapshot.nc` at the end, both by Veros; `next.h5` holds what the step made, (z, y, x) without ghosts,
and `kept.h5` what it would have made of energies if K_diss_v, which a step in a given flow keeps, had not changed
in it. With a free surface, the pressure is solved for directly, and `next.h5` holds the flow and the pressure, too.
"""

import argparse
import io
import os
import tarfile
import tempfile
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse.linalg

import make_veros_step  # it starts Veros, too
from make_veros_external import solve_directly
from make_veros_step import roughen
from veros_acc import has, stepped

from veros import restart, runtime_settings, veros_routine
from veros.core import advection, eke, thermodynamics, tke
from veros.diagnostics.snapshot import Snapshot

STEPS = 6
BICGSTAB = scipy.sparse.linalg.bicgstab
IN_STEP = ["K_diss_v", "K_diss_h", "K_diss_gm", "K_diss_bot", "P_diss_v", "P_diss_adv", "P_diss_nonlin",
           "P_diss_skew", "P_diss_iso", "P_diss_hmix", "eke_diss_tke", "eke_diss_iw", "coriolis_t", "t_star", "t_rest",
           "iw_diss", "forc_iw_bottom", "forc_iw_surface"]
NO_EKE = {"enable_eke": False, "enable_eke_isopycnal_diffusion": False}
RUNS = {
    "acc": {},
    "without_eke": NO_EKE,
    "density_1": {"eq_of_state_type": 1},
    "density_2": {"eq_of_state_type": 2},
    "density_4": {"eq_of_state_type": 4},
    "density_5": {"eq_of_state_type": 5},
    "superbee": {"enable_superbee_advection": True},
    "eke_second_order": {"enable_eke_superbee_advection": False},
    "eke_upwind": {"enable_eke_superbee_advection": False, "enable_eke_upwind_advection": True},
    "constant_K_iso": {"enable_eke_isopycnal_diffusion": False},
    "tke_superbee": {"enable_tke_superbee_advection": True, "enable_tke_hor_diffusion": True},
    "tke_upwind": {"enable_tke_upwind_advection": True},
    "distance": {"tke_mxl_choice": 1},
    "constant_prandtl": {"enable_Prandtl_tke": False, "Prandtl_tke0": 7.0},
    "without_profile": {"enable_kappaH_profile": False},
    "without_skew": {"enable_skew_diffusion": False},
    "without_neutral": {"enable_skew_diffusion": False, "enable_neutral_diffusion": False},
    "without_budget": {"enable_conserve_energy": False},
    "cabbeling": {"enable_store_cabbeling_heat": True},
    "frictionless_floor": {"enable_bottom_friction": False},
    "sources": {"enable_tempsalt_sources": True},
    "weights": {"AB_eps": 0.05, "dt_mom": 3600.0},
    "residual_mean": {**NO_EKE, "enable_TEM_friction": True, "enable_skew_diffusion": False},
    "basin": {"enable_cyclic_x": False},
    "cartesian": {"coord_degree": False, "x_origin": 0.0, "y_origin": 0.0},
    "waves": {"enable_idemix": True, "enable_idemix_hor_diffusion": True, "enable_idemix_superbee_advection": True,
              "enable_eke_diss_bottom": True},
    "without_tke": {**NO_EKE, "enable_tke": False, "kappaM_0": 1e-3, "kappaH_0": 1e-4},
    "lateral": {"enable_hor_diffusion": True, "K_h": 1000.0, "enable_biharmonic_mixing": True, "K_hbi": 1e14},
    "surface": {**NO_EKE, "enable_tke": False, "kappaM_0": 1e-3, "kappaH_0": 1e-4, "enable_skew_diffusion": False,
                "enable_neutral_diffusion": False, "enable_streamfunction": False, "nx": 4, "ny": 8},
    "as_pyom": {},  # with Veros's pyom_compatibility_mode, which its files do not tell
}


ONLY_IN_OCEAN = ("waves", "without_tke", "lateral", "surface")


class Setup(make_veros_step.Setup):
    """With other switches, and with output of what a step needs."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.restart_output_filename = "run.restart.h5"
        settings.enable_tempsalt_sources = False
        for name, value in RUNS[self.name].items():
            setattr(settings, name, value)

    @veros_routine
    def set_grid(self, state):
        super().set_grid(state)
        if not state.settings.coord_degree:  # from degrees to metres
            vs = state.variables
            vs.dxt, vs.dyt = 1e5 * np.asarray(vs.dxt), 1e5 * np.asarray(vs.dyt)

    @veros_routine
    def set_coriolis(self, state):
        super().set_coriolis(state)
        if not state.settings.coord_degree:
            vs = state.variables
            vs.coriolis_t = np.broadcast_to(1e-5 + 2e-11 * np.asarray(vs.yt), vs.coriolis_t.shape).copy()

    @veros_routine
    def set_diagnostics(self, state):
        state.diagnostics.clear()
        state.diagnostics["snapshot"] = snapshot = Snapshot(state)
        snapshot.output_frequency = STEPS * state.settings.dt_tracer
        snapshot.output_variables += [name for name in IN_STEP if has(state.variables, name)]


def inside(values):
    return np.array(values)[2:-2, 2:-2].T


def prognostic(vs, slot, more=()):
    return {name: inside(getattr(vs, name)[..., slot]) for name in ("temp", "salt", "tke", "eke", "E_iw", *more)
            if has(vs, name)}


def write(path, fields):
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name, values in fields.items():
            file.create_dataset(name, data=values)


def kept(setup):
    """The same step in a flow that keeps its K_diss_v; the rest of momentum is that of the step made before."""
    vs = setup.state.variables
    eke.set_eke_diffusivities(setup.state)
    tke.set_tke_diffusivities(setup.state)
    with vs.unlock():
        thermodynamics.thermodynamics(setup.state)
    advection.calculate_velocity_on_wgrid(setup.state)
    if setup.state.settings.enable_eke:
        eke.integrate_eke(setup.state)
    tke.integrate_tke(setup.state)
    made = prognostic(vs, int(vs.taup1))
    return {name: made[name] for name in ("tke", "eke") if name in made}


def copy_of(vs):
    return {name: np.array(value) for name, value in vs.items() if isinstance(value, (np.ndarray, np.generic))}


def set_runtime(name, value):
    """Also after Veros has started, which would refuse it."""
    object.__setattr__(runtime_settings, name, value)


def run(name):
    """Leaves its files in the current folder."""
    set_runtime("pyom_compatibility_mode", name == "as_pyom")
    is_surface = name == "surface"
    scipy.sparse.linalg.bicgstab = solve_directly if is_surface else BICGSTAB
    setup = stepped(Setup(name), STEPS - 1)
    state, vs = setup.state, setup.state.variables
    roughen(state)
    invented = ("K_diss_gm", "P_diss_hmix", "P_diss_skew", "P_diss_iso")  # by roughen; a step may not make them
    with vs.unlock():
        vs.update({field: 0 * getattr(vs, field) for field in invented})
    restart.write_restart(state, force=True)
    before = copy_of(vs)
    setup.step(state)
    write("next.h5", prognostic(vs, int(vs.tau), ("u", "v", "psi") if is_surface else ()))
    made = {field: np.array(getattr(vs, field)) for field in (
        "K_diss_h", "K_diss_gm", "K_diss_bot", "forc_temp_surface", "forc_salt_surface") if has(vs, field)}
    with vs.unlock():
        vs.update(before | made)
    write("kept.h5", {} if name in ONLY_IN_OCEAN else kept(setup))
    with h5py.File("run.snapshot.nc", "a") as file:
        for attribute in ("date_created", "setup_file", "setup_code"):
            del file.attrs[attribute]


def add(archive, name, content):
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent / "veros" / "runs.tar.xz")
    path = parser.parse_args().output.resolve()
    set_runtime("hdf5_gzip_compression", False)  # the archive compresses more
    with tarfile.open(path, "w:xz", preset=9) as archive, tempfile.TemporaryDirectory() as scratch:
        for name in RUNS:
            folder = Path(scratch, name)
            folder.mkdir()
            os.chdir(folder)
            run(name)
            for file in ("run.snapshot.nc", "run.restart.h5", "next.h5", "kept.h5"):
                add(archive, f"{name}/{file}", Path(file).read_bytes())
            print(name, flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
