r"""Evidence of Gaussian-process models with other responses, by an inner Laplace approximation.

:math:`f\sim N(c,K)`, :math:`K=\lambda k(E)+v_011^\top`; with the mode
:math:`\hat f=c+K\hat a` (see :mod:`.inner_mode`) and W the curvature of :math:`-\log p(y\mid f)`
there,

.. math::
    \ell(u)=\log p(y\mid\hat f)-\tfrac12\hat a^\top K\hat a-\tfrac12\log|I+W^{1/2}KW^{1/2}| .

What a problem is told about the response: ``law``, a tuple of its code
(:mod:`sparsekern.likelihoods.terms`), the degrees of freedom of Student's law, :math:`v_0`,
the constant part of c, whether the last parameter matters to it, and what c has beside that at
every row of the data (nothing: zero).
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...kernels.feature_sums import kernel_of_sums
from ...linalg.blas import solve_lower_rows
from .compiled import pick, write_cross, write_sums, write_toggled
from .inner_mode import find_mode

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
def _scratch(n):
    size = n * (n + 1) // 2
    return (
        np.empty(size), np.empty(size), np.empty((n, n)), np.empty((n, n)), np.empty((5, n)),
        np.zeros(n), np.zeros(n), np.empty(n), np.empty(n), np.empty(n),
    )  # fmt: skip


@jit
def _write_means(rows, law, out):
    """Write c at some rows."""
    for i in range(rows.shape[0]):
        out[i] = law[3] + (law[5][rows[i]] if law[5].shape[0] > 0 else 0.0)


@jit
def _evaluate(batch, b, u, rows, target, law, scratch):
    """Return l(u) of one problem and whether the mode was reached, from the one in ``scratch``."""
    sums, values, kernel, root, memory, a, f, slopes, weights, mean = scratch
    code, freedom, intercept = law[:3]
    _write_means(rows, law, mean)
    write_sums(batch, b, u, rows, sums)
    kernel_of_sums(sums, batch.kind, values)
    _unpack_kernel(values, math.exp(u[0]), intercept, kernel)
    last = u[u.shape[0] - 1]
    return find_mode(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory)


@jit
def laplace_values(batch, parameters, law, first, last, out):
    """Write l(u) of the problems from ``first`` to ``last``."""
    scratch = _scratch(batch.rows.shape[1])
    for b in range(first, last):
        scratch[5][:] = 0.0
        out[b], _ = _evaluate(
            batch, b, parameters[b], pick(batch.rows, b), pick(batch.targets, b), law, scratch
        )


@jit
def laplace_differences(batch, parameters, law, width, first, last, values, gradients, hessians):
    """Write l(u), gradient and Hessian by central differences of ``width``.

    They are zero for the last parameter where the response has none.
    """
    m = parameters.shape[1]
    active = m if law[4] else m - 1
    scratch = _scratch(batch.rows.shape[1])
    u, ahead, behind = np.empty(m), np.empty(m), np.empty(m)
    for b in range(first, last):
        rows, target = pick(batch.rows, b), pick(batch.targets, b)
        scratch[5][:] = 0.0
        u[:] = parameters[b]
        gradients[b] = 0.0
        hessians[b] = 0.0
        here, _ = _evaluate(batch, b, u, rows, target, law, scratch)
        start = scratch[5].copy()
        values[b] = here
        for i in range(active):
            u[i] += width
            ahead[i], _ = _evaluate(batch, b, u, rows, target, law, scratch)
            u[i] -= 2.0 * width
            scratch[5][:] = start
            behind[i], _ = _evaluate(batch, b, u, rows, target, law, scratch)
            u[i] = parameters[b, i]
            scratch[5][:] = start
            gradients[b, i] = (ahead[i] - behind[i]) / (2.0 * width)
            hessians[b, i, i] = (ahead[i] - 2.0 * here + behind[i]) / (width * width)
        for i in range(active):
            for j in range(i):
                mixed = 0.0
                for sign in (1.0, -1.0):
                    u[i] += sign * width
                    u[j] += sign * width
                    value, _ = _evaluate(batch, b, u, rows, target, law, scratch)
                    mixed += value
                    u[i], u[j] = parameters[b, i], parameters[b, j]
                    scratch[5][:] = start
                # f(+,+) + f(-,-) = 2 f + the second differences + 2 w^2 times the mixed one
                mixed -= ahead[i] + behind[i] + ahead[j] + behind[j] - 2.0 * here
                hessians[b, i, j] = mixed / (2.0 * width * width)
                hessians[b, j, i] = hessians[b, i, j]


@jit
def laplace_toggles(batch, parameters, changes, bandwidth, law, first, last, out):
    """Write l(u) of problem 0 with features removed and added, parameters as they are."""
    n = batch.rows.shape[1]
    rows, target = batch.rows[0], batch.targets[0]
    scratch = _scratch(n)
    sums, values, kernel, root, memory, a, f, slopes, weights, mean = scratch
    code, freedom, intercept = law[:3]
    _evaluate(batch, 0, parameters, rows, target, law, scratch)
    start = a.copy()
    base = np.empty_like(sums)
    write_sums(batch, 0, parameters, rows, base)
    for t in range(first, last):
        write_toggled(batch, parameters, changes[t], bandwidth, base, sums)
        kernel_of_sums(sums, batch.kind, values)
        _unpack_kernel(values, math.exp(parameters[0]), intercept, kernel)
        a[:] = start
        out[t], _ = find_mode(
            kernel, code, target, mean, parameters[parameters.shape[0] - 1], freedom, a, f, slopes,
            weights, root, memory,
        )  # fmt: skip


@jit
def laplace_predictions(batch, parameters, points, law, first, last, means, variances, settled):
    """Write mean and variance of f at new points, and whether the modes were reached.

    The mean is made of a, not of the slopes: the two are the same at the mode only.
    """
    n, count = batch.rows.shape[1], points.shape[1]
    intercept, mean = law[2], law[3]
    scratch = _scratch(n)
    root, a, weights = scratch[3], scratch[5], scratch[8]
    cross, there = np.empty((n, count)), np.empty((n, count))
    for b in range(first, last):
        rows, target = pick(batch.rows, b), pick(batch.targets, b)
        a[:] = 0.0
        for t in range(parameters.shape[1]):
            u = parameters[b, t]
            value, settled[b, t] = _evaluate(batch, b, u, rows, target, law, scratch)
            if not math.isfinite(value):
                means[b, t] = np.nan
                variances[b, t] = np.nan
                continue
            write_cross(batch, b, u, rows, points[b], cross, there)
            amplitude = math.exp(u[0])
            means[b, t] = mean
            for i in range(n):
                scale = math.sqrt(weights[i])
                for q in range(count):
                    entry = amplitude * there[i, q] + intercept
                    means[b, t, q] += a[i] * entry
                    there[i, q] = scale * entry
            solve_lower_rows(root, n, there)
            for q in range(count):
                explained = 0.0
                for i in range(n):
                    explained += there[i, q] * there[i, q]
                variances[b, t, q] = max(amplitude + intercept - explained, 0.0)
