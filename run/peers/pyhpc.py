"""The functions of pyhpc-benchmarks in our terms.

Theirs take arrays in the order (x, y, z), those with time levels as (x, y, z, level). Ours are
(z, y, x), one array a time level. Nothing of theirs is copied: it is imported from a checkout.
"""

import importlib
import sys

import numpy as np

TAU, TAUP1, TAUM1 = 0, 1, 2
LEVELS = {"salt", "temp", "u_wgrid", "v_wgrid", "w_wgrid", "tke", "dtke"}  # except in eos

PACKAGES = {"eos": "equation_of_state", "isoneutral": "isoneutral_mixing",
            "tke": "turbulent_kinetic_energy"}
# The arguments of their functions, in order, by our names.
ARGUMENTS = {
    "eos": "salt temp p",
    "isoneutral": "maskT maskU maskV maskW dxt dxu dyt dyu dzt dzw cost cosu salt temp zt K_iso "
                  "K_11 K_22 K_33 Ai_ez Ai_nz Ai_bx Ai_by",
    "tke": "u_wgrid v_wgrid w_wgrid maskU maskV maskW dxt dxu dyt dyu dzt dzw cost cosu kbot "
           "kappaM mxl forc forc_tke_surface tke dtke",
}
ARGUMENTS = {kernel: names.split() for kernel, names in ARGUMENTS.items()}
OUTPUTS = {"eos": ["dHdT"], "isoneutral": ARGUMENTS["isoneutral"][-7:],
           "tke": ["tke_taup1", "dtke", "tke_surf_corr"]}

TKE_IS_MEANINGLESS = ("tke means nothing on pyhpc-benchmarks' own inputs, whose spacings and "
                      "mixing lengths are random numbers, half of them negative")


def package(checkout, kernel):
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    return importlib.import_module(f"benchmarks.{PACKAGES[kernel]}")


def implementation(checkout, kernel, framework):
    """Their module for a framework; None where they have none."""
    theirs = package(checkout, kernel)
    if framework not in theirs.__implementations__:
        return None
    return importlib.import_module(f".{kernel}_{framework}", theirs.__name__)


def our_fields(kernel, arguments):
    """The fields that our kernel reads, out of their function's arguments; views in our order."""
    fields = {}
    for name, value in arguments.items():
        if name in OUTPUTS[kernel] and name != "dtke":
            continue
        if name == "p":
            fields[name] = value[0, 0, :]
        elif name == "dtke":
            fields["dtke_taum1"] = value[..., TAUM1].T
        elif name in LEVELS and value.ndim == 4:
            fields[name] = value[..., TAU].T
        else:
            fields[name] = value.T
    if kernel == "tke":
        fields["tke_taup1"] = arguments["tke"][..., TAUP1].T
    return fields


def their_arguments(kernel, fields):
    """Their function's arguments for fields of ours: every time level the same."""
    nz, ny, nx = fields["salt"].shape
    arguments = {}
    for name in ARGUMENTS[kernel]:
        if name in OUTPUTS[kernel] and name != "dtke":
            arguments[name] = np.zeros((nx, ny, nz) + ((2, 2) if name[:2] == "Ai" else ()))
            continue
        value = fields["dtke_taum1" if name == "dtke" else name].T
        value = value.astype(np.int64 if name == "kbot" else np.float64, order="C")
        if name == "p":
            value = value[None, None, :]
        elif name in LEVELS and kernel != "eos":
            value = np.stack([value] * 3, axis=-1)
        arguments[name] = value
    if kernel == "tke":
        arguments["tke"][..., TAUP1] = fields["tke_taup1"].T
    return arguments


def our_outputs(kernel, result):
    """The result of their function, as NumPy arrays, by our names and in our order."""
    if kernel == "eos":
        result = [result]
    elif kernel == "tke":
        tke, dtke, correction = result
        result = tke[..., TAUP1], dtke[..., TAU], correction
    return {name: value.transpose(3, 4, 2, 1, 0) if value.ndim == 5 else value.T  # slopes have (x, y, z, ip, kr)
            for name, value in zip(OUTPUTS[kernel], result)}
