"""Reference of the kernel `eke_diffusivities`, in 80-bit arithmetic."""

import numpy as np

from . import Real, Tolerance, alike

NAME = "eke_diffusivities"
INPUTS = ("Nsqr", "maskW", "dzw")
OPTIONAL = ("eke", "coriolis_t", "beta")
SETTINGS = {"enable_eke": 0, "enable_eke_isopycnal_diffusion": 0, "eke_lmin": 100.0,
            "eke_cross": 1.0, "eke_crhin": 1.0, "eke_c_k": 1.0, "eke_k_max": 1e4, "K_gm_0": 0.0,
            "K_iso_0": 0.0}
OUTPUTS = (
    ("L_rossby", ("y", "x"), "m", "Rossby's radius"),
    ("L_rhines", ("z", "y", "x"), "m", "Rhines's length"),
    ("sqrteke", ("z", "y", "x"), "m s-1", "square root of eddy kinetic energy"),
    ("eke_len", ("z", "y", "x"), "m", "length of eddies"),
    ("K_gm", ("z", "y", "x"), "m2 s-1", "skew diffusivity"),
    ("K_iso", ("z", "y", "x"), "m2 s-1", "isoneutral diffusivity"),
)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-14, "Roots, products and a sum of what is not negative."),
                   float32=Tolerance(1e-5, "The same in float32."))
NEARLY_0 = Real("1e-16")


def reference(fields, settings):
    chosen = {name: Real(settings.get(name, default)) for name, default in SETTINGS.items()}
    shape = fields["maskW"].shape
    result = {name: np.zeros(shape[-len(axes):]) for name, axes, *_ in OUTPUTS}
    result["K_gm"][...], result["K_iso"][...] = chosen["K_gm_0"], chosen["K_iso_0"]
    if not chosen["enable_eke"]:
        return result
    zero = {"eke": np.zeros(shape), "coriolis_t": np.zeros(shape[1:]), "beta": np.zeros(shape[1:])}
    f = {name: np.asarray((zero | fields)[name], Real) for name in (*INPUTS, *OPTIONAL)}
    result |= length_and_diffusivity(f, chosen)
    if chosen["enable_eke_isopycnal_diffusion"]:
        result["K_iso"] = result["K_gm"].copy()
    return result


def length_and_diffusivity(f, chosen):
    """For each column of water."""
    wave = 0
    for n, h, wet in zip(f["Nsqr"], f["dzw"], f["maskW"]):
        wave = wave + np.where((n > 0) & (wet != 0), np.sqrt(np.maximum(n, 0)) * h, 0)
    wave = wave / (4 * np.arctan(Real(1)))
    rossby = np.minimum(wave / np.maximum(abs(f["coriolis_t"]), NEARLY_0),
                        np.sqrt(wave / np.maximum(2 * f["beta"], NEARLY_0)))
    root = np.sqrt(np.where(f["eke"] > 0, f["eke"], 0))
    rhines = np.sqrt(root / np.maximum(f["beta"], NEARLY_0))
    length = np.maximum(np.minimum(chosen["eke_cross"] * rossby, chosen["eke_crhin"] * rhines),
                        chosen["eke_lmin"])
    made = {"L_rossby": rossby, "L_rhines": rhines, "sqrteke": root, "eke_len": length,
            "K_gm": np.minimum(chosen["eke_c_k"] * length * root, chosen["eke_k_max"])}
    return {name: values.astype(np.float64) for name, values in made.items()}
