"""Grid, state, mixing, forcing and settings of a Veros run from its snapshot, as Veros had them: what it stores
bit for bit, what it derives to rounding.

Without ghosts, which the program adds. The state may come from a restart of the same run, which holds neither
grid nor settings. Veros writes a restart at the start of a step and a record at its end, and both then have the
state of the start; only the record has what the step made. Veros: io_tools/netcdf.py, restart.py, veros.py.
"""

import json
import re

import h5py
import numpy as np

from . import axes, closures, forcing, grid, setups, table
from .problem import Unusable, note

COORDINATES = {"xt": "x", "yt": "y", "yu": "y"}
GRID = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "zw")
STATE = ("temp", "salt", "u", "v")
SOURCES = ("K_diss_v", "P_diss_v", "P_diss_adv", "P_diss_nonlin", "K_diss_bot")
# Fields of the step that a record has, if the run stored them
OF_STEP = ("K_diss_h", "K_diss_gm", "K_diss_bot", "P_diss_v", "P_diss_adv", "P_diss_nonlin", "P_diss_skew",
           "P_diss_iso", "P_diss_hmix", "eke_diss_tke", "eke_diss_iw", "iw_diss", "kappaH")
# Dissipation by momentum in a step: 0 in a run that has none of these switches on
BY_FRICTION = {
    "K_diss_h": ("enable_hor_friction", "enable_biharmonic_friction"),
    "K_diss_gm": ("enable_TEM_friction",),
    "K_diss_bot": ("enable_bottom_friction", "enable_quadratic_bottom_friction", "enable_ray_friction",
                   "enable_momentum_sources")}
WIND = ("surface_taux", "surface_tauy")
WIND_AND_DRAG = (*WIND, "r_bot_var_u", "r_bot_var_v", "u_source", "v_source")
DERIVED = ("w", "rho", "Hd", "int_drhodT", "int_drhodS")  # from the state, by Veros
# settings that Veros's files do not have
ONLY_OURS = ("t_ice", "clamp_enthalpy", "pyom_compatibility_mode", "solver_tolerance", "start_time",
             "enable_wind_mixing", "enable_interior_forcing", "enable_momentum_terms",
             "enable_eddy_streamfunction")
# Settings that the kernels cover with this value only
WANTED = {"rho_0": table.RHO_0, "grav": 9.81, "pi": np.pi}
ONLY_IN_OCEAN = ("enable_hor_diffusion", "enable_biharmonic_mixing", "enable_idemix")
OF_NEUTRAL = ("enable_skew_diffusion", "enable_eke_isopycnal_diffusion", "K_iso_0", "K_iso_steep")
ENERGIES = {"tke": "enable_tke", "eke": "enable_eke", "E_iw": "enable_idemix"}
METRES_A_KM = 1e3


def is_snapshot(source):
    return len(source.datasets) == 1 and "setup_settings" in source.datasets[0][1].attrs


def settings_of(path, dataset):
    """Refuses those that the kernels do not cover, in one line."""
    try:
        theirs = json.loads(dataset.attrs["setup_settings"])
        settings = dict(theirs)
        ours = [name for name in table.settings() if name not in ONLY_OURS]
        settings.update({name: float(settings[name]) for name in (*ours, "omega")})
        odd = [f"{name} = {theirs[name]}" for name, wanted in WANTED.items() if theirs[name] != wanted]
    except (ValueError, KeyError, TypeError) as error:
        raise Unusable(f"{path}: attribute 'setup_settings' cannot be read ({error}), expected "
                       "what Veros writes") from error
    if odd:
        raise Unusable(f"{path}: a run with {', '.join(odd)}, expected one that the kernels cover")
    return settings


def energies(settings):
    return [name for name, switch in ENERGIES.items() if settings[switch]]


