r"""Likelihood factors at a latent value: logarithm, first and negative second derivative.

With :math:`u=yf`: probit :math:`\log\Phi(u)`; logit :math:`\log\sigma(u)`; the scaled logit
:math:`\log\sigma(\lambda u)`, :math:`\lambda=\sqrt{8/\pi}`, has the probit's slope at zero, and
its average over a normal f is nearly exact: :math:`\sigma(\lambda m/\sqrt{1+v})`.
"""

from __future__ import annotations

import math

from ..._jit import jit
from ...random.half_line_moments import half_line_moments, log_normal_cdf

PROBIT, LOGIT, SCALED_LOGIT = range(3)
LIKELIHOODS = {"probit": PROBIT, "logit": LOGIT, "scaled_logit": SCALED_LOGIT}
PROBIT_SLOPE = math.sqrt(8.0 / math.pi)


@jit
def factor_terms(likelihood, label, latent):
    """Return the log-likelihood of a row, its derivative and minus its second derivative."""
    u = label * latent
    if likelihood == PROBIT:
        ratio, mean, _ = half_line_moments(u)
        return log_normal_cdf(u), label * ratio, ratio * mean
    slope = PROBIT_SLOPE if likelihood == SCALED_LOGIT else 1.0
    u *= slope
    small = math.exp(-abs(u))
    value = -math.log1p(small) + min(u, 0.0)
    wrong = small / (1.0 + small) if u > 0.0 else 1.0 / (1.0 + small)  # sigma(-u)
    return value, slope * label * wrong, slope * slope * wrong * (1.0 - wrong)


@jit
def all_factor_terms(likelihood, labels, latent, gradient, curvature):
    """Write derivatives for every row; return the log-likelihood."""
    total = 0.0
    for i in range(labels.shape[0]):
        value, gradient[i], curvature[i] = factor_terms(likelihood, labels[i], latent[i])
        total += value
    return total
