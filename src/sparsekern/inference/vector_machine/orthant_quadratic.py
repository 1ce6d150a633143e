r"""The largest value of a concave quadratic on an orthant, by an active set.

Maximises :math:`b^\top x-\frac12x^\top Hx` subject to :math:`x_a\ge0` for the columns with an edge,
starting from a feasible point (Lawson and Hanson): solve on the free columns; walk towards that
solution until a column meets its edge, which is then held there; free the held column whose
multiplier is largest; end when none is positive. A Newton step made so never zigzags along the
edges, however dependent the columns are.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import dot, solve_lower, solve_lower_transposed

_ROUNDING = 1e-12  # of a multiplier against the terms it is made of


@jit
def _solve_free(hessian, linear, free, root, part, solution):
    """Write the maximum over the free columns, the others zero; return whether it exists."""
    count = 0
    size = linear.shape[0]
    places = np.empty(size, np.int64)
    for a in range(size):
        solution[a] = 0.0
        if free[a]:
            places[count] = a
            count += 1
    for i in range(count):
        for j in range(i + 1):
            root[i, j] = hessian[places[i], places[j]]
        part[i] = linear[places[i]]
    if cholesky_in_place(root, count) != 0:
        return False
    solve_lower(root, count, part)
    solve_lower_transposed(root, count, part)
    for i in range(count):
        solution[places[i]] = part[i]
    return True


@jit
def maximize_on_orthant(hessian, linear, first_edge, x):
    """Move ``x`` to the maximum; columns from ``first_edge`` on are not negative.

    Returns whether every matrix had a factor.
    """
    size = linear.shape[0]
    root, part, target = np.empty((size, size)), np.empty(size), np.empty(size)
    free, barred = np.ones(size, np.bool_), np.zeros(size, np.bool_)
    for a in range(first_edge, size):
        free[a] = x[a] > 0.0 or dot(hessian[a], x, size) < linear[a]
    for _ in range(3 * size + 10):
        if not _solve_free(hessian, linear, free, root, part, target):
            return False
        length, hit = 1.0, -1
        for a in range(first_edge, size):
            if free[a] and target[a] <= 0.0:
                ratio = x[a] / (x[a] - target[a]) if x[a] > 0.0 else 0.0
                if ratio < length or hit < 0:
                    length, hit = ratio, a
        for a in range(size):
            x[a] += length * (target[a] - x[a]) if free[a] else 0.0
        if hit >= 0:
            x[hit] = 0.0
            free[hit] = False
            barred[hit] = length == 0.0  # freed just now, by rounding: not again
            continue
        best, chosen = 0.0, -1
        for a in range(first_edge, size):
            if not free[a] and not barred[a]:
                multiplier = linear[a] - dot(hessian[a], x, size)
                scale = abs(linear[a]) + math.sqrt(hessian[a, a])
                if multiplier > max(best, _ROUNDING * scale):
                    best, chosen = multiplier, a
        if chosen < 0:
            break
        free[chosen] = True
    return True
