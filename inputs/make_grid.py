#!/usr/bin/python3
"""Make grid.h5: an idealised global ocean on a 4-degree grid, input of all miniapp kernels.

    make_grid.py [-o grid.h5]     write the file; names and units come from build/host, or $MINIAPP_LIBRARY
    make_grid.py --check          make it again elsewhere and compare; exit 1 if it differs

What is real and what is idealised:

* Coastlines are real at 4 degrees: the character map below. It was derived once from the ocean
  atlas inside TEOS-10's library: a node of its 4-degree grid was taken as land where gsw.SAAR is
  0 or jumps between the four boxes around the node (beside land each box fills the missing node
  from its other corners). That atlas lacks narrow land, so Central America, Europe, the Canadian
  islands, Japan and the like, and all one-level cells, were set by hand.
* Depth is a function of the distance to land, plus hills and mid-ocean ridges.
* Temperature, salinity, turbulence, forcing and velocity are smooth formulas that look like the
  ocean; each recipe is in the function that makes it. Nothing is an observation.

Some places are there to test a kernel: marginal cells with one wet level (also seas of one cell);
the SOUTH_PACIFIC box, where T and S are exactly constant (no slope, no stratification); the
LABRADOR box, where the water column is unstable; the GALAPAGOS box, where the surface sink drains
all turbulence, so that tke_surf_corr is not 0.

The grid follows Veros: T points in cell centres, U, V, W points on the east, north and upper
faces, z = 0 the bottom level; no ghost cells (halo = 0), cyclic in x, closed in y.

The file is the same bit for bit on every run: it holds no times, and every computed value is
rounded to far fewer digits than it is computed with, so the last bits of another libm or of other
SIMD code do not show. The bytes still depend on the versions of zlib and HDF5, and on how
miniapp.importer.store calls HDF5; therefore --check says whether the contents differ or only the
bytes. The stored grid.h5 has what this script makes, its compressed data included, but HDF5's own
records elsewhere: when it was written, store opened a dimension scale anew for each field. It stays,
since references hold its SHA-256. The file needs HDF5 1.10 or newer: its format
has checksums on superblock, object headers and indices, and Fletcher-32 guards all data. Only the
references of the dimension scales, which netCDF reads and miniapp does not, are in HDF5's global
heap, which has no checksum.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "run"), str(ROOT / "python" / "src")]
# pylint: disable=wrong-import-position,unused-import
import safely  # noqa: E402,F401

import gsw  # noqa: E402
import h5py  # noqa: E402
import numpy as np  # noqa: E402

from miniapp.importer import store, table  # noqa: E402
from miniapp.importer.masks import cells_of, masks_of  # noqa: E402
from miniapp.importer.table import EARTH_RADIUS, RHO_0, SETTINGS  # noqa: E402
from miniapp.library import LibraryError  # noqa: E402

# '#' land, '.' ocean, ':' a marginal cell with one wet level. Rows from 78N to 78S,
# columns from 0E to 356E.
WORLD = """
....#................................................................################.....
..............#::::::...####.:::::::::::.........................##..#........#######.....
......##.........#######################:::::.....###::......###..#...###....#######......
....######:####################################::###################::::###..####....#....
..#####################################.#####.:::######.###########::::##:....##..........
.:###:#############################.....#........::#.....##########::::####..............#
:::################################.....#........#:........###########:#####............##
:##################################:#......................###########.##.:.#.............
###################################........................################..:............
#..#.###::###:###################...#......................##############:..............##
....#.########################::#..#........................############................##
###......######################:.##..........................##########.................::
###############################:..............................######.#...................#
#############::...############................................####...:#.................##
#########::####...###########.#.................................##....#................###
##########::###....##...###...#..................................####...#..............###
###########:.......#.....###..#....................................###.................###
#############......#.....::....#.....................................######.............##
#############.......#....#::.#.#.......................................#####............##
...#########.............#::##.........................................#######............
...########...............#:###..###..................................##########..........
....######.................##.....:##.................................############........
....#######......................:::.#.................................##########.........
....#######.#..................:###:#...................................########..........
...#######.##.................:######....................................########.........
....#####..#.................#########:..................................#######..........
.....####....................##########..................................#####............
.....###.....................##########..................................#####............
.....##......................##..:####..................................#####.............
....................................##......#...........................####:.............
.....................................#.....#............................##::..............
..........................................#.............................##:...............
........................................................................#:::..............
........................................................................##:...............
..........................................................................................
..........................................................................................
..........................................................................#...............
............#####.::.#####################...............................##...............
#################..#######################.......................#...######.............##
#########################################..::..........####################..........#####
"""

SPACING = 4.0  # degrees
GRAVITY = 9.81  # m s-2, as in Veros
OMEGA = np.pi / 43082.0  # s-1, of the earth, as in Veros

# Level thicknesses from the surface down, in m; 5500 m in all.
THICKNESS = [20, 25, 35, 50, 70, 95, 125, 160, 200, 245,
             290, 335, 380, 420, 455, 485, 510, 525, 535, 540]

# Mid-ocean ridges: latitudes, and the longitudes of the crest there.
RIDGES = [
    ([-54, -40, -20, 0, 8, 25, 40, 52, 62], [360, 344, 347, 340, 320, 315, 330, 326, 333]),
    ([-55, -40, -20, 0, 12], [235, 250, 246, 258, 256]),  # East Pacific Rise
    ([-42, -26, -10, 5, 12], [80, 70, 67, 62, 58]),  # Central Indian Ridge
]

# Boxes with a special purpose (see above): west, east, south, north, cell centres included.
SOUTH_PACIFIC = (220, 240, -42, -30)
LABRADOR = (308, 324, 54, 58)
GALAPAGOS = (244, 264, -6, 6)

# The fields, with the types in which they are stored; the program says all else of them.
FIELDS = {
    "x": "f8", "y": "f8", "z": "f8", "zt": "f8", "zw": "f8", "p": "f8", "dxt": "f8", "dxu":
    "f8", "dyt": "f8", "dyu": "f8", "dzt": "f8", "dzw": "f8", "cost": "f8", "cosu": "f8",
    "kbot": "i4", "maskT": "u1", "maskU": "u1", "maskV": "u1", "maskW": "u1", "temp": "f4",
    "salt": "f4", "K_iso": "f4", "u": "f4", "v": "f4", "w": "f4", "u_wgrid": "f4", "v_wgrid":
    "f4", "w_wgrid": "f4", "kappaM": "f4", "mxl": "f4", "forc": "f4", "forc_tke_surface": "f4",
    "kappaH": "f4", "forc_temp_surface": "f4", "forc_salt_surface": "f4", "Nsqr": "f4",
    "int_drhodT": "f4", "int_drhodS": "f4", "rho": "f4", "Hd": "f4", "dtemp": "f4", "dsalt":
    "f4", "eke": "f4", "coriolis_t": "f4", "beta": "f4", "t_star": "f4", "t_rest": "f4",
    "s_star": "f4", "s_rest": "f4", "temp_source": "f4", "salt_source": "f4", "K_diss_v": "f4",
    "tke": "f4", "tke_taup1": "f4", "dtke_taum1": "f4",
}


def rounded(values, bits):
    """Round to so many significant bits: hides ulp differences, and compresses well."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


