r"""Walks on all bandwidths at once, with the scale of the coefficients, along their common ridge.

A flatter kernel with larger coefficients is nearly the same function: for smooth functions the
logarithms of the bandwidths :math:`\eta_l` go up and down together (correlations of .6 to .8), and
that of the slab :math:`\nu_1` against them (-.8). Walks on one bandwidth at a time creep along this
ridge. Here all move,

.. math::
    \log\eta_l\mathrel{+}=s\,\sigma_l(z+\tfrac12\xi_l),\qquad
    \log\nu_1\mathrel{-}=c\,s\,\bar\sigma z,\qquad z,\xi_l\sim N(0,1),

with :math:`\sigma_l` the step of the walk on feature l alone, :math:`\bar\sigma` their mean, and c
drawn from a few slopes, each with a step s of its own that adapts while the chain is tuned. The
proposal is symmetric in the logarithms; the log acceptance ratio is :math:`\Delta\log
m+\sum_l(\Delta\log\eta_l-\Delta\eta_l)+\Delta\log p(\log\nu_1)`.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit_apart
from ...bases._compiled import load_from_sums
from ...kernels.feature_sums import add_feature
from ...priors.scales import log_density_of_scale
from .features import take_proposal

SLOPES = np.array([0.0, 2.0, 4.0])
_TARGET = 0.3
_LOG_STEP_BOUNDS = (math.log(1e-3), math.log(20.0))


@jit_apart
def walk_ridge(
    rng, basis, factor, spare, sums, other_sums, evidence, prior, moves, slopes, log_step,
    log_ridge, steps, tuning, tally,
):  # fmt: skip
    """Try ``moves`` walks along the ridge; return the log evidence.

    Parameters
    ----------
    slopes : int
        How many of ``SLOPES`` are drawn from; one where the slab is known.
    log_step : float64[p]
        Log step of the walk on each bandwidth alone.
    log_ridge, steps : float64[3], int64[3]
        Log step of each slope, and the walks that have shaped it.
    tally : int64[2]
        Attempts and acceptances, counted up here.
    """
    proposal = np.empty(basis.features.shape[0])
    for _ in range(moves):
        if factor.abandoned[0] != 0:
            break
        size = basis.n_features[0]
        if size == 0:
            return evidence
        slope = rng.integers(0, slopes)
        step, common = math.exp(log_ridge[slope]), rng.standard_normal()
        ratio, typical = 0.0, 0.0
        for place in range(size):
            width = math.exp(log_step[basis.features[place]])
            typical += width / size
            change = step * width * (common + 0.5 * rng.standard_normal())
            proposal[place] = basis.bandwidths[place] * math.exp(change)
            ratio += change - (proposal[place] - basis.bandwidths[place])
        for a in range(factor.n_active[0]):
            here = other_sums[a]
            here[:] = 0.0
            for place in range(size):
                column = basis.columns[basis.features[place]]
                add_feature(column, column[factor.rows[a]], proposal[place], basis.kind, here, here)
        before = factor.variances[1]
        if slope > 0:
            log_scale = -math.log(before)
            moved = log_scale + SLOPES[slope] * step * typical * common
            ratio += log_density_of_scale(prior, moved) - log_density_of_scale(prior, log_scale)
            factor.variances[1] = math.exp(-moved)  # the spare factor shares it
        value = -math.inf
        if ratio > -math.inf:
            value = load_from_sums(basis, spare, other_sums)
        ratio += value - evidence
        # a sum that is no number (a hopeless proposal, numerically) compares as false: refused
        probability = math.exp(min(0.0, ratio)) if ratio > -math.inf else 0.0
        tally[0] += 1
        if rng.random() < probability:
            tally[1] += 1
            evidence = value
            take_proposal(factor, spare, sums, other_sums)
            for place in range(size):
                basis.bandwidths[place] = proposal[place]
        else:
            factor.variances[1] = before
        if tuning:
            steps[slope] += 1
            gain = min(0.5, steps[slope] ** -0.6)
            target = log_ridge[slope] + gain * (probability - _TARGET)
            log_ridge[slope] = min(max(target, _LOG_STEP_BOUNDS[0]), _LOG_STEP_BOUNDS[1])
    return evidence
