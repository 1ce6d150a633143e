r"""The mode of a latent function, and the Laplace approximation there.

:math:`f=c+g` with :math:`g\sim N(0,K)` and a known c, one number for each row; the mode maximises
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
from ...likelihoods.terms import likely_value, response_terms, write_terms
from ...linalg.blas import cholesky_in_place
from ...linalg.triangular import solve_lower, solve_lower_transposed

_MOST_STEPS = 100
_HALVINGS = 40
_DOUBLINGS = 6
_SHORT = 0.7  # of what a step promises; half of it is gained where curvature is exact
_CLOSE = 1e-12  # promised by a step that is the last
_ROUNDING = 1e-6  # promised by a step that may seem to lead downhill: digits are used up


@jit
def _objective(code, target, f, a, mean, last, freedom, slopes, weights):
    """Return Psi; write slopes and curvatures."""
    total = write_terms(code, target, f, last, freedom, slopes, weights)
    for i in range(f.shape[0]):
        total -= 0.5 * a[i] * (f[i] - mean[i])
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
def _newton(kernel, right, weights, root, step, rise):
    """Write the step of a towards ``right``, r - W^1/2 B^-1 W^1/2 K r, and K times it."""
    n = right.shape[0]
    if not _factor(kernel, weights, root):
        return False
    np.dot(kernel, right, rise)
    for i in range(n):
        rise[i] *= math.sqrt(weights[i])
    solve_lower(root, n, rise)
    solve_lower_transposed(root, n, rise)
    for i in range(n):
        step[i] = right[i] - math.sqrt(weights[i]) * rise[i]
    np.dot(kernel, step, rise)
    return True


@jit
def _start(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory):
    """Leave the best start in ``a`` and ``f`` and return Psi there."""
    n = target.shape[0]
    right, step, rise = memory[0], memory[1], memory[2]
    step[:] = 0.0
    rise[:] = mean
    least = _objective(code, target, rise, step, mean, last, freedom, slopes, weights)
    np.dot(kernel, a, f)
    f += mean
    value = _objective(code, target, f, a, mean, last, freedom, slopes, weights)
    if value > least:
        return value
    for i in range(n):
        f[i] = likely_value(code, target[i], mean[i])
    _objective(code, target, f, a, mean, last, freedom, slopes, weights)
    for i in range(n):
        right[i] = weights[i] * (f[i] - mean[i]) + slopes[i]
    if _newton(kernel, right, weights, root, step, rise):
        a[:] = step
        f[:] = rise
        f += mean
        value = _objective(code, target, f, a, mean, last, freedom, slopes, weights)
        if value > least:
            return value
    a[:] = 0.0
    f[:] = mean
    return _objective(code, target, f, a, mean, last, freedom, slopes, weights)


@jit
def _move(start, step, share, out):
    for i in range(start.shape[0]):
        out[i] = start[i] + share * step[i]


@jit
def _lengthen(
    code, target, mean, last, freedom, a, f, step, rise, there, new_a, new_f, slopes, weights
):
    """Double a step for as long as that is better; return Psi where it ends."""
    share = 1.0
    for _ in range(_DOUBLINGS):
        _move(a, step, 2.0 * share, new_a)
        _move(f, rise, 2.0 * share, new_f)
        value = _objective(code, target, new_f, new_a, mean, last, freedom, slopes, weights)
        if not value > there:
            break
        there, share = value, 2.0 * share
    _move(a, step, share, new_a)
    _move(f, rise, share, new_f)
    return _objective(code, target, new_f, new_a, mean, last, freedom, slopes, weights)


@jit
def find_mode(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory):
    """Move ``a`` and ``f`` to the mode; return the evidence and whether the mode was reached.

    The evidence is -inf where a matrix does not factor. ``slopes`` are left at the mode;
    ``weights`` and ``root`` are those of the evidence. f is moved along with a: made anew of a, it
    would have errors that slopes of large counts make much of.
    """
    n = target.shape[0]
    climb, step, rise, new_a, new_f = memory[0], memory[1], memory[2], memory[3], memory[4]
    value = _start(kernel, code, target, mean, last, freedom, a, f, slopes, weights, root, memory)
    settled, promise = False, math.inf
    for _ in range(_MOST_STEPS):
        for i in range(n):
            climb[i] = slopes[i] - a[i]
        if not _newton(kernel, climb, weights, root, step, rise):
            return -math.inf, False
        promise = 0.0
        for i in range(n):
            promise += climb[i] * rise[i]
        if not promise > -_ROUNDING:  # digits are used up, or a start was absurd
            break
        there, share = -math.inf, 2.0
        for _ in range(_HALVINGS):
            share *= 0.5
            _move(a, step, share, new_a)
            _move(f, rise, share, new_f)
            there = _objective(code, target, new_f, new_a, mean, last, freedom, slopes, weights)
            if there >= value or promise <= _ROUNDING:
                break
        if not there >= value and promise > _ROUNDING:  # no way up
            break
        if there - value > _SHORT * promise:  # the curvature of the step was too large
            there = _lengthen(
                code, target, mean, last, freedom, a, f, step, rise, there, new_a, new_f, slopes,
                weights,
            )  # fmt: skip
        a[:] = new_a
        f[:] = new_f
        settled = promise <= _CLOSE or there <= value  # as close as digits allow
        value = there
        if settled:
            break
    value = _objective(code, target, f, a, mean, last, freedom, slopes, weights)
    for i in range(n):
        weights[i] = response_terms(code, target[i], f[i], last, freedom)[3]
    if not _factor(kernel, weights, root):
        return -math.inf, False
    for i in range(n):
        value -= math.log(root[i, i])
    return value, settled or 0.0 <= promise <= _ROUNDING
