"""For the scripts that make files by Veros's own routines: what of Veros's state is an input of miniapp, and
Veros's setup `acc`, small and with hills."""

import argparse
import contextlib
import os
import tempfile
from pathlib import Path

import h5py
import numpy as np
import veros

veros.runtime_settings.loglevel = "warning"
from veros import veros_routine  # noqa: E402  pylint: disable=wrong-import-position
from veros.core.operators import at, update  # noqa: E402  pylint: disable=wrong-import-position
from veros.setups.acc.acc import ACCSetup  # noqa: E402  pylint: disable=wrong-import-position

GRID = ["dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "zt", "zw", "cost", "cosu", "kbot", "maskT",
        "maskU", "maskV", "maskW", "coriolis_t", "beta"]
LEVELS = ["temp", "salt", "u", "v", "w", "rho", "Hd", "int_drhodT", "int_drhodS", "Nsqr", "tke", "eke"]
SLOTS = ["K_diss_v", "K_diss_h", "K_diss_gm", "K_diss_bot", "P_diss_skew", "P_diss_iso",
         "P_diss_hmix", "P_diss_v", "P_diss_nonlin", "forc_tke_surface", "temp_source", "salt_source"]
SETTINGS = ["eq_of_state_type", "dt_tracer", "dt_mom", "AB_eps", "alpha_tke", "c_eps", "c_k", "mxl_min",
            "kappaM_min", "kappaM_max", "kappaH_min", "enable_kappaH_profile", "tke_mxl_choice",
            "enable_eke", "eke_lmin", "eke_c_k", "eke_cross", "eke_crhin", "eke_c_eps", "eke_k_max",
            "alpha_eke", "K_gm_0", "K_iso_0", "enable_eke_isopycnal_diffusion",
            "enable_eke_superbee_advection", "enable_eke_upwind_advection",
            "enable_tke_superbee_advection", "enable_tke_upwind_advection",
            "enable_tke_hor_diffusion", "enable_superbee_advection", "enable_Prandtl_tke", "Prandtl_tke0",
            "iso_slopec", "iso_dslope", "K_iso_steep", "enable_conserve_energy"]
OF_MOMENTUM = ["enable_streamfunction", "enable_implicit_vert_friction", "enable_hor_friction", "A_h",
               "enable_hor_friction_cos_scaling", "hor_friction_cosPower", "enable_noslip_lateral",
               "enable_ray_friction", "r_ray", "enable_bottom_friction", "r_bot", "enable_quadratic_bottom_friction",
               "r_quad_bot", "enable_explicit_vert_friction", "enable_TEM_friction", "enable_biharmonic_friction", "A_hbi",
               "biharmonic_friction_cosPower", "enable_hor_diffusion", "K_h", "enable_biharmonic_mixing", "K_hbi",
               "enable_tke", "kappaM_0", "kappaH_0", "enable_neutral_diffusion", "enable_skew_diffusion"]
OF_IDEMIX = ["enable_idemix", "tau_v", "tau_h", "gamma", "jstar", "mu0", "enable_idemix_hor_diffusion",
             "enable_idemix_superbee_advection", "enable_idemix_upwind_advection", "enable_eke_diss_bottom",
             "enable_eke_diss_surfbot", "eke_diss_surfbot_frac", "enable_store_bottom_friction_tke",
             "enable_store_cabbeling_heat"]
AT_REST = [*GRID, "tantr", "surface_taux", "surface_tauy", "forc_tke_surface", "temp_source", "salt_source"]


class SmallSetup(ACCSetup):
    """With columns of one level, and rows of different widths."""

    @veros_routine
    def set_parameter(self, state):
        super().set_parameter(state)
        settings = state.settings
        settings.identifier = "run"
        settings.nx, settings.ny, settings.nz = 9, 13, 6

    @veros_routine(dist_safe=False, local_variables=["dxt", "dyt", "dzt"])
    def set_grid(self, state):
        vs = state.variables
        vs.dxt = update(vs.dxt, at[...], 4.0)
        vs.dyt = update(vs.dyt, at[...], 4.0 + 0.4 * np.cos(np.arange(vs.dyt.size) / 3))
        vs.dzt = update(vs.dzt, at[...], np.array([600.0, 510.0, 340.0, 200.0, 100.0, 50.0]))

    @veros_routine(dist_safe=False, local_variables=["kbot"])
    def set_topography(self, state):
        vs = state.variables
        x, y = np.indices(vs.kbot.shape)
        hills = 2 + np.rint(1.8 * np.sin(x) * np.cos(y)).astype(int)
        kbot = np.where((x > 4) | (y < 9), np.maximum(hills, 1), 0)
        kbot[4, 6] = state.settings.nz
        vs.kbot = kbot

    @veros_routine
    def set_diagnostics(self, state):
        state.diagnostics.clear()


