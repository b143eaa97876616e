"""Random test fields of any size for all kernels, with the places that are hard to get right.

Every value is plausible, also on land and in the ghost cells, and neighbours differ, so that a
wrong index, mask or ghost row changes the result. The exception is a box where temperature and
salinity are constant, exactly.
"""

import h5py
import numpy as np

HALO = 2
SOURCES_OF_TKE = ("P_diss_v", "P_diss_adv", "P_diss_nonlin", "K_diss_bot", "eke_diss_tke",
                  "eke_diss_iw", "K_diss_gm", "K_diss_h", "P_diss_skew", "P_diss_hmix", "P_diss_iso")


def faces(mask, cyclic, halo):
    """The masks, by Veros's rule: a face is water where both of its cells are."""
    east, north, above = np.zeros_like(mask), np.zeros_like(mask), mask.copy()
    east[..., :-1] = mask[..., :-1] & mask[..., 1:]
    if cyclic:
        east[..., -1] = mask[..., -1] & mask[..., 2 * halo]
    north[:, :-1] = mask[:, :-1] & mask[:, 1:]
    above[:-1] = mask[:-1] & mask[1:]
    return {"maskT": mask, "maskU": east, "maskV": north, "maskW": above}


def make(nx, ny, nz, seed, dx=1e5, *, islands=True, random_masks=False, unstable=True,
         constant=True, steep=True, negative_tke=True, drain=True, cfl=0.3, eq_of_state_type=3,
         eddies=True, dt_mom=4800.0, dt_tracer=43200.0):
    """Fields and settings for a grid of nx x ny x nz cells, ghost cells included, of width dx m.

    islands       land of single cells, columns of one wet level, columns wet to the lowest level;
                  without, all is water
    random_masks  masks that do not follow from each other, as pyhpc-benchmarks has them; the four
                  of an ocean are partly redundant, so that one left out may not show
    unstable      a box where dense water lies on light water
    constant      a box of constant temperature and salinity
    steep         a box with slopes far beyond iso_slopec; elsewhere they are about as large as it
    negative_tke  some negative values in tke and tke_taup1
    drain         some columns where the surface forcing drains more tke than there is
    eddies        eddies have an energy of their own
    cfl           largest Courant number in each direction, at dt_tracer; the velocity has both
                  signs
    """
    if nx < 2 * HALO + 1 or ny < 2 * HALO + 1 or nz < 1:
        raise ValueError(f"{nx} x {ny} x {nz} cells leave none inside the halo")
    rng = np.random.default_rng(seed)
    settings = {
        "eq_of_state_type": eq_of_state_type, "iso_slopec": 1e-3, "iso_dslope": 1e-3,
        "K_iso_steep": 50.0, "dt_tracer": dt_tracer, "dt_mom": dt_mom, "AB_eps": 0.1,
        "alpha_tke": 1.0, "c_eps": 0.7, "K_h_tke": 2000.0, "enable_eke": int(eddies),
        "eke_cross": 2.0, "eke_c_k": 0.4, "K_gm_0": 700.0, "K_iso_0": 900.0,
        "enable_eke_superbee_advection": 1, "kappaM_0": 2e-4, "kappaH_0": 1e-5,
        "enable_eddy_streamfunction": 1,
    }
    fields = grid(rng, nx, ny, nz, dx)
    fields |= topography(rng, nx, ny, nz, islands)
    if random_masks:
        fields |= {name: (rng.random((nz, ny, nx)) < 0.8).astype(np.uint8)
                   for name in ("maskT", "maskU", "maskV", "maskW")}
    fields |= water(rng, fields, dx, unstable, constant, steep)
    fields |= velocity(rng, fields, cfl, dt_tracer)
    fields |= turbulence(rng, fields, settings, negative_tke, drain)
    fields |= tensor(rng, fields)
    fields |= tracers(rng, fields)
    fields |= advection(rng, fields, settings, cfl)
    fields |= eddy_energy(rng, fields)
    fields |= forcing(rng, fields)
    fields |= {"sample": rng.uniform(0, 1, (nz, ny, nx)), "factor_a": rng.uniform(-1, 1, (nz, ny)),
               "factor_b": rng.uniform(-1, 1, (nz, nx)),
               "forc_tracer_surface": 1e-4 * rng.uniform(-1, 1, (ny, nx))}
    fields |= momentum(rng, fields, settings)
    fields |= external_mode(rng, fields, settings)
    fields |= biharmonic(rng, fields, settings)
    fields |= internal_waves(rng, fields, settings, negative_tke)
    fields |= interior_forcing(rng, fields)
    return fields, settings


