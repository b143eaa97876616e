"""Seawater by the 48-term equation of state of TEOS-10 (IOC et al., 2010, appendix K).

Specific volume is a ratio of two polynomials in sqrt(SA), CT and p,

    v(SA, CT, p) = N / D,    rho = D / N,

with D of degree 2 in p and N of degree 3. Dynamic enthalpy is its integral over pressure, and the
quantity that the kernel `eos` computes is the derivative of that by CT,

    H = 10^4 Pa/dbar * integral_0^p v dp',    dHdT = 10^4 Pa/dbar * integral_0^p dv/dCT dp'.

Units: SA g kg-1, CT degC, p dbar, rho kg m-3, v m3 kg-1, H J kg-1, dHdT J kg-1 K-1.

Three evaluations of dHdT in arbitrary precision share only the table of coefficients and the sum
over it, which the published check values of rho, alpha and H cover:

    dhdt_closed_form    integrates the rational function dv/dCT by partial fractions
    dhdt_quadrature     integrates dv/dCT numerically
    dhdt_difference     differentiates the closed form of H numerically

`dhdt_level` is the fast one, for whole fields: Gauss-Legendre quadrature in 80-bit arithmetic.

How the definition relates to Veros and pyhpc-benchmarks: both publish the closed form of dHdT
after symbolic differentiation. pyhpc's evaluates it as it stands. Veros's `gsw_dHdT` first replaces
SA by max(0.1, SA) and CT by max(-12, CT), always; only its `gsw_dyn_enthalpy` skips that in
pyom_compatibility_mode. Here nothing is clamped. dHdT has no singularity to avoid: SA enters
dv/dCT by SA and SA^(3/2), so SA = 0 is finite, and near CT = -15.5, where D's coefficient of p^2
vanishes, only the closed form fails, by 0/0. Where SA >= 0.1 and CT >= -12, the definitions agree.
Veros's dynamic enthalpy also lacks the part 10^4 p / 1024 of the Boussinesq reference density; it
does not depend on CT, so dHdT is the same with it or without.
"""

import functools
from typing import Callable, NamedTuple

import mpmath as mp
import numpy as np

DIGITS = 50
GUARD_DIGITS = 40  # the closed forms cancel, without bound towards CT = -15.5
PA_PER_DBAR = 10000

# (power of sqrt(SA), power of CT, power of p, coefficient as published)
DENOMINATOR = (
    (0, 0, 0, "9.998420897506056e+2"),
    (0, 1, 0, "2.839940833161907e0"),
    (0, 2, 0, "-3.147759265588511e-2"),
    (0, 3, 0, "1.181805545074306e-3"),
    (2, 0, 0, "-6.698001071123802e0"),
    (2, 1, 0, "-2.986498947203215e-2"),
    (2, 2, 0, "2.327859407479162e-4"),
    (3, 0, 0, "-3.988822378968490e-2"),
    (3, 1, 0, "5.095422573880500e-4"),
    (3, 2, 0, "-1.426984671633621e-5"),
    (3, 3, 0, "1.645039373682922e-7"),
    (0, 0, 1, "-2.233269627352527e-2"),
    (0, 1, 1, "-3.436090079851880e-4"),
    (0, 2, 1, "3.726050720345733e-6"),
    (2, 0, 1, "-1.806789763745328e-4"),
    (2, 1, 1, "6.876837219536232e-7"),
    (0, 0, 2, "-3.087032500374211e-7"),
    (0, 1, 2, "-1.988366587925593e-8"),
    (0, 2, 2, "-1.061519070296458e-11"),
    (2, 0, 2, "1.550932729220080e-10"),
)
NUMERATOR = (
    (0, 0, 0, "1.0e0"),
    (0, 1, 0, "2.775927747785646e-3"),
    (0, 2, 0, "-2.349607444135925e-5"),
    (0, 3, 0, "1.119513357486743e-6"),
    (0, 4, 0, "6.743689325042773e-10"),
    (2, 0, 0, "-7.521448093615448e-3"),
    (2, 1, 0, "-2.764306979894411e-5"),
    (2, 2, 0, "1.262937315098546e-7"),
    (2, 3, 0, "9.527875081696435e-10"),
    (2, 4, 0, "-1.811147201949891e-11"),
    (3, 0, 0, "-3.303308871386421e-5"),
    (3, 1, 0, "3.801564588876298e-7"),
    (3, 2, 0, "-7.672876869259043e-9"),
    (3, 3, 0, "-4.634182341116144e-11"),
    (3, 4, 0, "2.681097235569143e-12"),
    (4, 0, 0, "5.419326551148740e-6"),
    (0, 0, 1, "-2.742185394906099e-5"),
    (0, 1, 1, "-3.212746477974189e-7"),
    (0, 2, 1, "3.191413910561627e-9"),
    (0, 3, 1, "-1.931012931541776e-12"),
    (2, 0, 1, "-1.105097577149576e-7"),
    (2, 1, 1, "6.211426728363857e-10"),
    (0, 0, 2, "-1.119011592875110e-10"),
    (0, 1, 2, "-1.941660213148725e-11"),
    (0, 2, 2, "-1.864826425365600e-14"),
    (2, 1, 2, "1.119522344879478e-14"),
    (0, 0, 3, "-1.200507748551599e-15"),
    (0, 1, 3, "6.057902487546866e-17"),
)