def bump(distance, width):
    """A Gaussian bell of height 1."""
    return np.exp(-((distance / width) ** 2))


def ripple(g, m, n):
    """Waves between -1 and 1: m around the globe, n along a full circle of longitude."""
    waves = np.sin(np.radians(m * g["lon"])) * np.cos(np.radians(n * g["lat"]))
    return np.round(waves, 9)  # a node must be 0, not the ulp that sin(pi) leaves


def in_box(g, box):
    west, east, south, north = box
    return (g["lon"] >= west) & (g["lon"] <= east) & (g["lat"] >= south) & (g["lat"] <= north)


def vertical_points(dzt, zw):
    """T points such that each W point lies midway between two of them, as in Veros."""
    zt = np.empty_like(zw)
    zt[0] = zw[0] - dzt[0] / 2
    for k in range(1, len(zt)):
        zt[k] = 2 * zw[k - 1] - zt[k - 1]
    dzw = np.append(np.diff(zt), 0.0)
    dzw[-1] = 2 * dzt[-1] - dzw[-2]
    return zt, dzw


def make_grid(nx, ny):
    """Coordinates and spacings. lon and lat (z, y, x) are helpers that are not written."""
    g = {"x": np.arange(nx) * SPACING, "y": -78.0 + np.arange(ny) * SPACING}
    metres = round(np.radians(SPACING) * EARTH_RADIUS, 3)
    g["dxt"] = g["dxu"] = np.full(nx, metres)
    g["dyt"] = g["dyu"] = np.full(ny, metres)
    g["cost"] = np.round(np.cos(np.radians(g["y"])), 12)
    g["cosu"] = np.round(np.cos(np.radians(g["y"] + SPACING / 2)), 12)
    g["dzt"] = np.array(THICKNESS[::-1], dtype=float)
    g["zw"] = np.cumsum(g["dzt"]) - g["dzt"].sum()
    g["zt"], g["dzw"] = vertical_points(g["dzt"], g["zw"])
    g["z"] = g["zt"]
    g["p"] = np.round(gsw.p_from_z(g["zt"], 45.0), 3)
    g["lon"], g["lat"] = g["x"][None, None, :], g["y"][None, :, None]
    return g


