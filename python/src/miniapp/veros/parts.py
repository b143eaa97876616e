"""The parts of Veros's step: the kernels that make each, and Veros's routine, with which they are compared."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from veros.core import (
    advection, density, diffusion, eke, idemix, isoneutral, momentum, numerics, thermodynamics, tke, utilities)
from veros.core.operators import at, numpy as npx, update
from veros.core.isoneutral import isoneutral as eddies
from veros.core.isoneutral.diffusion import isoneutral_diffusion_tracer
from veros.state import VerosVariables

SEQUENCE = "ocean"
ALL_GHOSTS = 4 * (2,)
FLOW = ("momentum", "explicit_vertical_friction", "isoneutral_friction", "flow_laplacian",
        "biharmonic_friction")  # before the external mode


def if_enabled(*names):
    return lambda settings: any(getattr(settings, f"enable_{name}") for name in names)


class Part(NamedTuple):
    name: str
    timer: str  # of Veros
    kernels: tuple[str, ...]
    by_veros: Callable
    is_needed: Callable = lambda _settings: True
    on_demand: tuple[tuple[str, ...], ...] = ()  # variables that are made when somebody reads them
    after: Callable | None = None  # what is to do after the kernels


# ---- by Veros ----

def with_ghosts(state, *names) -> None:
    vs = state.variables
    for name in names:
        setattr(vs, name, utilities.enforce_boundaries(getattr(vs, name), state.settings.enable_cyclic_x))


def momentum_by_veros(state) -> None:
    momentum.momentum(state)
    with_ghosts(state, "u", "v")
    momentum.vertical_velocity(state)


def isoneutral_by_veros(state) -> None:
    vs = state.variables
    for name in ("P_diss_iso", "dtemp_iso", "dsalt_iso", *(["P_diss_skew"] * state.settings.enable_skew_diffusion)):
        setattr(vs, name, np.zeros(getattr(vs, name).shape))
    vs.update(isoneutral.isoneutral_diffusion_pre(state))
    mixings = [isoneutral.isoneutral_diffusion]
    if state.settings.enable_skew_diffusion:
        mixings.append(isoneutral.isoneutral_skew_diffusion)
    for mix in mixings:
        mix(state, tr=vs.temp, istemp=True)
        mix(state, tr=vs.salt, istemp=False)
    if state.settings.enable_skew_diffusion:
        vs.update(eddies.isoneutral_diag_streamfunction_kernel(state))


def density_by_veros(state) -> None:
    vs = state.variables
    vs.update(thermodynamics.calc_eq_of_state(state, vs.taup1))
    vs.update(thermodynamics.surf_densityf(state))
    vs.update(thermodynamics.diag_P_diss_v(state))


def stepping(integrate, energy):
    """A step of an energy, with its ghosts."""
    def by_veros(state) -> None:
        integrate(state)
        with_ghosts(state, energy)
    return by_veros


def passive_by_veros(state, name) -> None:
    """A step of a passive tracer, as Veros makes those of temperature and salinity."""
    vs, settings = state.variables, state.settings
    tracer, tendency, flux = (getattr(vs, each) for each in (name, f"d{name}", f"forc_{name}_surface"))
    tendency = update(tendency, at[..., vs.tau], thermodynamics.advect_tracer(state, tracer[..., vs.tau]))
    change = (1.5 + settings.AB_eps) * tendency[..., vs.tau] - (0.5 + settings.AB_eps) * tendency[..., vs.taum1]
    if settings.enable_hor_diffusion:
        change = change + diffusion.horizontal_diffusion(state, tracer[..., vs.tau], settings.K_h)[0]
    if settings.enable_biharmonic_mixing:
        change = change + diffusion.biharmonic_diffusion(state, tracer[..., vs.tau], settings.K_hbi ** 0.5)[0]
    tracer = update(tracer, at[..., vs.taup1], tracer[..., vs.tau] + settings.dt_tracer * change * vs.maskT)
    for is_iso in (True, False):
        if settings.enable_neutral_diffusion and (is_iso or settings.enable_skew_diffusion):
            tracer = isoneutral_diffusion_tracer(state, tracer, vs.dtemp_iso, iso=is_iso, skew=not is_iso)[0]
    as_temp = made_aside(thermodynamics.vertmix_tempsalt, state, temp=tracer, salt=tracer, forc_temp_surface=flux)
    setattr(vs, name, as_temp.temp)
    setattr(vs, f"d{name}", tendency)


def updating(kernel):
    """A kernel of Veros that makes changes in variables."""
    return lambda state: state.variables.update(kernel(state))


def unchanged_by_veros(settings) -> set[str]:
    """Variables that Veros keeps as they were at first, and the kernels do not."""
    if settings.enable_conserve_energy:
        return set() if settings.enable_tke else {"P_diss_adv"}
    return {"Hd", "int_drhodT", "int_drhodS", "dHd", "P_diss_adv", "P_diss_sources", "K_diss_h", "K_diss_gm"}


# ---- on demand, from the fields of the step that was made last ----

class Aside(VerosVariables):
    """Variables that a routine of Veros may set without a change of the model's, with other values of some."""

    def __init__(self, vs, **others):  # pylint: disable=super-init-not-called
        vars(self).update({name: value for name, value in vars(vs).items() if name.startswith("__")},
                          _of=vs, __locked__=False, **others)

    def __getattr__(self, name):
        return getattr(vars(self)["_of"], name)


