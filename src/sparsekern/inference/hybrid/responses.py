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

The curvature is :math:`-\partial^2\log p`, but for Student's law, where that may be negative: there
it is the weight :math:`(\nu+1)/(\nu\sigma^2+e^2)` of iterated least squares, and
:func:`expected_curvature` the Fisher information :math:`(\nu+1)/((\nu+3)\sigma^2)`.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from ...random.half_line_moments import log_normal_cdf

PROBIT, LOGIT, STUDENT, POISSON, NEGATIVE_BINOMIAL = range(5)
RESPONSES = {
    "probit": PROBIT, "logit": LOGIT, "student_t": STUDENT, "poisson": POISSON,
    "negative_binomial": NEGATIVE_BINOMIAL,
}  # fmt: skip
_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_LARGEST_LOG_MEAN = 300.0


@jit
def response_terms(code, y, f, last, freedom):
    """Return log p(y | f), its slope and its curvature."""
    if code == PROBIT:
        z = y * f
        value = log_normal_cdf(z)
        ratio = math.exp(-0.5 * z * z - _LOG_ROOT_2PI - value)
        return value, y * ratio, max(ratio * (ratio + z), 0.0)
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
        return value, weight * error, weight
    mean = math.exp(min(f, _LARGEST_LOG_MEAN))
    if code == POISSON:
        return y * f - mean - math.lgamma(y + 1.0), y - mean, mean
    size = math.exp(-last)  # r = 1 / alpha
    total = size + mean
    value = math.lgamma(y + size) - math.lgamma(size) - math.lgamma(y + 1.0)
    value += size * math.log(size / total) + y * (f - math.log(total))
    return value, size * (y - mean) / total, (y + size) * size * mean / (total * total)


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
