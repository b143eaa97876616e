#!/usr/bin/env python3
"""For make_veros_exact.py: steps of Veros in 80 bits, or by JAX, in a process of their own.

    venv/bin/python validation/physics/veros_again.py 80-bits|jax CASE START.npz END.npz

CASE is one of make_veros_ocean.py. START holds all of Veros's variables before the first step, END gets the fields
after the last. In 80 bits, what follows from the grid, and the density at the start, are made anew.
"""

import functools
import sys

import jax.scipy.sparse.linalg
import numpy as np
import scipy.sparse.linalg
import veros

HOW, CASE, START, END = sys.argv[1:]
IS_EXACT = HOW == "80-bits"
WIDE = np.longdouble
OF_GRID = ("hu", "hv", "hur", "hvr", "ht", "psin", "line_psin")
if IS_EXACT:
    object.__setattr__(veros.runtime_settings, "float_type", "longdouble")  # as a setting, it would be refused
    veros.runtime_settings.linear_solver = "scipy_jax"  # it does not insist on 64 bits
else:
    veros.runtime_settings.backend = "jax"

# Veros takes its backend from the settings above when the rest of it is imported.
# pylint: disable=wrong-import-position
from make_veros_external import solve_directly  # noqa: E402
from make_veros_ocean import INSIDE, STEPS, Setup, prognostic  # noqa: E402
from veros_acc import has  # noqa: E402

from veros.core import external, numerics, thermodynamics, utilities  # noqa: E402
from veros.core.external import solvers  # noqa: E402
from veros.variables import VARIABLES  # noqa: E402

DOUBLE_SOLVE = np.linalg.solve


def solve(matrix, b):
    """In 80 bits, from solutions in 64."""
    x = np.zeros_like(b)
    for _ in range(6):
        x += DOUBLE_SOLVE(matrix.astype(np.float64), (b - matrix @ x).astype(np.float64))
    return x


@functools.cache
def matrix_of(multiply, shape):
    units = np.eye(np.prod(shape), dtype=WIDE).reshape(-1, *shape)
    return np.stack([multiply(unit).ravel() for unit in units], axis=1)


def solve_for_field(multiply, b, **_options):
    """In the place of JAX's BiCGSTAB."""
    return solve(matrix_of(multiply, b.shape), b.ravel()).reshape(b.shape), 0


def solve_columns(a, b, c, d, water, floor):
    """In the place of Veros's solve_tridiagonal, which calls LAPACK."""
    a, b, c, d = np.where(water & ~floor, a, 0), np.where(water, b, 1), np.where(water, c, 0), np.where(water, d, 0)
    for k in range(1, a.shape[-1]):
        factor = a[..., k] / b[..., k - 1]
        b[..., k] -= factor * c[..., k - 1]
        d[..., k] -= factor * d[..., k - 1]
    d[..., -1] /= b[..., -1]
    for k in range(a.shape[-1] - 2, -1, -1):
        d[..., k] = (d[..., k] - c[..., k] * d[..., k + 1]) / b[..., k]
    return d


def put(state, but=()):
    with np.load(START) as start, state.variables.unlock():
        state.variables.update({name: start[name] for name in set(start) - set(but) if has(state.variables, name)})


def widen(state):
    numerics.calc_topo(state)
    solvers.get_linear_solver.cache.clear()
    if state.settings.enable_streamfunction:
        external.streamfunction_init(state)
    put(state, OF_GRID)
    with state.variables.unlock():
        state.variables.update(thermodynamics.calc_eq_of_state(state, state.variables.tau))


def main():
    scipy.sparse.linalg.bicgstab, jax.scipy.sparse.linalg.bicgstab = solve_directly, solve_for_field
    if IS_EXACT:
        np.linalg.solve, utilities.solve_tridiagonal = solve, solve_columns
    VARIABLES["ssh"].active = True
    setup = Setup(CASE)
    setup.setup()
    state = setup.state
    put(state)
    if IS_EXACT:
        widen(state)
    for _ in range(max(STEPS)):
        setup.step(state)
    after = {name: values[INSIDE] for name, values in prognostic(state).items()}
    assert all(values.dtype == (WIDE if IS_EXACT else np.float64) for values in after.values())
    np.savez(END, **after)


if __name__ == "__main__":
    main()