class Arithmetic(NamedTuple):
    """The number type of a computation."""

    number: Callable
    sqrt: Callable
    log: Callable


EXACT = Arithmetic(mp.mpf, mp.sqrt, mp.log)
EXTENDED = Arithmetic(np.longdouble, np.sqrt, np.log)
DOUBLE = Arithmetic(np.float64, np.sqrt, np.log)


class Volume:
    """N and D at one SA and CT, and their derivatives: coefficients of p^0, p^1, ..., made when they are asked for."""

    def __init__(self, root, ct, number, numerator, denominator):
        powers = _powers(root, 4), _powers(ct, 4), number
        self.make = {"numerator": (numerator, 3, *powers), "denominator": (denominator, 2, *powers)}

    def __getattr__(self, name):
        ratio, _, by = name.partition("_")
        result = _pressure_polynomial(*self.make[ratio], by)
        setattr(self, name, result)
        return result


def specific_volume(sa, ct, arithmetic, numerator=NUMERATOR, denominator=DENOMINATOR):
    """The polynomials in p whose ratio is v; the tables are parameters so a test can spoil them."""
    return Volume(arithmetic.sqrt(sa), ct, arithmetic.number, numerator, denominator)


def _pressure_polynomial(terms, degree, root_powers, ct_powers, number, by):
    """Or its derivative by CT or by SA, whose root counts as half a power."""
    result = [0 * root_powers[1] * ct_powers[1] for _ in range(degree + 1)]
    for i, j, k, coefficient in terms:
        factor = _number(coefficient, number, mp.mp.prec)
        if by == "ct":
            if j == 0:
                continue
            factor, j = factor * j, j - 1
        elif by == "sa":
            if i == 0:
                continue
            factor, i = factor * i / 2, i - 2
        result[k] = result[k] + factor * root_powers[i] * ct_powers[j]
    return result


@functools.lru_cache(maxsize=None)
def _number(coefficient, number, _precision):
    """A coefficient in a type whose numbers may depend on the precision of now."""
    return number(coefficient)


def _powers(x, highest):
    """By multiplication: the result of numpy's `x**n` depends on the C library."""
    powers = [x * 0 + 1]
    for _ in range(highest):
        powers.append(powers[-1] * x)
    return powers


def _evaluate(polynomial, x):
    result = polynomial[-1]
    for coefficient in polynomial[-2::-1]:
        result = result * x + coefficient
    return result


def _multiply(a, b):
    product = [0 * a[0]] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] = product[i + j] + x * y
    return product


def _quotient(dividend, divisor):
    """Polynomial part of dividend / divisor."""
    rest = list(dividend)
    quotient = [0 * rest[0]] * (len(rest) - len(divisor) + 1)
    for i in reversed(range(len(quotient))):
        quotient[i] = rest[i + len(divisor) - 1] / divisor[-1]
        for j, coefficient in enumerate(divisor):
            rest[i + j] = rest[i + j] - quotient[i] * coefficient
    return quotient


def _differentiate(polynomial):
    return [k * c for k, c in enumerate(polynomial)][1:]


