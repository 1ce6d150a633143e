r"""Which column to add, weigh anew or delete, and the move itself.

With the column's own factors removed: in the model :math:`s_a=1/\Sigma_{aa}-\alpha_a-d_a`,
:math:`q_a=\mu_a/\Sigma_{aa}-h_a`; outside :math:`s_m=\phi_m^\top T\phi_m-|C^{-1}\Phi^\top
T\phi_m|^2`, :math:`q_m=\phi_m^\top e`, :math:`e=\nu-\tau\circ\Phi\mu`. The smoothed edge stays with
its column: :math:`S=s+d`, :math:`Q=q+h`. A gain holds the likelihood sites fixed, so that the
evidence can fall all the same: such a move is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...linalg.blas import solve_lower_rows
from .expectation_propagation import refresh_ep
from .gains import SMOOTHED, best_precision, gain
from .laplace import refresh_laplace
from .machine import Machine, Problem, fitted_values
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


def _snapshot(machine: Machine) -> Machine:
    """Return a copy of all that a move changes; the columns themselves are only moved about."""
    size = int(machine.size[0])
    saved = {
        name: values[tuple(slice(min(size, length)) for length in values.shape)].copy()
        for name, values in machine._asdict().items()
        if name not in ("design", "tau", "nu")
    }
    return machine._replace(tau=machine.tau.copy(), nu=machine.nu.copy(), **saved)


def _restore(machine: Machine, before: Machine) -> None:
    for now, then in zip(machine, before, strict=True):
        if now is not then:
            now[tuple(slice(length) for length in then.shape)] = then


@jit
def own_information(machine, problem, a):
    """Return (s, q) of an active column, as its rule wants them."""
    precision, moment = 1.0 / machine.variance[a], machine.mean[a] / machine.variance[a]
    own = machine.alpha[a]
    if problem.rule != SMOOTHED:
        own += machine.edge_precision[a]
        moment -= machine.edge_shift[a]
    return max(precision - own, ROUNDED * precision), moment


def add_column(
    machine: Machine, problem: Problem, column: np.ndarray, sign: float, member: int, alpha: float
) -> bool:
    """Add a column unless the evidence falls; return whether it was added."""
    before = _snapshot(machine)
    at = int(machine.size[0])
    np.multiply(column, sign, out=machine.design[at])
    machine.size[0] = at + 1
    machine.members[at] = member
    machine.alpha[at] = alpha
    machine.weight[at] = machine.edge_precision[at] = machine.edge_shift[at] = 0.0
    refresh(machine, problem)
    if before.evidence[0] < machine.evidence[0] < math.inf:  # false for NaN, too
        return True
    _restore(machine, before)
    return False


def _weigh_anew(machine: Machine, problem: Problem, a: int, alpha: float) -> bool:
    """Change or, with an infinite precision, delete a column; return whether that was kept."""
    before = _snapshot(machine)
    last = int(machine.size[0]) - 1
    if math.isfinite(alpha):
        machine.alpha[a] = alpha
    else:
        machine.design[[a, last]] = machine.design[[last, a]]
        for values in (
            machine.members, machine.alpha, machine.weight, machine.edge_precision,
            machine.edge_shift,
        ):  # fmt: skip
            values[a] = values[last]
        machine.size[0] = last
    refresh(machine, problem)
    if before.evidence[0] < machine.evidence[0] < math.inf:
        return True
    if not math.isfinite(alpha):
        machine.design[[a, last]] = machine.design[[last, a]]
    _restore(machine, before)
    return False


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


def settle(machine: Machine, problem: Problem, refused: np.ndarray, most: int) -> int:
    """Weigh active columns anew and delete them while that gains, the best move first.

    ``refused`` marks candidates whose last move lowered the evidence; it is wiped by every move
    that is kept. Returns the number of moves kept, at most ``most``.
    """
    kept = 0
    while kept < most:
        place, precision = best_change(machine, problem, refused)
        if place == 0:
            break
        member = machine.members[place]
        if _weigh_anew(machine, problem, place, precision):
            refused[:] = False
            kept += 1
        else:
            refused[member] = True
    return kept


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