def grid(rng, nx, ny, nz, dx):
    """An uneven grid from 60S to 65N with thin levels at the surface."""
    width = {name: dx * rng.uniform(0.8, 1.2, n) for name, n in (("dxt", nx), ("dxu", nx), ("dyt", ny), ("dyu", ny))}
    latitude = np.radians(np.linspace(-60, 65, 2 * ny))
    dzt = np.geomspace(300, 10, nz) * rng.uniform(0.9, 1.1, nz)
    dzw = np.append((dzt[1:] + dzt[:-1]) / 2, dzt[-1]) * rng.uniform(0.95, 1.05, nz)
    zt = dzt / 2 - np.cumsum(dzt[::-1])[::-1]
    # p differs from the depth, so that a kernel that takes one for the other shows
    return {**width, "cost": np.cos(latitude[::2]), "cosu": np.cos(latitude[1::2]),
            "dzt": dzt, "dzw": dzw, "zt": zt, "zw": dzt - np.cumsum(dzt[::-1])[::-1],
            "p": -1.015 * zt}


def topography(rng, nx, ny, nz, islands):
    kbot = np.ones((ny, nx), np.int32)
    if islands:
        hills = 0.5 + 0.5 * waves(rng, (ny, nx))
        kbot += (hills * 0.7 * nz).astype(np.int32)
        kind = rng.random((ny, nx))
        kbot[kind < 0.25] = 1
        kbot[kind < 0.15] = nz
        kbot[kind < 0.08] = 0
    level = np.arange(nz)[:, None, None]
    maskT = (kbot > 0) & (level >= kbot - 1)
    maskU, maskV, maskW = maskT.copy(), maskT.copy(), maskT.copy()
    maskU[:, :, :-1] &= maskT[:, :, 1:]
    maskV[:, :-1, :] &= maskT[:, 1:, :]
    maskW[:-1] &= maskT[1:]
    return {"kbot": kbot, **{name: mask.astype(np.uint8) for name, mask in (
        ("maskT", maskT), ("maskU", maskU), ("maskV", maskV), ("maskW", maskW))}}


def water(rng, fields, dx, unstable, constant, steep):
    """Warm and salt at the surface, with isotherms and isohalines that slope by about 1e-3."""
    zt = fields["zt"][:, None, None]
    shape = fields["maskT"].shape
    boxes = {name: random_box(rng, shape[1:]) for name in ("steep", "unstable", "constant")}

    def displaced_height():
        lift = 1.5e-3 * dx * (waves(rng, shape[1:]) + 0.05 * rng.uniform(-1, 1, shape))
        if steep:
            lift[boxes["steep"]] *= 30
        return zt + lift

    # arctan keeps the range of the ocean, and no two values equal
    temp = 14 + 7.5 * np.arctan((displaced_height() + 300) / 500) + 2e-4 * zt
    salt = 35 + 0.5 * np.arctan((displaced_height() + 200) / 300) + 1e-5 * zt
    if unstable:
        for field in (temp, salt):
            field[boxes["unstable"]] = field[boxes["unstable"]][::-1]
    if constant:
        temp[boxes["constant"]] = 10
        salt[boxes["constant"]] = 35
    return {"temp": temp, "salt": salt, "K_iso": rng.uniform(200, 2000, shape)}


