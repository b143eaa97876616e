"""Turbulence, mixing and velocities: given by the user, found in the file, or stated defaults."""

import functools

import numpy as np

from . import closures, forcing, grid, places, table
from .options import FIELDS as GIVEN
from .problem import Elsewhere, Unusable, note
from .source import VELOCITIES, Placed

ON_W = ("u_wgrid", "v_wgrid", "w_wgrid")
OPTIONAL = ("tke_taup1",)  # without it the program takes 0
WIND = 1e-4  # m2 s-2, the square of the friction velocity, of a wind stress of 0.1 N m-2


def at_points(g, name, path, variable, placed, **wanted):
    """The values at the grid's points; in the vertical at T points or, if they are none, at upper faces."""
    def at(**level):
        return places.at(name, path, variable, placed, Placed(None, g["zt"], g["y"], g["x"]), **wanted, **level)

    part = np.s_[:] if len(table.axes_of(name)) == 3 else np.s_[-1:]
    if placed.z is None:
        return at()
    placed.z = grid.below_surface(placed.z)
    try:
        values = at(z=(g["zt"][part],))
    except Elsewhere:
        if name in VELOCITIES:
            raise
        return at(z=(g["zw"][part], 0.25 * g["dzt"][part]))
    if table.fields()[name].wet != "maskT" and name not in VELOCITIES:
        note(f"{name}: '{variable.name}' lies on T points, taken for the upper faces as it is")
    return values


def without_gaps(name, path, variable, values, wet, chosen):
    """The values with a constant of the user where water lacks one and 0 on land; how many."""
    missing = wet.astype(bool) & ~np.isfinite(values)
    count, places = missing.sum(), "faces" if name in VELOCITIES else "cells"
    if count and name not in chosen.default:
        raise Unusable(f"{path}: '{variable.name}' for {name} is missing in {count} wet "
                       f"{places}, expected a value; --default {name}=VALUE fills them")
    values = np.where(np.isfinite(values), values, 0.0)
    values[missing] = chosen.default.get(name, 0.0)
    return values, f", {count} missing {places} filled" if count else ""


def read(g, name, source, chosen):
    """The field of the file on the grid; None where there is none."""
    standard_name = table.fields()[name].standard_name
    found = source.find(name, (standard_name,) if standard_name else ())
    if not found:
        return None
    path, variable = found
    placed = source.place(path, variable)
    values = source.in_units(name, path, variable, at_points(g, name, path, variable, placed))
    shape = tuple(len(g[axis]) for axis in table.axes_of(name))
    values = np.broadcast_to(values if len(shape) == 3 else values[-1], shape)
    wet = g["maskT"] if len(shape) == 3 else g["maskT"][-1]
    values, filled = without_gaps(name, path, variable, values, wet, chosen)
    note(f"{name}: from '{variable.name}'{filled}")
    return values


def default_tke(g):
    note(f"tke: default, {3.75 * WIND:g} exp(z / 50 m) + 1e-06 m2 s-2, as a wind stress of 0.1 N "
        "m-2 has it at the surface")
    profile = 3.75 * WIND * np.exp(g["zw"] / 50.0) + 1e-6
    return profile[:, None, None] * g["maskW"]


def find_velocities(g, source, chosen):
    """u and v on faces; None where the files do not have both, or have others than temperature."""
    found = {name: source.find(name) or source.find(name, standard_names)
             for name, standard_names in VELOCITIES.items()}
    if not all(found.values()):
        for _, variable in filter(None, found.values()):
            note(f"u, v: '{variable.name}' is not taken, since the other one is not there")
        return None
    try:
        return [on_faces(g, name, source, chosen, *place) for name, place in found.items()]
    except Elsewhere as reason:
        if "u" in source.variable:
            raise
        note(f"u, v: not taken: {reason}")
        return None


def constant_velocities(g, chosen):
    """The velocities of --default; None without."""
    if not set(VELOCITIES) & set(chosen.default):
        return None
    values = {name: chosen.default.get(name, 0.0) for name in VELOCITIES}
    note("; ".join(f"{name}: {value:g}, by --default" for name, value in values.items()))
    return values["u"] * g["maskU"], values["v"] * g["maskV"]


