"""Reference of the kernel `isoneutral`: the isoneutral mixing tensor, in 80-bit arithmetic.

The tensor is that of Griffies et al. (1998), J. Phys. Oceanogr. 28, 805-830, as Veros discretises
it (core/isoneutral/isoneutral.py, core/density). A *triad* is a T cell with one of its side faces
and its upper or lower face. It has a neutral slope

    S = - (drho/dT dT/dx + drho/dS dS/dx) / (drho/dT dT/dz + drho/dS dS/dz),

with drho/dT and drho/dS of the cell, dT/dx and dS/dx on the side face, dT/dz and dS/dz on the
upper or lower face. Each face collects the four triads that it is part of in either direction.

Places are written (k, j, i) for z, y, x, with k = 0 the bottom level: T[k, j, i] is the centre of
a cell, U[k, j, i] its face towards i + 1, V[k, j, i] towards j + 1, W[k, j, i] towards k + 1.
`j` and `i` are arrays of indices, of a column and of a row: a statement holds for each place of a
level on its own, as it would for one.
"""

import functools
from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, teos10

NAME = "isoneutral"
INPUTS = ("salt", "temp", "zt", "dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu",
          "maskT", "maskU", "maskV", "maskW", "K_iso")
OPTIONAL = ()
SETTINGS = {"eq_of_state_type": 3, "iso_slopec": 1e-3, "iso_dslope": 1e-3, "K_iso_steep": 50.0}

_ZYX = ("z", "y", "x")
OUTPUTS = (
    ("K_11", _ZYX, "m2 s-1", "zonal isoneutral diffusivity, on U points"),
    ("K_22", _ZYX, "m2 s-1", "meridional isoneutral diffusivity, on V points"),
    ("K_33", _ZYX, "m2 s-1", "vertical isoneutral diffusivity, on W points"),
    ("Ai_ez", ("ip", "kr", *_ZYX), "1", "tapered slopes of the triads around U points"),
    ("Ai_nz", ("jp", "kr", *_ZYX), "1", "tapered slopes of the triads around V points"),
    ("Ai_bx", ("ip", "kr", *_ZYX), "1", "tapered zonal slopes of the triads around W points"),
    ("Ai_by", ("jp", "kr", *_ZYX), "1", "tapered meridional slopes of the triads around W points"),
)
_DIFFUSIVITY = {
    "float64": Tolerance(
        1e-12,
        "The target. 2e-15 of the largest value was measured on the oceans of test_kernels.py, "
        "5e-15 with TEOS-10; where drodx cancels, a slope can be off by more, and K by that where "
        "the taper is not flat."),
    "float32": Tolerance(
        1e-3,
        "A taper is as sensitive as its slope, a ratio of differences of temperature and salinity "
        "that float32 rounds to 1e-7 of their values: up to 1.6e-3 of the largest value was "
        "measured on oceans with cells of 1 km, 1e-2 with cells of 50 m."),
}
_SLOPES = {
    "float64": Tolerance(
        1e-11,
        "The target. 2e-14 of the largest value was measured on the oceans of test_kernels.py."),
    "float32": Tolerance(
        1e-2,
        "As K_11. Up to 7e-3 of the largest value was measured on oceans with cells of 1 km, 6e-2 "
        "with cells of 50 m."),
}
TOLERANCES = {"K_11": _DIFFUSIVITY, "K_22": _DIFFUSIVITY, "K_33": _SLOPES, "Ai_ez": _SLOPES,
              "Ai_nz": _SLOPES, "Ai_bx": _SLOPES, "Ai_by": _SLOPES}

EPSLN = Real("1e-20")  # keeps a slope finite where density does not decrease upwards

# equations of state 1 to 4, after Vallis (2008)
RHO_0 = Real(1024)  # kg m-3
THETA_0 = Real("9.85")  # degC; Veros's 283.0 - 273.15 is 9.850000000000023 in double precision
BETA_T = Real("1.67e-4")  # K-1
BETA_T_STAR = Real("1e-5")  # K-2
BETA_S = Real("0.78e-3")  # kg g-1
GAMMA_STAR = Real("1.1e-8")  # Pa-1
GRAVITY = Real("9.81")  # m s-2


def reference(fields, settings):
    """The outputs of the kernel for fields with two ghost cells on each side in y and x."""
    given = ((values.shape, values.dtype, values.tobytes()) for values in (np.asarray(fields[name]) for name in INPUTS))
    return dict(tensor(tuple(given), tuple(Real(settings.get(name, default)) for name, default in SETTINGS.items())))