def velocity(rng, fields, cfl, dt_tracer):
    shape = fields["maskT"].shape
    widths = {
        "u_wgrid": (fields["cost"][:, None] * fields["dxt"])[None],
        "v_wgrid": (fields["cost"] * fields["dyt"])[None, :, None],
        "w_wgrid": fields["dzw"][:, None, None],
    }
    result = {name: cfl / dt_tracer * width * rng.uniform(-1, 1, shape) for name, width in widths.items()}
    return result | {name: result[f"{name}_wgrid"] * rng.uniform(0.5, 1.5, shape) for name in ("u", "v")}


def turbulence(rng, fields, settings, negative_tke, drain):
    """Smooth and rough parts, so that the advection scheme meets both; more at the surface."""
    shape = fields["maskT"].shape
    decay = np.exp(fields["zt"] / 500)[:, None, None]

    def energy(typical):
        result = typical * decay * (1.2 + waves(rng, shape[1:]) + 0.2 * rng.uniform(-1, 1, shape))
        if negative_tke:
            result[rng.random(shape) < 0.05] *= -0.1
        return result

    surface = rng.uniform(0, 1e-6, shape[1:])
    if drain:
        surface[rng.random(shape[1:]) < 0.2] = -1e-4
    return {
        "tke": energy(1e-3),
        "tke_taup1": energy(1e-3),
        "dtke_taum1": 1e-4 / settings["dt_tracer"] * rng.uniform(-1, 1, shape),
        "kappaM": 10 ** rng.uniform(-5, -1, shape),
        "mxl": 10 ** rng.uniform(-1, 2, shape),
        "forc": 1e-8 * decay * rng.uniform(-1, 2, shape),
        "forc_tke_surface": surface,
        "kappaH": 10 ** rng.uniform(-6, -1, shape),
        "forc_temp_surface": 1e-4 * rng.uniform(-1, 1, shape[1:]),
        "forc_salt_surface": 1e-6 * rng.uniform(-1, 1, shape[1:]),
        "Nsqr": 10 ** rng.uniform(-7, -3, shape) * rng.choice((-1, 1), shape, p=(0.1, 0.9)),
        "K_diss_v": 10 ** rng.uniform(-10, -6, shape),
        **{name: 1e-8 * decay * rng.uniform(-1, 1, shape) for name in SOURCES_OF_TKE},
    }


def tensor(rng, fields):
    """Of neutral surfaces that have nothing to do with temperature and salinity; K_33 mixes neighbours
    in a step of a day, but not the whole column."""
    shape = fields["maskT"].shape
    slopes = {name: 1e-3 * rng.uniform(-1, 1, (2, 2, *shape)) for name in ("Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")}
    return {"K_11": rng.uniform(50, 2000, shape), "K_22": rng.uniform(50, 2000, shape),
            "K_33": 10 ** rng.uniform(-5, -1, shape), "K_gm": rng.uniform(200, 2000, shape), **slopes}


def tracers(rng, fields):
    """A tracer that is neither temperature nor salinity, and what the level taup1 holds before."""
    shape = fields["maskT"].shape
    depth = -fields["zt"][:, None, None]
    return {
        "tracer": 2 + waves(rng, shape[1:]) + 0.2 * rng.uniform(-1, 1, shape),
        "tracer_taup1": 2 + rng.uniform(-1, 1, shape),
        "dtracer_skew": 1e-7 * rng.uniform(-1, 1, shape),
        "temp_taup1": fields["temp"] + 0.1 * rng.uniform(-1, 1, shape),
        "salt_taup1": fields["salt"] + 0.01 * rng.uniform(-1, 1, shape),
        "int_drhodT": -0.2 * depth * (1 + 0.2 * rng.uniform(-1, 1, shape)),
        "int_drhodS": 0.8 * depth * (1 + 0.1 * rng.uniform(-1, 1, shape)),
    }


