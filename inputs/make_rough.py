#!/usr/bin/python3
"""Make rough.h5, switched.h5 and masks.h5: small, rough oceans in which hardly any mistake of a kernel stays hidden.

    make_rough.py [-o FOLDER]     write the files; names and units come from build/host, or $MINIAPP_LIBRARY
    make_rough.py --check         make them again elsewhere and compare; exit 1 if one differs

grid.h5 looks like an ocean, so much of it is even: spacings, forcing, settings. Nothing is even here. Each
spacing differs from the next, and from those of the other grid; neighbours differ in all fields; every
optional field is there. Islands of one cell, channels of one cell, columns of one level and marginal seas lie
anywhere, across the seam, too. The flow has no divergence and its faces are closed beside land.

The first two differ in what is switched on, and in depth. rough.h5 is 11 km deep, where TEOS-10 needs all of its
nodes, and can be stepped in time. In switched.h5, each switch is set the other way, water flows through the
surface, which kernels have to ignore, turbulence is negative in places, and ghost cells hold something. Both
have cells fresher and colder than TEOS-10 takes. masks.h5 is no ocean: its masks contradict each other and water
flows on land, so that no mask can stand in for another. The program takes it with --allow-invalid.

All are the same bit for bit on every run, for the reasons that make_grid.py gives.
"""

import argparse
import sys
from pathlib import Path

import make_grid  # which finds miniapp, and names packages that are missing

import numpy as np

VALIDATION = Path(__file__).resolve().parent.parent / "validation"
sys.path[:0] = [str(VALIDATION), str(VALIDATION / "physics")]
# pylint: disable=wrong-import-position
import fields as random_fields  # noqa: E402
from fields import HALO  # noqa: E402
from miniapp.importer import store, table  # noqa: E402
from miniapp.importer.masks import cells_of, masks_of  # noqa: E402
from miniapp.library import LibraryError  # noqa: E402
from reference.files import ALONG_X, ALONG_Y, add_ghosts  # noqa: E402

NX, NY, NZ = 12, 10, 9
NOT_IN_FILES = ("sample", "factor_a", "factor_b")  # of the kernels that measure the machine
VELOCITIES = ("u", "v", "w", "u_wgrid", "v_wgrid", "w_wgrid", "u_taup1", "v_taup1")
# Each setting has a value that no other has and that is no default.
NUMBERS = {
    "dt_mom": 3600.0, "dt_tracer": 21600.0, "AB_eps": 0.13, "K_iso_steep": 35.0, "alpha_tke": 1.7, "c_eps": 0.6,
    "K_h_tke": 1700.0, "mxl_min": 1e-8, "c_k": 0.12, "kappaM_min": 2e-4, "kappaH_min": 2e-5,
    "Prandtl_tke0": 7.0, "alpha_eke": 1.3, "eke_c_eps": 0.5, "eke_lmin": 90.0, "eke_cross": 1.9,
    "eke_crhin": 1.1, "eke_c_k": 0.3, "K_gm_0": 700.0, "K_iso_0": 900.0, "t_ice": -1.75,
    "tau_v": 150000.0, "tau_h": 1.1e6, "gamma": 1.4, "jstar": 6.0, "mu0": 0.4, "eke_diss_surfbot_frac": 0.3,
    "A_h": 4e4, "hor_friction_cosPower": 2, "A_hbi": 1e13, "biharmonic_friction_cosPower": 3, "K_h": 800.0,
    "K_hbi": 1e13, "kappaM_0": 3e-4, "kappaH_0": 4e-5, "r_ray": 1e-6, "r_bot": 2e-5, "r_quad_bot": 0.02,
}
# In rough.h5, and in switched.h5.
SWITCHES = {
    "eq_of_state_type": (5, 4), "clamp_enthalpy": (1, 0), "iso_slopec": (0.008, 0.002), "iso_dslope": (0.006, 0.0007),
    "kappaM_max": (0.05, 0.08), "eke_k_max": (1500.0, 1300.0), "enable_superbee_advection": (1, 0),
    "tke_mxl_choice": (2, 1), "enable_kappaH_profile": (1, 0), "enable_Prandtl_tke": (1, 0),
    "enable_tke_hor_diffusion": (1, 0), "enable_tke_superbee_advection": (1, 0), "enable_tke_upwind_advection": (0, 1),
    "enable_eke": (1, 0), "enable_eke_isopycnal_diffusion": (1, 0), "enable_eke_superbee_advection": (1, 0),
    "enable_eke_upwind_advection": (0, 1), "enable_idemix": (0, 1), "enable_idemix_hor_diffusion": (1, 0),
    "enable_idemix_superbee_advection": (1, 0), "enable_idemix_upwind_advection": (0, 1),
    "enable_eke_diss_bottom": (0, 1), "enable_eke_diss_surfbot": (1, 0), "enable_store_bottom_friction_tke": (0, 1),
    "enable_store_cabbeling_heat": (0, 1), "enable_conserve_energy": (1, 1), "pyom_compatibility_mode": (1, 0),
    "enable_skew_diffusion": (1, 1), "enable_streamfunction": (1, 0), "enable_implicit_vert_friction": (1, 0),
    "enable_hor_friction": (1, 1), "enable_hor_friction_cos_scaling": (1, 0), "enable_noslip_lateral": (1, 0),
    "enable_ray_friction": (0, 1), "enable_bottom_friction": (1, 1), "enable_bottom_friction_var": (0, 1),
    "enable_quadratic_bottom_friction": (0, 1), "enable_momentum_sources": (0, 1),
}
OCEANS = {
    # The quadrature of TEOS-10 has 3 nodes to 400 dbar, 4 to 1400 and so on; the deepest of each are hardest.
    "rough": {"seed": 21, "pressure": [11800, 8890, 6990, 5690, 4290, 2690, 1390, 390, 30], "halo": 0,
              "through_surface": 0, "psi": 2e6, "settings": {name: rough for name, (rough, _) in SWITCHES.items()}},
    "switched": {"seed": 22, "pressure": [1370, 920, 640, 445, 310, 215, 130, 60, 11], "halo": HALO,
                 "through_surface": 1e-5, "psi": 20, "settings": {name: new for name, (_, new) in SWITCHES.items()}},
}
OCEANS["masks"] = {"settings": OCEANS["rough"]["settings"] | {"eq_of_state_type": 1, "enable_idemix": 1,
                                                              "enable_eke_diss_bottom": 1}}


