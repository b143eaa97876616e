"""Veros's setups that download data, with invented data in their place and on fewer points, beside `ocean` and beside
the plug-in:

    PYTHONPATH=python/src venv/bin/python validation/physics/veros_setups.py build/host/bin/miniapp FOLDER [SETUP...]

by a Python that has Veros, whose solver is a direct one here; Debian's runs run/make-input. The folder has to be new.
Each setup goes across the middle of January or July, where it is winter and forcing passes on to two other months. It
prints JSON: for each setup, by whom fields were made, the field and the step, how far they are from Veros's, how far
plain Veros is from itself when the last digits of what it starts from change, and the largest value.
"""

import contextlib
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import h5netcdf
import h5py
import numpy as np
import scipy.sparse.linalg

from make_veros_external import solve_directly  # it starts Veros, too
from make_veros_steps import nudge

import veros.tools
from veros import veros_routine
from veros.core.thermodynamics import calc_eq_of_state
from veros.core.utilities import enforce_boundaries

PROGRAM, FOLDER = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MAKE_INPUT = Path(__file__).resolve().parents[2] / "run/make-input"
ASSETS = ("forcing", "ecmwf", "topography", "restoring")
veros.tools.get_assets = lambda name, *_: {asset: FOLDER / f"{name}.{asset}.nc" for asset in ASSETS}
DAY, MONTH, FIRST, STEPS, LEVELS, SEEDS = 86400.0, 30 * 86400.0, 4, 12, 15, (1, 2, 3)
FIELDS = ("temp", "salt", "u", "v", "w", "psi", "tke", "eke", "E_iw")
WAVES = "_waves"  # after a setup's name: with IDEMIX, which they leave off
SEASON = np.cos(2 * np.pi * (np.arange(12) + 0.5) / 12)[:, None, None]
SIZES = {"global_4deg": {"nx": 30, "ny": 20}, "global_1deg": {"nx": 30, "ny": 20, "nz": LEVELS, "y_origin": -77.0},
         "global_flexible": {"nx": 36, "ny": 32, "nz": 24}, "north_atlantic": {"nx": 24, "ny": 22, "nz": 24}}
CLASSES = {"global_4deg": "GlobalFourDegreeSetup", "global_1deg": "GlobalOneDegreeSetup",
           "global_flexible": "GlobalFlexibleResolutionSetup", "north_atlantic": "NorthAtlanticSetup"}
MONTHLY = {"global_4deg": ["taux", "tauy", "qnet", "qnec", "sst_clim", "sss_clim"],
           "global_1deg": ["taux", "tauy", "qnet", "qnec", "t_star", "s_star", "qsol", "divpen_shortwave"],
           "north_atlantic": ["taux", "tauy", "sst_rest", "sst_clim", "sss_rest", "sss_clim", "rest_tscl", "t_star",
                              "s_star"]}
MONTHLY["global_flexible"] = MONTHLY["global_1deg"]


def climate(lon, lat):
    """The sea and the air at these longitudes and latitudes, in 12 months; fluxes go upward."""
    x, y = np.radians(lon)[None, :], np.radians(lat)[:, None]
    sst = np.maximum(34 * np.cos(y)**2 - 8.5, -2.2) + 0.1 * np.sin(3 * x)
    sss = 34.7 + 0.4 * np.cos(2 * y) + 0 * x
    return {"sst": sst - 3 * SEASON * np.sin(y), "sss": sss + 0.1 * SEASON,
            "tau_x": -0.1 * (1 + 0.3 * SEASON) * np.cos(3.5 * y) * (1 + 0.1 * np.sin(x)),
            "tau_y": 0.02 * (1 + SEASON) * np.sin(2 * x) * np.cos(y), "dqdt": 30 + 10 * SEASON + 0 * (x + y),
            "q_net": 10 * np.sin(x) + 40 * SEASON * np.sin(y),
            "swf": -150 * np.cos(y)**2 + 20 * SEASON * np.sin(y) + 0 * x,
            "tidal_energy": 2e-3 * (1.2 + np.sin(3 * x) * np.cos(y)), "wind_energy": 1e-3 * (1 + np.cos(y)**2) + 0 * x}


def water(lon, lat, z):
    """Temperature and salinity on levels from the surface down."""
    temp, salt = (climate(lon, lat)[name].mean(axis=0) for name in ("sst", "sss"))
    z = np.asarray(z)[:, None, None]
    return {"temperature": 1.5 + (temp - 1.5) * np.exp(z / 700), "salinity": 34.7 + (salt - 34.7) * np.exp(z / 500)}