def add_switches(settings, path, dataset):
    """As settings of the kernels: what they have no switch for, and what Veros's files do not tell."""
    version = re.match(r"(\d+)\.(\d+)", str(dataset.attrs.get("veros_version", "")))
    before = bool(version) and tuple(map(int, version.groups())) < (1, 7)
    settings["pyom_compatibility_mode"] = float(before)
    note(f"pyom_compatibility_mode: {before:d}, as Veros {dataset.attrs.get('veros_version', '1.7')} is by default; if "
         "the run had it on, add --set pyom_compatibility_mode=1 --set clamp_enthalpy=0, and multiply its wind by 1024")
    if not settings["enable_neutral_diffusion"]:
        settings.update({name: 0.0 for name in OF_NEUTRAL})
        note(f"{', '.join(OF_NEUTRAL)}: 0, since the run has no isoneutral diffusion")
    if on := [name for name in ONLY_IN_OCEAN if settings[name]]:
        note(f"{', '.join(on)}: only the sequence ocean makes it")
    if not settings["enable_implicit_vert_friction"] and not settings["enable_explicit_vert_friction"]:
        note("without vertical friction, Veros adds friction to that of the steps before, which the kernels do not")
    if not settings["enable_tke"]:
        note("enable_tke: 0, which only the sequence ocean can do without")
    note(f"{path}: all settings are the run's")


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

    def filled(self, name):
        values = self.raw(name)
        return np.where(np.isnan(values), 0.0, values)

    def __getitem__(self, name):
        """A field, which lies on the grid of salt, or something else."""
        values = self.filled(name)
        lengths = dict(zip("zyx", self.dataset["salt"].shape[-3:]))
        own = COORDINATES.get(name) or (table.fields()[name].axes if name in table.fields() else None)
        if own and values.shape != (expected := tuple(lengths[axis] for axis in own)):
            raise Unusable(f"{self.path}: {name} has shape {values.shape}, expected {expected}, as salt has")
        return values

    def begin(self, settings):
        """The time at which the record's step began, without the digits that days lack."""
        return round(forcing.DAY * self.raw("Time").item() - settings["dt_tracer"], 6)

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
        shape = (nx + 4, ny + 4, nz) if name == "K_diss_v" else (nx + 4, ny + 4, nz, 3)
        if values.shape != shape:
            raise Unusable(f"{self.path}: {name} has shape {values.shape}, expected {shape} of the snapshot's run")
        values = values if values.ndim == 3 else values[..., self.slots[slot]]
        return np.ascontiguousarray(values[2:-2, 2:-2].T, float)

    def __getitem__(self, name):
        return self.get(name)

    def flat(self, name, slot="tau"):
        """A field of the external mode, with the row of the southern wall."""
        _, ny, nx = self.shape
        if not self.has(name) or self.core[name].shape != (nx + 4, ny + 4, 3):
            raise Unusable(f"{self.path}: {name} is missing or has another shape, expected {(nx + 4, ny + 4, 3)}")
        return np.ascontiguousarray(self.core[name][2:-2, 1:-2, self.slots[slot]].T, float)


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


def coriolis(g, snapshot, settings):
    if snapshot.has("coriolis_t"):
        return snapshot["coriolis_t"]
    if not settings["coord_degree"]:
        snapshot.require(("coriolis_t",), "for EKE or IDEMIX on a Cartesian grid")
    note("coriolis_t: 2 omega sin(latitude); if the run's is another, add it to its output_variables")
    f = 2 * settings["omega"] * np.sin(g["y"] / 180.0 * settings["pi"])
    return np.broadcast_to(f[:, None], g["kbot"].shape)


def add_diffusivities(g, state, snapshot, settings, cyclic):
    """K_gm and K_iso: constants, or by the EKE closure."""
    if settings["enable_eke"]:
        snapshot.require(("beta",), "for K_gm by EKE")
        g["eke"], g["beta"], g["coriolis_t"] = state["eke"], snapshot["beta"], coriolis(g, snapshot, settings)
        g.update(closures.made_by(snapshot.path, "eke_diffusivities", g, cyclic, settings, "eke_len", "K_gm", "K_iso"))
        note("K_gm and eke_len: from EKE and the stratification, by Veros's closure")
    else:
        g["K_gm"] = np.full_like(g["temp"], settings["K_gm_0"])
        g["K_iso"] = np.full_like(g["temp"], settings["K_iso_0"])
        note(f"K_gm: K_gm_0 of the run, {settings['K_gm_0']:g} m2 s-1")
    note("K_iso: that of K_gm" if settings["enable_eke"] and settings["enable_eke_isopycnal_diffusion"]
         else f"K_iso: K_iso_0 of the run, {settings['K_iso_0']:g} m2 s-1")


