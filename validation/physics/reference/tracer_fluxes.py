"""Fluxes of a tracer by the isoneutral tensor, their divergence, the column solve and dissipation.

Griffies (1998) and Griffies et al. (1998), with Veros's boundaries, in 80-bit arithmetic. A flux is
an array over cells: F.east[k, j, i] goes through the face between the cells i and i + 1, F.north
through that between j and j + 1, times the cosine of its latitude, F.top through that between k and
k + 1. A flux that no cell of the interior sees is 0.
"""

from types import SimpleNamespace

import numpy as np

from . import Real

HALO = 2
RHO_0, GRAVITY = Real(1024), Real("9.81")

GRID = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu",
        "maskT", "maskU", "maskV", "maskW")
TENSOR = ("K_11", "K_22", "Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")
AXES = {"Ai_ez": ("ip", "kr"), "Ai_nz": ("jp", "kr"), "Ai_bx": ("ip", "kr"), "Ai_by": ("jp", "kr")}


def interior(shape):
    """The rows and columns that the kernels compute, as ranges of indices."""
    return range(HALO, shape[1] - HALO), range(HALO, shape[2] - HALO)


def gather(fields, names, optional=None):
    """Those that are there, in 80 bits; `optional` maps a name to what stands in for it."""
    found = {name: np.asarray(fields[name], Real) for name in names if name in fields}
    for name, stand_in in (optional or {}).items():
        found[name] = (np.asarray(fields[name], Real) if name in fields
                       else np.array(stand_in(found)))
    return SimpleNamespace(**found)


def level_tensor():
    """What stands in for a tensor that is absent: neutral surfaces are level."""
    slopes = {name: lambda f: np.zeros((2, 2, *f["maskT"].shape), Real) for name in AXES}
    return {"K_11": lambda f: f["K_iso"], "K_22": lambda f: f["K_iso"],
            "K_33": lambda f: np.zeros(f["maskT"].shape, Real), **slopes}


def fluxes(f, tensor, tracer, along, across, diagonal=1):
    """`along` is the diffusivity of lateral fluxes, `across` that of the vertical one: both K_iso for
    diffusion; -K_gm and K_gm for skew diffusion, whose tensor is antisymmetric, so that `diagonal` is
    0. Where it is 1, K_11 and K_22 of isoneutral diffusion act in skew diffusion, too, as in pyOM2 and
    in Veros before 1.7.
    """
    nz, ny, nx = tracer.shape
    flux = SimpleNamespace(**{name: np.zeros(tracer.shape, Real)
                              for name in ("east", "north", "top")})
    rise = np.zeros((nz + 1, ny, nx), Real)  # rise[k] is what the tracer gains from k - 1 to k
    rise[1:nz] = tracer[1:] - tracer[:-1]
    rows, columns = interior(tracer.shape)
    for k in range(nz):
        under = max(k - 1, 0)
        j, i = np.ix_(rows, range(1, nx - HALO))
        mean = (along[k, j, i] + along[under, j, i]
                + along[k, j, i + 1] + along[under, j, i + 1]) / 4
        slopes = sum(tensor.Ai_ez[ip, kr, k, j, i] * rise[k + kr, j, i + ip]
                     for ip in (0, 1) for kr in (0, 1))
        flux.east[k, j, i] = (
            mean * slopes / (4 * f.dzt[k]) + diagonal * tensor.K_11[k, j, i]
            * (tracer[k, j, i + 1] - tracer[k, j, i]) / (f.cost[j] * f.dxu[i]))
        j, i = np.ix_(range(1, ny - HALO), columns)
        mean = (along[k, j, i] + along[under, j, i]
                + along[k, j + 1, i] + along[under, j + 1, i]) / 4
        slopes = sum(tensor.Ai_nz[jp, kr, k, j, i] * rise[k + kr, j + jp, i]
                     for jp in (0, 1) for kr in (0, 1))
        flux.north[k, j, i] = f.cosu[j] * (
            mean * slopes / (4 * f.dzt[k]) + diagonal * tensor.K_22[k, j, i]
            * (tracer[k, j + 1, i] - tracer[k, j, i]) / f.dyu[j])
        if k == nz - 1:
            continue  # nothing goes through the surface
        j, i = np.ix_(rows, columns)
        in_x = sum(tensor.Ai_bx[ip, kr, k, j, i]
                   * (tracer[k + kr, j, i + ip] - tracer[k + kr, j, i + ip - 1])
                   for ip in (0, 1) for kr in (0, 1))
        in_y = sum(tensor.Ai_by[jp, kr, k, j, i] * f.cosu[j - 1 + jp]
                   * (tracer[k + kr, j + jp, i] - tracer[k + kr, j + jp - 1, i])
                   for jp in (0, 1) for kr in (0, 1))
        flux.top[k, j, i] = across[k, j, i] * (
            in_x / (4 * f.dxt[i] * f.cost[j]) + in_y / (4 * f.dyt[j] * f.cost[j]))
    flux.east *= f.maskU
    flux.north *= f.maskV
    flux.top *= f.maskW
    return flux


