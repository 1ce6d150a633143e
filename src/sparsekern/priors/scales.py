r"""Priors of the scales: precision of the coefficients, precision of the intercept, amplitudes.

Silverman's g-prior has :math:`\beta_\gamma\sim N(0,g^{-1}K_{\gamma\gamma}^{-1})` with
:math:`g\sim Ga(a_g,b_g)`, a spike-and-slab prior :math:`\beta_j\sim N(0,\nu_1)` with
:math:`1/\nu_1\sim Ga(a,b)`; the intercept is :math:`u\sim N(0,\eta^{-1})`,
:math:`\eta\sim Ga(a_\eta,b_\eta)`. To the moves of scales the first two are the same. With several
kernels each has an amplitude of its own, zero with a given probability and gamma otherwise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._jit import jit
from .gamma import draw_gamma, draw_precision, log_gamma_density


class ScalePriors(NamedTuple):
    """Shapes and rates; a shape of zero says that the quantity is known.

    With several kernels ``scale_shape`` and ``scale_rate`` are those of each kernel's amplitude,
    which is zero with ``zero_probability``.
    """

    scale_shape: float
    scale_rate: float
    intercept_shape: float
    intercept_rate: float
    zero_probability: float = 0.0
    largest_variance: float = math.inf  # of the coefficients: the prior ends there


@jit
def log_density_of_scale(prior, log_scale):
    """Return the log density of log g; minus infinity where the prior has ended."""
    if math.exp(-log_scale) > prior.largest_variance:
        return -math.inf
    return log_gamma_density(log_scale, prior.scale_shape, prior.scale_rate)


@jit
def log_density_of_intercept(prior, log_intercept):
    """Return the log density of log eta."""
    return log_gamma_density(log_intercept, prior.intercept_shape, prior.intercept_rate)


@jit
def draw_variance(rng, prior, members, squares, current):
    """Return a draw of the coefficients' variance given them; ``current`` if it is known.

    A draw beyond the end of the prior is refused, which keeps the truncated law.
    """
    if prior.scale_shape == 0.0:
        return current
    precision = draw_precision(rng, prior.scale_shape, prior.scale_rate, members, squares)
    return 1.0 / precision if precision * prior.largest_variance > 1.0 else current


@jit
def walk_ratio_of_amplitude(prior, old, new):
    """Return the log prior ratio of a walk on the log of an amplitude that is not zero."""
    old, new = math.log(old), math.log(new)
    there = log_gamma_density(new, prior.scale_shape, prior.scale_rate)
    return there - log_gamma_density(old, prior.scale_shape, prior.scale_rate)


@jit
def draw_amplitude(rng, prior):
    """Return an amplitude drawn from its prior."""
    if rng.random() < prior.zero_probability:
        return 0.0
    return draw_gamma(rng, prior.scale_shape, prior.scale_rate)