def depth(lon, lat):
    """A ridge on a floor at 4000 m, with a continent and an island, which are 0."""
    x, y = np.asarray(lon)[None, :] % 360, np.asarray(lat)[:, None]
    bottom = -4000 + 1500 * np.exp(-((x - 200) / 20)**2) + 300 * np.sin(x / 10) * np.cos(y / 7)
    return np.where((abs(x - 125) < 12) & (y > -70) | (np.hypot(x - 105, y + 60) < 4) | (y < -76.5), 0.0, bottom)


def write(name, asset, fields):
    """Axes are known by their lengths."""
    with h5netcdf.File(FOLDER / f"{name}.{asset}.nc", "w") as file:
        lengths = sorted({length for values in fields.values() for length in values.shape})
        file.dimensions = {f"of_{length}": length for length in lengths}
        for key, values in fields.items():
            file.create_variable(key, [f"of_{length}" for length in values.shape], float, data=values)


def invent_global_4deg():
    dz = np.array([50, 70, 100, 140, 190, 240, 290, 340, 390, 440, 490, 540, 590, 640, 690.0])
    size = SIZES["global_4deg"]
    z, y, x = dz / 2 - np.cumsum(dz), -76 + 4 * np.arange(size["ny"]), 4 * (1 + np.arange(size["nx"]))
    fields = {**climate(x, y), **water(x, y, z), "bathymetry": depth(x, y)}
    write("global_4deg", "forcing", fields)
    write("global_4deg", "ecmwf", {"Q3": fields["dqdt"]})


def invent_global_1deg():
    dz, size = np.linspace(40, 400, LEVELS), SIZES["global_1deg"]
    z, y, x = dz / 2 - np.cumsum(dz), -77.0 + np.arange(size["ny"]), 91.0 + np.arange(size["nx"])
    fields, bottom = {**climate(x, y), **water(x, y, z)}, depth(x, y)
    fields["salinity"] = np.where(z[:, None, None] > bottom, fields["salinity"], 0)
    write("global_1deg", "forcing", {**fields, "bathymetry": bottom, "dz": dz})


def invent_global_flexible():
    z, y, x = -np.geomspace(5, 5400, 14), np.linspace(-79.5, 79.5, 54), 90.5 + 4 * np.arange(90)
    write("global_flexible", "forcing", {"zt": z, "yt": y, "xt": x, **climate(x, y), **water(x, y, z)})
    x, y = np.linspace(-180, 180, 181), np.linspace(-90, 90, 91)
    write("global_flexible", "topography", {"y": y, "x": x, "z": depth(x, y)})


def invent_north_atlantic():
    """In the units of its files; land is that of Veros's own mask, of which every 64th point is taken."""
    from PIL import Image  # pylint: disable=import-outside-toplevel
    module = import_module("veros.setups.north_atlantic.north_atlantic")
    mask = np.asarray(Image.open(Path(module.__file__).with_name("topo_mask.png")))[::64, ::64]
    module.TOPO_MASK_FILE = FOLDER / "topo_mask.png"
    Image.fromarray(mask.astype("u1")).save(module.TOPO_MASK_FILE)
    y, x = np.linspace(-18.2, 74.4, mask.shape[0]), np.linspace(-98.2, 17.4, mask.shape[1])
    write("north_atlantic", "topography", {
        "y": y, "x": x, "z": -4000 + 1500 * np.exp(-((x - y[:, None] / 2 + 45) / 9)**2)})
    x, y, z = np.arange(255.0, 380, 4), np.arange(-20.0, 75, 3.5), -np.geomspace(5, 5800, 14)
    air, sea = climate(x, y), water(x, y, z)
    write("north_atlantic", "forcing", {
        "zt": -100 * z, "yt": y, "xt": x, "yu": y + 1.75, "xu": x + 2,
        "temp_ic": sea["temperature"], "salt_ic": (sea["salinity"] - 35) / 1000, "sst_clim": air["sst"],
        "sss_clim": (air["sss"] - 35) / 1000, "sst_rest": air["dqdt"] / 41868, "sss_rest": air["dqdt"] / 30 * 4e-4,
        "taux": 10 * air["tau_x"], "tauy": 10 * air["tau_y"]})
    sponge = np.where((y < -12) | (y > 64), 1 / (10 * DAY), 0.0)[:, None] + 0 * x
    year = {name: np.stack([values[::-1]] * 12) + 0.1 * SEASON[..., None] for name, values in sea.items()}
    write("north_atlantic", "restoring", {
        "zt": z[::-1], "yt": y, "xt": x, "t_star": year["temperature"], "s_star": year["salinity"],
        "tscl": np.broadcast_to(sponge, year["salinity"].shape)})


