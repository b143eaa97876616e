"""Reference of the kernel `flow_laplacian`: the first half of biharmonic friction, in 80-bit arithmetic.

As in Veros, the root of the viscosity that a flux of v to the north has is that of the T row to its south, where
all else of the flux is of its own T row.
"""

import numpy as np

from . import Tolerance, alike
from .momentum import chosen, divergence, east, interior, north, prepare

NAME = "flow_laplacian"
INPUTS = ("dxt", "dxu", "dyt", "dyu", "cost", "cosu", "kbot", "u", "v")
OPTIONAL = ("dzt", "dzw")
SETTINGS = {"A_hbi": 0.0, "biharmonic_friction_cosPower": 0, "enable_noslip_lateral": 0}
OUTPUTS = tuple((f"del2_{name}", ("z", "y", "x"), "s-1",
                 f"Laplacian of {name} times the root of the biharmonic viscosity") for name in ("u", "v"))
TOLERANCES = alike(
    OUTPUTS,
    float64=Tolerance(1e-14, "A sum of four fluxes, that nearly cancel where the flow is smooth."),
    float32=Tolerance(1e-5, "The same in float32."))


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f, u, v = prepare(fields)
    return {f"del2_{name}": interior(face.wet * divergence(face, fluxes(f, s, face, face.flow)))
            for name, face in (("u", u), ("v", v))}


def fluxes(f, s, face, values):
    """To the east and to the north, of what is 0 on land."""
    def root(cosine):
        return np.sqrt(s.A_hbi * cosine**s.biharmonic_friction_cosPower)

    def open_to(beside, is_wall):
        other = beside(face.wet)
        return (face.wet & other) + 2 * s.enable_noslip_lateral * is_wall * (face.wet ^ other)

    of_north = root(f.cosu) if face.walls == "north" else root(f.cost)
    through_east = root(face.east_cos) * open_to(east, face.walls == "east") * (
        (east(values) - values) / (face.east_cos * face.east_dx))
    through_north = of_north * open_to(north, face.walls == "north") * (
        (north(values) - values) * face.north_cos / face.north_dy)
    return through_east, through_north