def sources_of_tke(snapshot, settings):
    """forc, if the run stored all of its parts; in Veros's order."""
    names = [*SOURCES, *(("eke_diss_tke", "eke_diss_iw") if settings["enable_eke"] else
                         ("K_diss_gm", "K_diss_h", "P_diss_skew"))]
    lacks = [name for name in names if not snapshot.has(name)]
    if lacks or settings["enable_store_cabbeling_heat"] or settings["enable_idemix"]:
        note("forc: not all of its parts are in the snapshot" + (f" (missing: {', '.join(lacks)})" if lacks else ""))
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


def add_turbulence(g, state, snapshot, settings, cyclic):
    if settings["enable_tke"]:
        g["tke"] = state["tke"]
        g.update(closures.mixing(snapshot.path, g, cyclic, settings))
        note("mxl and kappaM: from tke and the stratification, by Veros's closure")
    else:
        g.update(closures.made_by(snapshot.path, "convective_adjustment", g, cyclic, settings, "kappaM", "kappaH"))
        note("kappaM and kappaH: from the stratification, by Veros's convective adjustment")


def add_waves(g, state, snapshot, settings, cyclic):
    fluxes = ("forc_iw_bottom", "forc_iw_surface")
    snapshot.require(fluxes, "since enable_idemix is on")
    g.update({name: snapshot[name] for name in fluxes}, E_iw=state["E_iw"])
    g["coriolis_t"] = coriolis(g, snapshot, settings)
    g.update(closures.made_by(snapshot.path, "idemix_parameters", g, cyclic, settings, "c0", "v0", "alpha_c"))
    note("c0, v0 and alpha_c: from the stratification, by Veros's closure")


def add_levels(g, state, settings):
    """The other time levels, which a restart has."""
    for name in ("temp", "salt", *energies(settings)):
        g[f"d{name}_taum1"] = state.get(f"d{name}", "taum1")
        if name in ENERGIES:
            g[f"{name}_taup1"] = state.get(name, "taup1")
    g["K_diss_v"] = state["K_diss_v"]
    note(f"tendencies at taum1, and K_diss_v of the step before, for Richardson's number: from {state.path}")


def add_step(g, state, snapshot, settings, chosen):
    """The record's fields of its step; those that momentum makes have to be there where a run continues."""
    g.update({name: snapshot[name] for name in OF_STEP if snapshot.has(name)})
    lacks = [name for name, switches in BY_FRICTION.items() if name not in g and settings["enable_conserve_energy"]
             and any(settings.get(switch) for switch in switches)]
    if state is snapshot:
        g.update({"K_diss_v": snapshot["K_diss_v"]} if snapshot.has("K_diss_v") else {})
        note("note: no step of the run starts from a snapshot alone, which lacks the tendencies at taum1, 0 here, and "
             f"K_diss_v of the step before; --restart has them{'; lacks ' + ', '.join(lacks) if lacks else ''}")
    elif lacks := [name for name in lacks if name not in {*chosen.default, *chosen.variable}]:
        snapshot.require(lacks, "for a step that continues from a restart (--default NAME=VALUE takes another)")
    elif settings["enable_tke"] and settings["enable_Prandtl_tke"]:
        note("note: momentum makes K_diss_v anew before TKE is stepped; it stays in all sequences but ocean, so the "
             "run's own TKE is another after a step, but not its temp and salt")
    elif snapshot.has("K_diss_v") and is_of_step(g, state, snapshot):
        g["K_diss_v"] = snapshot["K_diss_v"]
        note("K_diss_v: of the record's step, since the run's Prandtl number does not depend on it")
    if not is_of_step(g, state, snapshot):
        note("note: the record is not of the restart's step, so what momentum dissipated and the fluxes through the "
             "surface are of another; a record of one more step of Veros from the restart has this step's")
        note("forc: not from the snapshot, whose record is not of the restart's step")
    elif (forc := sources_of_tke(snapshot, settings)) is not None:
        g["forc"] = forc


