r"""Walks on the variance of the coefficients by Laplace's evidence.

It is that of :mod:`sparsekern.bases.laplace_columns`.
"""

from __future__ import annotations

import math

from ..._jit import jit_apart
from ...bases.laplace_columns import load_mode
from ...linalg.copies import copy_vector
from ...priors.scales import log_density_of_scale
from .features import take_proposal

_TARGET = 0.44


@jit_apart
def walk_slab(
    rng, basis, factor, spare, sums, other_sums, evidence, prior, moves, log_step, sweep, tuning
):
    r"""Try ``moves`` walks on :math:`\log\nu`; return the log evidence.

    ``log_step[0]`` is the log of the step; it adapts in tuning.
    """
    for _ in range(moves):
        if factor.abandoned[0] != 0:
            break
        before = factor.variances[1]
        log_scale = -math.log(before)
        moved = log_scale + math.exp(log_step[0]) * rng.standard_normal()
        ratio = log_density_of_scale(prior, moved) - log_density_of_scale(prior, log_scale)
        value = -math.inf
        if ratio > -math.inf:
            factor.variances[1] = math.exp(-moved)  # the spare factor shares it
            for a in range(factor.n_active[0]):
                copy_vector(factor.whitened[a], spare.whitened[a])
                copy_vector(sums[a], other_sums[a])
            value = load_mode(basis, spare)
        ratio += value - evidence
        probability = math.exp(min(0.0, ratio)) if ratio > -math.inf else 0.0
        if rng.random() < probability:
            evidence = value
            take_proposal(factor, spare, sums, other_sums)
        else:
            factor.variances[1] = before
        if tuning:
            log_step[0] += min(0.5, (1.0 + sweep) ** -0.6) * (probability - _TARGET)
    return evidence
