"""A setup of Veros for test_make_restart.py, small and with islands, of which $CASE chooses the switches.

    CASE=lid venv/bin/python validation/physics/veros_restart.py begin FOLDER

leaves the files that run/make-input takes, and whole.restart.h5 after all steps. With `continue`, it makes the last
steps from new.restart.h5, and leaves continued.restart.h5. With `fill`, it prints as JSON why each *.nc of the folder
is refused, or which variables of a restart it gives other values than END.nc does; that needs the package.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import scipy.sparse.linalg

import make_veros_runs as runs  # it starts Veros, too
from make_veros_external import solve_directly

from veros import restart, veros_routine
from veros.diagnostics.averages import Averages
from veros.variables import Variable

FIRST, BY_MINIAPP, LAST = runs.STEPS - 1, 3, 3
runs.RUNS.update({
    "lid": {"enable_idemix": True, "enable_idemix_superbee_advection": True, "enable_eke_diss_bottom": True},
    "surface": {"enable_streamfunction": False, "enable_tke_upwind_advection": True},
    "basin": {"enable_cyclic_x": False, "enable_tke": False, "enable_eke": False, "kappaM_0": 1e-3, "kappaH_0": 1e-4,
              "enable_eke_isopycnal_diffusion": False},
})
scipy.sparse.linalg.bicgstab = solve_directly


class Setup(runs.Setup):
    def __init__(self, override=None):
        super().__init__(os.environ["CASE"])
        self.override_settings = override or {}

    @veros_routine
    def set_topography(self, state):
        super().set_topography(state)
        vs = state.variables
        kbot = np.array(vs.kbot)
        kbot[4:6, 4:6], kbot[8, 6] = 0, 0
        vs.kbot = kbot

    @veros_routine
    def set_initial_conditions(self, state):
        super().set_initial_conditions(state)
        vs = state.variables
        noise = runs.make_veros_step.cyclic(np.random.default_rng(3).standard_normal(vs.maskT.shape))
        noise *= np.array(vs.maskT)
        vs.temp, vs.salt = vs.temp + 0.1 * noise[..., None], vs.salt + 0.02 * noise[..., None] ** 2

    @veros_routine
    def set_diagnostics(self, state):
        super().set_diagnostics(state)
        state.diagnostics["averages"] = means = Averages(state)
        means.output_variables, means.sampling_frequency, means.output_frequency = ["temp"], 1.0, 1e9


def steps(setup, count, output=None):
    for _ in range(count):
        setup.step(setup.state)
    if output:
        with setup.state.settings.unlock():
            setup.state.settings.restart_output_filename = output
        restart.write_restart(setup.state, force=True)
    return setup


def start(**override):
    setup = Setup(override)
    setup.setup()
    return setup


def begin():
    setup = start()
    steps(steps(setup, FIRST, "run.restart.h5"), BY_MINIAPP + LAST, "whole.restart.h5")


def proceed():
    steps(start(restart_input_filename="new.restart.h5", identifier="continued"), LAST, "continued.restart.h5")


def fill():
    from miniapp.library import InputError  # pylint: disable=import-outside-toplevel
    from miniapp.veros import restart as filled  # pylint: disable=import-outside-toplevel
    state, wanted = start(identifier="filled").state, None

    def answer(path):
        try:
            filled.fill(state, path)
            return {name: np.array(getattr(state.variables, name)) for name, meta in state.var_meta.items()
                    if meta.active and meta.write_to_restart}
        except InputError as error:
            return str(error).removeprefix(f"{path}: ")

    wanted, answers = answer(Path("END.nc")), {}
    for path in Path().glob("*.nc"):
        made = answer(path)
        answers[path.stem] = made if isinstance(made, str) else [
            name for name, values in made.items() if not np.array_equal(values, wanted[name])]
    state.var_meta["mine"] = Variable("a variable of the setup's own", ("xt", "yt"), write_to_restart=True)
    answers["mine"] = answer(Path("END.nc"))
    print(json.dumps(answers))


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    {"begin": begin, "continue": proceed, "fill": fill}[sys.argv[1]]()