def put_mode(g, name, rows, is_stream=True):
    """A field of the external mode; the row of the southern wall becomes an attribute, where it has a meaning."""
    g[name] = rows[1:]
    g.update({f"{name}.southern_wall": rows[0]} if is_stream else {f"{name}.is_pressure": 1.0})


def wall_from_flow(g, psi):
    """The streamfunction with its row on the southern wall, from the transport through the first row of faces."""
    through = (g["u"][:, 0] * (g["dzt"][:, None] * g["dyt"][0])).sum(axis=0)
    wet = g["maskU"][:, 0].any(axis=0)
    value = (psi[0] + through)[wet].mean() if wet.any() else 0.0
    return np.vstack([np.full_like(psi[:1], value), psi])


def tendency_of_mode(state, snapshot, settings):
    """The tendency of the streamfunction, islands included. On the southern wall it is that of the island whose
    tendencies have made its streamfunction."""
    rows = state.flat("dpsi")
    if not state.has("dpsin") or not snapshot.has("psin"):
        note("dpsi: without islands, whose psin is not in the snapshot")
        return rows
    last, before = (state.core["dpsin"][:, state.slots[slot]] for slot in ("taum1", "taup1"))
    psin = snapshot["psin"]
    if psin.shape != (last.size, *rows[1:].shape):
        raise Unusable(f"{snapshot.path}: psin has shape {psin.shape}, expected {(last.size, *rows[1:].shape)}")
    wall, wall_before = (state.flat("psi", slot)[0] for slot in ("tau", "taum1"))
    column = np.abs(wall).argmax()
    made = settings["dt_mom"] * ((1.5 + settings["AB_eps"]) * last - (0.5 + settings["AB_eps"]) * before)
    south = np.abs(wall[column] - wall_before[column] - made).argmin()
    islands = np.concatenate([np.full((1, rows.shape[1]), last[south]), np.tensordot(last, psin, 1)])
    return rows + islands


def add_momentum(g, state, snapshot, settings):
    """Fields that the sequence `ocean` needs besides."""
    if settings["coord_degree"]:
        g["tantr"] = np.tan(g["y"] * settings["pi"] / 180.0) / table.EARTH_RADIUS
    if "coriolis_t" not in g and (snapshot.has("coriolis_t") or settings["coord_degree"]):
        g["coriolis_t"] = coriolis(g, snapshot, settings)
    g.update({name: snapshot[name] for name in WIND_AND_DRAG if snapshot.has(name) and name not in g})
    if lacks := [name for name in WIND if name not in g]:
        note(f"{', '.join(lacks)}: missing in the snapshot: steps of ocean are without that wind")
    is_stream = bool(settings["enable_streamfunction"])
    if state is snapshot and snapshot.has("psi"):
        psi = snapshot["psi"]
        put_mode(g, "psi", wall_from_flow(g, psi) if is_stream else np.vstack([0 * psi[:1], psi]), is_stream)
        note("note: no step of ocean starts from a snapshot alone, which lacks the tendencies of the flow")
    elif state is not snapshot:
        mode = ("du", "dv", "psi", *(("dpsi",) if is_stream else ()))
        if lacks := [name for name in mode if not state.has(name)]:
            note(f"note: {', '.join(lacks)}: missing in the restart: steps of ocean need "
                 f"{'it' if len(lacks) == 1 else 'them'} to continue")
            return
        g.update({f"d{name}_taum1": state.get(f"d{name}", "taum1") for name in ("u", "v")})
        put_mode(g, "psi", state.flat("psi"), is_stream)
        put_mode(g, "psi_taum1", state.flat("psi", "taum1"), is_stream)
        if is_stream:
            put_mode(g, "dpsi", tendency_of_mode(state, snapshot, settings))
            put_mode(g, "dpsi_taum1", np.vstack([g["dpsi.southern_wall"], g["dpsi"]]))
        note(f"psi, its tendency and those of u and v: from {state.path}, for the sequence ocean")


def is_of_step(g, state, snapshot):
    return state is snapshot or (snapshot["temp"] == g["temp"]).all()