def distance_to_land(world):
    """Cells to the nearest land or marginal cell (a diagonal step counts 1), at most 5."""
    near = world != "."
    distance = np.where(near, 0, 5)
    for step in range(1, 5):
        wide = near | np.roll(near, 1, axis=1) | np.roll(near, -1, axis=1)
        near = wide.copy()
        near[1:] |= wide[:-1]
        near[:-1] |= wide[1:]
        distance[near & (distance == 5)] = step
    return distance


def sea_floor(g, world):
    """Depth (y, x) in m: shelf, slope, abyss by the distance to land; hills and ridges."""
    mean = np.array([0.0, 450.0, 2300.0, 3900.0, 4700.0, 5000.0])
    hills = np.array([0.0, 440.0, 900.0, 500.0, 400.0, 400.0])
    distance = distance_to_land(world)
    depth = mean[distance] + hills[distance] * ripple(g, 11, 9)[0]
    for lats, lons in RIDGES:
        crest = np.interp(g["lat"][0], lats, lons, left=np.nan, right=np.nan)
        away = np.abs((g["lon"][0] - crest + 180) % 360 - 180)
        depth -= np.maximum(depth - 2500.0, 0.0) * bump(np.where(away < 20, away, 999), 6.0)
    return depth


def make_masks(g, world):
    """kbot and masks: a level is wet if its T point is above the sea floor, the top always."""
    nz = len(g["zt"])
    wet_levels = np.sum(g["zt"][:, None, None] > -sea_floor(g, world), axis=0)
    wet_levels = np.where(world == ":", 1, np.maximum(wet_levels, 1))
    g["kbot"] = np.where(world == "#", 0, nz + 1 - wet_levels)
    g.update(masks_of(cells_of(g["kbot"], nz), cyclic_x=True))


