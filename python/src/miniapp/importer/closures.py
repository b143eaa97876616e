"""Fields that Veros derives from a state, made of an input's fields by the program's own kernels."""

import numpy as np

from .. import ghosts
from ..library import default
from .problem import Unusable


def check_finite(path, g):
    for name, values in g.items():
        if not np.isfinite(values).all():
            raise Unusable(f"{path}: {name} is not finite everywhere after the conversion, expected numbers: are the "
                           "coordinates right?")


def made_by(path, kernel, g, cyclic, settings, *names):
    """Those fields, without ghosts."""
    check_finite(path, g)
    own = {setting.name: settings[setting.name] for setting in default().kernels[kernel].settings
           if setting.name in settings}
    made = ghosts.run(default(), path, kernel, g, 0, cyclic, check=False, **own)
    return {name: made[name] for name in names}


def mixing(path, g, cyclic, settings):
    """Mixing length and vertical viscosity, which do not depend on the dissipation."""
    return made_by(path, "tke_diffusivities", {"K_diss_v": 0 * g["tke"], **g}, cyclic, settings, "mxl", "kappaM")


def velocities_on_upper_faces(path, g, cyclic):
    return made_by(path, "velocities_on_wgrid", g, cyclic, {}, "u_wgrid", "v_wgrid", "w_wgrid")
