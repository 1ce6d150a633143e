r"""Slice move of the size of the latent function, the auxiliary variables forgotten.

Multiply the function and its prior scale together: :math:`(\lambda f,\ g/\lambda^2,\
\eta/\lambda^2)`. The prior of the coefficients does not notice (its density shrinks by
:math:`\lambda^{-(k+1)}`, the volume element grows by as much), so :math:`\log\lambda` has the
density

.. math:: L(\lambda f)\,p(\log g-2\log\lambda)\,p(\log\eta-2\log\lambda),

one likelihood evaluation each, O(n). Where the variance of the intercept u is fixed (a prior of
shape zero), :math:`\lambda u` has to answer to it: :math:`\lambda N(\lambda u;0,1/\eta)` replaces
:math:`p(\log\eta-2\log\lambda)`. The joint scale move of :mod:`.scales` stretches probit's
latent variables instead and with them their unit noise, so that it can only go :math:`1/\sqrt n`
at a time; where the classes are far apart the labels allow steps by factors, and this move makes
them. Afterwards the auxiliary variables are drawn anew.
"""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...likelihoods._augmented import renew_working
from ...likelihoods._compiled import scaled_log_likelihood
from ...linalg.whitened_response import draw_coefficients
from ...priors.scales import log_density_of_intercept, log_density_of_scale

_MOST_STEPS = 100


@jit
def _log_density(data, fitted, prior, intercept, log_intercept, log_scale, x):
    log_scale -= 2.0 * x
    value = log_density_of_scale(prior, log_scale)
    if value == -math.inf:
        return value
    value += scaled_log_likelihood(data, fitted, math.exp(x), 1.0)
    if prior.intercept_shape == 0.0:
        return value + x - 0.5 * math.exp(log_intercept + 2.0 * x) * intercept * intercept
    return value + log_density_of_intercept(prior, log_intercept - 2.0 * x)


@jit_apart
def move_function_scale(rng, factor, prior, data, width, coefficients, fitted):
    """Draw the function, move its size by one slice step, draw the auxiliary variables anew.

    ``coefficients`` and ``fitted`` are scratch memory. Returns the signed step of the logarithm;
    the factor is left exact.
    """
    u = draw_coefficients(rng, factor, 0, coefficients, fitted)
    a, b = -math.log(factor.variances[0]), -math.log(factor.variances[1])
    level = _log_density(data, fitted, prior, u, a, b, 0.0) - rng.standard_exponential()
    low = -width * rng.random()
    high = low + width
    steps_down = rng.integers(0, _MOST_STEPS)  # a random share keeps the limit reversible
    for _ in range(steps_down):
        if not _log_density(data, fitted, prior, u, a, b, low) > level:
            break
        low -= width
    for _ in range(_MOST_STEPS - 1 - steps_down):
        if not _log_density(data, fitted, prior, u, a, b, high) > level:
            break
        high += width
    x = 0.0
    for _ in range(_MOST_STEPS):
        x = low + (high - low) * rng.random()
        if _log_density(data, fitted, prior, u, a, b, x) > level:
            break
        if x < 0.0:
            low = x
        else:
            high = x
        x = 0.0
    stretch = math.exp(x)
    scales = factor.variances[1:]
    scales *= stretch * stretch
    if prior.intercept_shape > 0.0:
        factor.variances[0] *= stretch * stretch
    fitted *= stretch
    renew_working(data, rng, factor, fitted, False)
    return x