def make_temp_salt(g):
    """A warm, salty upper ocean that decays over a thermocline into uniform cold deep water.

    Poleward of about 60 degrees the surface is colder than the water below, and fresh enough to
    float on it. The Atlantic is saltier, the North Pacific fresher, and a tongue of fresh
    intermediate water spreads at 800 m.
    """
    lon, lat, z = g["lon"], g["lat"], g["zt"][:, None, None]
    nordic_seas = bump(lat - 62, 12) * bump(lon - 345, 30)
    subtropics = bump(np.abs(lat) - 26, 11)
    sst = -1.9 + 29.5 * np.exp(-np.abs((lat - 3) / 50) ** 2.6) + 0.6 * ripple(g, 5, 7)
    sst += 5.0 * nordic_seas + 1.5 * bump(lat, 15) * bump(lon - 150, 40)  # and the warm pool
    sss = 34.9 + 1.5 * subtropics - 0.4 * bump(lat, 7) + 0.1 * ripple(g, 7, 5)
    sss -= 1.2 / (1 + np.exp((60 - np.abs(lat)) / 4)) + 2.0 / (1 + np.exp((73 - lat) / 3))
    sss += 0.9 * nordic_seas + 0.9 * bump(lon - 330, 35) * bump(lat - 20, 45)
    sss -= 0.9 * bump(lat - 50, 12) * bump(lon - 190, 35)
    # The mixed layer is deeper towards the poles; in it the decay is ten times slower, not nil.
    below_mixed = np.minimum(z + 40 + 0.5 * np.abs(lat), 0.1 * z)
    scale = 180 + 350 * subtropics + 60 * ripple(g, 3, 4)
    deep_temp = 0.6 + 2.4 * np.exp(z / 1500)
    deep_salt = 34.9 - 0.3 * bump(z + 800, 450) * bump(np.abs(lat) - 20, 30)
    temp = deep_temp + (sst - deep_temp) * np.exp(below_mixed / scale)
    salt = deep_salt + (sss - deep_salt) * np.exp(below_mixed / (0.8 * scale))
    cooled = in_box(g, LABRADOR) * np.exp(z / 150)
    uniform = in_box(g, SOUTH_PACIFIC)
    g["temp"] = np.where(uniform, 4.0, temp - 5.0 * cooled) * g["maskT"]
    g["salt"] = np.where(uniform, 34.75, salt + 0.9 * cooled) * g["maskT"]


def make_velocities(g):
    """Gyres and an overturning, both from stream functions that are 0 wherever a cell is land.

    So the flow has no divergence and vanishes on land and on closed faces, with no special case.
    """
    wet = g["maskW"]
    east_wet = wet & np.roll(wet, -1, axis=2)
    corner = np.zeros_like(wet)  # the four cells around the north-eastern edge are wet
    corner[:, :-1] = east_wet[:, :-1] & east_wet[:, 1:]
    upper = np.zeros_like(wet)  # the four cells around the upper northern edge are wet
    upper[:-1, :-1] = wet[:-1, :-1] & wet[1:, :-1] & wet[:-1, 1:] & wet[1:, 1:]
    decay = np.exp(g["zw"] / 800)[:, None, None]
    gyres = 3e4 * decay * (np.sin(np.radians(4 * g["lat"])) + 0.3 * ripple(g, 6, 3)) * corner
    overturning = 3.0 * (1 - decay) * (1 + ripple(g, 4, 3)) * upper
    # Rounded before the differences are taken: these may be 0, where relative rounding fails.
    gyres, overturning = np.round(gyres, 2), np.round(overturning, 6)
    dy, dzw = g["dyt"][:, None], g["dzw"][:, None, None]
    cost, cosu = g["cost"][:, None], g["cosu"][:, None]
    g["u_wgrid"] = -np.diff(gyres, axis=1, prepend=0.0) / dy
    g["v_wgrid"] = ((gyres - np.roll(gyres, 1, axis=2)) / (cosu * g["dxt"])
                    - np.diff(overturning, axis=0, prepend=0.0) / (cosu * dzw))
    g["w_wgrid"] = np.diff(overturning, axis=1, prepend=0.0) / (cost * dy)
    # At T points the mean of the W points above and below; the lowest have one.
    for name in ("u", "v"):
        on_w = g[f"{name}_wgrid"]
        g[name] = 0.5 * (on_w + np.concatenate([on_w[:1], on_w[:-1]])) * g[f"mask{name.upper()}"]
    # Upwards by continuity, but not through the surface. Sums that cancel are noise beyond 1e-10.
    northward = cosu * g["v"]
    divergence = ((g["u"] - np.roll(g["u"], 1, axis=2)) / (cost * g["dxt"])
                  + np.diff(northward, axis=1, prepend=0.0) / (cost * dy))
    g["w"] = np.round(-np.cumsum(g["dzt"][:, None, None] * divergence, axis=0), 10) * wet
    g["w"][-1] = 0


