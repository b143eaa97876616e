"""Reference of the kernel `momentum`: tendencies, friction and the provisional flow, in 80-bit arithmetic.

The mathematics is that of Veros (core/momentum.py, core/friction.py, core/external). Fields are arrays
(z, y, x), and a face bears the number of the cell to its west, south or below: east(q) is q at i + 1. Values
that wrap around the arrays' edges reach no cell of the interior, and all else is set to 0 at the end.

u and v are 0 on land, as Veros keeps them; so here no transport is masked.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, chosen

NAME = "momentum"
GRID = ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu")
INPUTS = (*GRID, "kbot", "u", "v", "kappaM", "surface_taux", "surface_tauy")
OPTIONAL = ("tantr", "coriolis_t", "w", "rho", "du_taum1", "dv_taum1", "r_bot_var_u", "r_bot_var_v", "u_source",
            "v_source")
SETTINGS = {
    "dt_mom": 1.0, "AB_eps": 0.1, "enable_implicit_vert_friction": 0, "enable_explicit_vert_friction": 0,
    "enable_hor_friction": 0, "A_h": 0.0, "enable_hor_friction_cos_scaling": 0, "hor_friction_cosPower": 3,
    "enable_noslip_lateral": 0,
    "enable_ray_friction": 0, "r_ray": 0.0, "enable_bottom_friction": 0, "r_bot": 0.0,
    "enable_bottom_friction_var": 0, "enable_quadratic_bottom_friction": 0, "r_quad_bot": 0.0,
    "enable_momentum_sources": 0, "enable_conserve_energy": 1}
VOLUME, SURFACE = ("z", "y", "x"), ("y", "x")
OUTPUTS = (
    ("du", VOLUME, "m s-2", "tendency of u by all but friction"),
    ("dv", VOLUME, "m s-2", "tendency of v by all but friction"),
    ("u_taup1", VOLUME, "m s-1", "u after the step, before the external mode"),
    ("v_taup1", VOLUME, "m s-1", "v after the step, before the external mode"),
    ("K_diss_v", VOLUME, "m2 s-3", "dissipation by vertical friction"),
    ("K_diss_h", VOLUME, "m2 s-3", "dissipation by lateral friction"),
    ("K_diss_bot", VOLUME, "m2 s-3", "dissipation at the bottom, by drag and by sources"),
    ("du_mean", SURFACE, "m s-2", "depth mean of the tendency of u with friction"),
    ("dv_mean", SURFACE, "m s-2", "depth mean of the tendency of v with friction"),
    ("u_mean", SURFACE, "m s-1", "depth mean of u_taup1"),
    ("v_mean", SURFACE, "m s-1", "depth mean of v_taup1"))
TENDENCY = {
    "float64": Tolerance(1e-13, "A sum of terms that nearly cancel, some of them sums up a column."),
    "float32": Tolerance(1e-4, "The same in float32."),
}
# Vertical friction leaves levels nearly alike, and what it dissipates is viscosity times a difference between
# them: one rounding error of u makes 8e-13 of the largest value on masks.h5.
OF_LEVELS = {
    "float64": Tolerance(2e-12, "Differences of levels that vertical friction leaves nearly alike."),
    "float32": Tolerance(1e-3, "The same in float32."),
}
TOLERANCES = {name: OF_LEVELS if name == "K_diss_v" else TENDENCY for name, *_ in OUTPUTS}

RHO_0, GRAVITY = Real(1024), Real("9.81")


def east(values):
    return np.roll(values, -1, axis=-1)


def west(values):
    return np.roll(values, 1, axis=-1)


def north(values):
    return np.roll(values, -1, axis=-2)


def south(values):
    return np.roll(values, 1, axis=-2)


def above(values):
    """Nothing lies above the surface."""
    return np.concatenate([values[1:], np.zeros_like(values[:1])])


def below(values):
    return np.concatenate([np.zeros_like(values[:1]), values[:-1]])


def divergence(cell, through):
    """The fluxes to the east and to the north of cells with dx, dy and the cosine of latitude."""
    through_east, through_north = through
    return ((through_east - west(through_east)) / (cell.cosine * cell.dx)
            + (through_north - south(through_north)) / (cell.cosine * cell.dy))


def work(cell, through, values):
    """Work of fluxes on the differences of values that they cross; half of it is on either side."""
    at_east, at_north = ((beside(values) - values) * flux for beside, flux in zip((east, north), through))
    return ((at_east + west(at_east)) / (2 * cell.cosine * cell.dx)
            + (at_north + south(at_north)) / (2 * cell.cosine * cell.dy))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f, u, v = prepare(fields)
    du = coriolis_of_u(f) + wind(f, u) + advection(f, u) + pressure_force(f, u)
    dv = coriolis_of_v(f) + wind(f, v) + advection(f, v) + pressure_force(f, v)
    result = {name: np.zeros(f.u.shape, Real) for name in ("K_diss_v", "K_diss_h", "K_diss_bot")}
    for name, face, tendency in (("u", u, du * u.wet), ("v", v, dv * v.wet)):
        mix = friction(f, s, face, result)
        new = face.flow + s.dt_mom * face.wet * (
            mix + (Real(1.5) + s.AB_eps) * tendency - (Real(0.5) + s.AB_eps) * face.before)
        result |= {f"d{name}": tendency, f"{name}_taup1": new,
                   f"d{name}_mean": depth_mean(f, face, tendency + mix), f"{name}_mean": depth_mean(f, face, new)}
    return {name: interior(values) for name, values in result.items()}


def interior(values):
    result = np.zeros_like(values)
    result[..., 2:-2, 2:-2] = values[..., 2:-2, 2:-2]
    return result


def prepare(fields):
    """All fields, and what u and v have each: where their cells are, how large, and who is beside them."""
    volume, surface = fields["u"].shape, fields["kbot"].shape
    shape = {"tantr": surface[:1], "coriolis_t": surface, "surface_taux": surface, "surface_tauy": surface,
             "r_bot_var_u": surface, "r_bot_var_v": surface}
    f = SimpleNamespace(**{name: np.asarray(fields.get(name, np.zeros(shape.get(name, volume))), Real)
                           for name in (*INPUTS, *OPTIONAL)})
    for name in ("dyt", "dyu", "cost", "cosu", "tantr"):
        setattr(f, name, getattr(f, name)[:, None])
    for name in ("dzt", "dzw"):
        setattr(f, name, getattr(f, name)[:, None, None])
    f.kbot = f.kbot.astype(int)
    f.level = np.arange(volume[0])[:, None, None]
    f.wet = (f.kbot > 0) & (f.level >= f.kbot - 1)
    u = SimpleNamespace(
        flow=f.u, beside=east, dx=f.dxu, dy=f.dyt, cosine=f.cost, tau=f.surface_taux, before=f.du_taum1,
        source=f.u_source, r_bot_var=f.r_bot_var_u, across=(f.v, south(f.v), east(f.v), east(south(f.v))),
        # the squares' edges: where u of i and i + 1 meet, and u of j and j + 1
        east_dx=east(f.dxt), east_dy=f.dyt, north_dy=f.dyu, east_cos=f.cost, north_cos=f.cosu, walls="north")
    v = SimpleNamespace(
        flow=f.v, beside=north, dx=f.dxt, dy=f.dyu, cosine=f.cosu, tau=f.surface_tauy, before=f.dv_taum1,
        source=f.v_source, r_bot_var=f.r_bot_var_v, across=(f.u, west(f.u), north(f.u), north(west(f.u))),
        east_dx=f.dxu, east_dy=f.dyu, north_dy=north(f.dyt), east_cos=f.cosu, north_cos=north(f.cost), walls="east")
    for face in (u, v):
        face.wet = f.wet & face.beside(f.wet)
        face.kbot = np.maximum(f.kbot, face.beside(f.kbot))
    return f, u, v


def coriolis_of_u(f):
    """And the metric term: both turn the flow at a T point, by half the sum of the faces."""
    zonal, meridional = (f.u + west(f.u)) / 2, (f.v + south(f.v)) / 2
    turned = (f.coriolis_t + f.tantr * zonal) * meridional * f.dxt
    return (turned + east(turned)) / (2 * f.dxu)


def coriolis_of_v(f):
    zonal = (f.u + west(f.u)) / 2
    turned = (f.coriolis_t + f.tantr * zonal) * zonal * f.dyt * f.cost
    return -(turned + north(turned)) / (2 * f.dyu * f.cosu)


def wind(f, face):
    result = np.zeros_like(f.u)
    result[-1] = face.tau / (RHO_0 * f.dzt[-1])
    return result


def advection(f, face):
    """Each face of a u or v cell carries half of the transports through the two cells that it halves."""
    eastward = f.u * f.dyt * f.dzt
    northward = f.v * f.cosu * f.dxt * f.dzt
    upward = f.w * f.cost * f.dyt * f.dxt
    upward[-1] = 0
    # a cell's transports through the face to its east are half those of two T cells, of whom `beside` is one
    through_east = (eastward + face.beside(eastward)) / 2 * (face.flow + east(face.flow)) / 2
    through_north = (northward + face.beside(northward)) / 2 * (face.flow + north(face.flow)) / 2
    through_top = (upward + face.beside(upward)) / 2 * (face.flow + above(face.flow)) / 2
    out = (through_east - west(through_east) + through_north - south(through_north)
           + through_top - below(through_top))
    return -out / (f.dzt * face.cosine * face.dx * face.dy)


def pressure(f):
    p = np.zeros_like(f.u)
    p[-1] = GRAVITY / RHO_0 * f.rho[-1] * f.dzw[-1] / 2
    for k in range(len(p) - 2, -1, -1):
        p[k] = f.wet[k] * (p[k + 1] + GRAVITY / RHO_0 * f.dzw[k] * (f.rho[k] + f.rho[k + 1]) / 2)
    return p * f.wet


def pressure_force(f, face):
    p = pressure(f)
    distance = f.cost * f.dxu if face.beside is east else f.dyu
    return -(face.beside(p) - p) / distance


def friction(f, s, face, dissipated):
    """The tendency, with what it dissipates, on T columns of the W grid, added."""
    mix = np.zeros_like(f.u)
    if s.enable_implicit_vert_friction:
        new, lost = mix_vertically(f, s, face)
        if not s.enable_explicit_vert_friction:  # which takes its place, but for what it dissipates
            mix += (new - face.flow) / s.dt_mom
        dissipated["K_diss_v"] += to_t_columns(f, face, lost)
    if s.enable_hor_friction:
        spread, lost = mix_laterally(f, s, face)
        mix += spread
        if s.enable_conserve_energy:
            dissipated["K_diss_h"] += to_t_columns(f, face, on_wgrid(f, face, lost))
    force = drag(f, s, face)
    if s.enable_conserve_energy:
        dissipated["K_diss_bot"] += to_t_columns(f, face, on_wgrid(f, face, -face.flow * force))
    return face.wet * (mix + force)


def mix_vertically(f, s, face):
    """The flow with viscosity implicit in time; its work on the flow before is what is lost."""
    viscosity = (f.kappaM + face.beside(f.kappaM)) / 2 * (face.wet & above(face.wet))
    exchange = s.dt_mom * viscosity / f.dzw
    lower, upper = -below(exchange) / f.dzt, -exchange / f.dzt
    ratios, solved = [], []
    ratio = right = np.zeros_like(f.u[0])
    for a, c, flow in zip(lower, upper, face.flow):
        pivot = 1 - a - c - a * ratio
        right = (flow - a * right) / pivot
        ratio = c / pivot
        ratios.append(ratio)
        solved.append(right)
    for k in range(len(solved) - 2, -1, -1):
        solved[k] = solved[k] - ratios[k] * solved[k + 1]
    new = np.where(face.wet, solved, face.flow)
    return new, viscosity * (above(face.flow) - face.flow) * (above(new) - new) / f.dzw**2


def mix_laterally(f, s, face):
    """Fluxes between neighbours that are both wet, and into walls without slip, half a cell away."""
    power = s.hor_friction_cosPower * s.enable_hor_friction_cos_scaling
    walls = {"east": 0, "north": 0}
    if s.enable_noslip_lateral:
        walls[face.walls] = 2

    def flux(beside, name, distance):
        both, one = face.wet & beside(face.wet), face.wet ^ beside(face.wet)
        return (both + walls[name] * one) * (beside(face.flow) - face.flow) / distance

    through_east = s.A_h * face.east_cos**power * flux(east, "east", face.east_cos * face.east_dx)
    through_north = s.A_h * face.north_cos**power * face.north_cos * flux(north, "north", face.north_dy)
    through = through_east, through_north
    return divergence(face, through), work(face, through, face.flow)


def drag(f, s, face):
    """The rate that slows the flow all over, that of the lowest wet level, and the source that pushes it."""
    rate = s.r_ray * s.enable_ray_friction
    if s.enable_bottom_friction:
        linear = face.r_bot_var if s.enable_bottom_friction_var else s.r_bot
        rate = rate + (f.level == face.kbot - 1) * linear
    if s.enable_quadratic_bottom_friction:
        speed = np.sqrt(face.flow**2 + sum(q**2 for q in face.across) / 4)
        rate = rate + (f.level == face.kbot - 1) * s.r_quad_bot * speed / f.dzt
    return face.wet * (face.source * s.enable_momentum_sources - rate * face.flow)


def on_wgrid(f, face, lost):
    """Half of a level goes to the W point above and half below; what is below the lowest water comes back.
    Veros keeps what lies on dry faces of columns that have water on one side."""
    height_below = np.concatenate([f.dzw[:1], f.dzw[:-1]])
    result = (lost + above(lost)) / 2
    result += (f.level == face.kbot - 1) * lost * height_below / (2 * f.dzw)
    result[-1] = lost[-1]
    return result * ((face.kbot > 0) & (f.level >= face.kbot - 1))


def to_t_columns(f, face, lost):
    area_t = f.cost * f.dyt * f.dxt
    shares = lost * face.cosine * face.dx * face.dy / 2
    other = west(shares) if face.beside is east else south(shares)
    return (shares + other) / area_t


def depth_mean(f, face, values):
    height = (face.wet * f.dzt).sum(axis=0)
    return (face.wet * values * f.dzt).sum(axis=0) / np.where(height > 0, height, 1)