def add_velocities(g, source, chosen, cyclic):
    """u and v, and on the upper faces what follows from them."""
    if "u" in g:  # of Veros
        return
    faces = find_velocities(g, source, chosen) or constant_velocities(g, chosen)
    if not faces:
        g["u"], g["v"] = np.zeros_like(g["temp"]), np.zeros_like(g["temp"])
        if not chosen.forcing:  # which leaves them out
            note("u, v: default, 0")
        return
    g["u"], g["v"] = faces
    g.update(closures.velocities_on_upper_faces(source.name, g, cyclic))
    note(f"{', '.join(ON_W)}: from u, v and continuity, as Veros makes them")


def on_faces(g, name, source, chosen, path, variable):
    """u on eastern faces, v on northern ones; from T points the mean of both neighbours."""
    axis, line, mask = {"u": (2, "lon", "maskU"), "v": (1, "lat", "maskV")}[name]
    ours = g["x" if name == "u" else "y"]
    placed = source.place(path, variable)
    spacing = np.diff(ours, append=2 * ours[-1] - ours[-2])
    try:
        values, at_faces = at_points(g, name, path, variable, placed), False
    except Elsewhere as reason:
        try:
            values = at_points(g, name, path, variable, placed, **{line: (ours + 0.5 * spacing, 0.1 * spacing)})
        except Elsewhere:
            raise reason from None
        at_faces = True
    if placed.z is None or placed.lat is None or placed.lon is None:
        raise Elsewhere(f"{path}: '{variable.name}' for {name} must have longitude, latitude and depth")
    values = source.in_units(name, path, variable, values)
    if not at_faces:  # the mask closes the last face of a closed axis
        values = 0.5 * (values + np.roll(values, -1, axis))
    values, filled = without_gaps(name, path, variable, values, g[mask], chosen)
    note(f"{name}: from '{variable.name}', "
         + ("on faces" if at_faces else "on T points: a face has the mean of both cells") + filled)
    return values * g[mask]


def largest_courant(g, settings):
    widths = (g["cost"][:, None] * g["dxt"], g["dyt"][:, None], g["dzw"][:, None, None])
    return settings["dt_tracer"] * max(np.max(np.abs(g[name]) / width) for name, width in zip(ON_W, widths))


def derived(g, name, settings, mixing):
    """The substitute for a field that was not given; the order of GIVEN matters here."""
    if name == "K_iso":
        note("K_iso: default, 1000 m2 s-1")
        return np.full_like(g["temp"], 1000.0)
    if name == "tke":
        return default_tke(g)
    if name in ("kappaM", "mxl"):
        note(f"{name}: from tke and the stratification, by Veros's closure")
        return mixing()[name]
    if name == "forc":
        note("forc: default, as much as TKE dissipates: c_eps tke^(3/2) / mxl")
        tke = np.maximum(g["tke"], 0.0)
        return settings["c_eps"] * tke * np.sqrt(tke) / np.maximum(g["mxl"], 1e-12) * g["maskW"]
    if name == "forc_tke_surface":
        note(f"forc_tke_surface: default, {WIND ** 1.5:g} m3 s-3, the friction velocity cubed")
        return WIND ** 1.5 * g["maskT"][-1]
    if name == "K_diss_v":
        note("K_diss_v: default, as much as forc: all of TKE's sources are friction")
        return np.maximum(g["forc"], 0.0)
    note(f"{name}: default, 0")
    return np.zeros_like(g["temp"])


def complete(g, settings, source, chosen, cyclic):
    """Adds what is still missing to the fields."""
    add_velocities(g, source, chosen, cyclic)
    mixing = functools.cache(lambda: closures.mixing(source.name, g, cyclic, settings))
    for name in dict.fromkeys((*GIVEN, *chosen.tracer, *chosen.variable, *chosen.default)):
        if name in ("temp", "salt", "maskT", *VELOCITIES) or (chosen.forcing and name in forcing.FIELDS):
            continue
        asked = name in chosen.variable or name in chosen.default
        if name in g and not asked:
            continue
        values = None if source.is_veros and name not in chosen.variable else read(g, name, source, chosen)
        if values is None and name in chosen.default:
            note(f"{name}: {chosen.default[name]:g}, by --default")
            shape = tuple(len(g[axis]) for axis in table.axes_of(name))
            values = np.full(shape, chosen.default[name])
        if values is None and name in GIVEN and name not in OPTIONAL:
            values = derived(g, name, settings, mixing)
        if values is not None:
            g[name] = values
    if "dt_tracer" in settings and (courant := largest_courant(g, settings)):
        note(f"the largest Courant number at dt_tracer {settings['dt_tracer']:g} s is {courant:.2g}"
             + (": the advection of TKE is unstable, set a shorter --set dt_tracer=SECONDS" if courant > 1 else ""))
