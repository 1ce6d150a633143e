r"""The mode of a latent function, and the Laplace approximation there.

:math:`f=c+g` with :math:`g\sim N(0,K)` and a constant c; the mode maximises
:math:`\Psi(a)=\log p(y\mid f)-\frac12a^\top Ka` over :math:`f=c+Ka`. Newton's method, with shorter
steps where one goes too far, ends when what a step promises is too little to matter. It starts
from the a of a similar problem if that is better than a = 0; if not, from the step that leads
there from latent values that suit each response alone, as for generalised linear models: from
a = 0 large counts are hundreds of steps away.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import solve_lower, solve_lower_transposed
from .responses import expected_curvature, likely_value, response_terms

_MOST_STEPS = 100
_HALVINGS = 40
_CLOSE = 1e-10  # promised by a step that is the last
_ROUNDING = 1e-6  # promised by a step that need not lead uphill any more: digits are used up


@jit
def _objective(code, target, f, a, mean, last, freedom, slopes, weights):
    """Return Psi; write slopes and curvatures."""
    total = 0.0
    for i in range(f.shape[0]):
        value, slopes[i], weights[i] = response_terms(code, target[i], f[i], last, freedom)
        total += value - 0.5 * a[i] * (f[i] - mean)
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
def _newton(kernel, f, mean, slopes, weights, root, new_a, new_f):
    """Write where Newton's step leads: b - W^1/2 B^-1 W^1/2 K b with b = W (f - c) + slope."""
    n = f.shape[0]
    if not _factor(kernel, weights, root):
        return False
    for i in range(n):
        new_a[i] = weights[i] * (f[i] - mean) + slopes[i]
    np.dot(kernel, new_a, new_f)
    for i in range(n):
        new_f[i] *= math.sqrt(weights[i])
    solve_lower(root, n, new_f)
    solve_lower_transposed(root, n, new_f)
    for i in range(n):
        new_a[i] -= math.sqrt(weights[i]) * new_f[i]
    np.dot(kernel, new_a, new_f)
    for i in range(n):
        new_f[i] += mean
    return True


@jit
def _start(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory):
    """Leave the best start in ``a`` and ``f`` and return Psi there."""
    n = target.shape[0]
    new_a, new_f, zeros = memory[0], memory[1], memory[2]
    zeros[:] = 0.0
    new_f[:] = mean
    least = _objective(code, target, new_f, zeros, mean, last, freedom, slopes, weights)
    np.dot(kernel, a, f)
    f += mean
    value = _objective(code, target, f, a, mean, last, freedom, slopes, weights)
    if value > least:
        return value
    for i in range(n):
        f[i] = likely_value(code, target[i], mean)
    _objective(code, target, f, a, mean, last, freedom, slopes, weights)
    if _newton(kernel, f, mean, slopes, weights, root, new_a, new_f):
        a[:] = new_a
        f[:] = new_f
        value = _objective(code, target, f, a, mean, last, freedom, slopes, weights)
        if value > least:
            return value
    a[:] = 0.0
    f[:] = mean
    return _objective(code, target, f, a, mean, last, freedom, slopes, weights)


@jit
def find_mode(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory):
    """Move ``a`` and ``f`` to the mode; return the evidence and whether the mode was reached.

    The evidence is -inf where a matrix does not factor. ``slopes`` are left at the mode;
    ``weights`` and ``root`` are those of the evidence.
    """
    n = target.shape[0]
    new_a, new_f, step, rise = memory[0], memory[1], memory[2], memory[3]
    value = _start(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory)
    settled, before = False, math.inf
    for _ in range(_MOST_STEPS):
        if not _newton(kernel, f, mean, slopes, weights, root, new_a, new_f):
            return -math.inf, False
        promise = 0.0
        for i in range(n):
            step[i], rise[i] = new_a[i] - a[i], new_f[i] - f[i]
            promise += (slopes[i] - a[i]) * rise[i]
        if not math.isfinite(promise):
            return -math.inf, False
        # close, or as close as rounding allows
        settled = promise <= _CLOSE or 0.9 * before < promise <= _ROUNDING
        before = promise
        there = _objective(code, target, new_f, new_a, mean, last, freedom, slopes, weights)
        share = 1.0
        for _ in range(_HALVINGS):
            if there >= value or promise <= _ROUNDING:
                break
            share *= 0.5
            for i in range(n):
                new_a[i], new_f[i] = a[i] + share * step[i], f[i] + share * rise[i]
            there = _objective(code, target, new_f, new_a, mean, last, freedom, slopes, weights)
        if not there >= value and promise > _ROUNDING:  # no way up that digits could show
            value = _objective(code, target, f, a, mean, last, freedom, slopes, weights)
            break
        a[:] = new_a
        f[:] = new_f
        value = there
        if settled:
            break
    for i in range(n):
        weights[i] = expected_curvature(code, weights[i], last, freedom)
    if not _factor(kernel, weights, root):
        return -math.inf, False
    for i in range(n):
        value -= math.log(root[i, i])
    return value, settled
