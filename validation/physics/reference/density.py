"""Reference of the kernel `density`: Veros's calc_eq_of_state, in 80-bit arithmetic.

The equations of state 1 to 4 are written here as density and dynamic enthalpy; TEOS-10 is integrated
by `teos10`. Depth in m stands for pressure in dbar, and z = -p.
"""

from types import SimpleNamespace

import numpy as np

from . import Real, Tolerance, teos10
from .eos import sea_pressure

NAME = "density"
INPUTS = ("salt", "temp", "zt", "dzw", "maskT", "maskW")
OPTIONAL = ("p",)
SETTINGS = {"eq_of_state_type": 3, "clamp_enthalpy": 1}
OUTPUTS = (
    ("rho", ("z", "y", "x"), "kg m-3",
     "density less the reference density of 1024 kg m-3"),
    ("prho", ("z", "y", "x"), "kg m-3",
     "potential density by surface pressure less the reference density of 1024 kg m-3"),
    ("Hd", ("z", "y", "x"), "m2 s-2", "dynamic enthalpy"),
    ("int_drhodT", ("z", "y", "x"), "kg m-2 K-1",
     "derivative of density by Conservative Temperature, integrated from the depth to the surface"),
    ("int_drhodS", ("z", "y", "x"), "kg2 m-2 g-1",
     "derivative of density by Absolute Salinity, integrated from the depth to the surface"),
    ("Nsqr", ("z", "y", "x"), "s-2", "square of the stability frequency on the W grid"),
)
_TOLERANCE = {
    "float64": Tolerance(
        1e-13,
        "What the kernel has to reach by the issue that asked for it. Rounding gives about 1e-15 of "
        "the largest value, the quadrature up to 1e-14."),
    "float32": Tolerance(
        1e-5,
        "Polynomials of TEOS-10 in float32 lose up to two digits of seven where derivatives cancel."),
}
TOLERANCES = {name: _TOLERANCE for name, *_ in OUTPUTS} | {
    "Nsqr": {
        "float64": Tolerance(
            1e-13,
            "A difference of densities of neighbouring levels, which keeps its digits because the "
            "kernel leaves out their constant part."),
        "float32": Tolerance(
            2e-3,
            "A difference of neighbouring levels: float32 holds density anomalies of 50 kg m-3 to "
            "3e-6, and differences of levels are from 1e-3 to 1 kg m-3."),
    },
}

RHO_0, GRAVITY, SALT_0, THETA_0, SOUND = 1024, Real("9.81"), 35, 283 - Real("273.15"), 1490
BETA_T, BETA_S, GAMMA = Real("1.67e-4"), Real("0.78e-3"), Real("1.1e-8")
BETA_T_STAR = Real("1e-5")


def reference(fields, settings):
    chosen = SETTINGS | {name: int(settings[name]) for name in SETTINGS if name in settings}
    equation = (Teos10(chosen["clamp_enthalpy"]) if chosen["eq_of_state_type"] == 5
                else Vallis(chosen["eq_of_state_type"]))
    f = SimpleNamespace(**{name: np.asarray(fields[name], Real) for name in INPUTS})
    p = np.asarray(sea_pressure(fields), Real)
    out = {name: np.zeros(f.salt.shape) for name, *_ in OUTPUTS}
    levels = len(p)
    for k in range(levels):
        s, t, water = f.salt[k], f.temp[k], f.maskT[k]
        out["rho"][k] = water * equation.rho(s, t, p[k])
        out["prho"][k] = water * equation.rho(s, t, Real(0))
        out["Hd"][k] = water * equation.enthalpy(s, t, p[k])
        out["int_drhodT"][k] = equation.int_drhodT(s, t, p[k])
        out["int_drhodS"][k] = equation.int_drhodS(s, t, p[k])
        if k + 1 < levels:
            excess = equation.excess(s, t, f.salt[k + 1], f.temp[k + 1], p[k])
            out["Nsqr"][k] = -GRAVITY / RHO_0 * f.maskW[k] * excess / f.dzw[k]
    if levels > 1:
        out["Nsqr"][-1] = out["Nsqr"][-2]
    return out


class Teos10:
    """Dynamic enthalpy and its derivatives take less salt or heat than their least for that."""

    def __init__(self, clamps):
        self.clamps = clamps

    def clamped(self, s, t):
        return (np.maximum(s, Real("0.1")), np.maximum(t, -12)) if self.clamps else (s, t)

    @staticmethod
    def rho(s, t, p):
        return teos10.rho_level(s, t, p) - RHO_0

    def excess(self, s, t, s2, t2, p):
        """How much denser the second water is."""
        return self.rho(s2, t2, p) - self.rho(s, t, p)

    def enthalpy(self, s, t, p):
        return teos10.enthalpy_level(*self.clamped(s, t), p, RHO_0)

    def int_drhodT(self, s, t, p):
        return -RHO_0 / GRAVITY * teos10.dhdt_level(*self.clamped(s, t), p)

    def int_drhodS(self, s, t, p):
        return -RHO_0 / GRAVITY * teos10.dhds_level(*self.clamped(s, t), p)


class Vallis:
    """1: linear; 2: quadratic in temperature; 3: and with pressure; 4: as 2, without salinity."""

    def __init__(self, number):
        self.square = 0 if number == 1 else BETA_T_STAR / 2
        self.salt = 0 if number == 4 else BETA_S
        self.has_pressure = number == 3

    def rho(self, s, t, p):
        theta, z = t - THETA_0, -p
        buoyancy = BETA_T * theta + self.square * theta**2 - self.salt * (s - SALT_0)
        if self.has_pressure:
            buoyancy = (buoyancy + GRAVITY * z / SOUND**2
                        - BETA_T * GAMMA * GRAVITY * z * RHO_0 * theta)
        return -RHO_0 * buoyancy

    def excess(self, s, t, s2, t2, p):
        """Density is a polynomial of degree 2: its slope midway says how it differs, to all digits
        however alike both waters are."""
        slope = -RHO_0 * (BETA_T + self.square * (t + t2 - 2 * THETA_0))
        if self.has_pressure:
            slope = slope - RHO_0 * BETA_T * GAMMA * GRAVITY * p * RHO_0
        return slope * (t2 - t) + RHO_0 * self.salt * (s2 - s)

    def enthalpy(self, s, t, p):
        theta, z = t - THETA_0, -p
        if not self.has_pressure:
            return GRAVITY * z / RHO_0 * self.rho(s, t, p)
        # Veros has the square of theta twice as large here as in density
        flat = -BETA_T * theta - 2 * self.square * theta**2 + self.salt * (s - SALT_0)
        deep = -GRAVITY / SOUND**2 + BETA_T * GRAVITY * RHO_0 * GAMMA * theta
        return GRAVITY * z * flat + GRAVITY * z**2 / 2 * deep

    def int_drhodT(self, _s, t, p):
        theta, z = t - THETA_0, -p
        result = RHO_0 * z * (BETA_T + 2 * self.square * theta)
        if self.has_pressure:
            result = result - RHO_0 * BETA_T * GAMMA * GRAVITY * RHO_0 * z**2 / 2
        return result

    def int_drhodS(self, _s, t, p):
        return RHO_0 * self.salt * p + 0 * t
