"""Reference of the kernel `tke`: one step of turbulent kinetic energy, in 80-bit arithmetic.

The step is that of Veros (core/tke.py, integrate_tke; core/advection.py, superbee on the W grid):

1. vertical mixing and dissipation, implicit, with sources and the surface flux, over dt_mom;
2. the surface correction: what the surface flux drained below 0 is put back, and told;
3. lateral diffusion, explicit, over dt_mom;
4. advection by a superbee scheme and Adams-Bashforth, over dt_tracer.

Places are written (k, j, i) for z, y, x, with k = 0 the bottom level. tke lives on W points, the
upper faces of the T cells; its uppermost cell is half as thick as dzw says. `j` and `i` are indices, or
arrays of them, of a column and of a row: then a statement holds for each place of a level on its own.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, chosen

NAME = "tke"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu", "maskU", "maskV", "maskW",
          "u_wgrid", "v_wgrid", "w_wgrid", "kappaM", "mxl", "forc", "forc_tke_surface", "tke",
          "dtke_taum1", "kbot")
OPTIONAL = ("tke_taup1",)
SETTINGS = {"dt_tracer": 1.0, "dt_mom": 1.0, "AB_eps": 0.1, "alpha_tke": 1.0, "c_eps": 0.7,
            "K_h_tke": 2000.0, "enable_tke_hor_diffusion": 1, "enable_tke_superbee_advection": 1,
            "enable_tke_upwind_advection": 0}

OUTPUTS = (
    ("tke_taup1", ("z", "y", "x"), "m2 s-2", "turbulent kinetic energy after the step"),
    ("dtke", ("z", "y", "x"), "m2 s-3", "advective tendency of turbulent kinetic energy"),
    ("tke_surf_corr", ("y", "x"), "m3 s-3", "correction of the surface flux of TKE"),
    ("tke_diss", ("z", "y", "x"), "m2 s-3", "dissipation of turbulent kinetic energy"),
)
TOLERANCES = {
    "tke_taup1": {
        "float64": Tolerance(
            1e-13,
            "The column solve is diagonally dominant and loses no digits: 5e-16 of the largest "
            "value was measured over 54 grids; 1e-13 leaves room for other orders of rounding on "
            "other machines and is far below any change of the formulas."),
        "float32": Tolerance(
            1e-5,
            "Rounding the inputs to float32 and solving columns in it gave up to 3.5e-7 of the "
            "largest value; 1e-5 leaves room for other orders of rounding."),
    },
    "dtke": {
        "float64": Tolerance(
            1e-13,
            "A difference of fluxes that nearly cancel: 2e-15 of the largest value was measured "
            "over 54 grids."),
        "float32": Tolerance(
            2e-5,
            "A difference of fluxes that nearly cancel: 1.4e-6 of the largest value was measured "
            "in float32."),
    },
    "tke_diss": {
        "float64": Tolerance(
            1e-13,
            "As tke_taup1, from which it is made by a product."),
        "float32": Tolerance(
            1e-5,
            "As tke_taup1."),
    },
    "tke_surf_corr": {
        "float64": Tolerance(
            1e-13,
            "The negative part of the solution at the surface times a constant: 3e-16 of the "
            "largest value was measured."),
        "float32": Tolerance(
            1e-5,
            "As tke_taup1, from which it is made: 2e-7 of the largest value was measured in "
            "float32."),
    },
}

TINY = Real("1e-20")  # keeps the slope ratio of superbee finite


def reference(fields, settings):
    """The outputs of the kernel for fields with two ghost cells on each side in y and x."""
    s = chosen(SETTINGS, settings)
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in INPUTS})
    f.kbot = np.asarray(fields["kbot"], int)
    nz, ny, nx = f.tke.shape

    new = np.zeros(f.tke.shape, Real)
    if "tke_taup1" in fields:
        new[:, 2:ny - 2, 2:nx - 2] = fields["tke_taup1"][:, 2:ny - 2, 2:nx - 2]
    mix_vertically(f, s, new)
    tke_diss = dissipation(f, s, new)
    tke_surf_corr = correct_surface(f, s, new)
    if s.enable_tke_hor_diffusion:
        diffuse_laterally(f, s, new)
    dtke = np.zeros(f.tke.shape, Real)
    if s.enable_tke_superbee_advection or s.enable_tke_upwind_advection:
        dtke = advective_tendency(f, s)
        advect(f, s, dtke, new)
    return {"tke_taup1": new, "dtke": dtke, "tke_surf_corr": tke_surf_corr, "tke_diss": tke_diss}


def dissipation(f, s, new):
    """In the water, of what the columns' solution holds."""
    nz, ny, nx = f.tke.shape
    result = np.zeros(f.tke.shape, Real)
    for j in range(2, ny - 2):
        for i in range(2, nx - 2):
            for k in range(f.kbot[j, i] - 1, nz) if f.kbot[j, i] else ():
                root = np.sqrt(max(Real(0), f.tke[k, j, i]))
                result[k, j, i] = s.c_eps * root / f.mxl[k, j, i] * new[k, j, i]
    return result


