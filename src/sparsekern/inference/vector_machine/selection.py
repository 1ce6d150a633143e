r"""Which column to add, weigh anew or delete.

With the column's own factors removed: in the model :math:`s_a=1/\Sigma_{aa}-\alpha_a-d_a`,
:math:`q_a=\mu_a/\Sigma_{aa}-h_a`; outside :math:`s_m=\phi_m^\top T\phi_m-|C^{-1}\Phi^\top
T\phi_m|^2`, :math:`q_m=\phi_m^\top e`, :math:`e=\nu-\tau\circ\Phi\mu`. The smoothed edge stays with
its column: :math:`S=s+d`, :math:`Q=q+h`. A gain holds the likelihood sites fixed, so that the
evidence can fall all the same: such a move is taken back (:mod:`.moves`).
"""

from __future__ import annotations

import numpy as np

from ..._jit import jit
from ...linalg.blas import solve_lower_rows
from .expectation_propagation import refresh_ep
from .gains import SMOOTHED, best_precision, gain
from .laplace import refresh_laplace
from .machine import fitted_values
from .smoothed import SHARPNESS, refresh_smoothed

LAPLACE, EP, SMOOTHED_EDGE = range(3)
INFERENCES = {"laplace": LAPLACE, "ep": EP, "smoothed": SMOOTHED_EDGE}
_INDEPENDENT = 1e-10  # of a column that the active ones do not explain
ROUNDED = 1e-13  # of a precision: less information from the data is rounding


@jit
def refresh(machine, problem):
    """Bring mode, sites, Gaussian and evidence up to date with columns and precisions."""
    if problem.inference == LAPLACE:
        refresh_laplace(machine, problem)
    elif problem.inference == EP:
        refresh_ep(machine, problem)
    else:
        refresh_smoothed(machine, problem)


@jit
def own_information(machine, problem, a):
    """Return (s, q) of an active column, as its rule wants them."""
    precision, moment = 1.0 / machine.variance[a], machine.mean[a] / machine.variance[a]
    own = machine.alpha[a]
    if problem.rule != SMOOTHED:
        own += machine.edge_precision[a]
        moment -= machine.edge_shift[a]
    return max(precision - own, ROUNDED * precision), moment


@jit
def best_change(machine, problem, refused):
    """Return place and precision (infinite: delete) of the best change, place 0 if none gains."""
    best, place, precision = problem.min_gain, 0, 0.0
    for a in range(machine.free[0], machine.size[0]):
        if refused[machine.members[a]]:
            continue
        s, q = own_information(machine, problem, a)
        alpha = best_precision(problem.rule, problem.signed, s, q)
        value = gain(problem.rule, alpha, s, q) - gain(problem.rule, machine.alpha[a], s, q)
        if value > best:
            best, place, precision = value, a, alpha
    return place, precision


@jit
def _weighted_square(column, weights):
    """Return the sum of weighted squares by eight running sums."""
    n = weights.shape[0]
    a = b = c = d = e = f = g = h = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        a += weights[i] * column[i] * column[i]
        b += weights[i + 1] * column[i + 1] * column[i + 1]
        c += weights[i + 2] * column[i + 2] * column[i + 2]
        d += weights[i + 3] * column[i + 3] * column[i + 3]
        e += weights[i + 4] * column[i + 4] * column[i + 4]
        f += weights[i + 5] * column[i + 5] * column[i + 5]
        g += weights[i + 6] * column[i + 6] * column[i + 6]
        h += weights[i + 7] * column[i + 7] * column[i + 7]
    for i in range(whole, n):
        a += weights[i] * column[i] * column[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@jit
def outside_information(machine, table, s, q):
    """Write (s, q) of every column in the rows of ``table``; s is zero where it is explained.

    ``table`` may have single precision: it only ranks candidates.
    """
    size, n = machine.size[0], machine.tau.shape[0]
    residual = np.empty(n)
    fitted_values(machine, machine.mean, residual)
    weighted = np.empty((size, n), table.dtype)
    for i in range(n):
        residual[i] = machine.nu[i] - machine.tau[i] * residual[i]
    for a in range(size):
        for i in range(n):
            weighted[a, i] = machine.tau[i] * machine.design[a, i]
    shared = np.dot(weighted, table.T).astype(np.float64)
    solve_lower_rows(machine.root, size, shared)
    q[:] = np.dot(table, residual.astype(table.dtype))
    for m in range(table.shape[0]):
        s[m] = _weighted_square(table[m], machine.tau)
    whole = s.copy()
    for a in range(size):
        for m in range(table.shape[0]):
            s[m] -= shared[a, m] * shared[a, m]
    for m in range(table.shape[0]):
        if s[m] < _INDEPENDENT * whole[m]:
            s[m] = 0.0


@jit
def scan(machine, problem, table, signs, closed):
    """Return place, precision and gain of the best column to add, place -1 if none gains.

    ``closed`` marks rows of ``table`` that are active or were refused.
    """
    count = table.shape[0]
    s, q = np.empty(count), np.empty(count)
    outside_information(machine, table, s, q)
    best, place, precision = problem.min_gain, -1, 0.0
    for m in range(count):
        if closed[m] or s[m] <= 0.0:
            continue
        information, moment = s[m], signs[m] * q[m]
        if problem.rule == SMOOTHED:
            information += 0.25 * SHARPNESS * SHARPNESS
            moment += 0.5 * SHARPNESS
        alpha = best_precision(problem.rule, problem.signed, information, moment)
        value = gain(problem.rule, alpha, information, moment)
        if value > best:
            best, place, precision = value, m, alpha
    return place, precision, best
