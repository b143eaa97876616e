"""The program's own tables of fields and settings, attributes of coordinates, and constants."""

import numpy as np

from ..library import Type, default

EARTH_RADIUS = 6370e3  # m, as in Veros
RHO_0 = 1024.0  # kg m-3, as in Veros
SETTINGS = {  # of inputs/grid.h5
    "eq_of_state_type": 3,
    "dt_mom": 4800.0, "dt_tracer": 43200.0, "AB_eps": 0.1,
    "iso_slopec": 1e-3, "iso_dslope": 4e-3, "K_iso_steep": 100.0,
    "alpha_tke": 30.0, "c_eps": 0.7, "K_h_tke": 2000.0,
    "enable_eke": 1, "eke_c_k": 0.4, "eke_cross": 2.0, "enable_eke_isopycnal_diffusion": 1,
    "enable_eke_superbee_advection": 1,
}
COORDINATES = {
    "x": {"units": "degrees_east", "long_name": "longitude of T points", "axis": "X",
          "standard_name": "longitude"},
    "y": {"units": "degrees_north", "long_name": "latitude of T points", "axis": "Y",
          "standard_name": "latitude"},
    "z": {"units": "m", "long_name": "height of T points", "axis": "Z", "positive": "up",
          "standard_name": "height_above_mean_sea_level"},
}
TYPES = {Type.REAL: "<f8", Type.MASK: "<u1", Type.INDEX: "<i4", Type.DOUBLE: "<f8"}


def fields():
    return default().fields


def settings():
    return default().settings


def axes_of(name):
    return (name,) if name in COORDINATES else fields()[name].axes


def type_of(name):
    """In which files store it."""
    return "<f8" if name in COORDINATES else TYPES[fields()[name].type]


def surface_of(name):
    """The attributes of a field of the external mode where it is the pressure at a free surface."""
    return {"units": fields()[name].surface_units, "long_name": fields()[name].surface_name}


def attributes_of(name):
    if name in COORDINATES:
        return COORDINATES[name]
    field = fields()[name]
    attributes = {"units": field.units, "long_name": field.long_name} if field.units else {}
    if field.standard_name:
        attributes["standard_name"] = field.standard_name
    if field.type is Type.MASK:
        attributes |= {"flag_values": np.array([0, 1], "u1"), "flag_meanings": "land water"}
    return attributes