def divergence(f, flux):
    """The tendency of a tracer by a flux, in the interior."""
    nz = len(flux.top)
    result = np.zeros(flux.top.shape, Real)
    j, i = np.ix_(*interior(result.shape))
    for k in range(nz):
        through_floor = flux.top[k - 1] if k > 0 else np.zeros(flux.top[k].shape, Real)
        result[k, j, i] = (
            (flux.east[k, j, i] - flux.east[k, j, i - 1]) / (f.cost[j] * f.dxt[i])
            + (flux.north[k, j, i] - flux.north[k, j - 1, i]) / (f.cost[j] * f.dyt[j])
            + (flux.top[k, j, i] - through_floor[j, i]) / f.dzt[k])
    return result * f.maskT


def solve_columns(f, K_33, dt, right):
    """x of x - dt d/dz K_33 dx/dz = right in the interior, with no flux through surface and bottom.

    By elimination from the surface down, in 80 bits; elsewhere x is the right-hand side.
    """
    nz = len(right)
    x = right.copy()
    rows, columns = interior(right.shape)
    here = np.ix_(range(nz), rows, columns)
    d, K = right[here], K_33[here]
    exchange = [dt / f.dzw[k] * K[k] for k in range(nz - 1)]  # between the levels k and k + 1
    diagonal, value = [None] * nz, [None] * nz
    for k in reversed(range(nz)):
        upper = exchange[k] / f.dzt[k] if k < nz - 1 else np.zeros(d[0].shape, Real)
        lower = exchange[k - 1] / f.dzt[k] if k > 0 else np.zeros(d[0].shape, Real)
        diagonal[k], value[k] = 1 + upper + lower, d[k]
        if k < nz - 1:
            from_above = exchange[k] / f.dzt[k + 1]  # of the row above, what multiplies x[k]
            diagonal[k] = diagonal[k] - upper * from_above / diagonal[k + 1]
            value[k] = value[k] + upper * value[k + 1] / diagonal[k + 1]
    solution = np.zeros(d.shape, Real)
    solution[0] = value[0] / diagonal[0]
    for k in range(1, nz):
        solution[k] = (value[k] + exchange[k - 1] / f.dzt[k] * solution[k - 1]) / diagonal[k]
    x[here] = solution
    return x


def diffuse(f, tensor, tracer, taup1, dt):
    """tracer_taup1 after isoneutral diffusion, and the explicit flux."""
    flux = fluxes(f, tensor, tracer, f.K_iso, f.K_iso)
    return solve_columns(f, tensor.K_33, dt, taup1 + dt * divergence(f, flux)), flux


def lateral_loss(f, X, flux):
    """What a lateral flux takes from dynamic enthalpy in a cell: half of what it takes at each face."""
    result = np.zeros(X.shape, Real)
    j, i = np.ix_(*interior(X.shape))
    half = GRAVITY / RHO_0 / 2
    east = (X[:, j, i + 1] - X[:, j, i]) * flux.east[:, j, i]
    west = (X[:, j, i] - X[:, j, i - 1]) * flux.east[:, j, i - 1]
    north = (X[:, j + 1, i] - X[:, j, i]) * flux.north[:, j, i]
    south = (X[:, j, i] - X[:, j - 1, i]) * flux.north[:, j - 1, i]
    result[:, j, i] = half * ((east + west) / (f.dxt[i] * f.cost[j])
                              + (north + south) / (f.dyt[j] * f.cost[j]))
    return result


def on_w_grid(f, loss):
    """From cells to their upper faces; a W cell has half of each of the cells that it cuts, that of
    the lowest water also what lies below it, the one at the surface is a half."""
    nz = len(loss)
    result = np.zeros(loss.shape, Real)
    for k in range(nz):
        wet = (f.kbot > 0) & (k >= f.kbot - 1)
        if k == nz - 1:
            result[k] = wet * loss[k]
            continue
        lowest = wet & (k == f.kbot - 1)
        beneath = f.dzw[max(k - 1, 0)] / f.dzw[k]
        result[k] = wet * (loss[k] + loss[k + 1]) / 2 + lowest * beneath * loss[k] / 2
    return result


def vertical_loss(f, X, flux):
    """What a vertical flux, through upper faces, takes from dynamic enthalpy."""
    result = np.zeros(X.shape, Real)
    result[:-1] = (GRAVITY / RHO_0 * (X[1:] - X[:-1]) / f.dzw[:-1, None, None] * flux[:-1]
                   * f.maskW[:-1])
    return result
