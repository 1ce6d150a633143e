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
from ...bases.laplace_columns import function_of, last_parameter
from ...likelihoods.terms import log_density
from ...linalg.copies import copy_vector
from ...linalg.triangular import solve_lower_transposed
from ...linalg.whitened_factor import count_columns, write_column_scales

_DEVIATION, _FREEDOM = 1.15, 5.0  # of normal and of Student's pairs, which take turns
_MOST_SLICES = 100  # smaller ones do not move the coefficients


@jit
def _draw_stretch(rng, pair):
    """Return what standard normal numbers are multiplied by."""
    if pair % 2 == 0:
        return _DEVIATION
    return math.sqrt(0.5 * _FREEDOM / rng.standard_gamma(0.5 * _FREEDOM))


@jit
def _log_density(squares, size, share):
    r"""Return :math:`\log[(2\pi)^{d/2}q(u)]` of a vector of this squared length.

    ``share`` is that of normal pairs, whose part of the sum is returned, too.
    """
    normal = math.log(share) - 0.5 * squares / _DEVIATION**2 - size * math.log(_DEVIATION)
    half = 0.5 * (_FREEDOM + size)
    student = math.log1p(-share) + math.lgamma(half) - math.lgamma(0.5 * _FREEDOM)
    student += 0.5 * size * math.log(2.0 / _FREEDOM) - half * math.log1p(squares / _FREEDOM)
    larger, smaller = max(normal, student), min(normal, student)
    return larger + math.log1p(math.exp(smaller - larger)), normal


@jit
def _share_of_normal(pairs):
    return (pairs + pairs % 2) / (2 * pairs)


@jit
def _chance_of_normal(step, pairs):
    """Return the probability that a held draw was one of the normal ones."""
    both, normal = _log_density(np.dot(step, step), step.shape[0], _share_of_normal(pairs))
    return math.exp(normal - both)


