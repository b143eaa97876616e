"""Reference of the kernel `eke`: one step of eddy kinetic energy, in 80-bit arithmetic.

Places are written (k, j, i) as in tke.py, whose advection and column solve serve here, too: both
energies live on the W grid. EKE has a step for all, no flux through the surface, and diffuses
laterally by K_gm.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, alike, chosen, tke

NAME = "eke"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "maskU", "maskV", "maskW", "kbot",
          "u_wgrid", "v_wgrid", "w_wgrid", "kappaM")
OPTIONAL = ("K_iso", "K_gm", "eke_len", "K_diss_gm", "K_diss_h", "P_diss_skew", "P_diss_hmix",
            "P_diss_iso", "eke", "eke_taup1", "deke_taum1")
SETTINGS = {"dt_tracer": 1.0, "AB_eps": 0.1, "alpha_eke": 1.0, "eke_c_eps": 1.0, "eke_lmin": 100.0,
            "enable_eke_superbee_advection": 0, "enable_eke_upwind_advection": 0,
            "enable_store_cabbeling_heat": 0}
OUTPUTS = (
    ("eke_taup1", ("z", "y", "x"), "m2 s-2", "eddy kinetic energy at time level taup1"),
    ("deke", ("z", "y", "x"), "m2 s-3", "advective tendency of eddy kinetic energy"),
    ("eke_diss_iw", ("z", "y", "x"), "m2 s-3",
     "dissipation of eddy kinetic energy into internal waves"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "As tke: a solve that loses no digits, and differences of fluxes."),
    float32=Tolerance(2e-5, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    zero = np.zeros(fields["maskW"].shape, Real)
    absent = {"K_gm": fields.get("K_iso", zero)}
    f = SimpleNamespace(**{name: np.asarray(fields.get(name, absent.get(name, zero)), Real)
                           for name in (*INPUTS, *OPTIONAL)})
    f.kbot = np.asarray(fields["kbot"], int)
    new, lost = zero.copy(), zero.copy()
    inside = (slice(None), slice(2, -2), slice(2, -2))
    new[inside] = f.eke_taup1[inside]
    solve(f, s, new, lost)
    new[inside] += (s.dt_tracer * f.maskW * convergence(f))[inside]
    now = zero
    if s.enable_eke_superbee_advection or s.enable_eke_upwind_advection:
        f.tke, s.enable_tke_upwind_advection = f.eke, s.enable_eke_upwind_advection
        now = tke.advective_tendency(f, s)
        new[inside] += (s.dt_tracer * ((Real(1.5) + s.AB_eps) * now
                                       - (Real(0.5) + s.AB_eps) * f.deke_taum1))[inside]
    return {"eke_taup1": new, "deke": now, "eke_diss_iw": lost}


def solve(f, s, new, lost):
    """Sets the new energy in the water of each column, and what it loses in a second."""
    sources = f.K_diss_gm + f.K_diss_h - f.P_diss_skew
    if not s.enable_store_cabbeling_heat:
        sources = sources - f.P_diss_hmix - f.P_diss_iso
    rate = f.maskW * s.eke_c_eps * np.sqrt(np.maximum(0, f.eke)) / np.maximum(s.eke_lmin, f.eke_len)
    nz, ny, nx = f.eke.shape
    for j, i in np.ndindex(ny - 4, nx - 4):
        j, i = j + 2, i + 2
        water = range(f.kbot[j, i] - 1, nz) if f.kbot[j, i] else ()
        system = [equation(f, s, water, k, (j, i), rate, sources) for k in water]
        for k, value in zip(water, tke.solve_tridiagonal(system) if system else ()):
            new[k, j, i] = value
            lost[k, j, i] = rate[k, j, i] * value


def equation(f, s, water, k, place, rate, sources):
    """The factors of the energy in the levels k - 1, k, k + 1, and the right-hand side."""
    def exchange(lower):
        """Through the T point above the level."""
        if lower not in water or lower + 1 not in water:
            return Real(0)
        viscosity = (f.kappaM[(lower, *place)] + f.kappaM[(lower + 1, *place)]) / 2
        return (s.dt_tracer * s.alpha_eke * viscosity / f.dzt[lower + 1] / tke.cell_height(f, k))

    here = (k, *place)
    return (-exchange(k - 1), 1 + exchange(k - 1) + exchange(k) + s.dt_tracer * rate[here],
            -exchange(k), f.eke[here] + s.dt_tracer * sources[here])


def convergence(f):
    """Of the lateral fluxes, which no cell at the edge of the grid sees whole."""
    K_x = np.maximum(250, (f.K_gm[..., 1:] + f.K_gm[..., :-1]) / 2)
    K_y = np.maximum(250, (f.K_gm[:, 1:] + f.K_gm[:, :-1]) / 2)
    cost = f.cost[:, None]
    east = K_x * f.maskU[..., :-1] * np.diff(f.eke, axis=2) / (cost * f.dxu[:-1])
    north = (K_y * f.maskV[:, :-1] * np.diff(f.eke, axis=1) * (f.cosu / f.dyu)[:-1, None])
    result = np.zeros(f.eke.shape, Real)
    result[..., 1:-1] += np.diff(east, axis=2) / (cost * f.dxt[1:-1])
    result[:, 1:-1] += np.diff(north, axis=1) / (f.cost * f.dyt)[1:-1, None]
    return result
