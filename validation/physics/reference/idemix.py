"""Reference of the kernel `idemix`: one step of the energy of internal waves, in 80-bit arithmetic.

Places are written (k, j, i) as in tke.py, whose advection and column solve serve here, too. A level gives to the
one above it, and gets from it, energy in proportion to c0 E_iw.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, alike, chosen, tke

NAME = "idemix"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "maskU", "maskV", "maskW", "kbot",
          "u_wgrid", "v_wgrid", "w_wgrid", "c0", "v0", "alpha_c", "E_iw")
OPTIONAL = ("eke_diss_iw", "K_diss_gm", "K_diss_h", "P_diss_skew", "P_diss_hmix", "P_diss_iso",
            "K_diss_bot", "forc_iw_bottom", "forc_iw_surface", "E_iw_taup1", "dE_iw_taum1")
SETTINGS = {"dt_tracer": 1.0, "AB_eps": 0.1, "tau_v": 2 * 86400.0, "tau_h": 15 * 86400.0,
            "enable_idemix_hor_diffusion": 0, "enable_idemix_superbee_advection": 0,
            "enable_idemix_upwind_advection": 0, "enable_eke": 0, "enable_eke_diss_bottom": 0,
            "enable_eke_diss_surfbot": 0, "eke_diss_surfbot_frac": 1.0, "enable_store_bottom_friction_tke": 0,
            "enable_store_cabbeling_heat": 0}
OUTPUTS = (
    ("E_iw_taup1", ("z", "y", "x"), "m2 s-2", "energy of internal waves at time level taup1"),
    ("dE_iw", ("z", "y", "x"), "m2 s-3", "advective tendency of the energy of internal waves"),
    ("iw_diss", ("z", "y", "x"), "m2 s-3", "dissipation of the energy of internal waves into turbulence"),
)
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-13, "As tke: a solve that loses no digits, and differences of fluxes."),
    float32=Tolerance(2e-5, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    zero = np.zeros(fields["maskW"].shape, Real)
    flat = np.zeros(zero.shape[1:], Real)
    f = SimpleNamespace(**{
        name: np.asarray(fields.get(name, flat if name.startswith("forc_iw") else zero), Real)
        for name in (*INPUTS, *OPTIONAL)})
    f.kbot = np.asarray(fields["kbot"], int)
    new, lost = zero.copy(), zero.copy()
    inside = (slice(None), slice(2, -2), slice(2, -2))
    new[inside] = f.E_iw_taup1[inside]
    rate = f.alpha_c * np.maximum(0, f.E_iw)
    nz, ny, nx = zero.shape
    for j, i in np.ndindex(ny - 4, nx - 4):
        column = Column(f, s, rate, j + 2, i + 2)
        for k, value in column.solution():
            new[k, j + 2, i + 2] = value
            lost[k, j + 2, i + 2] = column.rate[k] * value
    if s.enable_idemix_hor_diffusion:
        new[inside] += (s.dt_tracer * f.maskW * convergence(f, s))[inside]
    now = zero
    if s.enable_idemix_superbee_advection or s.enable_idemix_upwind_advection:
        f.tke, s.enable_tke_upwind_advection = f.E_iw, s.enable_idemix_upwind_advection
        now = tke.advective_tendency(f, s)
        new[inside] += (s.dt_tracer * ((Real(1.5) + s.AB_eps) * now - (Real(0.5) + s.AB_eps) * f.dE_iw_taum1))[inside]
    return {"E_iw_taup1": new, "dE_iw": now, "iw_diss": lost}


class Column:
    """A column of water, from its lowest level to the surface."""

    def __init__(self, f, s, rate, j, i):
        self.f, self.s = f, s
        nz, kbot = len(f.dzw), f.kbot[j, i]
        self.water = range(kbot - 1, nz) if kbot else range(0)
        self.place = (slice(None), j, i)
        self.rate = rate[self.place]
        self.c0, self.energy = f.c0[self.place], f.E_iw[self.place]
        self.bottom, self.surface = f.forc_iw_bottom[j, i], f.forc_iw_surface[j, i]

    def solution(self):
        if not self.water:
            return ()
        sources = self.sources()
        system = [self.equation(k, sources[k]) for k in self.water]
        return zip(self.water, tke.solve_tridiagonal(system))

    def equation(self, k, source):
        """The factors of the energy in the levels k - 1, k, k + 1, and the right-hand side."""
        dt, low, high = self.s.dt_tracer, self.water[0], self.water[-1]
        height = tke.cell_height(self.f, k)
        down = self.mixing(k - 1) / height if k > low else Real(0)
        up = self.mixing(k) / height if k < high else Real(0)
        flux = self.bottom / self.f.dzw[k] if k == low else self.surface / height if k == high else 0
        return (-down * self.c0[k - 1], 1 + (down + up) * self.c0[k] + dt * self.rate[k],
                -up * self.c0[min(k + 1, high)], self.energy[k] + dt * (source + flux))

    def mixing(self, k):
        """A step's exchange between the levels k and k + 1, over c0; T point k + 1 is between them."""
        return (self.s.dt_tracer * self.s.tau_v * (self.c0[k] + self.c0[k + 1]) / 2 / self.f.dzt[k + 1])

    def sources(self):
        f, s = self.f, self.s
        if s.enable_eke:
            result = self.moved(f.eke_diss_iw[self.place])
        else:
            result = (f.K_diss_gm + f.K_diss_h - f.P_diss_skew)[self.place]
            if s.enable_store_cabbeling_heat:
                result = result - (f.P_diss_hmix + f.P_diss_iso)[self.place]
        return result if s.enable_store_bottom_friction_tke else result + f.K_diss_bot[self.place]

    def moved(self, lost):
        """To the ends of the column, if settings say so."""
        f, s = self.f, self.s
        if not (s.enable_eke_diss_bottom or s.enable_eke_diss_surfbot):
            return lost
        total = sum(tke.cell_height(f, k) * lost[k] * f.maskW[self.place][k] for k in range(len(lost)))
        result = np.zeros(len(lost), Real)
        if s.enable_eke_diss_bottom:
            result[self.water[0]] = total / f.dzw[self.water[0]]
            return result
        result[self.water[0]] = s.eke_diss_surfbot_frac * total / f.dzw[self.water[0]]
        result[-1] = (1 - s.eke_diss_surfbot_frac) * total / tke.cell_height(f, len(lost) - 1)
        return result


def convergence(f, s):
    """Convergence of the lateral fluxes, which no cell at the edge of the grid sees whole."""
    cost, moving = f.cost[:, None], f.v0 * f.E_iw
    east = (s.tau_h * (f.v0[..., 1:] + f.v0[..., :-1]) / 2 * f.maskU[..., :-1] * np.diff(moving, axis=2)
            / (cost * f.dxu[:-1]))
    north = (s.tau_h * (f.v0[:, 1:] + f.v0[:, :-1]) / 2 * f.maskV[:, :-1] * np.diff(moving, axis=1)
             * (f.cosu / f.dyu)[:-1, None])
    result = np.zeros(f.E_iw.shape, Real)
    result[..., 1:-1] += np.diff(east, axis=2) / (cost * f.dxt[1:-1])
    result[:, 1:-1] += np.diff(north, axis=1) / (f.cost * f.dyt)[1:-1, None]
    return result
