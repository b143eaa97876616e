"""Advection of what lies on T points, by finite volumes, in 80-bit arithmetic.

A flux is an array over cells, as in tracer_fluxes: east[k, j, i] goes through the face between the
cells i and i + 1, and so on; north is times the cosine of its latitude. All axes are treated alike:
cells and open faces are shifted along one, and beyond the last cell nothing differs.
"""

from types import SimpleNamespace

import numpy as np

from . import Real

GRID = ("u", "v", "dxt", "dyt", "dzt", "cost", "cosu", "maskT", "maskU", "maskV", "maskW")
TINY = Real("1e-20")  # keeps the ratio of slopes finite


def beyond(values, steps, axis):
    """The values so many cells further along an axis; beyond the edge those of the edge."""
    places = np.clip(np.arange(values.shape[axis]) + steps, 0, values.shape[axis] - 1)
    return np.take(values, places, axis)


def second_order(velocity, tracer, is_open, axis, _courant):
    return velocity * is_open * (tracer + beyond(tracer, 1, axis)) / 2


def superbee(velocity, tracer, is_open, axis, courant):
    """Centred, less so much diffusion that it is upwind where the limiter is 0, and Lax and
    Wendroff's where it is 1."""
    rise = is_open * (beyond(tracer, 1, axis) - tracer)
    rise_before = beyond(is_open, -1, axis) * (tracer - beyond(tracer, -1, axis))
    ratio = (np.where(velocity > 0, rise_before, beyond(rise, 1, axis))
             / np.where(abs(rise) < TINY, TINY, rise))
    limiter = np.maximum(0, np.maximum(np.minimum(2, ratio), np.minimum(1, 2 * ratio)))
    spread = abs(velocity) * (1 - limiter + courant * limiter) * rise
    return (velocity * (tracer + beyond(tracer, 1, axis)) - spread) / 2


def fluxes(f, tracer, dt, scheme):
    """By one of the schemes. The floor of the lowest level and the surface are closed."""
    width = {"east": f.cost[:, None] * f.dxt, "north": (f.cost * f.dyt)[:, None],
             "top": f.dzt[:, None, None]}
    flow = {"east": f.u, "north": f.cosu[:, None] * f.v, "top": f.w}
    result = SimpleNamespace()
    for axis, name, mask in ((2, "east", f.maskU), (1, "north", f.maskV), (0, "top", f.maskW)):
        courant = abs(flow[name]) * dt / width[name]
        setattr(result, name, scheme(flow[name], tracer, mask, axis, courant))
    result.top[-1] = 0
    return result


def gather(fields):
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in GRID})
    f.w = np.asarray(fields.get("w", 0 * f.u), Real)
    return f


def scheme_of(settings):
    return superbee if settings.get("enable_superbee_advection", 0) else second_order