def advection(rng, fields, settings, cfl):
    """What only advection reads. dtemp and dsalt have nothing to do with the flow."""
    shape = fields["maskT"].shape
    dt = settings["dt_tracer"]
    height = fields["dzt"][:, None, None]
    return {"w": cfl / dt * height * rng.uniform(-1, 1, shape),
            "dtracer_taum1": 0.1 / dt * rng.uniform(-1, 1, shape),
            "dtemp": 0.1 / dt * rng.uniform(-1, 1, shape),
            "dsalt": 0.01 / dt * rng.uniform(-1, 1, shape),
            "Hd": 10 * rng.uniform(-1, 1, shape), "rho": 10 * rng.uniform(-1, 1, shape)}


def eddy_energy(rng, fields):
    """Their energy, negative in places, and the rotation of the earth, which is 0 in a row."""
    shape = fields["maskT"].shape
    decay = np.exp(fields["zt"] / 500)[:, None, None]
    sine = np.linspace(-0.85, 0.9, shape[1])
    sine[shape[1] // 2] = 0
    uneven = rng.uniform(0.9, 1.1, shape[1:])
    return {"eke": 1e-2 * decay * rng.uniform(-0.1, 1, shape),
            "eke_taup1": 1e-2 * decay * rng.uniform(-0.1, 1, shape),
            "deke_taum1": 1e-8 * decay * rng.uniform(-1, 1, shape),
            "eke_len": 10 ** rng.uniform(1.5, 5, shape),
            "coriolis_t": 1.458e-4 * sine[:, None] * uneven,
            "beta": 2.29e-11 * fields["cost"][:, None] * uneven}


def forcing(rng, fields):
    """Through the surface and within. Restoring warms and cools."""
    shape = fields["maskT"].shape

    def within(least, most, axes=shape[1:]):
        return rng.uniform(least, most, axes)

    return {"t_star": within(-2, 30), "t_rest": within(1e-6, 1e-5), "t_flux": within(-5e-5, 5e-5),
            "s_star": within(33, 37), "s_rest": within(1e-6, 1e-5), "s_flux": within(-1e-6, 1e-6),
            "temp_source": within(-1e-6, 1e-6, shape), "salt_source": within(-1e-8, 1e-8, shape)}


def interior_forcing(rng, fields):
    """Sunlight that penetrates, and restoring in the water."""
    shape = fields["maskT"].shape
    return {"q_solar": rng.uniform(0, 5e-5, shape[1:]), "divpen_shortwave": rng.uniform(-0.01, 0.05, shape[0]),
            "rest_tscl": rng.uniform(1e-8, 1e-6, shape), "temp_star": rng.uniform(-2, 30, shape),
            "salt_star": rng.uniform(33, 37, shape)}


def momentum(rng, fields, settings):
    """Fields that momentum alone reads, about as large as the other terms; and a flow to be corrected, on land, too."""
    shape = fields["maskT"].shape

    def within(size, axes=shape):
        return size * rng.uniform(-1, 1, axes)

    dt, surface = settings["dt_mom"], shape[1:]
    speed = abs(fields["u"]).max()
    settings |= {"enable_implicit_vert_friction": 1, "enable_hor_friction": 1, "enable_bottom_friction": 1,
                 "A_h": 0.02 * fields["dxt"].min()**2 / dt, "r_bot": 0.1 / dt}
    width = fields["dyt"].min() * fields["dzt"].sum()
    result = {
        "tantr": within(1 / 6.4e6, shape[1]), "surface_taux": within(0.3, surface),
        "surface_tauy": within(0.3, surface), "du_taum1": within(0.2 * speed / dt),
        "dv_taum1": within(0.2 * speed / dt), "r_bot_var_u": 0.1 / dt + within(0.05 / dt, surface),
        "r_bot_var_v": 0.1 / dt + within(0.05 / dt, surface), "u_source": within(0.1 * speed / dt),
        "v_source": within(0.1 * speed / dt), "u_taup1": within(speed), "v_taup1": within(speed),
        "psi_taup1": within(speed * width, surface)}
    return result | {f"d{name}": result[f"d{name}_taum1"][:, ::-1] for name in ("u", "v")}


def external_mode(rng, fields, settings):
    """Fields that only elliptic problems read, on land, too."""
    surface, dt = fields["kbot"].shape, settings["dt_mom"]
    # the condition of cells of 50 m is 1e8, so that a residual of 1e-13 leaves much of the pressure open
    settings |= {"solver_tolerance": 1e-14 if fields["dxt"].min() < 100 else 1e-13}
    speed, width = abs(fields["u"]).max(), fields["dyt"].min() * fields["dzt"].sum()
    sizes = {"u_mean": speed, "v_mean": speed, "psi": 20, "psi_taum1": 20, "du_mean": 0.2 * speed / dt,
             "dv_mean": 0.2 * speed / dt, "dpsi": 0.2 * speed * width / dt, "dpsi_taum1": 0.2 * speed * width / dt}
    return {name: size * rng.uniform(-1, 1, surface) for name, size in sizes.items()}


def biharmonic(rng, fields, settings):
    """A Laplacian that has nothing to do with the flow."""
    dt, shape = settings["dt_mom"], fields["maskT"].shape
    width = fields["dxt"].min()
    settings |= {"A_hbi": (0.02 * width**2)**2 / dt, "K_h": 0.02 * width**2 / settings["dt_tracer"],
                 "K_hbi": (0.05 * width**2)**2 / settings["dt_tracer"]}
    size = abs(fields["u"]).max() / dt**0.5
    return {name: size * rng.uniform(-1, 1, shape) for name in ("del2_u", "del2_v")}


def internal_waves(rng, fields, settings, negative_tke):
    """Fields that they alone read; what they gain and lose in a step is about as large as their energy."""
    shape, dt = fields["maskT"].shape, settings["dt_tracer"]
    decay = np.exp(fields["zt"] / 500)[:, None, None]
    settings |= {"tau_v": 0.4 * dt, "tau_h": 3 * dt, "enable_idemix_hor_diffusion": 1,
                 "enable_idemix_superbee_advection": 1}
    energy = 1e-3 * decay * rng.uniform(-0.1 if negative_tke else 0, 1, (2, *shape))
    speed = fields["dxt"].min() / dt
    return {"c0": 1e-3 + 0.1 * rng.uniform(0, 1, shape), "v0": speed * rng.uniform(0, 0.3, shape),
            "alpha_c": rng.uniform(0, 2, shape) / (dt * 1e-3), "E_iw": energy[0], "E_iw_taup1": energy[1],
            "dE_iw_taum1": 1e-4 / dt * decay * rng.uniform(-1, 1, shape),
            "iw_diss": 1e-8 * decay * rng.uniform(0, 1, shape),
            "forc_iw_bottom": 1e-5 * rng.uniform(0, 1, shape[1:]),
            "forc_iw_surface": 1e-6 * rng.uniform(0, 1, shape[1:])}


def waves(rng, shape):
    """A smooth field on (y, x) between -1 and 1: waves of 5 to 30 cells."""
    ny, nx = shape
    y, x = np.arange(ny)[:, None], np.arange(nx)
    result = np.zeros(shape)
    for _ in range(3):
        by, bx = rng.choice((-1, 1), 2) * rng.uniform(0.2, 0.9, 2)
        result += np.sin(by * y + bx * x + rng.uniform(0, 2 * np.pi)) / 3
    return result


def random_box(rng, shape):
    """All levels of a third of the grid in either direction, ghost cells included."""
    corner = [rng.integers(0, n - n // 3 + 1) for n in shape]
    return (slice(None), *(slice(c, c + max(1, n // 3)) for c, n in zip(corner, shape)))


def write(path, fields, settings):
    """An input file of the program, with ghost cells."""
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = HALO
        for name, value in settings.items():
            file.attrs[name] = value
        for name, values in fields.items():
            file.create_dataset(name, data=values, chunks=values.shape, fletcher32=True, track_times=False)
