"""Grid, state and mixing fields of a Veros run from its snapshot, bit for bit as Veros had them.

Without ghosts, which the program adds. The state may come from a restart of the same run, which
holds neither grid nor settings. Veros: io_tools/netcdf.py, restart.py, core/numerics.py.
"""

import json

import h5py
import numpy as np

from . import axes, closures, grid
from .options import SETTINGS
from .problem import Unusable, note

GRID = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "zw")
STATE = ("temp", "salt", "u", "v")
SOURCES = ("K_diss_v", "P_diss_v", "P_diss_adv", "P_diss_nonlin", "K_diss_bot")
METRES_A_KM = 1e3


def is_snapshot(source):
    return len(source.datasets) == 1 and "setup_settings" in source.datasets[0][1].attrs


def settings_of(path, dataset):
    try:
        settings = json.loads(dataset.attrs["setup_settings"])
        return {**settings, "coord_degree": bool(settings["coord_degree"]),
                **{name: float(settings[name]) for name in (*SETTINGS, "pi", "omega")}}
    except (ValueError, KeyError, TypeError) as error:
        raise Unusable(f"{path}: attribute 'setup_settings' cannot be read ({error}), expected "
                       "what Veros writes") from error


class Snapshot:
    """One record of a snapshot, with 0 where it has fill values."""

    def __init__(self, source):
        self.path, self.dataset = source.datasets[0]
        self.source = source

    def has(self, name):
        return name in self.dataset

    def raw(self, name):
        variable = self.dataset[name]
        if "Time" in variable.dims:
            variable = self.source.record(self.path, variable, "Time")
        return np.ascontiguousarray(axes.load(self.path, variable))

    def __getitem__(self, name):
        values = self.raw(name)
        return np.where(np.isnan(values), 0.0, values)

    def require(self, names, why):
        if lacks := [name for name in names if not self.has(name)]:
            raise Unusable(f"{self.path}: missing: {', '.join(lacks)}, expected in Veros's "
                           f"snapshot {why}; add them to its output_variables")


class Restart:
    """The slots of a restart file, without ghosts and with the axes turned round."""

    def __init__(self, path, shape):
        self.path, self.shape = path, shape
        try:
            with h5py.File(path) as file:
                for name in file["core"]:
                    axes.check_stored(path, f"core/{name}")
                self.core = {name: values[()] for name, values in file["core"].items()}
                self.slots = {name: int(self.core[name]) for name in ("tau", "taup1", "taum1")}
        except (OSError, KeyError, RuntimeError, TypeError, ValueError, AttributeError) as error:
            raise Unusable(f"{path}: not a restart of Veros ({type(error).__name__}: {error}), "
                           "expected HDF5 with a group 'core'") from error

    def has(self, name):
        return name in self.core

    def get(self, name, slot="tau"):
        if not self.has(name):
            raise Unusable(f"{self.path}: missing: {name}, expected in a restart of this run")
        values = self.core[name]
        nz, ny, nx = self.shape
        if values.shape != (nx + 4, ny + 4, nz, 3):
            raise Unusable(f"{self.path}: {name} has shape {values.shape}, expected "
                           f"{(nx + 4, ny + 4, nz, 3)} of the snapshot's run")
        return np.ascontiguousarray(values[2:-2, 2:-2, :, self.slots[slot]].T, float)

    def __getitem__(self, name):
        return self.get(name)


def add_grid(g, snapshot, settings):
    for name in GRID:
        g[name] = snapshot[name]
    g["x"], g["y"], g["z"] = snapshot["xt"], snapshot["yt"], g["zt"]
    g["p"] = np.abs(g["zt"])
    if settings["coord_degree"]:
        g["cost"] = np.cos(g["y"] * settings["pi"] / 180.0)
        g["cosu"] = np.cos(snapshot["yu"] * settings["pi"] / 180.0)
    else:
        g["cost"], g["cosu"] = np.ones_like(g["y"]), np.ones_like(g["y"])


def isoneutral_diffusivity(g, state, snapshot, settings):
    """K_iso: a constant, or K_gm of the EKE closure."""
    if not (settings["enable_eke"] and settings["enable_eke_isopycnal_diffusion"]):
        note(f"K_iso: K_iso_0 of the run, {settings['K_iso_0']:g} m2 s-1")
        return np.full_like(g["temp"], settings["K_iso_0"])
    snapshot.require(("beta",), "for K_iso by EKE")
    note("K_iso: from EKE and the stratification, with f = 2 omega sin(latitude)")
    coriolis = 2 * settings["omega"] * np.sin(g["y"] / 180.0 * settings["pi"])[:, None]
    return closures.eddy_diffusivity(state["eke"], g["Nsqr"], coriolis, snapshot["beta"], g,
                                     settings)


