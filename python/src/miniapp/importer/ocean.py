"""The input that follows from temperature and salinity on latitude, longitude and depth."""

import gsw
import numpy as np

from . import axes, grid, places, water
from .problem import Unusable, note
from .table import RHO_0, SETTINGS

GRAVITY = 9.81  # m s-2, as in Veros
TIME_STEPS = ("dt_mom", "dt_tracer")  # which follow from the spacing
# of the closure, as in Veros's setups
CLOSURE = {"c_k": 0.1, "tke_mxl_choice": 2, "mxl_min": 1e-8, "kappaM_min": 2e-4,
           "kappaM_max": 100.0}


def read_water(source, chosen):
    """Temperature and salinity of the file; all that is missing, variables or axes, is named at once."""
    found = {name: water.read(name, source, chosen) for name in ("temp", "salt")
             if name in chosen.variable or name not in chosen.default}
    lacks = [water.what_would_do(name) for name, value in found.items() if not value]
    for name, value in found.items():
        lacks += water.missing_axes(name, value[0]) if value else []
    if lacks:
        raise Unusable(f"{source.name}: missing: {'; '.join(lacks)}; there is: {source.listing()}")
    return found


def read_mask(source, first):
    """The user's mask at temperature's points, 0 where it has no value; None without one."""
    if "maskT" not in source.variable:
        water.note_other_masks(source)
        return None
    path, variable = source.find("maskT")
    if axes.text_of(variable, "standard_name").startswith("land_"):
        raise Unusable(f"{path}: '{variable.name}' for maskT is 1 on land by its standard name, expected 0 there")
    placed = source.place(path, variable, has_time=False)
    mask = np.nan_to_num(places.at("maskT", path, variable, placed, first))
    if (bad := (mask < 0) | (mask > 1)).any():
        raise Unusable(f"{path}: '{variable.name}' for maskT has the value {mask[bad][0]:g}, expected "
                       "0 or 1, or a fraction of the cell between them")
    mask = np.broadcast_to(mask, first.values.shape)
    parts = np.sum((mask > 0) & (mask < 1))
    note(f"{path}: land is where '{variable.name}' is 0, in {np.sum(mask == 0)} of {mask.size} cells"
         + (f"; {parts} cells are partly land, and count as water" if parts else ""))
    return mask


def constant(name, chosen, shape):
    note(f"{name}: {chosen.default[name]:g} everywhere, by --default")
    return np.full(shape, chosen.default[name])


def check_raw(source, temp, salt, wet):
    hint = "are its units and its fill value right?"
    water.check_range(source, "temperature in degC", temp, wet, -20, 80, hint)
    water.check_range(source, "salinity", salt, wet, 0, 50, hint)
    if salt[wet].max() < 1:
        raise Unusable(f"{source.name}: salinity is at most {salt[wet].max():g}, expected parts "
                       "per thousand; if it is in kg/kg say --units salt=kg/kg")


def make_water(source, chosen, found, first):
    """temp, salt and the cells that are wet."""
    values = {name: places.at(name, path, variable, placed, first)
              for name, (placed, _, path, variable) in found.items()}
    kinds = {"temp": "conservative", "salt": "absolute", **{name: kind for name, (_, kind, *_) in found.items()}}
    mask = read_mask(source, first)
    land = water.marked_land(source, values.get("temp"), values.get("salt"), mask)
    values = {name: np.where(land, np.nan, field) for name, field in values.items()}
    wet = water.where_wet(source, values.values())
    if mask is not None and (lacking := ~land & ~wet).any():
        note(f"warning: {source.name}: {np.sum(lacking)} cells are water by the mask, but have no value: they are dry")
    wet = water.close_holes(source, wet, values.values(), first.z, chosen.holes)
    for name in {"temp", "salt"} - set(values):
        values[name] = constant(name, chosen, wet.shape)
    temp, salt = (np.where(wet, values[name], np.nan) for name in ("temp", "salt"))
    check_raw(source, temp, salt, wet)
    temp, salt = water.convert(temp, kinds["temp"], salt, kinds["salt"], first.lon, first.lat, first.z)
    made = "as TEOS-10 has it"
    water.check_range(source, "Absolute Salinity", salt, wet, 0, 50, made)
    water.check_range(source, "Conservative Temperature", temp, wet, -20, 80, made)
    return np.where(wet, temp, 0.0), np.where(wet, salt, 0.0), wet


def stratification(g):
    """Nsqr on the upper faces, from the densities of both cells at the pressure of the lower one;
    the top has the value below it."""
    density = [gsw.rho(g["salt"][part], g["temp"][part], g["p"][:-1, None, None]) for part in (np.s_[1:], np.s_[:-1])]
    nsqr = np.zeros_like(g["temp"])
    nsqr[:-1] = (-GRAVITY / RHO_0 / g["dzw"][:-1, None, None] * g["maskW"][:-1] * (density[0] - density[1]))
    if len(nsqr) > 1:
        nsqr[-1] = nsqr[-2]
    return nsqr


def make(source, chosen):
    """Fields, settings, and whether x is cyclic."""
    found = read_water(source, chosen)
    first = next(iter(found.values()))[0]
    temp, salt, wet = make_water(source, chosen, found, first)
    g, cyclic = grid.make_grid(source, first.lon, first.lat, first.z, chosen.cyclic_x)
    grid.add_rotation(g)
    grid.add_topography(g, wet, cyclic)
    g.update(temp=temp, salt=salt, p=grid.mean_pressure(g))
    g["Nsqr"] = stratification(g)
    note("settings: those of inputs/grid.h5, but eq_of_state_type 5 (TEOS-10); --set changes them")
    settings = {name: value for name, value in {**SETTINGS, **CLOSURE, "eq_of_state_type": 5}.items()
                if name not in TIME_STEPS and "eke" not in name}  # EKE has the program's defaults
    if left_out := [name for name in TIME_STEPS if name not in chosen.set]:
        note(f"{', '.join(left_out)}: left out, so that steps follow from the spacing; --set gives others")
    return g, settings, cyclic