def cell_height(f, k):
    """The uppermost W point lies on the surface, so its cell has only a lower half."""
    return f.dzw[k] / 2 if k == len(f.dzw) - 1 else f.dzw[k]


def mix_vertically(f, s, new):
    """Below kbot and on land `new` stays as it is."""
    nz, ny, nx = f.tke.shape
    for j in range(2, ny - 2):
        for i in range(2, nx - 2):
            if f.kbot[j, i] == 0:
                continue
            levels = range(f.kbot[j, i] - 1, nz)
            system = [column_equation(f, s, levels, k, j, i) for k in levels]
            for k, value in zip(levels, solve_tridiagonal(system)):
                new[k, j, i] = value


def column_equation(f, s, levels, k, j, i):
    """The factors of tke in the levels k - 1, k, k + 1, and the right-hand side."""
    height = cell_height(f, k)
    below = mixing(f, s, k - 1, j, i) / height if k > levels[0] else Real(0)
    above = mixing(f, s, k, j, i) / height if k < levels[-1] else Real(0)
    dissipation = s.dt_mom * s.c_eps * np.sqrt(max(Real(0), f.tke[k, j, i])) / f.mxl[k, j, i]
    right = f.tke[k, j, i] + s.dt_mom * f.forc[k, j, i]
    if k == levels[-1]:
        right += s.dt_mom * f.forc_tke_surface[j, i] / height
    return -below, 1 + below + above + dissipation, -above, right


def mixing(f, s, k, j, i):
    """What dt_mom exchanges between the levels k and k + 1, in m; T point k + 1 is between them."""
    return (s.dt_mom * s.alpha_tke * (f.kappaM[k, j, i] + f.kappaM[k + 1, j, i]) / 2
            / f.dzt[k + 1])


def solve_tridiagonal(system):
    """By elimination from the first row on; the first `lower` and the last `upper` do not count."""
    rows = []
    for n, (lower, diagonal, upper, right) in enumerate(system):
        if n > 0:
            previous_upper, previous_right = rows[-1]
            diagonal = diagonal - lower * previous_upper
            right = right - lower * previous_right
        rows.append((upper / diagonal, right / diagonal))
    solution = [rows[-1][1]]
    for upper, right in reversed(rows[:-1]):
        solution.append(right - upper * solution[-1])
    return solution[::-1]


def correct_surface(f, s, new):
    nz, ny, nx = f.tke.shape
    top = nz - 1
    correction = np.zeros((ny, nx), Real)
    for j in range(2, ny - 2):
        for i in range(2, nx - 2):
            if new[top, j, i] < 0:
                correction[j, i] = -new[top, j, i] * cell_height(f, top) / s.dt_mom
                new[top, j, i] = 0
    return correction


def diffuse_laterally(f, s, new):
    nz, ny, nx = f.tke.shape
    j, i = np.ix_(range(2, ny - 2), range(2, nx - 2))
    for k in range(nz):
        convergence = (
            (zonal_diffusion(f, s, k, j, i) - zonal_diffusion(f, s, k, j, i - 1))
            / (f.cost[j] * f.dxt[i])
            + (meridional_diffusion(f, s, k, j, i) - meridional_diffusion(f, s, k, j - 1, i))
            / (f.cost[j] * f.dyt[j]))
        new[k, j, i] += s.dt_mom * f.maskW[k, j, i] * convergence


def zonal_diffusion(f, s, k, j, i):
    """The flux of tke against x between the cells i and i + 1."""
    gradient = (f.tke[k, j, i + 1] - f.tke[k, j, i]) / (f.cost[j] * f.dxu[i])
    return s.K_h_tke * gradient * f.maskU[k, j, i]