@jit
def _draw_steps(rng, steps):
    """Draw pairs of vectors, normal and Student's in turns."""
    for m in range(steps.shape[0] // 2):
        stretch = _draw_stretch(rng, m)
        for a in range(steps.shape[1]):
            steps[2 * m, a] = stretch * rng.standard_normal()
            steps[2 * m + 1, a] = -steps[2 * m, a]


@jit_apart
def _weigh_and_choose(rng, data, factor, evidence, steps, function):
    r"""Return :math:`\log\hat R` of draws at these steps; write one of them to ``function``."""
    n, size = factor.precision.shape[0], count_columns(factor) + 1
    draws = steps.shape[0]
    scale = factor.short[2]
    write_column_scales(factor, factor.variances, size - 1, scale)
    share = _share_of_normal(draws // 2)
    logs = np.empty(draws)
    scaled = np.empty((draws, size))
    log_root = 0.0
    for a in range(size):
        log_root += math.log(factor.root[a, a])
    for m in range(draws):
        alpha = scaled[m]
        squares = 0.0
        for a in range(size):
            squares += steps[m, a] * steps[m, a]
            alpha[a] = factor.projected[0, a] + steps[m, a]
        solve_lower_transposed(factor.root, size, alpha)
        logs[m] = -_log_density(squares, size, share)[0] - evidence - log_root
        for a in range(size):
            logs[m] -= 0.5 * alpha[a] * alpha[a]
            alpha[a] *= scale[a]
    fitted = np.zeros((draws, n))
    if size > 1:
        np.dot(scaled[:, 1:].copy(), factor.whitened[: size - 1], fitted)
    top = -math.inf
    for m in range(draws):
        row = fitted[m]
        for i in range(n):
            row[i] += scaled[m, 0] * factor.ones[i]
        logs[m] += _log_likelihood(data, row)
        top = max(top, logs[m])
    if not top > -math.inf:
        return -math.inf
    total = 0.0
    for m in range(draws):
        total += math.exp(logs[m] - top)
    left, chosen = total * rng.random(), draws - 1
    for m in range(draws):
        left -= math.exp(logs[m] - top)
        if left < 0.0:
            chosen = m
            break
    function[: function.shape[0] - n] = 0.0
    for a in range(size):
        function[a] = scaled[chosen, a]
    function[function.shape[0] - n :] = fitted[chosen]
    return top + math.log(total / draws)


@jit
def _log_likelihood(data, fitted):
    """Return that of the law itself, which Laplace's method may have smoothed."""
    last, total = last_parameter(data), 0.0
    for i in range(fitted.shape[0]):
        latent = data.offset[i] + fitted[i]
        total += data.weight[i] * log_density(data.code, data.response[i], latent, last, 0.0)
    return total


@jit_apart
def estimate_ratio(rng, data, factor, evidence, pairs, function):
    r"""Return :math:`\log\hat R` of ``2 pairs`` draws; write one of them to ``function``.

    ``evidence`` is :math:`\log\tilde m`; ``function`` is laid out as by
    :func:`.corrected.write_function`.
    """
    steps = np.empty((2 * pairs, count_columns(factor) + 1))
    _draw_steps(rng, steps)
    return _weigh_and_choose(rng, data, factor, evidence, steps, function)


@jit
def _value_of_step(data, factor, scale, step, alpha, fitted):
    """Return the log posterior of the coefficients at a step, over Laplace's; constants apart."""
    size = step.shape[0]
    value = 0.0
    for a in range(size):
        alpha[a] = factor.projected[0, a] + step[a]
        value += 0.5 * step[a] * step[a]
    solve_lower_transposed(factor.root, size, alpha)
    function_of(factor, alpha, scale, fitted)
    return value + _log_likelihood(data, fitted) - 0.5 * np.dot(alpha, alpha)


@jit
def _slide(rng, data, factor, scale, step, moves):
    """Move a step by elliptical slices around the mode."""
    size, n = step.shape[0], factor.precision.shape[0]
    alpha, other, fitted = np.empty(size), np.empty(size), np.empty(n)
    before = _value_of_step(data, factor, scale, step, alpha, fitted)
    for _ in range(moves):
        for a in range(size):
            other[a] = rng.standard_normal()
        start = step.copy()
        height = before + math.log(rng.random())
        angle = 2.0 * math.pi * rng.random()
        low, high = angle - 2.0 * math.pi, angle
        for _ in range(_MOST_SLICES):
            cosine, sine = math.cos(angle), math.sin(angle)
            for a in range(size):
                step[a] = start[a] * cosine + other[a] * sine
            value = _value_of_step(data, factor, scale, step, alpha, fitted)
            if value > height:
                before = value
                break
            if angle < 0.0:
                low = angle
            else:
                high = angle
            angle = low + (high - low) * rng.random()
            copy_vector(start, step)


@jit_apart
def renew_ratio(rng, data, factor, evidence, pairs, moves, function):
    r"""Make the estimate anew around the coefficients that the chain holds; return it.

    Given them, all other draws of an estimate are as they were drawn, and the coefficients may move
    by whatever keeps their own law (Andrieu, Doucet and Holenstein 2010). Without it a draw of rare
    weight would hold a chain up for hundreds of sweeps. ``moves`` elliptical slices are made.
    """
    size = count_columns(factor) + 1
    scale = factor.short[2]
    write_column_scales(factor, factor.variances, size - 1, scale)
    step = np.empty(size)
    for b in range(size):
        step[b] = -factor.projected[0, b]
        for a in range(b, size):
            step[b] += factor.root[a, b] * function[a] / scale[a]
    _slide(rng, data, factor, scale, step, moves)
    steps = np.empty((2 * pairs, size))
    _draw_steps(rng, steps)
    place = 0 if rng.random() < _chance_of_normal(step, pairs) else 1
    for a in range(size):
        steps[2 * place, a], steps[2 * place + 1, a] = step[a], -step[a]
    return _weigh_and_choose(rng, data, factor, evidence, steps, function)