def make_turbulence(g):
    """Wind makes turbulence at the surface; it decays downwards to a small background.

    The mixing length grows with the distance from surface and bottom up to 30 m. Viscosity and
    dissipation follow from both as in the TKE closure (c_k = 0.1, c_eps = 0.7); the sources
    balance the dissipation within 40 %.
    """
    lat, zw = g["lat"], g["zw"][:, None, None]
    wind_stress = (0.03 + 0.15 * bump(lat + 50, 11) + 0.09 * bump(lat - 45, 11)
                   + 0.06 * bump(np.abs(lat) - 14, 8)) * (1 + 0.2 * ripple(g, 8, 6))
    friction = np.sqrt(wind_stress / RHO_0)  # friction velocity, m s-1
    tke = 3.75 * friction**2 * np.exp(zw / (30 + 0.6 * np.abs(lat))) + 2e-6 * np.exp(zw / 1500)
    height = np.sum(g["maskT"] * g["dzt"][:, None, None], axis=0) + zw  # above the sea floor
    wall = 0.4 * np.maximum(np.minimum(-zw, height) + 0.5 * g["dzw"][:, None, None], 0.25)
    forc = 0.7 * tke**1.5 / (wall / (1 + wall / 30)) * (1 + 0.4 * ripple(g, 9, 8))
    forc[-1] = np.where(in_box(g, GALAPAGOS)[0], -2e-6, forc[-1])
    g["mxl"] = np.where(g["maskW"], wall / (1 + wall / 30), 0.1)
    g["tke"] = tke * g["maskW"]
    # Below the sea floor the kernel must keep what it finds, so there is something to find.
    g["tke_taup1"] = np.where(g["maskW"], 0.9 * tke, 1e-6)
    g["dtke_taum1"] = 1e-7 * g["tke"] * ripple(g, 7, 9)
    g["kappaM"] = np.maximum(0.1 * g["mxl"] * np.sqrt(g["tke"]), 2e-4)
    g["kappaH"] = np.maximum(g["kappaM"] / (4 + 3 * ripple(g, 6, 7)), 2e-5)
    # 200 W m-2 into the tropics and out of high latitudes; rain at the equator and in high latitudes
    g["forc_temp_surface"] = (5e-5 * np.cos(np.deg2rad(2.5 * lat)) * (1 + 0.3 * ripple(g, 8, 6))
                              )[0] * g["maskT"][-1]
    g["forc_salt_surface"] = (1e-6 * (bump(np.abs(lat) - 25, 10) - bump(lat, 8) - bump(
        np.abs(lat) - 60, 12)) * (1 + 0.3 * ripple(g, 7, 5)))[0] * g["maskT"][-1]
    g["forc"] = forc * g["maskW"]
    shear = friction / (0.4 * (10.0 - zw))  # of the logarithmic layer below the wind
    g["K_diss_v"] = g["kappaM"] * shear**2 * g["maskW"]
    g["forc_tke_surface"] = (friction**3)[0] * g["maskT"][-1]
    g["K_iso"] = 600 + 900 * np.exp(g["zt"][:, None, None] / 1000) * (1 + 0.5 * ripple(g, 4, 5))


def make_fields():
    """All datasets, rounded and in their storage types."""
    world = np.array([list(row) for row in WORLD.split()[::-1]])
    g = make_grid(world.shape[1], world.shape[0])
    make_masks(g, world)
    make_temp_salt(g)
    make_velocities(g)
    make_turbulence(g)
    make_stratification(g)
    make_eddies(g)
    make_forcing(g)
    for name, dtype in FIELDS.items():
        if dtype == "f4":
            g[name] = rounded(g[name], 16 if name in ("temp", "salt") else 12)
        g[name] = np.ascontiguousarray(g[name], dtype="<" + dtype)
    check_consistency(g)
    return {name: g[name] for name in FIELDS}


