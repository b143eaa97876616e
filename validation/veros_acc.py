"""Veros's setup `acc`, small and with hills, for the scripts that make files by Veros's own routines."""

import numpy as np
import veros

veros.runtime_settings.loglevel = "warning"
from veros import veros_routine  # noqa: E402  pylint: disable=wrong-import-position
from veros.setups.acc.acc import ACCSetup  # noqa: E402  pylint: disable=wrong-import-position


class SmallSetup(ACCSetup):
    """With columns of one level. Spacings are a script's own."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.identifier = "run"
        settings.nx, settings.ny, settings.nz = 9, 13, 6

    @veros_routine
    def set_topography(self, state):
        vs = state.variables
        x, y = np.indices(vs.kbot.shape)
        hills = 2 + np.rint(1.8 * np.sin(x) * np.cos(y)).astype(int)
        kbot = np.where((x > 4) | (y < 9), np.maximum(hills, 1), 0)
        kbot[4, 6] = state.settings.nz
        vs.kbot = kbot

    @veros_routine
    def set_diagnostics(self, state):
        state.diagnostics.clear()


def cyclic(values):
    """With ghosts that are copies along x, the first axis."""
    values[:2], values[-2:] = values[-4:-2], values[2:4]
    return values
