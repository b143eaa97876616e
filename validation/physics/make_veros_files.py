#!/usr/bin/env python3
"""Write validation/physics/veros: a small run of Veros, with what Veros itself had in memory.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0
    venv/bin/python validation/physics/make_veros_files.py [-o validation/physics/veros]

The run is Veros's setup `acc` on a small grid with an uneven sea floor, in which TKE is advected by
superbee and diffused laterally, as in miniapp's kernel. The files:

    run.snapshot.nc   two records, the second of the last step, with the sources of TKE added
    run.restart.h5    the state at the start of the last step, less what the importer ignores
    expected.h5       of the last step, without ghosts, (z, y, x): what the importer has to rebuild
                      from those files, and under "outputs" what Veros's own kernels made of it
"""

import argparse
import os
import tempfile
from pathlib import Path

import h5py
import numpy as np

from veros_acc import SmallSetup, stepped  # it starts Veros, too

from veros import restart, veros_routine
from veros.core.operators import at, update
from veros.diagnostics.snapshot import Snapshot

STEPS = 8
SOURCES = ["K_diss_v", "K_diss_bot", "P_diss_v", "P_diss_adv", "P_diss_nonlin", "eke_diss_tke", "eke_diss_iw"]
IN_SNAPSHOT = ["dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "zw", "ht", "beta", "Nsqr", "temp",
               "salt", "u", "v", "w", "tke", "eke", "kappaM", "forc_tke_surface", "forc_temp_surface",
               "forc_salt_surface", "K_diss_h"]
IN_RESTART = ["tau", "taup1", "taum1", "time", "temp", "salt", "dtemp", "dsalt", "u", "v", "tke", "dtke",
              "eke", "deke", "K_diss_v", "Nsqr"]
REBUILT = ["dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "cost", "cosu", "kbot", "maskT", "maskU",
           "maskV", "maskW", "K_iso", "mxl", "kappaM", "u_wgrid", "v_wgrid", "w_wgrid",
           "forc_tke_surface"]
OUTPUTS = ["K_11", "K_22", "K_33", "tke_surf_corr"]


class Setup(SmallSetup):
    """With other hills, and with output."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.nx, settings.ny, settings.nz = 7, 11, 6
        settings.dt_tracer = 21600.0
        settings.enable_tke_superbee_advection = True
        settings.enable_tke_hor_diffusion = True
        settings.restart_output_filename = "run.restart.h5"

    @veros_routine
    def set_grid(self, state):
        vs = state.variables
        vs.dxt = update(vs.dxt, at[...], 7.0)
        vs.dyt = update(vs.dyt, at[...], 5.0 + 0.5 * np.cos(np.arange(vs.dyt.size) / 3))
        vs.dzt = update(vs.dzt, at[...], np.array([600.0, 510.0, 340.0, 200.0, 100.0, 50.0]))

    @veros_routine
    def set_topography(self, state):
        vs = state.variables
        x, y = np.meshgrid(vs.xt, vs.yt, indexing="ij")
        hills = 2 + np.rint(1.6 * np.sin(x / 7) * np.cos(y / 6)).astype(int)
        vs.kbot = np.where((x > 6) | (y < -20), np.maximum(hills, 1), 0)

    @veros_routine
    def set_diagnostics(self, state):
        super().set_diagnostics(state)
        state.diagnostics["snapshot"] = snapshot = Snapshot(state)
        snapshot.output_frequency = STEPS / 2 * state.settings.dt_tracer
        snapshot.output_variables = IN_SNAPSHOT + SOURCES


def interior(values):
    """Without ghosts, the axes turned round."""
    values = np.asarray(values)
    return values[2:-2, 2:-2].T if values.ndim > 1 else values


def without_ghosts(name, values, shape):
    values = np.asarray(values)
    return interior(values) if values.ndim > 1 or len(values) == shape[2] else values[2:-2]


def sources_of(vs):
    """As Veros sums them up in integrate_tke, with EKE and without IDEMIX."""
    forc = vs.K_diss_v - vs.P_diss_v - vs.P_diss_adv
    forc = forc - vs.P_diss_nonlin
    forc = forc + vs.eke_diss_tke
    forc = forc + vs.eke_diss_iw
    return forc + vs.K_diss_bot


def write_expected(state, before):
    """After the last step: its time level tau is taum1 by now, its taup1 is tau."""
    vs = state.variables
    was, made = int(vs.taum1), int(vs.tau)
    shape = vs.maskT.shape
    with h5py.File("expected.h5", "w", libver=("v110", "v110")) as file:
        def store(name, values):
            packing = {"compression": 9, "shuffle": True} if values.ndim > 1 else {}
            file.create_dataset(name, data=values, **packing)

        for name in REBUILT:
            store(name, without_ghosts(name, getattr(vs, name), shape))
        for name in ("temp", "salt", "tke"):
            store(name, interior(getattr(vs, name)[..., was]))
        store("forc", interior(sources_of(vs)))
        for name, values in before.items():
            store(name, interior(values))
        for name in OUTPUTS:
            store(f"outputs/{name}", interior(getattr(vs, name)))
        store("outputs/tke_taup1", interior(vs.tke[..., made]))
        store("outputs/dtke", interior(vs.dtke[..., was]))


def shrink():
    """Drops times and paths of the machine that ran this, and much of the restart."""
    with h5py.File("run.snapshot.nc", "a") as file:
        for name in ("date_created", "setup_file", "setup_code"):
            del file.attrs[name]
    os.rename("run.restart.h5", "whole.h5")
    checksums = {"libver": ("v110", "v110")}
    with h5py.File("whole.h5") as whole, h5py.File("run.restart.h5", "w", **checksums) as file:
        for name in IN_RESTART:
            values = whole["core"][name]
            packing = {"compression": 9, "shuffle": True} if values.shape else {}
            file.create_dataset(f"core/{name}", data=values[()], **packing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent / "veros")
    folder = parser.parse_args().output.resolve()
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        run = stepped(Setup(), STEPS - 1)
        restart.write_restart(run.state, force=True)
        vs = run.state.variables
        before = {"tke_taup1": vs.tke[..., vs.taup1], "dtke_taum1": vs.dtke[..., vs.taum1]}
        run.step(run.state)
        write_expected(run.state, before)
        shrink()
        for name in ("run.snapshot.nc", "run.restart.h5", "expected.h5"):
            (folder / name).write_bytes(Path(name).read_bytes())
        os.chdir("/")


if __name__ == "__main__":
    main()
