"""Reference of the kernel `idemix_parameters`, in 80-bit arithmetic: Olbers and Eden (2013), as in Veros."""

import numpy as np

from . import Real, Tolerance, alike

NAME = "idemix_parameters"
INPUTS = ("Nsqr", "maskW", "dzw", "coriolis_t")
OPTIONAL = ()
SETTINGS = {"gamma": 1.57, "jstar": 5.0, "mu0": 1 / 3}
OUTPUTS = (
    ("c0", ("z", "y", "x"), "m s-1", "vertical group velocity of internal waves"),
    ("v0", ("z", "y", "x"), "m s-1", "lateral group velocity of internal waves"),
    ("alpha_c", ("z", "y", "x"), "s m-2", "dissipation of internal waves over the square of their energy"),
)
TOLERANCES = alike(OUTPUTS, float64=Tolerance(1e-14, "Roots, powers, logarithms and a sum of what is not negative."),
                   float32=Tolerance(1e-5, "The same in float32."))
PI = 4 * np.arctan(Real(1))
LEAST_SPEED, LEAST_CORIOLIS, LEAST_DISSIPATION = Real("1e-2"), Real("1e-22"), Real("1e-4")


def reference(fields, settings):
    gamma, jstar, mu0 = (Real(settings.get(name, default)) for name, default in SETTINGS.items())
    water = np.asarray(fields["maskW"], Real)
    frequency = np.sqrt(np.maximum(0, np.asarray(fields["Nsqr"], Real)))
    coriolis = np.abs(np.asarray(fields["coriolis_t"], Real))
    height = np.asarray(fields["dzw"], Real).copy()
    height[-1] /= 2  # the uppermost cell lies below the surface only
    mode = (height[:, None, None] * frequency * water).sum(axis=0) / (PI * jstar)
    speed = np.maximum(LEAST_SPEED, mode)
    ratio = frequency / (LEAST_CORIOLIS + coriolis)
    steep = np.maximum(3, ratio)
    vertical = (Real("0.9") * steep**(Real(-2) / 3) * (1 - np.exp(-steep / Real("4.3")))
                / (PI / 2 - np.arcsin(1 / steep)))
    lateral = np.zeros(ratio.shape, Real)
    is_free = ratio > 1  # waves are faster than inertial oscillations
    free = ratio[is_free]
    lateral[is_free] = (free - 1) / (free + 1) / np.arccos(1 / free)
    decay = mu0 * np.arccosh(np.maximum(1, ratio)) * coriolis / speed**2
    return {"c0": gamma * speed * vertical * water, "v0": gamma * speed * lateral * water,
            "alpha_c": np.maximum(LEAST_DISSIPATION, decay) * water}
