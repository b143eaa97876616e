"""Veros's own run of the channel of test_eady.py, by a Python that has Veros:

    venv/bin/python veros_eady.py in.h5 15 20

prints the root of the mean square of v at the end of the days that are named.
"""

import sys

import h5py
import numpy as np
import veros

veros.runtime_settings.loglevel = "warning"
from veros import VerosSetup, veros_routine  # noqa: E402  pylint: disable=wrong-import-position

PATH, *DAYS = sys.argv[1:]
with h5py.File(PATH) as FILE:
    FIELDS = {name: FILE[name][...].T for name in (
        "dxt", "dyt", "dzt", "temp", "salt", "u", "v", "coriolis_t", "kbot", "psi")}
    STEP = float(FILE.attrs["dt_mom"])


def with_levels(values):
    return np.repeat(values[..., None], 3, axis=-1)


class Channel(VerosSetup):
    @veros_routine
    def set_parameter(self, state):
        s = state.settings
        s.nx, s.ny, s.nz = (length - ghosts for length, ghosts in zip(FIELDS["temp"].shape, (4, 4, 0)))
        s.dt_mom = s.dt_tracer = STEP
        s.runlen = int(DAYS[-1]) * 86400.0
        s.x_origin = s.y_origin = 0.0
        s.coord_degree, s.enable_cyclic_x, s.enable_conserve_energy = False, True, False
        s.eq_of_state_type, s.enable_tke, s.kappaH_0, s.kappaM_0 = 1, False, 0.0, 0.0
        s.restart_output_filename = None

    @veros_routine
    def set_grid(self, state):
        for name in ("dxt", "dyt", "dzt"):
            setattr(state.variables, name, FIELDS[name])

    @veros_routine
    def set_coriolis(self, state):
        state.variables.coriolis_t = FIELDS["coriolis_t"]

    @veros_routine
    def set_topography(self, state):
        state.variables.kbot = FIELDS["kbot"]

    @veros_routine
    def set_initial_conditions(self, state):
        for name in ("temp", "salt"):
            setattr(state.variables, name, with_levels(FIELDS[name]))

    def start_flow(self):
        """Sets the balanced flow as it is: Veros's own start would let the pressure act on it for a step."""
        vs = self.state.variables
        with vs.unlock():
            vs.update({name: with_levels(FIELDS[name]) for name in ("u", "v", "psi")})
            vs.update(du=0 * vs.du, dv=0 * vs.dv)

    @veros_routine
    def set_forcing(self, state):
        pass

    @veros_routine
    def set_diagnostics(self, state):
        state.diagnostics.clear()

    @veros_routine
    def after_timestep(self, state):
        vs = state.variables
        if int(vs.itt) in {round(int(day) * 86400 / STEP) for day in DAYS}:
            print(float(np.sqrt(np.mean(np.asarray(vs.v[2:-2, 2:-2, :, vs.taup1])**2))), flush=True)


if __name__ == "__main__":
    ocean = Channel()
    ocean.setup()
    ocean.start_flow()
    ocean.run(show_progress_bar=False)