def make_stratification(g):
    """As in Veros: from the density of each cell less that of the cell above."""
    steps = density_steps(g) * g["maskW"][:-1] / g["dzw"][:-1, None, None]
    nsqr = GRAVITY / RHO_0 * steps
    g["Nsqr"] = np.concatenate([nsqr, nsqr[-1:]])
    by_salt, by_temp = gsw.enthalpy_first_derivatives(
        g["salt"], g["temp"], g["p"][:, None, None])
    surface = gsw.enthalpy_first_derivatives(g["salt"], g["temp"], 0)  # no dynamic enthalpy
    for name, here, there in (("T", by_temp, surface[1]), ("S", by_salt, surface[0])):
        g[f"int_drhod{name}"] = -RHO_0 / GRAVITY * (here - there) * g["maskT"]
    p = g["p"][:, None, None]
    g["rho"] = (gsw.rho(g["salt"], g["temp"], p) - RHO_0) * g["maskT"]
    g["Hd"] = (gsw.dynamic_enthalpy(g["salt"], g["temp"], p) - 1e4 * p / RHO_0) * g["maskT"]
    g["dtemp"] = 1e-9 * g["temp"] * ripple(g, 8, 7) * g["maskT"]
    g["dsalt"] = 1e-11 * g["salt"] * ripple(g, 7, 8) * g["maskT"]


def make_eddies(g):
    """Strongest in the Southern Ocean and the western boundary currents of the north."""
    lat, depth = g["lat"], -g["zt"][:, None, None]
    surface = 0.002 + 0.03 * bump(lat + 48, 9) + 0.03 * bump(lat - 38, 8) * (1 + ripple(g, 2, 3))
    g["eke"] = surface * np.exp(-depth / 1000) * g["maskW"]
    latitude = np.deg2rad(lat[0]) * np.ones_like(g["kbot"])
    g["coriolis_t"] = 2 * OMEGA * np.sin(latitude)
    g["beta"] = 2 * OMEGA / EARTH_RADIUS * np.cos(latitude)


def make_forcing(g):
    """Restoring within 30 days, to what is a bit warmer and fresher; light that heats 30 m of water, and
    a sponge of salt beside Antarctica."""
    wet = g["maskT"][-1]
    g["t_star"] = (g["temp"][-1] + 1 + ripple(g, 6, 6)[0]) * wet
    g["s_star"] = (g["salt"][-1] - 0.1 * ripple(g, 5, 6)[0]) * wet
    g["t_rest"] = g["s_rest"] = g["dzt"][-1] / (30 * 86400.0) * wet
    light = np.exp(g["zt"][:, None, None] / 30) * np.cos(np.deg2rad(g["lat"]))
    g["temp_source"] = 1e-7 * light * g["maskT"]
    g["salt_source"] = 1e-9 * bump(g["lat"] + 70, 4) * g["maskT"]


def density_steps(g):
    """Density of each cell minus that of the cell above, both moved to the pressure midway."""
    temp, salt = g["temp"].astype(float), g["salt"].astype(float)
    middle = 0.5 * (g["p"][1:] + g["p"][:-1])[:, None, None]
    return gsw.rho(salt[:-1], temp[:-1], middle) - gsw.rho(salt[1:], temp[1:], middle)