def restoring(g, tracer, letter, snapshot):
    """To which value, and how fast, if the record has both and they make its flux."""
    names, flux = (f"{letter}_star", f"{letter}_rest"), snapshot[f"forc_{tracer}_surface"]
    if not all(snapshot.has(name) and snapshot.dataset[name].dims[-2:] in (("yt", "xt"), ("Time", "yt"), ("yt",))
               for name in names):
        return {}
    star, rest = (values if values.ndim == 2 else values[:, None] for values in map(snapshot.filled, names))
    made = rest * (star - snapshot[tracer][-1]) * g["maskT"][-1]
    if np.abs(made - flux).max() > 1e-12 * np.abs(flux).max():
        note(f"{', '.join(names)}: not taken, since they do not make forc_{tracer}_surface")
        return {}
    return {name: np.broadcast_to(values, flux.shape) for name, values in zip(names, (star, rest))}


def add_forcing(g, snapshot, settings, cyclic):
    """Fluxes through the surface, and how a step makes them anew."""
    fluxes = ("forc_temp_surface", "forc_salt_surface", *(["forc_tke_surface"] if settings["enable_tke"] else []))
    sources = ("temp_source", "salt_source") if settings["enable_tempsalt_sources"] else ()
    snapshot.require(fluxes, "as the forcing")
    snapshot.require(sources, "since enable_tempsalt_sources is on")
    g.update({name: snapshot[name] for name in (*fluxes, *sources)})
    added = setups.add(g, snapshot, settings, cyclic)
    for tracer, letter in (("temp", "t"), ("salt", "s")):
        if f"{letter}_star" in added:
            continue
        made = restoring(g, tracer, letter, snapshot)
        g.update(made or {f"{letter}_flux": g[f"forc_{tracer}_surface"]})
        note(f"forc_{tracer}_surface: of the record; in ocean_step_forced "
             + (f"by restoring, with {' and '.join(made)}" if made else f"the same, as {letter}_flux"))
    if sources and not {"q_solar", "rest_tscl"} & added:
        note("temp_source, salt_source: of the record; only ocean_step_forced takes them")


def add_time(settings, state, snapshot):
    """The time at which the next step begins."""
    if state is not snapshot and state.has("time"):
        settings["start_time"] = float(state.core["time"])
    elif snapshot.has("Time"):
        settings["start_time"] = snapshot.begin(settings)
    else:
        return
    note(f"start_time: {settings['start_time']:g}, the time of the run's state")


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
    needed = [*STATE, "Nsqr", *energies(settings)]
    if chosen.restart:
        state = Restart(chosen.restart, wet.shape)
        if ((state["salt"] != 0) != wet).any():
            raise Unusable(f"{chosen.restart}: its land is not the snapshot's, expected a restart of the same run")
    else:
        state = snapshot
        snapshot.require(needed, "for the state")
    note(f"{snapshot.path}: a snapshot of Veros: grid, masks and kbot as Veros has them, "
        + (f"state from {chosen.restart}" if chosen.restart else "and the state of the record"))
    g["temp"], g["salt"], g["Nsqr"] = state["temp"], state["salt"], state["Nsqr"]
    note("temp and salt: as the run has them, not converted")
    g.update({name: state[name] for name in DERIVED if state.has(name)})
    add_switches(settings, snapshot.path, snapshot.dataset)
    add_diffusivities(g, state, snapshot, settings, cyclic)
    if settings["enable_idemix"]:
        add_waves(g, state, snapshot, settings, cyclic)
    add_turbulence(g, state, snapshot, settings, cyclic)
    if state is not snapshot:
        add_levels(g, state, settings)
    add_step(g, state, snapshot, settings, chosen)
    add_time(settings, state, snapshot)
    add_forcing(g, snapshot, settings, cyclic)
    g["u"], g["v"] = state["u"] * g["maskU"], state["v"] * g["maskV"]
    add_momentum(g, state, snapshot, settings)
    g.update(closures.velocities_on_upper_faces(snapshot.path, g, cyclic))
    note("u_wgrid, v_wgrid, w_wgrid: from u and v, as Veros makes them")
    return g, settings, cyclic
