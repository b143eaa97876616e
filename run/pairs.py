"""The stored pairs of an input and its references, a file a kernel, with the program's options for each."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ALL = ("all", "calibration")
BY_NAME = ("momentum", "momentum_terms", "explicit_vertical_friction", "isoneutral_friction", "flow_laplacian",
           "biharmonic_friction", "barotropic_correction", "surface_pressure", "streamfunction", "idemix",
           "idemix_parameters", "wind_forcing", "interior_forcing")  # not in "all"
BOTH = ("float64", "float32")


class Pair(NamedTuple):
    """An input, the folder of its references and how they are compared; steps are two, and in float64 only, where they agree."""

    name: str
    input: Path
    reference: Path
    kernels: tuple = ALL
    steps: int = 0
    settings: dict = {}
    precisions: tuple = BOTH
    words: tuple = ()

    def arguments(self, precision):
        words = ["--steps", str(self.steps)] if self.steps else ["-r", "1"]
        for kernel in self.kernels:
            words += ["-k", kernel]
        for setting, value in self.settings.items():
            words += ["--set", f"{setting}={value}"]
        return [*words, *self.words, "--precision", precision, "--validate", self.reference]


def pair(ocean, name=None, suffix="", **more):
    return Pair(name or ocean, ROOT / "inputs" / f"{ocean}.h5", ROOT / "validation" / "stored" / f"{ocean}{suffix}",
                **more)


GRID = pair("grid")
THREADS = ("-t", "3")  # of which each has tiles of three levels: those below and above them are another's
ANY = ("--allow-invalid",)
EDDIES = {"enable_eddy_streamfunction": 1}
ROUGH = (
    pair("rough", words=THREADS, kernels=(*ALL, *BY_NAME), settings=EDDIES),
    pair("switched", kernels=(*ALL, *BY_NAME), settings=EDDIES),
    pair("masks", words=ANY, kernels=(*ALL, *BY_NAME), settings=EDDIES),
    pair("masks", "masks, with other settings", ".other", words=ANY,  # than masks.h5 has
         kernels=("density", "expansion", "isoneutral", "isoneutral_mixing", "isoneutral_skew", "tke",
                  "tke_diffusivities", "tke_forcing", "eke", "eke_diffusivities", "tracer_advection",
                  "tempsalt_sources", "vertical_dissipation", "idemix"),
         settings={"eq_of_state_type": 3, "clamp_enthalpy": 0, "tke_mxl_choice": 1, "enable_superbee_advection": 0,
                   "enable_kappaH_profile": 0, "enable_Prandtl_tke": 0, "enable_tke_hor_diffusion": 0,
                   "enable_tke_superbee_advection": 0, "enable_eke": 0, "enable_eke_isopycnal_diffusion": 0,
                   "enable_eke_superbee_advection": 0, "enable_eke_upwind_advection": 1,
                   "enable_idemix": 0, "enable_idemix_hor_diffusion": 0, "enable_idemix_superbee_advection": 0,
                   "enable_store_cabbeling_heat": 1, "enable_conserve_energy": 0, "pyom_compatibility_mode": 0}),
    pair("switched", "switched, with other settings", ".other",  # than rough.h5 and switched.h5 have
         kernels=("density", "expansion", "eke", "tke", "tempsalt_sources", "vertical_dissipation", "momentum",
                  "isoneutral_mixing", "lateral_diffusion", "biharmonic_friction", "isoneutral_friction"),
         settings={"eq_of_state_type": 5, "enable_tke_upwind_advection": 0, "enable_eke_upwind_advection": 0,
                   "enable_conserve_energy": 0, "enable_skew_diffusion": 0}),
    *(pair("rough", f"2 steps of {sequence} on rough", ".steps", kernels=(sequence,), steps=2, precisions=BOTH[:1])
      for sequence in ("ocean_step_eke", "ocean_step_forced")))
PAIRS = (GRID, *ROUGH)
