r"""One compiled table of likelihoods: log density and derivatives in the latent value, by code.

Each law's function stands in its own file and returns :math:`\log p(y\mid f)`, its slope in f, a
positive curvature for Newton's method (:math:`-\partial^2\log p` wherever that is positive) and the
curvature that an evidence is made with: the same for most, the Fisher information where the first
may be negative. Here a number stands for the law, so that engines are compiled once for all laws.

``last`` is the logarithm of the one number that a law may learn (:math:`\sigma^2` of the noise, the
dispersion of counts), ``freedom`` are the degrees of freedom of Student's law.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit
from .hinge import hinge_log_density, hinge_terms
from .laplace import laplace_terms
from .logit import logit_terms
from .negative_binomial import negative_binomial_terms
from .poisson import poisson_terms
from .probit import probit_terms
from .scaled_logit import scaled_logit_terms
from .student import student_terms

PROBIT, LOGIT, SCALED_LOGIT, STUDENT, POISSON, NEGATIVE_BINOMIAL, LAPLACE, HINGE = range(8)
CODES = {
    "probit": PROBIT, "logit": LOGIT, "scaled_logit": SCALED_LOGIT, "student_t": STUDENT,
    "poisson": POISSON, "negative_binomial": NEGATIVE_BINOMIAL, "laplace": LAPLACE,
    "hinge": HINGE,
}  # fmt: skip


@jit
def response_terms(code, y, f, last, freedom):
    """Return log p(y | f), slope, curvature for Newton's method and curvature of the evidence."""
    if code == PROBIT:
        return probit_terms(y, f, last, freedom)
    if code == LOGIT:
        return logit_terms(y, f, last, freedom)
    if code == SCALED_LOGIT:
        return scaled_logit_terms(y, f, last, freedom)
    if code == STUDENT:
        return student_terms(y, f, last, freedom)
    if code == POISSON:
        return poisson_terms(y, f, last, freedom)
    if code == LAPLACE:
        return laplace_terms(y, f, last, freedom)
    if code == HINGE:
        return hinge_terms(y, f, last, freedom)
    return negative_binomial_terms(y, f, last, freedom)


@jit
def has_smooth_terms(code):
    """Tell whether the terms are those of a smooth law in place of one with a corner."""
    return code == HINGE


@jit
def log_density(code, y, f, last, freedom):
    """Return log p(y | f) itself: that of the terms, but for the hinge, whose terms are smooth."""
    if has_smooth_terms(code):
        return hinge_log_density(y, f)
    return response_terms(code, y, f, last, freedom)[0]


@jit
def likely_value(code, y, mean):
    """Return a latent value that suits y alone; ``mean`` where there is none (labels)."""
    if code in (STUDENT, LAPLACE):
        return y
    if code in (POISSON, NEGATIVE_BINOMIAL):
        return math.log(y + 0.5)
    return mean


@jit
def expected_response(code, f):
    """Return the mean of a response: of logit labels P(1), of other labels the latent value."""
    if code == LOGIT:
        return 1.0 / (1.0 + math.exp(-f))
    if code in (POISSON, NEGATIVE_BINOMIAL):
        return math.exp(f)
    return f


@jit
def write_terms(code, responses, latent, last, freedom, slopes, curvatures):
    """Write slope and curvature of every row; return the log-likelihood of all."""
    total = 0.0
    for i in range(responses.shape[0]):
        value, slopes[i], curvatures[i], _ = response_terms(
            code, responses[i], latent[i], last, freedom
        )
        total += value
    return total


@jit
def response_slopes(code, responses, latent, last, freedom):
    """Return the slope of every row."""
    slopes, curvatures = np.empty_like(latent), np.empty_like(latent)
    write_terms(code, responses, latent, last, freedom, slopes, curvatures)
    return slopes
