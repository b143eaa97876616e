#!/usr/bin/env python3
"""Make acc.h5: Veros's setup `acc` after some years, input of all miniapp kernels and sequences.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0 gsw
    venv/bin/python inputs/make_acc.py [--years 10] [-o acc.h5]     # seven minutes of a core
    venv/bin/python inputs/make_acc.py --rest                       # acc_rest.h5: the setup before its first step

The setup is Veros's own, on its own grid: a channel around the Southern Ocean and a basin north of it,
2 degrees by 15 levels, driven by wind and by restoring of the surface's temperature. Salinity is 35 g/kg
everywhere. Veros runs it from rest, momentum included, with NumPy and without diagnostics.

The file holds the state as a step of Veros has it before momentum: fluxes at the surface, diffusivities
and velocities on the W grid are made of the time level tau; what dissipates is that of the step before.
So the next state is Veros's own; in a given flow, temperature and salinity are, and energies differ from
Veros's by what momentum would have dissipated. Ghosts are in the file. Land is 0, but for diffusivities and lengths, which have
lower bounds there, too.

With --rest it holds no more than what the sequence `ocean` needs to start from rest.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import veros

    import make_grid
except ImportError as missing:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    sys.exit(f"make_acc.py: {missing}; --help says where it comes from")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "validation" / "physics"))
import veros_acc  # noqa: E402  pylint: disable=wrong-import-position

from veros import veros_routine  # noqa: E402  pylint: disable=wrong-import-position
from veros.core import advection, eke, tke  # noqa: E402  pylint: disable=wrong-import-position

YEAR_S = 365 * 86400
AXES = {"x": "xt", "y": "yt", "z": "zt"}  # by make_grid.py's names: those of Veros
MORE = ["K_gm", "K_iso", "kappaM", "kappaH", "mxl", "eke_len", "u_wgrid", "v_wgrid", "w_wgrid", "P_diss_adv",
        "eke_diss_tke", "eke_diss_iw", "forc_temp_surface", "forc_salt_surface", "tantr", "surface_taux"]

class Setup(veros_acc.ACCSetup):
    @veros_routine
    def set_diagnostics(self, state):
        state.diagnostics.clear()


def spin_up(years):
    setup = Setup()
    setup.setup()
    settings = setup.state.settings
    steps = round(years * YEAR_S / settings.dt_tracer)
    for done in range(1, steps + 1):
        setup.step(setup.state)
        if done * settings.dt_tracer % YEAR_S == 0:
            print(f"{done * settings.dt_tracer / YEAR_S:.0f} years", file=sys.stderr)
    begin_step(setup)
    return setup.state


def begin_step(setup):
    """What a step makes of the time level tau before momentum, and velocities on the W grid."""
    state = setup.state
    setup.set_forcing(state)
    eke.set_eke_diffusivities(state)
    tke.set_tke_diffusivities(state)
    advection.calculate_velocity_on_wgrid(state)


def with_coordinates(state, made):
    """{name: values}, coordinates first."""
    made |= {name: veros_acc.in_order(getattr(state.variables, name)) for name in ("xt", "yt")}
    east = made["xt"]
    made["xt"] = east[2] + (east[3] - east[2]) * (np.arange(east.size) - 2)  # ghosts go on: axes rise
    for name in ("maskT", "maskU", "maskV", "maskW"):
        made[name] = made[name].astype("u1")
    return {name: made.pop(name) for name in AXES.values()} | made


def fields_of(state):
    vs = state.variables
    made = veros_acc.inputs(state)
    made |= {name: veros_acc.in_order(getattr(vs, name)) for name in MORE}
    made |= {"psi": veros_acc.in_order(veros_acc.level(vs, "psi", "tau")),
             "dpsi": veros_acc.in_order(veros_acc.tendency(vs, "tau", "taum1")),
             "dpsi_taum1": veros_acc.in_order(veros_acc.tendency(vs, "taum1", "taup1"))}
    made |= {f"{name}_taum1": veros_acc.in_order(veros_acc.level(vs, name, "taum1")) for name in ("du", "dv", "psi")}
    for name in ("int_drhodT", "int_drhodS", "P_diss_adv"):
        made[name] *= made["maskT"]  # Veros leaves on land what nothing reads there
    made["forc"] = (made["K_diss_v"] - made["P_diss_v"] - made["P_diss_adv"] - made["P_diss_nonlin"]
                    + made["eke_diss_tke"] + made["eke_diss_iw"] + made["K_diss_bot"])
    return with_coordinates(state, made)


def as_in_grid(name):
    return next((axis for axis, theirs in AXES.items() if theirs == name), name)


def axes_of(name):
    return [AXES[axis] for axis in make_grid.table.axes_of(as_in_grid(name))]


def attributes_of(name):
    return make_grid.table.attributes_of(as_in_grid(name))


def at_rest():
    setup = Setup()
    setup.setup()
    return setup.state


def write(path, state, fields, when):
    root = {"Conventions": "CF-1.8",
            "title": f"Veros's setup acc {when}, input of miniapp",
            "source": f"make_acc.py: Veros {veros.__version__} with NumPy, years of 365 days",
            "halo": 2, "cyclic_x": 1, "pyom_compatibility_mode": 0.0,
            **{name: float(getattr(state.settings, name))
               for name in (*veros_acc.SETTINGS, *veros_acc.OF_MOMENTUM)}}
    make_grid.store.write(path, fields, axes_of, attributes_of, root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path,
                        help="the file to write [acc.h5 or acc_rest.h5 beside this script]")
    parser.add_argument("--rest", action="store_true", help="the setup before its first step")
    parser.add_argument("--years", type=make_grid.safely.positive, default=10, metavar="N",
                        help="of 365 days, from rest [10]")
    options = parser.parse_args()
    path = (options.output or Path(__file__).with_name("acc_rest.h5" if options.rest else "acc.h5")).resolve()
    if not path.parent.is_dir():  # said now, not after the years
        parser.error(f"{path.parent} is no folder")
    with tempfile.TemporaryDirectory() as folder:  # Veros leaves files where it runs
        os.chdir(folder)
        state = at_rest() if options.rest else spin_up(options.years)
        os.chdir("/")
    fields = with_coordinates(state, veros_acc.inputs_at_rest(state)) if options.rest else fields_of(state)
    try:
        write(path, state, fields, "at rest" if options.rest else f"after {options.years:g} years from rest")
    except OSError as error:
        sys.exit(f"make_acc.py: {path}: {error}")


if __name__ == "__main__":
    main()
