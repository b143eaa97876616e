"""What the program's own kernels make of an input's fields: what Veros derives from a state."""

from .. import ghosts
from ..library import default


def made_by(kernel, g, cyclic, settings, *names):
    """Those fields, without ghosts."""
    own = {setting.name: settings[setting.name] for setting in default().kernels[kernel].settings
           if setting.name in settings}
    made = ghosts.run(default(), "the input", kernel, g, 0, cyclic, check=False, **own)
    return {name: made[name] for name in names}


def mixing(g, cyclic, settings):
    """Mixing length and vertical viscosity, which do not depend on the dissipation."""
    return made_by("tke_diffusivities", {"K_diss_v": 0 * g["tke"], **g}, cyclic, settings, "mxl", "kappaM")


def eddy_diffusivities(g, cyclic, settings):
    return made_by("eke_diffusivities", g, cyclic, settings, "eke_len", "K_gm", "K_iso")


def velocities_on_upper_faces(g, cyclic):
    return made_by("velocities_on_wgrid", g, cyclic, {}, "u_wgrid", "v_wgrid", "w_wgrid")
