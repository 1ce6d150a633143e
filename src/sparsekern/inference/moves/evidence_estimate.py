r"""An unbiased estimate of the evidence that Laplace's method approximates, and a draw with it.

With the mode :math:`\hat\alpha`, the factor :math:`L_B` there and pairs of vectors :math:`\pm u_m`
of a density q, half of it normal, with deviation 1.15, and half Student's with five degrees of
freedom,

.. math:: \alpha_m=\hat\alpha+L_B^{-\top}u_m,\qquad
    w_m=\frac{e^{J(\alpha_m)-J(\hat\alpha)}}{(2\pi)^{d/2}\,q(u_m)},\qquad \hat R=\frac1M\sum_mw_m,

has :math:`E\hat R=m/\tilde m`: an estimate that a chain may use in place of the evidence itself,
provided it keeps the one that it was taken with (Andrieu and Roberts 2009). One of the
:math:`\alpha_m`, drawn with probability :math:`w_m/\sum w`, is a draw of the coefficients with it.
Plain normal draws would do where the mode tells all; far out in a direction that separates the
labels only the prior is left, and their weights would have no variance.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...bases.laplace_columns import last_parameter
from ...likelihoods.terms import log_density
from ...linalg.triangular import solve_lower_transposed
from ...linalg.whitened_factor import count_columns, write_column_scales

_DEVIATION, _FREEDOM = 1.15, 5.0  # of normal and of Student's pairs, which take turns


@jit
def _draw_stretch(rng, pair):
    """Return what standard normal numbers are multiplied by."""
    if pair % 2 == 0:
        return _DEVIATION
    return math.sqrt(0.5 * _FREEDOM / rng.standard_gamma(0.5 * _FREEDOM))


@jit
def _log_density(squares, size, share):
    r"""Return :math:`\log[(2\pi)^{d/2}q(u)]` of a vector of this squared length.

    ``share`` is that of normal pairs.
    """
    normal = math.log(share) - 0.5 * squares / _DEVIATION**2 - size * math.log(_DEVIATION)
    half = 0.5 * (_FREEDOM + size)
    student = math.log1p(-share) + math.lgamma(half) - math.lgamma(0.5 * _FREEDOM)
    student += 0.5 * size * math.log(2.0 / _FREEDOM) - half * math.log1p(squares / _FREEDOM)
    larger, smaller = max(normal, student), min(normal, student)
    return larger + math.log1p(math.exp(smaller - larger))


@jit_apart
def estimate_ratio(rng, data, factor, evidence, pairs, function):
    r"""Return :math:`\log\hat R` of ``2 pairs`` draws; write one of them to ``function``.

    ``evidence`` is :math:`\log\tilde m`; ``function`` is laid out as by
    :func:`.corrected.write_function`.
    """
    n, size = factor.precision.shape[0], count_columns(factor) + 1
    scale = factor.short[2]
    write_column_scales(factor, factor.variances, size - 1, scale)
    steps = np.empty((2 * pairs, size))
    for m in range(pairs):
        stretch = _draw_stretch(rng, m)
        for a in range(size):
            steps[2 * m, a] = stretch * rng.standard_normal()
            steps[2 * m + 1, a] = -steps[2 * m, a]
    share = (pairs + pairs % 2) / (2 * pairs)
    logs = np.empty(2 * pairs)
    scaled = np.empty((2 * pairs, size))
    log_root = 0.0
    for a in range(size):
        log_root += math.log(factor.root[a, a])
    for m in range(2 * pairs):
        alpha = scaled[m]
        squares = 0.0
        for a in range(size):
            squares += steps[m, a] * steps[m, a]
            alpha[a] = factor.projected[0, a] + steps[m, a]
        solve_lower_transposed(factor.root, size, alpha)
        logs[m] = -_log_density(squares, size, share) - evidence - log_root
        for a in range(size):
            logs[m] -= 0.5 * alpha[a] * alpha[a]
            alpha[a] *= scale[a]
    fitted = np.zeros((2 * pairs, n))
    if size > 1:
        np.dot(scaled[:, 1:].copy(), factor.whitened[: size - 1], fitted)
    last, top = last_parameter(data), -math.inf
    for m in range(2 * pairs):
        row, total = fitted[m], 0.0
        for i in range(n):
            row[i] += scaled[m, 0] * factor.ones[i]
            latent = data.offset[i] + row[i]
            total += data.weight[i] * log_density(data.code, data.response[i], latent, last, 0.0)
        logs[m] += total
        top = max(top, logs[m])
    if not top > -math.inf:
        return -math.inf
    total = 0.0
    for m in range(2 * pairs):
        total += math.exp(logs[m] - top)
    left, chosen = total * rng.random(), 2 * pairs - 1
    for m in range(2 * pairs):
        left -= math.exp(logs[m] - top)
        if left < 0.0:
            chosen = m
            break
    function[: function.shape[0] - n] = 0.0
    for a in range(size):
        function[a] = scaled[chosen, a]
    function[function.shape[0] - n :] = fitted[chosen]
    return top + math.log(total / (2 * pairs))