def stepped(setup, count):
    """The setup after so many steps."""
    setup.setup()
    for _ in range(count):
        setup.step(setup.state)
    return setup


def cyclic(values):
    """With ghosts that are copies along x, the first axis."""
    values[:2], values[-2:] = values[-4:-2], values[2:4]
    return values


def in_order(values, is_cyclic=True):
    """A copy with the axes turned round, (z, y, x): Veros writes into its arrays. Ghosts along x are
    copies, also where Veros leaves them behind."""
    values = np.array(values)
    if values.ndim > 1 and is_cyclic:
        cyclic(values)
    return values.T


@contextlib.contextmanager
def new_file(description, name):
    """veros/`name`, or what -o names, to write what Veros makes: in a folder for its own files."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent / "veros" / name)
    path = parser.parse_args().output.resolve()
    with tempfile.TemporaryDirectory() as folder, h5py.File(path, "w", libver=("v110", "v110")) as file:
        os.chdir(folder)
        yield file
        os.chdir("/")


def store(group, fields, attributes=()):
    group.attrs.update({name: float(value) for name, value in dict(attributes).items()})
    for name, values in fields.items():
        values = values.astype(np.uint8) if name.startswith("mask") else values
        group.create_dataset(name, data=values, chunks=values.shape, fletcher32=True, compression=9, shuffle=True,
                             track_times=False)


def store_input(group, fields, settings, names, **more):
    """Fields with ghosts, and the settings of these names."""
    store(group, fields, {name: getattr(settings, name) for name in names})
    group.attrs.update({"halo": 2, "cyclic_x": 1} | more)


def level(vs, name, when):
    return getattr(vs, name)[..., int(getattr(vs, when))]


def tendency(vs, when, of_islands):
    """The tendency of the streamfunction, islands included."""
    return np.array(level(vs, "dpsi", when)) + np.array(vs.psin) @ np.array(level(vs, "dpsin", of_islands))


def has(vs, name):
    """Whether the configuration uses the variable: Veros refuses the others."""
    try:
        return getattr(vs, name) is not None
    except RuntimeError:
        return False


def inputs_at_rest(state, is_cyclic=True):
    """Those of an ocean that starts from rest, but for what is 0 everywhere."""
    vs = state.variables
    fields = {name: in_order(getattr(vs, name), is_cyclic) for name in AT_REST if has(vs, name)}
    fields |= {name: in_order(level(vs, name, "tau"), is_cyclic) for name in ("temp", "salt")}
    fields["t_rest"] = in_order(vs.t_rest, is_cyclic)
    fields["t_star"] = in_order(np.broadcast_to(vs.t_star, vs.t_rest.shape), is_cyclic)
    return {name: values for name, values in fields.items() if values.any()}


def inputs(state):
    vs = state.variables
    fields = {name: in_order(getattr(vs, name)) for name in [*GRID, *SLOTS] if has(vs, name)}
    fields |= {name: in_order(level(vs, name, "tau")) for name in LEVELS if has(vs, name)}
    fields |= {f"{name}_taum1": in_order(level(vs, name, "taum1"))
               for name in ("dtemp", "dsalt", "dtke", "deke") if has(vs, name)}
    fields["t_rest"] = in_order(vs.t_rest)
    fields["t_star"] = in_order(np.broadcast_to(vs.t_star, vs.t_rest.shape))
    fields |= {f"{name}_taup1": in_order(level(vs, name, "taup1")) for name in ("tke", "eke") if has(vs, name)}
    return fields
