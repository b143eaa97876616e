"""What can be switched in kernels, each way, against their references."""

import dataclasses
import itertools

import pytest

import fields
from test_kernels import OCEANS, check

pytestmark = pytest.mark.every_gpu

ON_OFF = (0, 1)
SWITCHES = {
    "tke": {"enable_tke_hor_diffusion": ON_OFF, "enable_tke_superbee_advection": ON_OFF,
            "enable_tke_upwind_advection": ON_OFF},
    "tke_forcing": {"enable_eke": ON_OFF, "enable_idemix": ON_OFF, "enable_store_bottom_friction_tke": ON_OFF,
                    "enable_store_cabbeling_heat": ON_OFF},
    "tke_diffusivities": {"tke_mxl_choice": (1, 2), "enable_kappaH_profile": ON_OFF,
                          "enable_Prandtl_tke": ON_OFF, "enable_idemix": ON_OFF},
    "tracer_advection": {"enable_superbee_advection": ON_OFF},
    "advection_dissipation": {"enable_superbee_advection": ON_OFF, "enable_conserve_energy": ON_OFF},
    "eke_diffusivities": {"enable_eke": ON_OFF, "enable_eke_isopycnal_diffusion": ON_OFF},
    "eke": {"enable_eke_superbee_advection": ON_OFF, "enable_eke_upwind_advection": ON_OFF,
            "enable_store_cabbeling_heat": ON_OFF},
    "idemix": {"enable_idemix_hor_diffusion": ON_OFF, "enable_idemix_superbee_advection": ON_OFF,
               "enable_idemix_upwind_advection": ON_OFF},
    "tempsalt_sources": {"enable_conserve_energy": ON_OFF},
    "density": {"clamp_enthalpy": ON_OFF},
    "vertical_dissipation": {"enable_conserve_energy": ON_OFF, "eq_of_state_type": (1, 2, 3, 4, 5)},
    "lateral_diffusion": {"enable_hor_friction_cos_scaling": ON_OFF, "enable_conserve_energy": ON_OFF},
    "biharmonic_mixing": {"enable_conserve_energy": ON_OFF},
    "isoneutral_friction": {"enable_implicit_vert_friction": ON_OFF, "enable_conserve_energy": ON_OFF},
    "flow_laplacian": {"enable_noslip_lateral": ON_OFF},
    "biharmonic_friction": {"enable_noslip_lateral": ON_OFF, "enable_conserve_energy": ON_OFF},
    "barotropic_correction": {"enable_streamfunction": ON_OFF},
    "isoneutral_skew": {"pyom_compatibility_mode": ON_OFF, "enable_skew_diffusion": ON_OFF},
    "isoneutral_mixing": {"pyom_compatibility_mode": ON_OFF, "enable_skew_diffusion": ON_OFF,
                          "enable_conserve_energy": ON_OFF, "enable_eddy_streamfunction": ON_OFF},
}
# at values that are no defaults, so that each shows
NUMBERS = {"mxl_min": 1e-8, "c_k": 0.13, "kappaM_min": 2e-4, "kappaM_max": 0.05, "kappaH_min": 2e-5,
           "kappaM_0": 3e-4, "kappaH_0": 4e-5,
           "Prandtl_tke0": 7.0, "eke_lmin": 90.0, "eke_crhin": 1.1, "eke_k_max": 1500.0, "alpha_eke": 1.3,
           "eke_c_eps": 0.5, "hor_friction_cosPower": 2, "biharmonic_friction_cosPower": 3, "r_ray": 2e-5, "r_quad_bot": 0.5,
           "eke_diss_surfbot_frac": 0.3}
CASES = [(name, dict(zip(switches, values))) for name, switches in SWITCHES.items()
         for values in itertools.product(*switches.values())]
# of so many, each alone and all together
FRICTION = ("enable_implicit_vert_friction", "enable_hor_friction", "enable_hor_friction_cos_scaling",
            "enable_noslip_lateral", "enable_ray_friction", "enable_bottom_friction", "enable_bottom_friction_var",
            "enable_quadratic_bottom_friction", "enable_momentum_sources", "enable_conserve_energy")