def made_aside(kernel, state, **others):
    """Runs a kernel of Veros with other values of some variables."""
    aside = copy.copy(state)
    aside._variables = Aside(state.variables, **others)  # pylint: disable=protected-access
    return kernel.__wrapped__(aside)


def as_veros_makes(state):
    """Whether each mask, depth and area is still what Veros has made of the sea floor and the spacings."""
    vs = state.variables
    made = made_aside(numerics.calc_topo_kernel, state)._asdict()
    made |= {"area_t": vs.cost * vs.dyt * vs.dxt[:, None], "area_u": vs.cost * vs.dyt * vs.dxu[:, None],
             "area_v": vs.cosu * vs.dyu * vs.dxt[:, None]}
    return {name: np.allclose(values[2:-2, 2:-2], getattr(vs, name)[2:-2, 2:-2]) for name, values in made.items()}


def by_kernel(kernel, names):
    """Variables that a kernel makes that is no part of a step."""
    def make(ocean):
        kernels = ocean.beside(kernel)
        kernels.run()
        fields = [ocean.with_ghosts(ocean.state.get(name), kernels.ghosts[name]) for name in names]
        return [values.transpose(4, 3, 2, 0, 1) if values.ndim == 5 else values.T for values in fields]
    return make


def mix_again(ocean):
    """Makes temperature and salinity before and after isoneutral mixing again, in other fields; all else that this
    writes stays the same. Returns those fields, and copies of what they held before the mixing."""
    again = {f"{name}_taup1": ocean.added(f"{name}_again", name) for name in ("temp", "salt")}
    ocean.beside("tracer_advection", "lateral_diffusion", "biharmonic_mixing", "tempsalt_sources", others=again).run()
    before = [ocean.state.get(name) for name in again.values()]
    ocean.beside("isoneutral_mixing", others=again).run()
    return again, before


def mixed(ocean):
    again, before = mix_again(ocean)
    after = [ocean.state.read(name) for name in again.values()]
    end = [ocean.state.read(name) for name in again]
    return [ocean.with_ghosts((new - old) / ocean.settings["dt_tracer"]).T
            for new, old in zip((*after, *end), (*before, *after))]


def laterally_mixed(ocean):
    """The tendencies of the scheme that Veros makes last, by its kernel, with the tracers and settings of the step: a
    setup may have changed its own."""
    settings = types.SimpleNamespace(**{**ocean.veros.settings.todict(), **ocean.settings})
    mix, diffusivity = ((diffusion.biharmonic_diffusion, settings.K_hbi ** 0.5) if settings.enable_biharmonic_mixing
                        else (diffusion.horizontal_diffusion, settings.K_h))
    aside = copy.copy(ocean.veros)
    aside._settings = settings  # pylint: disable=protected-access
    tracers = (ocean.with_ghosts(ocean.state.get(name), ALL_GHOSTS).T for name in ("temp", "salt"))
    return [mix.__wrapped__(aside, npx.asarray(tracer), diffusivity)[0] for tracer in tracers]


def enthalpy_advected(ocean):
    others = {"tracer": "Hd", "dtracer_taum1": "Hd", "dtracer": ocean.added("dHd_again", "Hd"),
              "tracer_taup1": ocean.added("Hd_again", "Hd")}
    ocean.beside("tracer_advection:", others=others).run()
    values = np.full((*ocean.state.shape("Hd")[::-1], 3), np.nan)
    values[..., ocean.slots[1]] = ocean.state.read("dHd_again").T
    return [values]


def terms(ocean):
    """The flow before the external mode, which tells what friction did, is made again."""
    again = {f"{name}_taup1": ocean.added(f"{name}_again", name) for name in ("u", "v")}
    ocean.beside(*FLOW, others=again).run()
    ocean.beside("momentum_terms", others=again).run()
    return [ocean.with_ghosts(ocean.state.get(name)).T for name in TERMS]


