r"""Likelihoods that samplers know by their terms alone.

A law without a Gaussian working response is sampled through a Gaussian stand-in and corrected
(:mod:`sparsekern.inference.moves.corrected`). It needs nothing but its terms
(:mod:`.terms`), so that all such laws share one type of data and one compiled engine. The latent
value of row i is :math:`o_i+f_i` with a known offset :math:`o_i`, and its terms are multiplied by a
known weight :math:`w_i`. What the law itself learns is one number :math:`\alpha`,
:math:`1/\alpha\sim Ga(a,b)`; given the function it is drawn by a slice step of
:math:`\log\alpha`, whose density is

.. math:: \prod_ip(y_i\mid o_i+f_i,\alpha)^{w_i}\,\alpha^{-a}e^{-b/\alpha}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import jit
from ._augmented import keep_working
from ._compiled import register
from .terms import expected_response, response_terms

_WIDTH = 1.0  # of the slice step
_MOST_STEPS = 50


class TermsData(NamedTuple):
    """Responses for compiled code."""

    code: int
    response: np.ndarray  # float64[n]
    offset: np.ndarray  # float64[n]
    weight: np.ndarray  # float64[n]
    parameters: np.ndarray  # float64[0 or 1], the chain's own alpha
    prior: np.ndarray  # float64[2], shape and rate of 1/alpha


@jit
def _last(data):
    return math.log(data.parameters[0]) if data.parameters.shape[0] > 0 else 0.0


@jit
def _log_likelihood(data, fitted, scale, last):
    total = 0.0
    for i in range(data.response.shape[0]):
        latent = data.offset[i] + scale * fitted[i]
        value = response_terms(data.code, data.response[i], latent, last, 0.0)[0]
        total += data.weight[i] * value
    return total


@jit
def _scaled_log_likelihood(data, fitted, scale, variance):
    """Return the log-likelihood of all responses."""
    return _log_likelihood(data, fitted, scale, _last(data))


@jit
def _add_site_terms(data, fitted, sums):
    """Add f, slope and curvature, these two times the weight."""
    last = _last(data)
    for i in range(data.response.shape[0]):
        latent = data.offset[i] + fitted[i]
        _, slope, curvature, _ = response_terms(data.code, data.response[i], latent, last, 0.0)
        sums[0, i] += fitted[i]
        sums[1, i] += data.weight[i] * slope
        sums[2, i] += data.weight[i] * curvature


@jit
def _log_density(data, fitted, last):
    value = _log_likelihood(data, fitted, 1.0, last)
    return value - data.prior[0] * last - data.prior[1] * math.exp(-last)


@jit
def _draw_parameter(data, rng, fitted, variance, response, precision):
    """Draw alpha by one slice step, the limit of its steps shared out at random (reversible)."""
    if data.parameters.shape[0] == 0:
        return False
    here = _last(data)
    level = _log_density(data, fitted, here) - rng.standard_exponential()
    low = here - _WIDTH * rng.random()
    high = low + _WIDTH
    steps_down = rng.integers(0, _MOST_STEPS)
    for _ in range(steps_down):
        if not _log_density(data, fitted, low) > level:
            break
        low -= _WIDTH
    for _ in range(_MOST_STEPS - 1 - steps_down):
        if not _log_density(data, fitted, high) > level:
            break
        high += _WIDTH
    for _ in range(_MOST_STEPS):
        there = low + (high - low) * rng.random()
        if _log_density(data, fitted, there) > level:
            data.parameters[0] = math.exp(there)
            break
        if there < here:
            low = there
        else:
            high = there
    return False


@jit
def _mean_response(data, latent):
    """Return the mean of a response at its latent value."""
    return expected_response(data.code, latent)


@jit
def _monitor(data, functions, row):
    """Return the mean of the response of a training row."""
    return expected_response(data.code, data.offset[row] + functions[0, row])


register(
    TermsData,
    update_working=keep_working,
    draw_working=_draw_parameter,
    scaled_log_likelihood=_scaled_log_likelihood,
    add_site_terms=_add_site_terms,
    mean_response=_mean_response,
    monitor=_monitor,
)
