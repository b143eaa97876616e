"""Veros's setup global_4deg, with invented data in place of those that it downloads, beside `ocean`:

    venv/bin/python validation/physics/veros_global.py build/host/bin/miniapp FOLDER

by a Python that has Veros; Debian's runs run/make-input. It prints by how much fields differ after each of six steps,
as fractions of their largest values. The forcing becomes datasets by the table of docs/steps.md.
"""

import subprocess
import sys
from pathlib import Path

import h5netcdf
import h5py
import numpy as np
import veros

PROGRAM, FOLDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MAKE_INPUT = Path(__file__).resolve().parents[2] / "run/make-input"
DATA, INPUT, RESTART = FOLDER / "data.nc", FOLDER / "in.h5", FOLDER / "first.restart.h5"
veros.runtime_settings.loglevel = "warning"
import veros.tools  # noqa: E402  pylint: disable=wrong-import-position
veros.tools.get_assets = lambda *_: {"forcing": DATA, "ecmwf": DATA}
from veros import veros_routine  # noqa: E402  pylint: disable=wrong-import-position
from veros.core.utilities import enforce_boundaries  # noqa: E402  pylint: disable=wrong-import-position
from veros.setups.global_4deg.global_4deg import GlobalFourDegreeSetup  # noqa: E402  pylint: disable=wrong-import-position

HEAT, DAY, FIRST, STEPS = 1024 * 3991.86795711963, 86400.0, 10, 6


def invent():
    """An ocean of 3000 m with a continent, and its year of 12 months; levels from the surface down."""
    z = -np.array([25, 85, 170, 290, 455, 670, 935, 1250, 1615, 2030, 2495, 3010, 3575, 4190, 4855.0])[:, None, None]
    x, y = np.radians(4 * np.arange(90.0))[None, :], np.radians(np.linspace(-78, 78, 40))[:, None]
    season = np.cos(2 * np.pi * (np.arange(12) + 0.5) / 12)[:, None, None]
    water = np.ones((40, 90))
    water[10:36, 60:70] = 0
    fields = {"bathymetry": -3000 * water, "temperature": 1 + 26 * np.cos(y)**2 * np.exp(z / 700) + 0.2 * np.sin(3 * x),
              "salinity": 34.7 + 0.3 * np.cos(2 * y) * np.exp(z / 500) + 0 * x, "Q3": (30 + 10 * season) * water,
              "tau_x": -0.1 * (1 + 0.3 * season) * np.cos(3.5 * y) * water,
              "tau_y": 0.02 * season * np.sin(2 * x) * np.cos(y),
              "q_net": (10 * np.sin(x) - 40 * season * np.sin(y)) * water,
              "sst": 1 + 26 * np.cos(y)**2 + 3 * season * np.sin(y) + 0 * x,
              "sss": 34.7 + 0.4 * np.cos(2 * y) + 0.1 * season + 0 * x}
    with h5netcdf.File(DATA, "w") as file:
        file.dimensions = {"month": 12, "z": 15, "y": 40, "x": 90}
        for name, values in fields.items():
            axes = ("y", "x") if values.ndim == 2 else ("month" if len(values) == 12 else "z", "y", "x")
            file.create_variable(name, axes, float, data=values)


class Global(GlobalFourDegreeSetup):
    @veros_routine
    def set_initial_conditions(self, state):
        """The setup leaves the wind 0 in the ghosts of its seam, which halves what TKE gets in the first column."""
        super().set_initial_conditions(state)
        vs = state.variables
        vs.taux, vs.tauy = (enforce_boundaries(wind, True) for wind in (vs.taux, vs.tauy))

    @veros_routine
    def set_diagnostics(self, state):
        for name in set(state.diagnostics) - {"snapshot"}:
            del state.diagnostics[name]
        snapshot = state.diagnostics["snapshot"]
        snapshot.output_frequency = DAY
        snapshot.output_variables += ["K_diss_v", "K_diss_h", "K_diss_bot", "coriolis_t"]


def run(identifier, days, **more):
    ocean = Global(override={"identifier": str(FOLDER / identifier), "runlen": days * DAY, **more})
    ocean.setup()
    ocean.run(show_progress_bar=False)
    return ocean.state.variables


def force(vs):
    """Adds Veros's forcing to the input."""
    inside = {name: np.asarray(getattr(vs, name))[2:-2, 2:-2].T for name in (
        "taux", "tauy", "qnet", "qnec", "sst_clim", "sss_clim")}
    fields = {"surface_taux": inside["taux"], "surface_tauy": inside["tauy"], "t_flux": inside["qnet"] / HEAT,
              "t_rest": inside["qnec"] / HEAT, "t_star": inside["sst_clim"], "s_star": inside["sss_clim"],
              "s_rest": np.full((40, 90), float(vs.dzt[-1]) / (30 * DAY))}
    with h5py.File(INPUT, "a") as file:
        for name in {"s_flux", *fields} & set(file):
            del file[name]
        for name, values in fields.items():
            file[name] = values
            if values.ndim == 3:
                file[name].attrs["period"] = 360 * DAY
        file.attrs.update(enable_wind_mixing=1, t_ice=-1.8, start_time=FIRST * DAY)


def compare():
    with h5py.File(FOLDER / "more.snapshot.nc") as theirs:
        for step in range(1, STEPS + 1):
            with h5py.File(FOLDER / f"out.{step:06}.nc") as ours:
                for name in ("temp", "salt", "u", "v", "w", "psi", "tke", "eke"):
                    wanted, made = theirs[name][step], ours[name][0]
                    water = (np.abs(wanted) < 1e15) & (np.abs(made) < 1e15)  # what land holds is far beyond
                    error = np.abs(made - wanted)[water].max() / np.abs(wanted[water]).max()
                    print(f"{name} after step {step}: off by {error:.1e}")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    invent()
    run("first", FIRST, restart_output_filename=str(RESTART))
    variables = run("more", STEPS + 1, restart_input_filename=str(RESTART), restart_output_filename=None)
    subprocess.run(["/usr/bin/python3", MAKE_INPUT, FOLDER / "more.snapshot.nc", "--time", "0", "--restart", RESTART,
                    "-o", INPUT], check=True, capture_output=True)
    force(variables)
    subprocess.run([PROGRAM, "--steps", str(STEPS), "--every", "1", "--set", "solver_tolerance=1e-13", "-o",
                    FOLDER / "out.nc", INPUT], check=True, stdout=subprocess.DEVNULL)
    compare()
