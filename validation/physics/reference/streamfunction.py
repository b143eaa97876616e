"""Reference of the kernel `streamfunction`: one unknown for each corner in water and for each coast, by a direct
solver.

The sum of the equations of a coast's corners stands for the integral around it: flow between two of them cancels.
"""

import numpy as np
from scipy import ndimage

from . import Tolerance, alike
from .elliptic import Real, solve
from .surface_pressure import height

NAME = "streamfunction"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "dzt", "cost", "cosu", "kbot", "du_mean", "dv_mean", "psi", "dpsi")
OPTIONAL = ("dpsi_taum1",)
SETTINGS = {"dt_mom": 1.0, "AB_eps": 0.1, "solver_tolerance": 1e-10}
OUTPUTS = (("psi_taup1", ("y", "x"), "m3 s-1", "streamfunction after the step"),
           ("dpsi_taup1", ("y", "x"), "m3 s-2", "tendency of the streamfunction"))
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-8, "The solver's tolerance, 1e-10, is one of the residual."),
                   float32=Tolerance(2e-4, "Circulations nearly cancel around a corner, and are rounded."))
NOWHERE = -1


def reference(fields, settings):
    cyclic = bool(settings.get("cyclic_x", 0))
    step, eps = (Real(settings.get(name, SETTINGS[name])) for name in ("dt_mom", "AB_eps"))
    g = corners(fields, cyclic)
    unknown, count = unknowns(g["kbot"], cyclic)
    end = [unknown, np.roll(unknown, -1, axis=1), np.vstack([unknown[1:], np.full_like(unknown[:1], NOWHERE)])]
    edges, excess, b = [], np.zeros(count, Real), np.zeros(count, Real)
    wall = np.full_like(unknown[:, 0], NOWHERE)
    for one, other, coupling, circulation in ((unknown, end[1], g["east"], g["along_v"]),
                                              (unknown, end[2], g["north"], g["along_u"]),
                                              (wall, unknown[:, 0], g["from_wall"], g["along_wall"])):
        one, other, coupling, circulation = (part.ravel() for part in (one, other, coupling, circulation))
        differs = (one != other) & (coupling > 0)
        both = differs & (one != NOWHERE) & (other != NOWHERE)
        edges.append((one[both], other[both], coupling[both]))
        for here, there, sign in ((one, other, -1), (other, one, 1)):
            known = differs & (here != NOWHERE)
            np.add.at(b, here[known], sign * circulation[known])
            alone = known & (there == NOWHERE)
            np.add.at(excess, here[alone], coupling[alone])
    solution = np.append(solve(edges, excess, b), 0)
    tendency = np.where(unknown == NOWHERE, 0, solution[unknown])
    result = {name: np.zeros(fields["kbot"].shape, Real) for name in ("psi_taup1", "dpsi_taup1")}
    inside = (slice(1, -2), slice(2, -2))
    psi, before = (np.asarray(fields[name], Real)[inside] for name in ("psi", "dpsi"))
    result["dpsi_taup1"][inside] = tendency
    result["psi_taup1"][inside] = psi + step * ((1.5 + eps) * tendency - (0.5 + eps) * before)
    return result


def corners(fields, cyclic):
    """On corners from the southern wall to the northern one: couplings to the next corner in the east and north,
    and the tendency along the face between, times its width; and the same for those beside a western wall."""
    dxt, dxu = (np.asarray(fields[name], Real)[None, 2:-2] for name in ("dxt", "dxu"))
    dyt, dyu, cost, cosu = (np.asarray(fields[name], Real)[1:-1, None] for name in ("dyt", "dyu", "cost", "cosu"))
    kbot = np.pad(np.asarray(fields["kbot"])[2:-2, 2:-2], ((1, 1), (0, 0)))
    du, dv = (np.asarray(fields[name], Real)[1:-1, 2:-2] for name in ("du_mean", "dv_mean"))
    beside = np.roll(kbot, -1, axis=1) if cyclic else np.pad(kbot[:, 1:], ((0, 0), (0, 1)))
    hu = height(kbot, beside, fields["dzt"])[1:]
    hv = height(kbot, np.pad(kbot[1:], ((0, 1), (0, 0))), fields["dzt"])[:-1]
    if kbot.shape[1] == 1:
        hv = 0 * hv
    hv_east = np.roll(hv, -1, axis=1) if cyclic else np.pad(hv[:, 1:], ((0, 0), (0, 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        east = np.where(hv_east > 0, dyu[:-1] / (np.roll(dxt, -1, axis=1) * cosu[:-1] * hv_east), 0)
        from_wall = np.where((hv[:, 0] > 0) & (not cyclic), dyu[:-1, 0] / (dxt[:, 0] * cosu[:-1, 0] * hv[:, 0]), 0)
        north = np.where(hu > 0, dxu * cost[1:] / (dyt[1:] * hu), 0)
    return {"kbot": kbot, "east": east, "north": north,
            "along_v": dyu[:-1] * np.roll(dv, -1, axis=1)[:-1], "along_u": -dxu * cost[1:] * du[1:],
            "from_wall": from_wall, "along_wall": dyu[:-1, 0] * dv[:-1, 0]}


def unknowns(kbot, cyclic):
    """The number of each corner's unknown: NOWHERE on the coast of the northern wall and inside land."""
    land = kbot == 0
    if cyclic:
        labels, found = ndimage.label(np.hstack([land, land]), np.ones((3, 3)))
        same = np.arange(found + 1)
        nx = land.shape[1]
        for _ in range(found):  # what meets across the seam is one
            pairs = np.stack([same[labels[:, :nx]], same[labels[:, nx:]]])[:, land]
            low, high = pairs.min(axis=0), pairs.max(axis=0)
            if (low == high).all():
                break
            for one, other in zip(low, high):
                same[same == other] = one
        labels = same[labels[:, :nx]]
        right = np.roll(labels, -1, axis=1)
    else:
        labels, _ = ndimage.label(np.pad(land, ((0, 0), (1, 1)), constant_values=True), np.ones((3, 3)))
        labels, right = labels[:, 1:-1], labels[:, 2:]
    cells = np.stack([labels[:-1], labels[1:], right[:-1], right[1:]])
    masses = cells.max(axis=0)
    is_water, is_coast = (cells == 0).all(axis=0), (cells == 0).any(axis=0) & (masses > 0)
    is_known = ~is_water & (~is_coast | (masses == labels[-1, 0]))
    keys = np.where(is_water, -1 - np.arange(masses.size).reshape(masses.shape), masses)
    _, numbers = np.unique(keys[~is_known], return_inverse=True)
    result = np.full(masses.shape, NOWHERE)
    result[~is_known] = numbers
    return result, int(numbers.max(initial=-1)) + 1