def _integrate(polynomial, p):
    """Integral of a polynomial from 0 to p."""
    return sum(c * p ** (k + 1) / (k + 1) for k, c in enumerate(polynomial))


def _roots(quadratic, sqrt):
    c, b, a = quadratic
    root = sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def _dv_dct(volume, p):
    return _derivative(volume, volume.numerator_ct, volume.denominator_ct, p)


def _dv_dsa(volume, p):
    return _derivative(volume, volume.numerator_sa, volume.denominator_sa, p)


def _derivative(volume, numerator_by, denominator_by, p):
    n, d, n_by, d_by = (_evaluate(polynomial, p) for polynomial in (
        volume.numerator, volume.denominator, numerator_by, denominator_by))
    return (n_by * d - n * d_by) / (d * d)


def _v(volume, p):
    return _evaluate(volume.numerator, p) / _evaluate(volume.denominator, p)


def _precise(function):
    """Evaluate an mpmath function of (SA, CT, p) with guard digits and return DIGITS of it."""

    @functools.wraps(function)
    def wrapper(sa, ct, p, **tables):
        with mp.workdps(DIGITS + GUARD_DIGITS):
            result = mp.re(function(mp.mpf(sa), mp.mpf(ct), mp.mpf(p), **tables))
        with mp.workdps(DIGITS):
            return +result

    return wrapper


@_precise
def rho(sa, ct, p, **tables):
    """In-situ density."""
    return 1 / _v(specific_volume(sa, ct, EXACT, **tables), p)


@_precise
def alpha(sa, ct, p, **tables):
    """Thermal expansion coefficient (1/v) dv/dCT, K-1."""
    volume = specific_volume(sa, ct, EXACT, **tables)
    return _dv_dct(volume, p) / _v(volume, p)


@_precise
def dynamic_enthalpy(sa, ct, p, **tables):
    """Closed form of H, by partial fractions of v in p."""
    return _enthalpy(specific_volume(sa, ct, EXACT, **tables), p)


def _enthalpy(volume, p):
    """v = polynomial + sum_i c_i / (p - p_i), p_i the zeros of D."""
    d = volume.denominator
    result = _integrate(_quotient(volume.numerator, d), p)
    for root in _roots(d, mp.sqrt):
        residue = _evaluate(volume.numerator, root) / _evaluate(_differentiate(d), root)
        result += residue * mp.log(1 - p / root)
    return PA_PER_DBAR * result


@_precise
def dhdt_closed_form(sa, ct, p, **tables):
    """dHdT by partial fractions of dv/dCT in p."""
    return partial_fractions(specific_volume(sa, ct, EXACT, **tables), p, EXACT)


def partial_fractions(volume, p, arithmetic):
    """dv/dCT = G/D^2 = polynomial + sum_i [a_i / (p - p_i) + b_i / (p - p_i)^2].

    In double precision this fails as the published closed form does: the a_i cancel within
    themselves and then with the polynomial, which leaves errors of 1e-9 of the largest |dHdT| and
    3e-8 of the value on pyhpc's inputs.
    """
    d = volume.denominator
    g = [x - y for x, y in zip(_multiply(volume.numerator_ct, d),
                               _multiply(volume.numerator, volume.denominator_ct))]
    result = _integrate(_quotient(g, _multiply(d, d)), p)
    first, second = _roots(d, arithmetic.sqrt)
    for root, other in ((first, second), (second, first)):
        distance = root - other
        scale = (d[2] * distance) ** 2
        b = _evaluate(g, root) / scale
        a = _evaluate(_differentiate(g), root) / scale - 2 * b / distance
        result = result + a * arithmetic.log(1 - p / root) + b * p / (root * (root - p))
    return PA_PER_DBAR * result


@_precise
def dhdt_quadrature(sa, ct, p, **tables):
    """dHdT by tanh-sinh quadrature, to about 10 digits more than DIGITS."""
    volume = specific_volume(sa, ct, EXACT, **tables)
    with mp.workdps(DIGITS + 10):
        return PA_PER_DBAR * mp.quad(lambda x: _dv_dct(volume, x), mp.linspace(0, p, 3))


@_precise
def dhdt_difference(sa, ct, p, **tables):
    """dHdT as the central difference of the closed form of H; the derivative by CT is numerical."""
    return _difference(lambda x: _enthalpy(specific_volume(sa, x, EXACT, **tables), p), ct)