def surface_density_flux(ocean):
    """The flux of Veros's surf_densityf, which would read all of both tracers."""
    def surface(name):
        return ocean.with_ghosts(ocean.state.read(name)[..., -1, :, :].copy(), ALL_GHOSTS).T
    vs = ocean.vs
    water = [npx.asarray(surface(name)) for name in ("salt_taup1", "temp_taup1")]
    heat, salt = (ocean.with_ghosts(ocean.state.get(f"forc_{name}_surface"), ALL_GHOSTS).T for name in ("temp", "salt"))
    depth = abs(vs.zt[-1])
    return [vs.maskT[..., -1] * (density.get_drhodT.__wrapped__(ocean.veros, *water, depth) * heat
                                 + density.get_drhodS.__wrapped__(ocean.veros, *water, depth) * salt)]


def sea_surface(ocean):
    return [ocean.with_ghosts(ocean.state.get("psi") / ocean.settings["grav"], ALL_GHOSTS).T]


TERMS = ("du_cor", "dv_cor", "du_adv", "dv_adv", "du_mix", "dv_mix", "p_hydro")
TENSOR = ("K_11", "K_22", "K_33", "Ai_ez", "Ai_nz", "Ai_bx", "Ai_by")
EDDIES = ("B1_gm", "B2_gm")
MIXED = ("dtemp_iso", "dsalt_iso", "dtemp_vmix", "dsalt_vmix")
LATERAL = ("dtemp_hmix", "dsalt_hmix")
ON_DEMAND = {
    TENSOR: by_kernel("isoneutral", TENSOR),
    MIXED: mixed,
    LATERAL: laterally_mixed,
    ("dHd",): enthalpy_advected,
    TERMS: terms,
    ("forc_rho_surface",): surface_density_flux,
    ("ssh",): sea_surface,
}


# ---- the step ----

def first_pressure(ocean) -> None:
    """In the first step of a run, Veros takes the pressure at the free surface for that of all time levels."""
    if not ocean.settings["enable_streamfunction"] and ocean.vs.itt == 0:
        for name in ("psi", "psi_taum1"):
            ocean.state[name] = ocean.state["psi_taup1"]


PARTS = (
    Part("the parameters of internal waves", "idemix", ("idemix_parameters",),
         updating(idemix.set_idemix_parameter), if_enabled("idemix")),
    Part("the diffusivities of eddies", "eke", ("eke_diffusivities",), eke.set_eke_diffusivities),
    Part("the vertical diffusivities", "tke", ("tke_diffusivities", "convective_adjustment"),
         tke.set_tke_diffusivities),
    Part("momentum", "momentum", (*FLOW, "streamfunction", "surface_pressure", "barotropic_correction"),
         momentum_by_veros, on_demand=(TERMS, ("ssh",), ("dpsin",)), after=first_pressure),
    Part("the advection of tracers", "thermodynamics", ("tracer_advection", "advection_dissipation"),
         updating(thermodynamics.advect_temp_salt_enthalpy), on_demand=(("dHd",),)),
    Part("lateral diffusion", "isoneutral", ("lateral_diffusion",), updating(diffusion.tempsalt_diffusion),
         if_enabled("hor_diffusion"), (LATERAL,)),
    Part("biharmonic diffusion", "isoneutral", ("biharmonic_mixing",), updating(diffusion.tempsalt_biharmonic),
         if_enabled("biharmonic_mixing"), (LATERAL,)),
    Part("sources", "isoneutral", ("tempsalt_sources",), updating(diffusion.tempsalt_sources),
         if_enabled("tempsalt_sources")),
    Part("isoneutral mixing", "isoneutral", ("isoneutral_mixing",), isoneutral_by_veros,
         if_enabled("neutral_diffusion"), (TENSOR,)),
    Part("the vertical mixing of tracers", "vmix", ("vertical_mixing",), updating(thermodynamics.vertmix_tempsalt),
         on_demand=(MIXED,)),
    Part("density", "eq_of_state", ("density", "vertical_dissipation"), density_by_veros,
         on_demand=(("forc_rho_surface",),)),
    Part("velocities on the W grid", "advection", ("velocities_on_wgrid",), advection.calculate_velocity_on_wgrid,
         if_enabled("eke", "tke", "idemix")),
    Part("EKE", "eke", ("eke",), stepping(eke.integrate_eke, "eke"), if_enabled("eke")),
    Part("internal waves", "idemix", ("idemix",), stepping(idemix.integrate_idemix, "E_iw"), if_enabled("idemix")),
    Part("TKE", "tke", ("tke_forcing", "tke"), stepping(tke.integrate_tke, "tke"), if_enabled("tke")),
)


def passive(names) -> Part:
    """The step of passive tracers, by those kernels that the library's sequence with them has beside the ocean's."""
    def by_veros(state):
        for name in names:
            passive_by_veros(state, name)
    return Part("passive tracers", "thermodynamics", (), by_veros)
