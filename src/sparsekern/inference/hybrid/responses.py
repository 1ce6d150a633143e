r"""Responses other than Gaussian: log density, slope and curvature in the latent value.

===================  ==========================================  ==============================
response             y given f                                   last parameter
===================  ==========================================  ==============================
probit, logit        :math:`P(y=\pm1)=h(yf)`                      none
student_t            :math:`f+\sigma t_\nu`                        :math:`\log\sigma^2`
poisson              mean :math:`e^f`                             none
negative_binomial    mean :math:`e^f`, variance                   :math:`\log\alpha`
                     :math:`e^f+\alpha e^{2f}`
===================  ==========================================  ==============================

The curvature is :math:`-\partial^2\log p`, but for Student's law far from y, where that is
negative: there it is the weight :math:`(\nu+1)/(\nu\sigma^2+e^2)` of iterated least squares, and
Newton's step leads uphill all the same. The evidence of Student's law has the Fisher information
:math:`(\nu+1)/((\nu+3)\sigma^2)` in place of both, see :func:`expected_curvature`.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...likelihoods._count_terms import negative_binomial_terms, poisson_terms
from ...random.half_line_moments import half_line_moments, log_normal_cdf

PROBIT, LOGIT, STUDENT, POISSON, NEGATIVE_BINOMIAL = range(5)
RESPONSES = {
    "probit": PROBIT, "logit": LOGIT, "student_t": STUDENT, "poisson": POISSON,
    "negative_binomial": NEGATIVE_BINOMIAL,
}  # fmt: skip
HAS_PARAMETER = (STUDENT, NEGATIVE_BINOMIAL)  # those that the last parameter matters to


@jit
def response_terms(code, y, f, last, freedom):
    """Return log p(y | f), its slope and its curvature."""
    if code == PROBIT:
        z = y * f
        ratio, rest, _ = half_line_moments(z)
        return log_normal_cdf(z), y * ratio, ratio * rest
    if code == LOGIT:
        z = y * f
        value = -math.log1p(math.exp(-z)) if z > 0.0 else z - math.log1p(math.exp(z))
        wrong = math.exp(value - z) if z > 0.0 else 1.0 - math.exp(value)  # 1 - h(z)
        return value, y * wrong, wrong * (1.0 - wrong)
    if code == STUDENT:
        variance, error = math.exp(last), y - f
        scaled = error * error / (freedom * variance)
        value = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom)
        value -= 0.5 * math.log(freedom * math.pi * variance)
        value -= 0.5 * (freedom + 1.0) * math.log1p(scaled)
        weight = (freedom + 1.0) / (freedom * variance * (1.0 + scaled))
        curvature = weight * (1.0 - scaled) / (1.0 + scaled)
        return value, weight * error, curvature if curvature > 0.0 else weight
    if code == POISSON:
        return poisson_terms(y, f)
    return negative_binomial_terms(y, f, last)


@jit
def likely_value(code, y, mean):
    """Return a latent value that suits y alone; ``mean`` where there is none."""
    if code == STUDENT:
        return y
    if code in (POISSON, NEGATIVE_BINOMIAL):
        return math.log(y + 0.5)
    return mean


@jit
def response_slopes(code, y, f, last, freedom):
    """Return the slopes of many responses."""
    out = np.empty_like(f)
    for i in range(f.shape[0]):
        out[i] = response_terms(code, y[i], f[i], last, freedom)[1]
    return out


@jit
def expected_curvature(code, curvature, last, freedom):
    """Return the curvature that the evidence is made with."""
    if code == STUDENT:
        return (freedom + 1.0) / ((freedom + 3.0) * math.exp(last))
    return curvature