def sources_of_tke(snapshot, settings):
    """forc, if the run stored all of its parts; in Veros's order."""
    names = [*SOURCES, *(("eke_diss_tke", "eke_diss_iw") if settings["enable_eke"] else
                         ("K_diss_gm", "K_diss_h", "P_diss_skew"))]
    lacks = [name for name in names if not snapshot.has(name)]
    if lacks or settings["enable_idemix"] or settings["enable_store_cabbeling_heat"]:
        note("forc: not all of its parts are in the snapshot"
            + (f" (missing: {', '.join(lacks)})" if lacks else ""))
        return None
    part = {name: snapshot[name] for name in names}
    forc = part["K_diss_v"] - part["P_diss_v"] - part["P_diss_adv"]
    forc = forc - part["P_diss_nonlin"]
    if settings["enable_eke"]:
        forc = forc + part["eke_diss_tke"]
        forc = forc + part["eke_diss_iw"]
    else:
        forc = forc + part["K_diss_gm"] + part["K_diss_h"] - part["P_diss_skew"]
    note(f"forc: the sum of {', '.join(names)}")
    return forc + part["K_diss_bot"]


def add_turbulence(g, state, snapshot, settings):
    g["tke"] = state["tke"]
    g["mxl"], g["kappaM"] = closures.mixing(g["tke"], g["Nsqr"], g, settings)
    note("mxl and kappaM: from tke and the stratification, by Veros's closure")
    if isinstance(state, Restart):
        g["tke_taup1"], g["dtke_taum1"] = state.get("tke", "taup1"), state.get("dtke", "taum1")
    if snapshot.has("K_diss_v"):
        g["K_diss_v"] = snapshot["K_diss_v"]
    snapshot.require(("forc_tke_surface",), "as the forcing of TKE")
    g["forc_tke_surface"] = snapshot["forc_tke_surface"]
    if state is not snapshot and (snapshot["temp"] != g["temp"]).any():
        note("forc: not from the snapshot, whose record is not of the restart's step")
    elif (forc := sources_of_tke(snapshot, settings)) is not None:
        g["forc"] = forc


def tell_settings(settings):
    """Sets K_h_tke to 0 if the run has no lateral diffusion, and says what else differs from
    miniapp."""
    if not settings["enable_tke_hor_diffusion"]:
        note("K_h_tke: 0, since the run has no lateral diffusion of TKE")
        settings["K_h_tke"] = 0.0
    if not settings["enable_tke_superbee_advection"]:
        note("note: the run does not advect TKE by superbee, as miniapp's tke does; --default "
            "u_wgrid=0 --default v_wgrid=0 --default w_wgrid=0 switch that off")


def rebuild(source, chosen):
    """Fields, settings, and whether x is cyclic."""
    snapshot = Snapshot(source)
    settings = settings_of(snapshot.path, snapshot.dataset)
    snapshot.require((*GRID, "xt", "yt", "yu", "salt"), "for the grid")
    if snapshot.dataset["salt"].dims[-3:] != ("zt", "yt", "xt"):
        raise Unusable(f"{snapshot.path}: salt has axes {snapshot.dataset['salt'].dims}, expected "
                       "(Time, zt, yt, xt) as Veros writes it")
    g, cyclic = {}, bool(settings["enable_cyclic_x"])
    add_grid(g, snapshot, settings)
    wet = ~np.isnan(snapshot.raw("salt"))
    grid.add_topography(g, wet, cyclic)
    needed = [*STATE, "Nsqr", *(["tke"] if settings["enable_tke"] else []),
              *(["eke"] if settings["enable_eke"] else [])]
    if chosen.restart:
        state = Restart(chosen.restart, wet.shape)
        if ((state["salt"] != 0) != wet).any():
            raise Unusable(f"{chosen.restart}: its land is not the snapshot's, expected a restart "
                           "of the same run")
    else:
        state = snapshot
        snapshot.require(needed, "for the state")
    note(f"{snapshot.path}: a snapshot of Veros: grid, masks and kbot as Veros has them, "
        + (f"state from {chosen.restart}" if chosen.restart else "and the state of the record"))
    g["temp"], g["salt"], g["Nsqr"] = state["temp"], state["salt"], state["Nsqr"]
    note("temp and salt: as the run has them, not converted")
    g["K_iso"] = isoneutral_diffusivity(g, state, snapshot, settings)
    if settings["enable_tke"]:
        add_turbulence(g, state, snapshot, settings)
    g["u"], g["v"] = state["u"] * g["maskU"], state["v"] * g["maskV"]
    g["u_wgrid"], g["v_wgrid"], g["w_wgrid"] = closures.velocities_on_upper_faces(
        state["u"], state["v"], g, cyclic)
    note("u_wgrid, v_wgrid, w_wgrid: from u and v, as Veros makes them")
    tell_settings(settings)
    return g, settings, cyclic