@functools.lru_cache(maxsize=16)
def tensor(given, settings):
    """From values of INPUTS; isoneutral_mixing asks for it again."""
    settings = dict(zip(SETTINGS, settings))
    f = SimpleNamespace(**{name: np.frombuffer(data, kind).reshape(shape).astype(Real)
                           for name, (shape, kind, data) in zip(INPUTS, given)})
    g = gradients(f)
    drho_dT, drho_dS = density_derivatives(
        int(settings["eq_of_state_type"]), f.salt, f.temp, abs(f.zt)[:, None, None])
    g.drho_dT, g.drho_dS = f.maskT * drho_dT, f.maskT * drho_dS

    out = SimpleNamespace(
        **{name: np.zeros(f.temp.shape, Real) for name in ("K_11", "K_22", "K_33")},
        **{name: np.zeros((2, 2, *f.temp.shape), Real)
           for name in ("Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")})
    around_u_points(f, g, settings, out)
    around_v_points(f, g, settings, out)
    around_w_points(f, g, settings, out)
    return vars(out)


def density_derivatives(eq_of_state_type, salt, temp, depth):
    """drho/dT and drho/dS in kg m-3 K-1 and kg m-3 (g kg-1)-1, by Veros's eq_of_state_type."""
    if eq_of_state_type == 5:
        return teos10_density_derivatives(salt, temp, depth)
    if eq_of_state_type not in (1, 2, 3, 4):
        raise ValueError(f"eq_of_state_type is {eq_of_state_type}, expected 1 to 5")
    expansion = BETA_T + 0 * temp
    if eq_of_state_type == 3:
        expansion = expansion * (1 + GAMMA_STAR * GRAVITY * RHO_0 * depth)
    if eq_of_state_type != 1:
        expansion = expansion + BETA_T_STAR * (temp - THETA_0)
    contraction = BETA_S if eq_of_state_type != 4 else 0 * BETA_S
    return -RHO_0 * expansion, RHO_0 * contraction + 0 * salt


def teos10_density_derivatives(salt, temp, pressure):
    """By the quotient rule from rho = D / N. Depth in m is taken as pressure in dbar.

    Veros has the same formula with coefficients that someone multiplied out and rounded to 16
    digits, which moves drho/dT by up to 7e-15 of its largest value.
    """
    root = np.sqrt(salt)

    def derivative(variable):
        dN = polynomial(differentiated(teos10.NUMERATOR, variable), root, temp, pressure)
        dD = polynomial(differentiated(teos10.DENOMINATOR, variable), root, temp, pressure)
        return (dD - rho * dN) / N

    N = polynomial(teos10.NUMERATOR, root, temp, pressure)
    D = polynomial(teos10.DENOMINATOR, root, temp, pressure)
    rho = D / N
    return derivative("temp"), derivative("salt")


def differentiated(terms, variable):
    """Terms (power of sqrt(salt), of temp, of p, coefficient) of the derivative by temp or salt."""
    result = []
    for a, b, c, coefficient in terms:
        if variable == "temp" and b > 0:
            result.append((a, b - 1, c, b * Real(coefficient)))
        elif variable == "salt" and a > 0:
            # salt^(a/2) becomes a/2 salt^(a/2 - 1); there is no term with a = 1
            result.append((a - 2, b, c, a * Real(coefficient) / 2))
    return result


def polynomial(terms, root, temp, pressure):
    # multiplied out: what x**n gives in extended precision depends on the C library
    total = 0 * root * temp * pressure
    for a, b, c, coefficient in terms:
        term = Real(coefficient)
        for base, power in ((root, a), (temp, b), (pressure, c)):
            for _ in range(power):
                term = term * base
        total = total + term
    return total


def gradients(f):
    """Differences of T and S across the faces; 0 where there is no cell on the far side."""
    nz, ny, nx = f.temp.shape
    g = SimpleNamespace(**{name: np.zeros(f.temp.shape, Real)
                           for name in ("dTdx", "dSdx", "dTdy", "dSdy", "dTdz", "dSdz")})
    for k in range(nz):
        j, i = np.ix_(range(ny), range(nx - 1))
        for field, slope in ((f.temp, g.dTdx), (f.salt, g.dSdx)):
            slope[k, j, i] = (f.maskU[k, j, i] * (field[k, j, i + 1] - field[k, j, i])
                              / (f.dxu[i] * f.cost[j]))
        j, i = np.ix_(range(ny - 1), range(nx))
        for field, slope in ((f.temp, g.dTdy), (f.salt, g.dSdy)):
            slope[k, j, i] = (f.maskV[k, j, i] * (field[k, j + 1, i] - field[k, j, i])
                              / f.dyu[j])
        j, i = np.ix_(range(ny), range(nx))
        for field, slope in ((f.temp, g.dTdz), (f.salt, g.dSdz)):
            if k < nz - 1:
                slope[k, j, i] = (f.maskW[k, j, i] * (field[k + 1, j, i] - field[k, j, i])
                                  / f.dzw[k])
    return g


def zonal_slope(g, cell, u_face, w_face):
    return neutral_slope(
        g.drho_dT[cell] * g.dTdx[u_face] + g.drho_dS[cell] * g.dSdx[u_face],
        g.drho_dT[cell] * g.dTdz[w_face] + g.drho_dS[cell] * g.dSdz[w_face])


