"""Elliptic equations of five points, assembled as sparse matrices and solved directly, in 80-bit arithmetic."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from . import Real

REFINEMENTS = 6


def assemble(edges, excess):
    """The matrix of the sums over edges (cell, cell, coupling) of coupling times difference, and of a diagonal;
    in double, and what double leaves."""
    one, other, coupling = (np.concatenate([np.ravel(part) for part in parts]) for parts in zip(*edges))
    cells = np.arange(excess.size)
    rows = np.concatenate([one, other, one, other, cells])
    columns = np.concatenate([one, other, other, one, cells])
    values = np.concatenate([coupling, coupling, -coupling, -coupling, np.ravel(excess)])
    return rows, columns, values


def solve(edges, excess, b):
    """x of A x = b, where every cell that has no row gets 0: an LU factorisation refined by residuals in 80 bits."""
    n = excess.size
    if n == 0:
        return np.zeros(excess.shape, Real)
    rows, columns, values = assemble(edges, excess)
    parts = apart(rows, columns, values)
    is_empty = total(n, ((row, value * (row == column)) for row, column, value in parts)) <= 0
    all_values = np.concatenate([values.astype(float), is_empty.astype(float)])
    cells = np.arange(n)
    matrix = scipy.sparse.csc_matrix((all_values, (np.concatenate([rows, cells]), np.concatenate([columns, cells]))),
                                     shape=(n, n))
    factors = scipy.sparse.linalg.splu(matrix)
    b = np.where(is_empty, 0, np.ravel(b)).astype(Real)
    x = np.zeros(n, Real)
    for _ in range(REFINEMENTS):
        left = b - total(n, ((row, value * x[column]) for row, column, value in parts))
        size = np.abs(left).max()
        if not size > 0:
            break
        x += factors.solve((left / size).astype(float)).astype(Real) * size
    return x.reshape(excess.shape)


def apart(rows, *others):
    """Parts in which no row comes twice, so that NumPy adds each at once; those of a row stay in order."""
    order = np.argsort(rows, kind="stable")
    rank = np.arange(rows.size) - np.searchsorted(rows[order], rows[order])
    order = order[np.argsort(rank, kind="stable")]
    ends = np.cumsum(np.bincount(rank))[:-1]
    return list(zip(*(np.split(array[order], ends) for array in (rows, *others))))


def total(n, parts):
    result = np.zeros(n, Real)
    for row, values in parts:
        result[row] += values
    return result
