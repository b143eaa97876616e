"""The kernels of a step make what Veros's own routines make, of the state of make_veros_step.py."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import INSIDE, datasets, read, write

pytestmark = pytest.mark.every_gpu

STEP = Path(__file__).parent / "veros" / "step.h5"

# Our kernel, Veros's routine, settings, and ours = theirs: what a file of ours has to hold, and what
# comes out.
CASES = {
    f"{scheme} of {name}": (
        "tracer_advection", routine, {"enable_superbee_advection": scheme == "superbee"},
        {"tracer": name, "tracer_taup1": name, "dtracer_taum1": f"d{name}_taum1"},
        {"dtracer": f"d{name}", "tracer_taup1": f"{name}_taup1"})
    for name in ("temp", "salt") for scheme, routine in (
        ("superbee", "advect_by_superbee"), ("second order", "advect_temp_salt_enthalpy"))
} | {
    f"dissipation, {scheme}": (
        "advection_dissipation", routine, {"enable_superbee_advection": scheme == "superbee"},
        {"dtemp": "dtemp", "dsalt": "dsalt"}, {"P_diss_adv": "P_diss_adv"})
    for scheme, routine in (
        ("superbee", "advect_by_superbee"), ("second order", "advect_temp_salt_enthalpy"))
} | {
    "eke_diffusivities": (
        "eke_diffusivities", "set_eke_diffusivities", {}, {},
        {name: name for name in ("L_rossby", "L_rhines", "eke_len", "sqrteke", "K_gm", "K_iso")}),
    "eke": ("eke", "integrate_eke", {}, {},
            {name: name for name in ("eke_taup1", "deke", "eke_diss_iw")})
} | {
    "vertical_velocity": ("vertical_velocity", "vertical_velocity", {}, {}, {"w": "w_taup1"}),
    "velocities_on_wgrid": (
        "velocities_on_wgrid", "calculate_velocity_on_wgrid", {}, {},
        {name: name for name in ("u_wgrid", "v_wgrid", "w_wgrid")}),
    "a step in a given flow": (
        "ocean_step_forced", "frozen_step", {"pyom_compatibility_mode": 0}, {},
        {name: name for name in ("temp_taup1", "salt_taup1", "eke_taup1", "tke_taup1", "Nsqr", "K_gm",
                                 "kappaH", "P_diss_adv", "P_diss_v", "P_diss_nonlin")}),
    "tempsalt_sources": ("tempsalt_sources", "tempsalt_sources", {}, {}, {
        name: name for name in ("temp_taup1", "salt_taup1", "P_diss_sources")}),
    "lateral_diffusion": ("lateral_diffusion", "tempsalt_diffusion", {}, {}, {
        name: name for name in ("temp_taup1", "salt_taup1", "P_diss_hmix")}),
    "biharmonic_mixing": ("biharmonic_mixing", "tempsalt_biharmonic", {}, {}, {
        name: name for name in ("temp_taup1", "salt_taup1", "P_diss_hmix")}),
    "surface_forcing": (
        "surface_forcing", "set_forcing", {}, {}, {"forc_temp_surface": "forc_temp_surface"}),
    "tke_diffusivities": (
        "tke_diffusivities", "set_tke_diffusivities", {}, {},
        {name: name for name in ("sqrttke", "mxl", "kappaM", "kappaH", "Prandtlnumber")}),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def theirs():
    """The file's settings, its fields, and the outputs of each routine with what it reads of others."""
    with h5py.File(STEP) as file:
        results = {routine: (datasets(group), group.attrs["inputs"].decode().split())
                   for routine, group in file["outputs"].items()}
        return dict(file.attrs), datasets(file), results


def test_veros_makes_the_same(miniapp, theirs, case, device, tmp_path):
    """On water, by the largest value; what is stepped, by its change as well."""
    kernel, routine, chosen, inputs, outputs = case
    settings, fields, results = theirs
    expected, reads = results[routine]
    others = (read_too.split("/") for read_too in reads)
    fields = fields | {name: results[other][0][name] for other, name in others}
    fields |= {ours: (fields | expected)[name] for ours, name in inputs.items()}
    water = fields["maskT"][INSIDE] == 1
    water_of = {2: water[-1], 3: water}
    settings = settings | {name: float(value) for name, value in chosen.items()}
    out = tmp_path / "out.h5"
    miniapp.passes("-k", kernel, "-d", device, "-o", out, write(tmp_path / "step.h5", fields, settings))
    for ours, name in outputs.items():
        water = water_of[expected[name].ndim]
        wanted = expected[name][INSIDE] * water
        scale = np.abs(wanted).max()
        assert scale > 0, f"{name} shows nothing"
        allowed = 1e-12 * scale
        if ours.endswith("_taup1"):
            before = fields.get(ours, fields.get(ours.removesuffix("_taup1")))
            change = np.abs(wanted - before[INSIDE])[water].max()
            allowed = 1e-12 * change + 8e-16 * scale
        error = np.abs((read(out, ours)[INSIDE] - wanted) * water).max()
        print(f"{kernel}: {ours} differs by {error / scale:.1e} of its largest value")
        assert error <= allowed, ours
