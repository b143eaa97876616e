#!/usr/bin/env python3
"""How much faster a setup of Veros steps with miniapp's plug-in: Veros's `acc`, on a finer grid and by TEOS-10.

    python faster_veros.py [STEPS]

Needs Veros 1.7.0. The whole step is timed.
"""

import sys
import time

import miniapp.veros
from veros import veros_routine
from veros.setups.acc.acc import ACCSetup

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 5


class Plain(ACCSetup):
    """On 120 x 84 x 32 cells."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.nx, settings.ny, settings.nz = 120, 84, 32
        settings.dt_mom = settings.dt_tracer = 1800.0
        settings.eq_of_state_type = 5

    @veros_routine
    def set_grid(self, state):
        vs = state.variables
        vs.dxt, vs.dyt, vs.dzt = vs.dxt + 0.5, vs.dyt + 1.0, vs.dzt + 100.0

    @veros_routine
    def set_diagnostics(self, state):
        state.diagnostics.clear()


class Faster(Plain):
    __veros_plugins__ = (miniapp.veros,)


def seconds_a_step(setup):
    setup.setup()
    times = []
    for _ in range(STEPS + 2):
        start = time.perf_counter()
        setup.step(setup.state)
        times.append(time.perf_counter() - start)
    return sorted(times[2:])[STEPS // 2]  # the median, without the first two


plain, faster = seconds_a_step(Plain()), seconds_a_step(Faster())
print(f"a step of Veros takes {plain:.3f} s, with miniapp.veros {faster:.3f} s: {plain / faster:.1f} times as fast")
