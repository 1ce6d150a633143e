r"""Evidence of Gaussian-process models with other responses, by an inner Laplace approximation.

:math:`f\sim N(0,K)`, :math:`K=\lambda k(E)+v_011^\top`; with :math:`\hat f` the mode of
:math:`\log p(y\mid f)-\frac12f^\top K^{-1}f` and W the curvature of the first term there,

.. math::
    \ell(u)=\log p(y\mid\hat f)-\tfrac12\hat a^\top\hat f-\tfrac12\log|I+W^{1/2}KW^{1/2}|,\qquad
    \hat f=K\hat a .

The mode is found by Newton's method on a with halved steps where one goes too far; every new
problem starts from the a of the one before.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...kernels.feature_sums import kernel_of_sums
from ...linalg.blas import cholesky_in_place, solve_lower_rows
from ...linalg.triangular import solve_lower, solve_lower_transposed
from .compiled import pick, write_cross, write_sums, write_toggled
from .responses import expected_curvature, response_terms

_MOST_STEPS = 100
_HALVINGS = 30
_TOLERANCE = 1e-11  # of the objective, relative to its size: differences are taken of it
_JITTER = 1e-9  # of lambda: the kernel matrix has no noise to make it definite


@jit
def _unpack_kernel(values, amplitude, intercept, matrix):
    at = 0
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            entry = amplitude * values[at + j] + intercept
            matrix[i, j] = entry
            matrix[j, i] = entry
        matrix[i, i] += _JITTER * amplitude
        at += i + 1


@jit
def _objective(code, target, f, a, last, freedom, slopes, weights):
    """Return log p(y | f) - a'f/2; write slopes and curvatures."""
    total = 0.0
    for i in range(f.shape[0]):
        value, slopes[i], weights[i] = response_terms(code, target[i], f[i], last, freedom)
        total += value - 0.5 * a[i] * f[i]
    return total


@jit
def _factor(kernel, weights, root):
    """Write the Cholesky factor of I + W^1/2 K W^1/2."""
    n = weights.shape[0]
    for i in range(n):
        scale = math.sqrt(weights[i])
        for j in range(i + 1):
            root[i, j] = scale * math.sqrt(weights[j]) * kernel[i, j]
        root[i, i] += 1.0
    return cholesky_in_place(root, n) == 0


@jit
def find_mode(kernel, code, target, last, freedom, a, f, slopes, weights, root, memory):
    """Move ``a`` and ``f`` to the mode and return the evidence; -inf where there is none.

    ``slopes`` are left at the mode; ``weights`` and ``root`` are those of the evidence.
    """
    n = target.shape[0]
    step, trial_a, trial_f, work = memory[0], memory[1], memory[2], memory[3]
    np.dot(kernel, a, f)
    value = _objective(code, target, f, a, last, freedom, slopes, weights)
    if not math.isfinite(value):  # a start from elsewhere may be absurd here
        a[:] = 0.0
        f[:] = 0.0
        value = _objective(code, target, f, a, last, freedom, slopes, weights)
    for _ in range(_MOST_STEPS):
        if not _factor(kernel, weights, root):
            return -math.inf
        # a_new = b - W^1/2 B^-1 W^1/2 K b with b = W f + slope
        for i in range(n):
            step[i] = weights[i] * f[i] + slopes[i]
        np.dot(kernel, step, work)
        for i in range(n):
            work[i] *= math.sqrt(weights[i])
        solve_lower(root, n, work)
        solve_lower_transposed(root, n, work)
        for i in range(n):
            step[i] -= math.sqrt(weights[i]) * work[i] + a[i]
        share, found = 1.0, False
        for _ in range(_HALVINGS):
            for i in range(n):
                trial_a[i] = a[i] + share * step[i]
            np.dot(kernel, trial_a, trial_f)
            there = _objective(code, target, trial_f, trial_a, last, freedom, slopes, weights)
            if there >= value:
                found = True
                break
            share *= 0.5
        if not found:  # no way up: this is the mode, as far as digits go
            _objective(code, target, f, a, last, freedom, slopes, weights)
            break
        gain = there - value
        a[:] = trial_a
        f[:] = trial_f
        value = there
        if gain <= _TOLERANCE * (1.0 + abs(value)):
            break
    for i in range(n):
        weights[i] = expected_curvature(code, weights[i], last, freedom)
    if not _factor(kernel, weights, root):
        return -math.inf
    for i in range(n):
        value -= math.log(root[i, i])
    return value


@jit
def _scratch(n):
    size = n * (n + 1) // 2
    return (
        np.empty(size), np.empty(size), np.empty((n, n)), np.empty((n, n)), np.empty((4, n)),
        np.zeros(n), np.zeros(n), np.empty(n), np.empty(n),
    )  # fmt: skip


@jit
def _evaluate(batch, b, u, rows, target, code, freedom, intercept, scratch):
    """Return l(u) of one problem, starting from the mode held in ``scratch``."""
    sums, values, kernel, root, memory, a, f, slopes, weights = scratch
    write_sums(batch, b, u, rows, sums)
    kernel_of_sums(sums, batch.kind, values)
    _unpack_kernel(values, math.exp(u[0]), intercept, kernel)
    return find_mode(
        kernel, code, target, u[u.shape[0] - 1], freedom, a, f, slopes, weights, root, memory
    )