def _difference(function, x):
    """The central difference quotient of the order 2."""
    step = mp.mpf(10) ** -(DIGITS // 2 + 2)  # its error, step^2 times the third derivative: 1e-50
    with mp.workdps(3 * DIGITS):
        return (function(x + step) - function(x - step)) / (2 * step)


@_precise
def dhds_quadrature(sa, ct, p, **tables):
    """dHdS as dhdt_quadrature."""
    volume = specific_volume(sa, ct, EXACT, **tables)
    with mp.workdps(DIGITS + 10):
        return PA_PER_DBAR * mp.quad(lambda x: _dv_dsa(volume, x), mp.linspace(0, p, 3))


@_precise
def dhds_difference(sa, ct, p, **tables):
    """dHdS as dhdt_difference, by the root of SA: H is smooth in it, and at SA = 0 too.

    H(r) is H0 + H2 r^2 + H3 r^3 + ..., and dHdS = H'(r) / (2 r), at r = 0 half of H''.
    """
    def enthalpy(r):
        return _enthalpy(specific_volume(r * r, ct, EXACT, **tables), p)

    root = mp.sqrt(sa)
    if root:
        return _difference(enthalpy, root) / (2 * root)
    step = mp.mpf(10) ** -DIGITS
    with mp.workdps(4 * DIGITS):
        return (enthalpy(step) - enthalpy(mp.mpf(0))) / step**2


NODES = 24
PANEL_DBAR = 4000  # 24 nodes a panel leave no quadrature error in 80 bits, to 12000 dbar and beyond


@functools.lru_cache(maxsize=None)
def gauss_legendre(n):
    """Nodes and weights of the rule on [0, 1], rounded to longdouble from DIGITS digits."""
    nodes, weights = [], []
    with mp.workdps(DIGITS):
        for k in range(n):
            x = mp.cos(mp.pi * (k + mp.mpf(3) / 4) / (n + mp.mpf(1) / 2))
            for _ in range(8):  # Newton's iteration doubles the digits: 3 of them at the start
                value, slope = _legendre(n, x)
                x -= value / slope
            nodes.append((1 - x) / 2)
            weights.append(1 / ((1 - x * x) * _legendre(n, x)[1] ** 2))
        return tuple(np.array([_to_longdouble(x) for x in values]) for values in (nodes, weights))


def _legendre(n, x):
    previous, value = mp.mpf(1), x
    for k in range(2, n + 1):
        previous, value = value, ((2 * k - 1) * x * value - (k - 1) * previous) / k
    return value, n * (x * value - previous) / (x * x - 1)


def _to_longdouble(x):
    return np.longdouble(mp.nstr(x, 30))


def dhdt_level(sa, ct, p):
    """dHdT of a whole level (arrays SA and CT, scalar p) in 80-bit arithmetic."""
    return _integral_level(_dv_dct, sa, ct, p)


def dhds_level(sa, ct, p):
    return _integral_level(_dv_dsa, sa, ct, p)


def enthalpy_level(sa, ct, p, rho_0):
    """H less the part of a reference density, under the integral: the difference keeps its digits."""
    return _integral_level(lambda volume, x: _v(volume, x) - 1 / np.longdouble(rho_0), sa, ct, p)


def rho_level(sa, ct, p):
    return 1 / _v(specific_volume(*_extended(sa, ct), EXTENDED), np.longdouble(p))


def _extended(*arrays):
    if np.finfo(np.longdouble).nmant < 63:
        raise RuntimeError("the reference needs a long double of 80 bits or more")
    return tuple(np.asarray(x, np.longdouble) for x in arrays)


def _integral_level(integrand, sa, ct, p):
    sa, ct, p = _extended(sa, ct, p)
    volume = specific_volume(sa, ct, EXTENDED)
    nodes, weights = gauss_legendre(NODES)
    panels = max(1, int(np.ceil(abs(p) / PANEL_DBAR)))
    width = p / panels
    result = 0 * sa * ct
    for panel in range(panels):
        for node, weight in zip(nodes, weights):
            result += weight * integrand(volume, (panel + node) * width)
    return PA_PER_DBAR * width * result
