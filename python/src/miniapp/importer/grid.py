"""Veros's staggered grid from the coordinates of T points."""

import gsw
import numpy as np

from .masks import kbot_of, masks_of
from .problem import Unusable, note
from .table import EARTH_RADIUS

ALIKE = 1.99  # the program takes 2: how much wider or narrower cells are than points are apart
REACH = 1.4  # a cell to its point, in spacings on the point's other side: twice that is below 3
METRES_A_DEGREE = EARTH_RADIUS / 180.0 * np.pi
OMEGA = np.pi / 43082.0  # s-1, as in Veros


def goes_round(lon):
    """Whether the gap from the last longitude round to the first is as wide as its neighbours."""
    ends = 0.5 * (lon[1] - lon[0] + lon[-1] - lon[-2])
    gap = lon[0] + 360 - lon[-1]
    return abs(gap - ends) <= 0.05 * ends


def outer_edges(points):
    """Edges of cells: midway between the points, as in Veros; the outermost ones are as far from
    the end points as the next ones."""
    if len(points) == 1:
        return points[0] + np.array([-0.5, 0.5])
    middle = 0.5 * (points[1:] + points[:-1])
    return np.concatenate(([2 * points[0] - middle[0]], middle, [2 * points[-1] - middle[-1]]))


def zonal(lon, cyclic):
    """dxt and dxu in degrees."""
    if cyclic:
        lon = np.append(lon, lon[0] + 360)
        dxu = np.diff(lon)
        return 0.5 * (dxu + np.roll(dxu, 1)), dxu
    edges = outer_edges(lon)
    return np.diff(edges), np.append(np.diff(lon), 2 * (edges[-1] - lon[-1]))


def meridional(lat):
    """dyt and dyu in degrees, and the latitudes of the northern faces; none is beyond a pole."""
    edges = np.clip(outer_edges(lat), -90, 90)
    return np.diff(edges), np.append(np.diff(lat), 2 * (edges[-1] - lat[-1])), edges[1:]


def uneven(points, widths):
    """Indices of points whose distance to the next is not about the width of the cells of both."""
    apart, mean = np.diff(points), 0.5 * (widths[1:] + widths[:-1])
    return np.flatnonzero((mean > ALIKE * apart) | (mean < apart / ALIKE))


def check_even(source, what, points, widths):
    for k in uneven(points, widths):
        apart, mean = points[k + 1] - points[k], 0.5 * (widths[k] + widths[k + 1])
        raise Unusable(f"{source.name}: {what} {points[k]:g} and {points[k + 1]:g} are {apart:g} apart, but their "
                       f"cells would be {mean:g} wide, since they reach towards the points beyond (or the surface), "
                       "expected spacings that change less: interpolate, or leave points out")


def upper_faces(zt):
    """Midway between the points, as in Veros."""
    return np.append(0.5 * (zt[1:] + zt[:-1]), 0.0)


def nearer_faces(zt):
    """Upper faces that no point is too far from: see REACH. Nothing keeps the lowest cell from
    reaching up, or the uppermost from reaching down; but that one reaches the surface, too."""
    apart = np.diff(zt)
    below, above = np.append(np.inf, apart[:-1]), np.append(apart[1:], np.inf)
    down = REACH * above
    down[-2:-1] = np.minimum(down[-2:-1], 2 * REACH * apart[-1] + zt[-1])
    share = np.clip(apart / 2, apart - down, REACH * below) / apart  # below each face
    return np.append(zt[:-1] + apart * np.clip(share, 1e-6, 1 - 1e-6), 0.0)


def thicknesses(zt, zw):
    """The thickness of T cells; the lowest one ends as far below its point as a face midway to the next is above it."""
    return np.diff(zw, prepend=2 * zt[0] - upper_faces(zt)[0])


def below_surface(z):
    """T points of the levels: none at the surface itself."""
    return np.append(z[:-1], z[-2] / 4) if len(z) > 1 and z[-1] == 0 else z.copy()