NEEDED = {"enable_hor_friction_cos_scaling": "enable_hor_friction", "enable_noslip_lateral": "enable_hor_friction",
          "enable_bottom_friction_var": "enable_bottom_friction"}
CASES += [("momentum", {name: int(name in (switch, NEEDED.get(switch), "enable_conserve_energy")) for name in FRICTION})
          for switch in FRICTION]
CASES += [("momentum", {name: int(name != but) for name in FRICTION}) for but in (None, "enable_conserve_energy")]
CASES += [("momentum", {"enable_implicit_vert_friction": 1, "enable_explicit_vert_friction": 1})]
# of sources, those that are told apart
FROM_EDDIES = ("enable_eke", "enable_eke_diss_bottom", "enable_eke_diss_surfbot", "enable_store_cabbeling_heat",
               "enable_store_bottom_friction_tke")
CASES += [("idemix", dict(zip(FROM_EDDIES, chosen))) for chosen in itertools.product(*5 * [ON_OFF])
          if chosen[0] or chosen[3] == chosen[4]]
SWITCHES["idemix"] |= {name: ON_OFF for name in FROM_EDDIES}
SWITCHES["momentum"] = {name: ON_OFF for name in (*FRICTION, "enable_explicit_vert_friction")}


def runs_of_cases():
    """Kernels run together: what is chosen for several of them goes into one run, where it agrees. A run is its
    choices and its kernels."""
    runs = []
    for name, chosen in CASES:
        for choices, names in runs:
            if all(choices.get(switch, value) == value for switch, value in chosen.items()):
                break
        else:
            runs.append((choices := {}, names := {}))
        choices.update(chosen)
        names[name] = True
    return runs


RUNS = runs_of_cases()


def first_of_each_way():
    """The cases that are the first of their kernel with a value of one of its switches."""
    seen, first = set(), []
    for name, chosen in CASES:
        ways = {(name, *way) for way in chosen.items()}
        if not ways <= seen:
            first.append((name, chosen))
        seen |= ways
    return first


FIRST = first_of_each_way()


# There are so many cases that each has but a seventh of test_kernels.py's columns, some of every kind.
SMALL = OCEANS | {"odd": OCEANS["odd"] | dict(nx=17, ny=13)}
# float32 is as accurate as the ocean "odd" lets it be, and has code of its own in each switch
KINDS = [("odd", "float64"), ("two levels", "float64"), ("one level", "float64"), ("odd", "float32")]


@pytest.mark.parametrize("ocean_name, precision", KINDS)
@pytest.mark.parametrize("name, chosen", CASES, ids=lambda case: str(case).replace(" ", ""))
def test_each_way(miniapp, together, device, name, chosen, ocean_name, precision):
    if ocean_name not in ("odd", miniapp.is_first and ocean_name):
        pytest.skip("of few levels, other builds see all kernels in test_kernels.py")
    if (ocean_name, precision) != KINDS[0] and (name, chosen) not in FIRST:
        miniapp.leave_to_long("where switches meet, one ocean in float64 shows it")
    if miniapp.is_sanitized and precision == "float32":
        pytest.skip("it has the indices of float64")
    choices, names = next(run for run in RUNS if chosen.items() <= run[0].items() and name in run[1])
    kernels = {kernel.name: kernel for kernel in miniapp.kernels if kernel.name in names}
    ocean = together.ocean(f"switches, {ocean_name}", lambda: fields.make(**SMALL[ocean_name]))
    changed = NUMBERS | choices
    words = [word for setting, value in changed.items() if any(kernel.reads(setting) for kernel in kernels.values())
             for word in ("--set", f"{setting}={value}")]
    check(together, kernels[name], dataclasses.replace(ocean, settings=ocean.settings | changed), "-d", device, *words,
          of=kernels, precision=precision)


def test_all_switches_are_tested(miniapp):
    """All settings of kernels that enable something."""
    switches = {setting for kernel in miniapp.kernels for setting in kernel.settings
                if setting.startswith(("enable_", "clamp_")) or setting.endswith(("_choice", "_mode"))}
    assert switches == {setting for chosen in SWITCHES.values() for setting in chosen
                        if setting != "eq_of_state_type"}  # which test_kernels.py takes for all
