r"""The scale s of a kernel's coefficients, :math:`\beta_{lk}\sim N(0,s^2/\tau_{lk})`.

Its law is half-normal, :math:`p(s)\propto e^{-s^2/2A^2}`, or half-Cauchy,
:math:`p(s)\propto(1+s^2/A^2)^{-1}`. Where classes are separated the likelihood levels off as s
grows, and nothing but the prior holds it. Where kernels are selected the law has the further factor
:math:`s^2` (half-Cauchy: :math:`s^2/(1+s^2/A^2)`), or a kernel of next to no amplitude, which says
nothing, would count as one that has a part. Two moves, which mix where the other does not:

- given the N coefficients, a slice step on :math:`u=\log s`, whose density is
  :math:`\log p(u)-Nu-\frac12e^{-2u}\sum\tau\beta^2`;
- s together with its coefficients, :math:`(\beta,s)\to\rho(\beta,s)`, accepted with

.. math:: \frac{L(y\mid z_\rho)}{L(y\mid z)}\,\frac{p(u+\log\rho)}{p(u)},

:math:`z_\rho` having the intercept and the other kernels' parts as they were: the Jacobian
:math:`\rho^N` cancels against the Gaussian prior of the coefficients.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from .moves import adapt
from .softmax import log_likelihood

SCALE_MOVES = 4  # of every kernel in a sweep
_BRACKET = 1.0  # first width of the slice's bracket, in log s; any gives the right law


@jit
def log_scale_prior(settings, log_scale):
    r"""Return the log density of :math:`u=\log s`, up to a constant."""
    ratio = math.exp(2.0 * (log_scale - math.log(settings.scale_prior)))
    if settings.half_cauchy:
        value = log_scale - math.log1p(ratio)
        return value + 2.0 * log_scale - math.log1p(ratio) if settings.select_kernels else value
    return (3.0 if settings.select_kernels else 1.0) * log_scale - 0.5 * ratio


@jit
def _log_density(settings, count, total, log_scale):
    """Return the log density of log s given ``count`` coefficients of weighted square ``total``."""
    gaussian = -count * log_scale - 0.5 * total * math.exp(-2.0 * log_scale)
    return log_scale_prior(settings, log_scale) + gaussian


@jit
def slice_log_scale(rng, settings, count, total, current):
    """Move log s given the coefficients by one slice step."""
    level = _log_density(settings, count, total, current) - rng.standard_exponential()
    if not math.isfinite(level):
        return current
    low = current - _BRACKET * rng.random()
    high = low + _BRACKET
    while _log_density(settings, count, total, low) > level:
        low -= _BRACKET
    while _log_density(settings, count, total, high) > level:
        high += _BRACKET
    while high - low > 1e-13 * max(1.0, abs(current)):
        proposal = low + (high - low) * rng.random()
        if _log_density(settings, count, total, proposal) > level:
            return proposal
        if proposal < current:
            low = proposal
        else:
            high = proposal
    return current  # rounding: the current value itself is always allowed


@jit_apart
def draw_scales(rng, state, settings):
    """Move every kernel's scale given its coefficients."""
    classes, m = state.coefficients.shape
    for block in range(state.scales.shape[0]):
        count, total = 0, 0.0
        for k in range(classes):
            for a in range(m):
                if settings.block[a] == block and state.included[k, a] == 1:
                    count += 1
                    total += state.precisions[k, a] * state.coefficients[k, a] ** 2
        current = 0.5 * math.log(state.scales[block])
        found = slice_log_scale(rng, settings, count, total, current)
        state.scales[block] = math.exp(2.0 * found)


@jit_apart
def move_scale(rng, state, work, settings, block, tuning):
    """Scale a kernel's coefficients and their prior scale by one factor."""
    classes, m = state.coefficients.shape
    n = settings.labels.shape[0]
    part, proposal = work.rows, work.other
    for k in range(classes):
        for a in range(m):
            inside = settings.block[a] == block
            work.vector[a] = state.coefficients[k, a] if inside else 0.0
        np.dot(work.vector, settings.design, part[k])
    current = log_likelihood(state.latent, settings.labels, settings.reference)
    for _ in range(SCALE_MOVES):
        log_factor = math.exp(state.log_step[block]) * rng.standard_normal()
        factor = math.exp(log_factor)
        for k in range(classes):
            for i in range(n):
                proposal[k, i] = state.latent[k, i] + (factor - 1.0) * part[k, i]
        value = log_likelihood(proposal, settings.labels, settings.reference)
        here = 0.5 * math.log(state.scales[block])
        ratio = value - current
        ratio += log_scale_prior(settings, here + log_factor) - log_scale_prior(settings, here)
        probability = math.exp(min(0.0, ratio)) if ratio == ratio else 0.0
        state.tallies[0, 0] += 1
        if rng.random() < probability:
            state.tallies[0, 1] += 1
            current = value
            state.scales[block] *= factor * factor
            for k in range(classes):
                for a in range(m):
                    if settings.block[a] == block:
                        state.coefficients[k, a] *= factor
                for i in range(n):
                    state.latent[k, i] = proposal[k, i]
                    part[k, i] *= factor
        if tuning:
            state.log_step[block] = adapt(state.log_step[block], probability, state.sweep[0])