def inside(name, values):
    """Without ghosts."""
    if name in (*ALONG_X, *ALONG_Y):
        return values[HALO:-HALO]
    return values[..., HALO:-HALO, HALO:-HALO] if values.ndim > 1 else values


def make_levels(rng, pressure):
    """W points lie anywhere between T points, the uppermost W cell is not as high as its T cell, and the
    pressure is not the depth."""
    p = np.array(pressure, float)
    zt = np.round(p / -1.015, 3)
    share = rng.uniform(0.4, 0.6, p.size - 1)
    zw = np.append(np.round(share * zt[:-1] + (1 - share) * zt[1:], 3), 0.0)
    dzt = np.append(2 * (zw[0] - zt[0]), np.diff(zw))
    return {"p": p, "zt": zt, "zw": zw, "dzt": dzt, "dzw": np.append(np.diff(zt), 0.8 * dzt[-1])}


def make_kbot(rng, kbot):
    """Deep water on which one-cell channels and islands, one-level columns and walls are sure to be."""
    kbot = kbot.copy()
    kbot[4, 2:9] = 0  # a wall along x,
    kbot[4, 5] = 3  # with a channel of one cell,
    kbot[6:10, 11] = 0  # a wall along y,
    kbot[8, 11] = NZ  # with a marginal sea for a channel,
    kbot[9, [0, -1]] = 0  # an island across the seam,
    kbot[2, -1], kbot[2, 0] = 0, 1  # a coast at the seam
    kbot[6, 4] = NZ  # one level
    kbot[6, [3, 5]] = kbot[[5, 7], 4] = 0  # in a pool of its own
    kbot[:, 7] = np.where(kbot[:, 7] > 0, rng.integers(1, 4, NY), 0)
    return kbot


def carried(stream, axis):
    """Flow through a face between two of its edges; the edge before the first one holds nothing."""
    return np.diff(stream, axis=axis, prepend=0.0)


def east_of(values):
    """That of the next cell to the east; the last one's is the first."""
    return np.roll(values, -1, axis=2)


def make_flow(rng, g, height, dt):
    """Along stream functions that are 0 on each edge that touches land: so nothing flows through closed faces,
    and what flows into a cell flows out."""
    wet = g["maskT"]
    north, east = np.zeros_like(wet), east_of(wet)
    north[:, :-1] = wet[:, 1:]
    above = np.zeros_like(wet)
    above[:-1] = wet[1:]
    noise = (lambda: rng.uniform(-1, 1, wet.shape))
    corner = wet & north & east & east_of(north)
    eastern_edge = wet & east & above & east_of(above)
    northern_edge = wet & north & above
    northern_edge[:, :-1] &= above[:, 1:]
    tall = height[:, None, None]
    least = min(g["dxt"].min() * g["cost"].min(), g["dyt"].min())
    gyres = np.round(0.15 / dt * least**2 * noise() * corner, 1)
    zonal, meridional = (np.round(0.1 / dt * least * tall * noise() * edge, 5)
                         for edge in (eastern_edge, northern_edge))
    dy, cosu = g["dyt"][:, None], g["cosu"][:, None]
    area = g["cost"][:, None] * g["dxt"] * dy
    u = -carried(gyres, 1) / dy + carried(zonal, 0) / tall
    v = (gyres - np.roll(gyres, 1, axis=2)) / (cosu * g["dxt"]) - carried(meridional, 0) / (cosu * tall)
    u, v = (make_grid.rounded(values, 36) for values in (u, v))
    eastward, northward = u * dy, cosu * v * g["dxt"]
    out = (eastward - np.roll(eastward, 1, axis=2) + carried(northward, 1)) / area
    w = -np.cumsum(tall * out, axis=0) * g["maskW"]
    w[-1] = 0
    return u, v, w


