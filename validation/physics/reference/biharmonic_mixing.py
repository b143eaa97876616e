"""Reference of the kernel `biharmonic_mixing`, in 80-bit arithmetic."""

import numpy as np

from .lateral_diffusion import INPUTS, OPTIONAL, OUTPUTS, TOLERANCES, fluxes, prepare, step  # noqa: F401
from .momentum import chosen, divergence

NAME = "biharmonic_mixing"
SETTINGS = {"dt_tracer": 1.0, "K_hbi": 0.0, "enable_conserve_energy": 1}


def reference(fields, settings):
    s = chosen(SETTINGS, settings)
    f = prepare(fields)
    root = np.sqrt(s.K_hbi)

    def twice(tracer):
        once = f.maskT * divergence(f, fluxes(f, root, root, tracer))
        return tuple(-flux for flux in fluxes(f, root, root, once))

    return step(fields, f, s, twice)