def meridional_slope(g, cell, v_face, w_face):
    return neutral_slope(
        g.drho_dT[cell] * g.dTdy[v_face] + g.drho_dS[cell] * g.dSdy[v_face],
        g.drho_dT[cell] * g.dTdz[w_face] + g.drho_dS[cell] * g.dSdz[w_face])


def neutral_slope(drho_dh, drho_dz):
    return -drho_dh / (np.minimum(0, drho_dz) - EPSLN)


def taper(slope, settings):
    """Goes from 1 to 0 where the slope exceeds iso_slopec, over a width of iso_dslope."""
    # (1 + tanh(-y)) / 2 without its cancellation, which makes 0 of a small taper
    with np.errstate(over="ignore"):
        y = (abs(slope) - settings["iso_slopec"]) / settings["iso_dslope"]
        return 1 / (1 + np.exp(2 * y))


def around_u_points(f, g, settings, out):
    """Ai_ez and K_11: the triads of the cells i and i + 1 with the face between them."""
    nz, ny, nx = f.temp.shape
    j, i = np.ix_(range(2, ny - 2), range(1, nx - 2))
    for k in range(nz):
        face = (k, j, i)
        if k > 0:
            diffusivity = (f.K_iso[k, j, i] + f.K_iso[k - 1, j, i]
                           + f.K_iso[k, j, i + 1] + f.K_iso[k - 1, j, i + 1]) / 4
        else:
            diffusivity = (f.K_iso[k, j, i] + f.K_iso[k, j, i + 1]) / 2
        total = 0
        for kr in (0, 1):
            kw = k - 1 + kr
            if kw < 0:
                continue  # the lowest cell has no lower face
            for ip in (0, 1):
                slope = zonal_slope(g, (k, j, i + ip), face, (kw, j, i + ip))
                weight = taper(slope, settings)
                out.Ai_ez[ip, kr, k, j, i] = weight * slope * f.maskU[face]
                total += (f.dzw[kw] * f.maskU[face]
                          * np.maximum(settings["K_iso_steep"], diffusivity * weight))
        out.K_11[face] = total / (4 * f.dzt[k])


def around_v_points(f, g, settings, out):
    """Ai_nz and K_22: the triads of the cells j and j + 1 with the face between them."""
    nz, ny, nx = f.temp.shape
    j, i = np.ix_(range(1, ny - 2), range(2, nx - 2))
    for k in range(nz):
        face = (k, j, i)
        if k > 0:
            diffusivity = (f.K_iso[k, j, i] + f.K_iso[k - 1, j, i]
                           + f.K_iso[k, j + 1, i] + f.K_iso[k - 1, j + 1, i]) / 4
        else:
            diffusivity = (f.K_iso[k, j, i] + f.K_iso[k, j + 1, i]) / 2
        total = 0
        for kr in (0, 1):
            kw = k - 1 + kr
            if kw < 0:
                continue
            for jp in (0, 1):
                slope = meridional_slope(g, (k, j + jp, i), face, (kw, j + jp, i))
                weight = taper(slope, settings)
                out.Ai_nz[jp, kr, k, j, i] = weight * slope * f.maskV[face]
                total += (f.dzw[kw] * f.maskV[face]
                          * np.maximum(settings["K_iso_steep"], diffusivity * weight))
        out.K_22[face] = total / (4 * f.dzt[k])


def around_w_points(f, g, settings, out):
    """Ai_bx, Ai_by and K_33: the triads of the cells k and k + 1 with the face between them."""
    nz, ny, nx = f.temp.shape
    j, i = np.ix_(range(2, ny - 2), range(2, nx - 2))
    for k in range(nz - 1):  # the uppermost cell has no cell above
        face = (k, j, i)
        sum_x = sum_y = 0
        for kr in (0, 1):
            cell = (k + kr, j, i)
            for ip in (0, 1):
                iu = i - 1 + ip
                slope = zonal_slope(g, cell, (k + kr, j, iu), face)
                weight = taper(slope, settings)
                out.Ai_bx[ip, kr, k, j, i] = weight * slope * f.maskW[face]
                sum_x += f.dxu[iu] * f.K_iso[face] * weight * slope * slope * f.maskW[face]
            for jp in (0, 1):
                jv = j - 1 + jp
                slope = meridional_slope(g, cell, (k + kr, jv, i), face)
                weight = taper(slope, settings)
                out.Ai_by[jp, kr, k, j, i] = weight * slope * f.maskW[face]
                sum_y += (f.cosu[jv] * f.dyu[jv]
                          * f.K_iso[face] * weight * slope * slope * f.maskW[face])
        out.K_33[face] = sum_x / (4 * f.dxt[i]) + sum_y / (4 * f.dyt[j] * f.cost[j])