def vertical(source, z):
    """zt, zw, dzt and dzw; the uppermost W point is the surface."""
    zt = below_surface(z)
    if z[-1] == 0:
        if len(zt) == 1:
            raise Unusable(f"{source.name}: the only level is at 0 m, expected one with a thickness")
        note(f"{source.name}: the level at 0 m stands for the water down to halfway to the next: "
            f"its T point is at {-zt[-1]:g} m")
    elif len(zt) > 1 and -zt[-1] > 1.5 * (zt[-1] - zt[-2]):
        note(f"{source.name}: the uppermost level lies at {-zt[-1]:g} m: its cell reaches the surface")
    zw = upper_faces(zt)
    if uneven(zt, thicknesses(zt, zw)).size:
        zw = nearer_faces(zt)
        note(f"{source.name}: spacings of levels change by so much that some faces between them "
             "are nearer to one than to the other, not midway")
    dzt, dzw = thicknesses(zt, zw), np.append(np.diff(zt), -2 * zt[-1])
    check_even(source, "levels", zt, dzt)
    return zt, zw, dzt, dzw


def note_gaps(source, what, points):
    """Says where one spacing is far wider than those beside it."""
    apart = np.diff(points)
    beside = np.maximum(np.append(apart[1:], 0), np.insert(apart[:-1], 0, 0))
    for k in np.flatnonzero(apart > 1.5 * beside) if len(points) > 3 else ():
        note(f"warning: {source.name}: {what} {points[k]:g} and {points[k + 1]:g} are {apart[k]:g} "
             f"apart, but their neighbours {beside[k]:g}: is one missing? Cells there are wider")


def make_grid(source, lon, lat, z, cyclic):
    """Coordinates and spacings; `cyclic` is 0 or 1, or None if the longitudes decide."""
    for what, points in (("longitude", lon), ("latitude", lat)):
        if len(points) < 2:
            raise Unusable(f"{source.name}: one {what} has no spacing, expected 2 or more")
        note_gaps(source, what + "s", points)
    turn = goes_round(lon)
    if cyclic is None:
        cyclic = int(turn)
        note(f"{source.name}: longitudes {lon[0]:g} to {lon[-1]:g} "
            + ("go round the globe: cyclic in x" if cyclic else
               f"leave a gap of {lon[0] + 360 - lon[-1]:g} degrees, so they do not go round: closed in x"))
    # a channel may be cyclic without going round: its gap is as wide as its last cells
    dxt, dxu = zonal(lon, cyclic and turn)
    dyt, dyu, northern = meridional(lat)
    check_even(source, "longitudes", lon, dxt)
    check_even(source, "latitudes", lat, dyt)
    zt, zw, dzt, dzw = vertical(source, z)
    g = {"x": lon, "y": lat, "z": zt, "zt": zt, "zw": zw, "dzt": dzt, "dzw": dzw,
         "cost": np.cos(np.radians(lat)), "cosu": np.cos(np.radians(northern))}
    for name, degrees in (("dxt", dxt), ("dxu", dxu), ("dyt", dyt), ("dyu", dyu)):
        g[name] = METRES_A_DEGREE * degrees
    note(f"grid of {len(lon)} x {len(lat)} x {len(zt)} cells, edges midway between the points, "
        f"down to {-(zw[-1] - dzt.sum()):g} m")
    return g, bool(cyclic)


def add_rotation(g):
    """The fields of the rotating sphere, which momentum and eddies need."""
    latitude = np.radians(g["y"])
    for name, line in (("coriolis_t", 2 * OMEGA * np.sin(latitude)),
                       ("beta", 2 * OMEGA * np.cos(latitude) / EARTH_RADIUS)):
        g[name] = np.broadcast_to(line[:, None], (len(g["y"]), len(g["x"])))
    g["tantr"] = np.tan(latitude) / EARTH_RADIUS


def add_topography(g, wet, cyclic):
    """kbot and the masks of a column mask without holes."""
    g["kbot"] = kbot_of(wet)
    g.update(masks_of(wet, cyclic))


def mean_pressure(g):
    """One pressure a level, which is what the kernels take: the mean over the ocean's surface."""
    p = gsw.p_from_z(g["zt"][:, None], g["y"])
    area = g["cost"] * g["dyt"] * (g["maskT"][-1] * g["dxt"]).sum(axis=1)
    mean = p @ area / area.sum()
    rows = area > 0
    note("p: pressure by gsw.p_from_z, of each level the mean over the ocean's surface; the "
        f"farthest latitude differs from it by {np.abs(p[:, rows] - mean[:, None]).max():.3g} dbar")
    return mean