@jit
def laplace_values(batch, parameters, code, freedom, intercept, first, last, out):
    """Write l(u) of the problems from ``first`` to ``last``."""
    scratch = _scratch(batch.rows.shape[1])
    for b in range(first, last):
        scratch[5][:] = 0.0
        out[b] = _evaluate(
            batch, b, parameters[b], pick(batch.rows, b), pick(batch.targets, b), code, freedom,
            intercept, scratch,
        )  # fmt: skip


@jit
def laplace_differences(
    batch, parameters, code, freedom, intercept, width, first, last, values, gradients, hessians
):
    """Write l(u), gradient and Hessian by central differences of ``width``."""
    m = parameters.shape[1]
    scratch = _scratch(batch.rows.shape[1])
    u, ahead, behind = np.empty(m), np.empty(m), np.empty(m)
    for b in range(first, last):
        rows, target = pick(batch.rows, b), pick(batch.targets, b)
        scratch[5][:] = 0.0
        u[:] = parameters[b]
        here = _evaluate(batch, b, u, rows, target, code, freedom, intercept, scratch)
        start = scratch[5].copy()
        values[b] = here
        for i in range(m):
            u[i] += width
            ahead[i] = _evaluate(batch, b, u, rows, target, code, freedom, intercept, scratch)
            u[i] -= 2.0 * width
            scratch[5][:] = start
            behind[i] = _evaluate(batch, b, u, rows, target, code, freedom, intercept, scratch)
            u[i] = parameters[b, i]
            scratch[5][:] = start
            gradients[b, i] = (ahead[i] - behind[i]) / (2.0 * width)
            hessians[b, i, i] = (ahead[i] - 2.0 * here + behind[i]) / (width * width)
        for i in range(m):
            for j in range(i):
                mixed = 0.0
                for sign in (1.0, -1.0):
                    u[i] += sign * width
                    u[j] += sign * width
                    mixed += _evaluate(batch, b, u, rows, target, code, freedom, intercept, scratch)
                    u[i], u[j] = parameters[b, i], parameters[b, j]
                    scratch[5][:] = start
                # f(+,+) + f(-,-) = 2 f + the second differences + 2 w^2 times the mixed one
                mixed -= ahead[i] + behind[i] + ahead[j] + behind[j] - 2.0 * here
                hessians[b, i, j] = mixed / (2.0 * width * width)
                hessians[b, j, i] = hessians[b, i, j]


@jit
def laplace_toggles(
    batch, parameters, changes, bandwidth, code, freedom, intercept, first, last, out
):
    """Write l(u) of problem 0 with features removed and added, parameters as they are."""
    n = batch.rows.shape[1]
    rows, target = batch.rows[0], batch.targets[0]
    scratch = _scratch(n)
    sums, values, kernel, root, memory, a, f, slopes, weights = scratch
    _evaluate(batch, 0, parameters, rows, target, code, freedom, intercept, scratch)
    start = a.copy()
    base = np.empty_like(sums)
    write_sums(batch, 0, parameters, rows, base)
    for t in range(first, last):
        write_toggled(batch, parameters, changes[t], bandwidth, base, sums)
        kernel_of_sums(sums, batch.kind, values)
        _unpack_kernel(values, math.exp(parameters[0]), intercept, kernel)
        a[:] = start
        out[t] = find_mode(
            kernel, code, target, parameters[parameters.shape[0] - 1], freedom, a, f, slopes,
            weights, root, memory,
        )  # fmt: skip


@jit
def laplace_predictions(
    batch, parameters, points, code, freedom, intercept, first, last, means, variances
):
    """Write mean and variance of f at new points."""
    n, count = batch.rows.shape[1], points.shape[1]
    scratch = _scratch(n)
    root, slopes, weights = scratch[3], scratch[7], scratch[8]
    cross, there = np.empty((n, count)), np.empty((n, count))
    for b in range(first, last):
        rows, target = pick(batch.rows, b), pick(batch.targets, b)
        for t in range(parameters.shape[1]):
            u = parameters[b, t]
            scratch[5][:] = 0.0
            value = _evaluate(batch, b, u, rows, target, code, freedom, intercept, scratch)
            if not math.isfinite(value):
                means[b, t] = np.nan
                variances[b, t] = np.nan
                continue
            write_cross(batch, b, u, rows, points[b], cross, there)
            amplitude = math.exp(u[0])
            for q in range(count):
                means[b, t, q] = 0.0
            for i in range(n):
                scale = math.sqrt(weights[i])
                for q in range(count):
                    entry = amplitude * there[i, q] + intercept
                    means[b, t, q] += slopes[i] * entry
                    there[i, q] = scale * entry
            solve_lower_rows(root, n, there)
            for q in range(count):
                explained = 0.0
                for i in range(n):
                    explained += there[i, q] * there[i, q]
                variances[b, t, q] = max(amplitude + intercept - explained, 0.0)