def meridional_diffusion(f, s, k, j, i):
    """The flux of tke against y between the cells j and j + 1, times the cosine of its latitude."""
    gradient = (f.tke[k, j + 1, i] - f.tke[k, j, i]) / f.dyu[j]
    return s.K_h_tke * gradient * f.maskV[k, j, i] * f.cosu[j]


def advective_tendency(f, s):
    nz, ny, nx = f.tke.shape
    dtke = np.zeros(f.tke.shape, Real)
    j, i = np.ix_(range(2, ny - 2), range(2, nx - 2))
    for k in range(nz):
        zonal = ((zonal_advection(f, s, k, j, i) - zonal_advection(f, s, k, j, i - 1))
                 / (f.cost[j] * f.dxt[i]))
        meridional = (
            (meridional_advection(f, s, k, j, i) - meridional_advection(f, s, k, j - 1, i))
            / (f.cost[j] * f.dyt[j]))
        vertical = ((vertical_advection(f, s, k, j, i) - vertical_advection(f, s, k - 1, j, i))
                    / cell_height(f, k))
        # as in Veros, the mask is for the horizontal part only
        dtke[k, j, i] = -f.maskW[k, j, i] * (zonal + meridional) - vertical
    return dtke


def advect(f, s, dtke, new):
    nz, ny, nx = f.tke.shape
    j, i = np.ix_(range(2, ny - 2), range(2, nx - 2))
    for k in range(nz):
        new[k, j, i] += s.dt_tracer * ((Real(1.5) + s.AB_eps) * dtke[k, j, i]
                                       - (Real(0.5) + s.AB_eps) * f.dtke_taum1[k, j, i])


def zonal_advection(f, s, k, j, i):
    """The flux of tke between the cells i and i + 1."""
    velocity = f.u_wgrid[k, j, i]
    return limited_flux(
        s, velocity, velocity > 0, velocity * s.dt_tracer / (f.cost[j] * f.dxt[i]),
        cells=[f.tke[k, j, i + n] for n in (-1, 0, 1, 2)],
        faces=[f.maskW[k, j, i + n] * f.maskW[k, j, i + n + 1] for n in (-1, 0, 1)])


def meridional_advection(f, s, k, j, i):
    """The flux of tke between the cells j and j + 1, times the cosine of its latitude."""
    velocity = f.v_wgrid[k, j, i] * f.cosu[j]
    return limited_flux(
        s, velocity, f.v_wgrid[k, j, i] > 0, velocity * s.dt_tracer / (f.cost[j] * f.dyt[j]),
        cells=[f.tke[k, j + n, i] for n in (-1, 0, 1, 2)],
        faces=[f.maskW[k, j + n, i] * f.maskW[k, j + n + 1, i] for n in (-1, 0, 1)])


def vertical_advection(f, s, k, j, i):
    """The flux of tke between the levels k and k + 1; nothing passes the bottom or the surface."""
    levels = range(len(f.dzw))
    if k not in levels or k + 1 not in levels:
        return Real(0)
    no_cell = Real(0) * f.tke[k, j, i]

    def cell(field, k):
        return field[k, j, i] if k in levels else no_cell

    velocity = f.w_wgrid[k, j, i]
    return limited_flux(
        s, velocity, velocity > 0, velocity * s.dt_tracer / f.dzw[k],
        cells=[cell(f.tke, k + n) for n in (-1, 0, 1, 2)],
        faces=[cell(f.maskW, k + n) * cell(f.maskW, k + n + 1) for n in (-1, 0, 1)])


def limited_flux(s, velocity, forward, courant, cells, faces):
    """The flux through the middle face of four cells in a row.

    It is the centred flux, less as much of the difference to the upwind flux (limiter 0) and the
    Lax-Wendroff flux (limiter 1) as the limiter says, which of the upwind scheme is 0. `forward` is where the velocity points to
    the last cell, so that the first face is upwind; `faces` is 0 where a face is closed.
    """
    before, here, after = (face * (cells[n + 1] - cells[n]) for n, face in enumerate(faces))
    upwind = np.where(forward, before, after)
    limiter = superbee_limiter(upwind / np.where(abs(here) < TINY, TINY, here))
    if s.enable_tke_upwind_advection:
        limiter = 0 * limiter
    diffusion = abs(velocity) * (1 - limiter + abs(courant) * limiter) * here
    return (velocity * (cells[1] + cells[2]) - diffusion) / 2


def superbee_limiter(ratio):
    return np.maximum(0, np.maximum(np.minimum(1, 2 * ratio), np.minimum(2, ratio)))