def check_consistency(g):
    """Stop if the fields contradict each other or what the docstring promises."""
    wet, kbot, nz = g["maskT"] == 1, g["kbot"], len(g["zt"])
    steps, unstable_box = density_steps(g), in_box(g, LABRADOR)
    stratified = wet[:-1] & ~unstable_box & ~in_box(g, SOUTH_PACIFIC)
    u, v, w = (g[name].astype(float) for name in ("u_wgrid", "v_wgrid", "w_wgrid"))
    widths = (g["cost"][:, None] * g["dxt"], g["dyt"][:, None], g["dzw"][:, None, None])
    courant = SETTINGS["dt_tracer"] * sum(np.max(np.abs(a / d)) for a, d in zip((u, v, w), widths))
    rules = {
        "finite": all(np.isfinite(g[name]).all() for name in FIELDS),
        "shapes": all(g[n].shape == tuple(len(g[a]) for a in table.axes_of(n)) for n in FIELDS),
        "masks agree with kbot": (wet.sum(axis=0) == np.where(kbot > 0, nz + 1 - kbot, 0)).all(),
        "land, deep and one-level columns": all((kbot == k).any() for k in (0, 1, nz)),
        "spacings": all((g[n] > 0).all() for n in ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw")),
        "pressure rises with depth": (g["p"] > 0).all() and (np.diff(g["p"]) < 0).all(),
        "positive mxl and kappaM": (g["mxl"] > 0).all() and (g["kappaM"] > 0).all(),
        "tke": (g["tke"] >= 0).all() and (g["tke"][wet] > 0).all(),
        "closed faces": not (u[g["maskU"] == 0].any() or g["u"][g["maskU"] == 0].any()
                             or g["v"][g["maskV"] == 0].any() or v[g["maskV"] == 0].any()
                             or w[~wet].any() or w[-1].any() or g["maskV"][:, -1].any()),
        "Courant number below 0.5": courant < 0.5,
        "stable nearly everywhere": np.mean(steps[stratified] > 0) > 0.99,
        "unstable in the Labrador box": np.sum((steps < 0) & wet[:-1] & unstable_box) > 10,
        "salinity": g["salt"][wet].min() > 25 and g["salt"][wet].max() < 40,
        "temperature": g["temp"][wet].min() > -2.5 and g["temp"][wet].max() < 32,
    }
    broken = [rule for rule, holds in rules.items() if not holds]
    if broken:
        sys.exit("make_grid.py: inconsistent fields: " + "; ".join(broken))


# for kernels that Veros's defaults would let do nothing, so that their results show it
MIXING = {"K_h": 1e3, "K_hbi": 1e15, "kappaM_0": 1e-4, "kappaH_0": 1e-5}


def write_grid(path):
    root = {"Conventions": "CF-1.8",
            "title": "Idealised global ocean on a 4-degree grid, input of miniapp",
            "source": "make_grid.py: real coastlines, idealised depth and fields",
            "halo": 0, "cyclic_x": 1, **SETTINGS, **MIXING}
    store.write(path, make_fields(), table.axes_of, table.attributes_of, root)


def content(path):
    """All datasets and attributes as bytes, less the dimension scales' references (addresses)."""
    result = {}
    with h5py.File(path, "r") as h5:
        for item in (h5, *h5.values()):
            for key in set(item.attrs) - {"DIMENSION_LIST", "REFERENCE_LIST"}:
                result[f"{item.name}@{key}"] = np.asarray(item.attrs[key]).tobytes()
        for name, dataset in h5.items():
            result["/" + name] = (dataset.dtype, dataset.shape, dataset[()].tobytes())
    return result


def check(path, write):
    """Compare the stored file with a new one, which `write` writes; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = os.path.join(folder, "fresh.h5")
        write(fresh)
        with open(path, "rb") as a, open(fresh, "rb") as b:
            if a.read() == b.read():
                print(f"{path}: identical")
                return 0
        stored, made = content(path), content(fresh)
    differing = sorted(k for k in stored.keys() | made.keys() if stored.get(k) != made.get(k))
    if differing:
        print(f"{path}: content differs from what this script makes: {', '.join(differing)}")
    else:
        print(f"{path}: same content in other bytes (another version of zlib, HDF5 or miniapp.importer.store?)")
    return 1


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default=os.path.join(here, "grid.h5"),
                        help="the file to write or to check [grid.h5 beside this script]")
    parser.add_argument("--check", action="store_true",
                        help="compare the file with a new one instead of writing it")
    options = parser.parse_args()
    try:
        if options.check:
            sys.exit(check(options.output, write_grid))
        write_grid(options.output)
    except LibraryError as error:
        sys.exit(f"make_grid.py: {error}")
    except OSError as error:
        sys.exit(f"make_grid.py: {options.output}: {error}")


if __name__ == "__main__":
    main()
