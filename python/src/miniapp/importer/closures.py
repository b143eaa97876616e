"""What Veros derives from a state, in its own order of operations, so that the bits agree.

Fields are (z, y, x) without ghosts. Veros: core/tke.py, core/eke.py, core/advection.py.
"""

import numpy as np


def mixing(tke, nsqr, g, settings):
    """Mixing length and vertical viscosity, as set_tke_diffusivities makes them."""
    sqrttke = np.sqrt(np.maximum(0.0, tke))
    mxl = np.sqrt(2) * sqrttke / np.sqrt(np.maximum(1e-12, nsqr)) * g["maskW"]
    bound = bound_by_distance if settings["tke_mxl_choice"] == 1 else bound_by_thickness
    mxl = np.maximum(bound(mxl, g, settings["mxl_min"]), settings["mxl_min"])
    kappa = np.minimum(settings["kappaM_max"], settings["c_k"] * mxl * sqrttke)
    return mxl, np.maximum(settings["kappaM_min"], kappa)


def bound_by_distance(mxl, g, _):
    zw, dzw = g["zw"][:, None, None], g["dzw"][:, None, None]
    depth = np.sum((g["maskT"].T * g["dzt"]), axis=2).T
    return np.minimum(np.minimum(mxl, -zw + dzw * 0.5), depth + zw)


def bound_by_thickness(mxl, g, least):
    dzt = g["dzt"]
    mxl = mxl.copy()
    for k in range(len(dzt) - 2, -1, -1):
        mxl[k] = np.minimum(mxl[k], mxl[k + 1] + dzt[k + 1])
    mxl[-1] = np.minimum(mxl[-1], least + dzt[-1])
    for k in range(1, len(dzt)):
        mxl[k] = np.minimum(mxl[k], mxl[k - 1] + dzt[k])
    return mxl


def eddy_diffusivity(eke, nsqr, coriolis, beta, g, settings):
    """The length of eddies and K_gm, as set_eke_diffusivities makes them."""
    terms = np.sqrt(np.maximum(0.0, nsqr)) * g["dzw"][:, None, None] * g["maskW"] / settings["pi"]
    speed = np.sum(np.ascontiguousarray(terms.T), axis=2).T  # along contiguous z, as in Veros
    rossby = np.minimum(speed / np.maximum(np.abs(coriolis), 1e-16),
                        np.sqrt(speed / np.maximum(2 * beta, 1e-16)))
    sqrteke = np.sqrt(np.maximum(0.0, eke))
    rhines = np.sqrt(sqrteke / np.maximum(beta, 1e-16))
    length = np.maximum(settings["eke_lmin"], np.minimum(settings["eke_cross"] * rossby,
                                                         settings["eke_crhin"] * rhines))
    return length, np.minimum(settings["eke_k_max"], settings["eke_c_k"] * length * sqrteke)


def with_ghosts(values, cyclic):
    """Adds a cell at the west, east, south and north: along x the one from the other end if x is
    cyclic, else 0."""
    values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(1, 1)], mode="wrap" if cyclic else
                    "constant")
    return np.pad(values, [(0, 0)] * (values.ndim - 2) + [(1, 1), (0, 0)])


def on_upper_faces(u, mask, dzt, dzw):
    """A lateral velocity on the upper faces, before it is redirected at the sea floor."""
    result = np.empty_like(u)
    result[:-1] = (u[1:] * mask[1:] * 0.5 * dzt[1:] / dzw[:-1]
                   + u[:-1] * mask[:-1] * 0.5 * dzt[:-1] / dzw[:-1])
    result[-1] = u[-1] * mask[-1] * 0.5 * dzt[-1] / dzw[-1]
    result[0] = result[0] + u[0] * mask[0] * 0.5 * dzt[0] / dzw[0]
    return result


def redirect(u, wet, dzw):
    """Where a face ends at the sea floor, its transport moves one level up."""
    carried = u[:-1] * dzw[:-1] / dzw[1:] * (1.0 - wet[:-1])
    result = u.copy()
    result[1:] += carried
    result[:-1] *= wet[:-1]
    return result


def velocities_on_upper_faces(u, v, g, cyclic):
    """u_wgrid, v_wgrid, w_wgrid, as calculate_velocity_on_wgrid makes them."""
    dzt, dzw = g["dzt"][:, None, None], g["dzw"][:, None, None]
    wet = with_ghosts(g["maskW"], cyclic)
    u = on_upper_faces(with_ghosts(u, cyclic), with_ghosts(g["maskU"], cyclic), dzt, dzw)
    v = on_upper_faces(with_ghosts(v, cyclic), with_ghosts(g["maskV"], cyclic), dzt, dzw)
    u[:, :, :-1] = redirect(u[:, :, :-1], wet[:, :, :-1] & wet[:, :, 1:], dzw)
    v[:, :-1] = redirect(v[:, :-1], wet[:, :-1] & wet[:, 1:], dzw)
    cost, cosu = g["cost"][:, None], np.pad(g["cosu"], (1, 0), mode="edge")[:, None]
    dx, dy = g["dxt"], g["dyt"][:, None]
    inner = slice(1, -1)
    divergence = ((u[:, inner, inner] - u[:, inner, :-2]) / (cost * dx)
                  + (cosu[1:] * v[:, inner, inner] - cosu[:-1] * v[:, :-2, inner]) / (cost * dy))
    w = np.cumsum(-dzw * divergence, axis=0)
    return u[:, inner, inner], v[:, inner, inner], w