def make_fields(seed, pressure, halo, through_surface, psi):
    """All datasets, rounded and in their storage types."""
    values, _ = random_fields.make(NX + 2 * HALO, NY + 2 * HALO, NZ, seed, dt_mom=NUMBERS["dt_mom"],
                                   dt_tracer=NUMBERS["dt_tracer"], negative_tke=halo > 0)
    g = {name: inside(name, array) for name, array in values.items() if name not in NOT_IN_FILES}
    for name in ("cost", "cosu"):  # before the flow's divergence, small differences, is made with them
        g[name] = make_grid.rounded(g[name], 40)
    rng = np.random.default_rng(seed)
    dt = NUMBERS["dt_tracer"]
    g["x"], g["y"] = np.cumsum(np.round(g["dxt"] / 1e5, 2)), np.linspace(-60, 65, NY).round(2)
    g |= make_levels(rng, pressure)
    g["z"] = g["zt"]
    g["kbot"] = make_kbot(rng, g["kbot"])
    g |= masks_of(cells_of(g["kbot"], NZ), cyclic_x=True)
    g["u"], g["v"], g["w"] = make_flow(rng, g, g["dzt"], dt)
    g["w"][-1] = through_surface * rng.uniform(-1, 1, (NY, NX)) * g["maskW"][-1]
    for name, new in zip(VELOCITIES[3:6], make_flow(rng, g, g["dzw"], dt)):
        g[name] = new
    g["w_wgrid"][-1] = g["w"][-1]
    for name, mask in (("u_taup1", "maskU"), ("v_taup1", "maskV")):
        g[name] = g[name] * g[mask]
    for name in ("psi_taup1", "psi", "psi_taum1"):
        g[name] *= psi / abs(g[name]).max()
    shape = g["temp"].shape
    g["dtemp_taum1"], g["dsalt_taum1"] = (1e-7 * rng.uniform(-1, 1, shape), 1e-9 * rng.uniform(-1, 1, shape))
    g["kappaH"][:, 5] = 0
    g["salt"][1::3, 3, 3::4] = 0.04
    g["temp"][::3, 8, 1::4] = -12.5
    g["temp"][-1, 1], g["t_star"][1] = NUMBERS["t_ice"], -2  # water under ice, where it cools
    g["t_flux"][1], g["t_rest"][1, ::3] = 0, 0  # or where it takes no heat,
    g["t_flux"][1, 1::3] = 2e-5  # or thaws
    g = {name: in_file(name, array) for name, array in g.items()}
    if halo:
        g |= {name: add_ghosts(name, array, cyclic=True) for name, array in g.items() if name not in "xyz"}
        del g["x"], g["y"], g["z"]  # which are of the cells inside
    return g


def in_file(name, array):
    kind = table.type_of(name)
    if kind != "<f8":
        return np.ascontiguousarray(array, dtype=kind)
    if array.ndim == 1 or name in VELOCITIES:
        return make_grid.rounded(array, 40)
    return make_grid.rounded(array, 16 if name in ("temp", "salt") else 12).astype("<f4")


def make_masks():
    """With ghosts, in which anything is."""
    values, _ = random_fields.make(7 + 2 * HALO, 6 + 2 * HALO, 4, seed=23, random_masks=True, cfl=0.2,
                                   dt_mom=NUMBERS["dt_mom"], dt_tracer=NUMBERS["dt_tracer"])
    for name in ("kappaM", "kappaH"):  # every other column is stirred as by convection, which takes digits
        values[name][..., ::2] *= 1e4
    return {name: in_file(name, array) for name, array in values.items() if name not in NOT_IN_FILES}


def write_ocean(path, name):
    ocean = dict(OCEANS[name])
    settings = ocean.pop("settings")

    def attributes_of(field):
        is_pressure = field.startswith("psi") and not settings["enable_streamfunction"]
        return table.attributes_of(field) | (table.surface_of(field) if is_pressure else {})

    root = {"Conventions": "CF-1.8", "title": f"A small rough ocean, input of miniapp: {name}",
            "source": "make_rough.py: random numbers", "halo": ocean.get("halo", HALO),
            "cyclic_x": int(name != "masks"), **NUMBERS, **settings}
    fields = make_masks() if name == "masks" else make_fields(**ocean)
    store.write(path, fields, table.axes_of, attributes_of, root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).resolve().parent, metavar="FOLDER",
                        help="where the files are written or checked [beside this script]")
    parser.add_argument("--check", action="store_true", help="compare the files with new ones instead")
    options = parser.parse_args()
    codes = []
    for name in OCEANS:
        path = options.output / f"{name}.h5"
        try:
            if options.check:
                codes.append(make_grid.check(path, lambda fresh, name=name: write_ocean(fresh, name)))
            else:
                write_ocean(path, name)
        except LibraryError as error:
            sys.exit(f"make_rough.py: {error}")
        except OSError as error:
            sys.exit(f"make_rough.py: {path}: {error}")
    sys.exit(max(codes, default=0))


if __name__ == "__main__":
    main()