def setup_of(name, begin, plugins):
    base = getattr(import_module(f"veros.setups.{name}.{name}"), CLASSES[name])

    class Invented(base):
        __veros_plugins__ = plugins

        @veros_routine
        def set_initial_conditions(self, state):
            """Two setups leave the wind 0 in the ghosts of their seam: then TKE gets less in the first column, or the
            last one has no wind."""
            super().set_initial_conditions(state)
            vs, is_cyclic = state.variables, state.settings.enable_cyclic_x
            vs.taux, vs.tauy = (enforce_boundaries(wind, is_cyclic) for wind in (vs.taux, vs.tauy))
            vs.time = begin

        @veros_routine
        def set_diagnostics(self, state):
            for other in set(state.diagnostics) - {"snapshot"}:
                del state.diagnostics[other]
            snapshot = state.diagnostics["snapshot"]
            snapshot.output_frequency = state.settings.dt_tracer
            snapshot.output_variables += ["K_diss_v", "K_diss_h", "K_diss_bot", "coriolis_t", *MONTHLY[name]]
            for wind in ("taux", "tauy"):  # on faces of land, too
                state.var_meta[wind].get_mask = lambda *_: None
    return Invented


def run(case, identifier, steps, seed=None, plugins=(), **more):
    name = case.removesuffix(WAVES)
    step = {"global_4deg": DAY, "global_flexible": 900.0}.get(name, 1800.0)
    winter = MONTH * (0.5 if name == "north_atlantic" else 6.5)  # its middle
    ocean = setup_of(name, winter - (FIRST + STEPS / 2) * step, plugins)(override={
        **SIZES[name], "identifier": str(FOLDER / f"{case}.{identifier}"), "runlen": steps * step,
        "enable_idemix": case != name, **more})
    ocean.setup()
    if seed is not None:  # density and what follows from it, too
        state = ocean.state
        nudge(state, ("temp", "salt"), np.random.default_rng(seed))
        with state.variables.unlock():
            state.variables.update(calc_eq_of_state(state, state.variables.tau))
    ocean.run(show_progress_bar=False)


def distances(name, made):
    """How far the fields that somebody made of a step are from Veros's."""
    with contextlib.ExitStack() as stack:
        theirs, *nudged = [stack.enter_context(h5py.File(FOLDER / f"{name}.{identifier}.snapshot.nc"))
                           for identifier in ("more", *SEEDS)]
        for step in (1, STEPS):
            for field in filter(theirs.__contains__, FIELDS):
                wanted, found = theirs[field][step], made(field, step)
                wet = (np.abs(wanted) < 1e15) & ~(np.abs(found) > 1e15)  # land is what is far beyond, but not NaN
                assert np.isfinite(found[wet]).all() and wet.any()
                error, *spread = [float(np.abs(each - wanted)[wet].max()) for each in (
                    found, *(file[field][step] for file in nudged))]
                yield f"{field} after {step}", [error, max(spread), float(np.abs(wanted[wet]).max())]


def of_program(name):
    """The documented commands."""
    grid = FOLDER / f"{name}.h5"
    subprocess.run(["/usr/bin/python3", MAKE_INPUT, FOLDER / f"{name}.more.snapshot.nc", "--time", "0", "--restart",
                    FOLDER / f"{name}.restart.h5", "-o", grid], check=True)
    subprocess.run([PROGRAM, "--steps", str(STEPS), "--every", "1", "--set", "solver_tolerance=1e-13", "-o",
                    FOLDER / f"{name}.nc", grid], check=True, stdout=subprocess.DEVNULL)

    def made(field, step):
        with h5py.File(FOLDER / f"{name}.{step:06}.nc") as file:
            return file[field][0]
    return dict(distances(name, made))


def of_plugin(name):
    import miniapp.veros  # pylint: disable=import-outside-toplevel
    run(name, "plugin", STEPS + 1, plugins=(miniapp.veros,), restart_input_filename=str(FOLDER / f"{name}.restart.h5"))
    with h5py.File(FOLDER / f"{name}.plugin.snapshot.nc") as file:
        return dict(distances(name, lambda field, step: file[field][step]))


def compare(name):
    globals()[f"invent_{name.removesuffix(WAVES)}"]()
    restart = str(FOLDER / f"{name}.restart.h5")
    run(name, "first", FIRST, restart_output_filename=restart)
    run(name, "more", STEPS + 1, restart_input_filename=restart)
    for seed in SEEDS:
        run(name, seed, STEPS + 1, seed, restart_input_filename=restart)
    return {"program": of_program(name), "plugin": of_plugin(name)}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    scipy.sparse.linalg.bicgstab = solve_directly
    print(json.dumps({setup: compare(setup) for setup in sys.argv[3:] or CLASSES}))
