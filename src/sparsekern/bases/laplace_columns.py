r"""Columns of features whose evidence is that of any log-concave likelihood, by Laplace's method.

The coefficients are few, and with them whitened, :math:`f=o+D\alpha`, :math:`\alpha\sim N(0,I)`,
Newton's method finds the mode of :math:`J(\alpha)=\sum_i\log p(y_i\mid
f_i)-\frac12\alpha^\top\alpha` in a few steps, each a solution of the whitened factor for the sites

.. math:: w_i=-\partial^2\log p,\qquad z_i=f_i-o_i+\partial\log p/w_i .

At the mode :math:`\log\tilde m=J(\hat\alpha)-\sum_a\log L_{B,aa}`, and the factor is that of the
Gaussian with which the likelihood agrees there. Moves written for Gaussian responses so serve every
such likelihood: none of them knows the difference, and no auxiliary variable holds them back. What
:math:`\tilde m` lacks is made up for by :mod:`sparsekern.inference.moves.evidence_estimate`.

A proposal y is judged twice (Christen and Fox 2005). With r the ratio of priors and proposals and
:math:`e_x` the evidence under the sites of the present state x, which takes no search, y is worth
the search for its mode with probability :math:`\alpha_1(x,y)=\min(1,r\,e_x(y)/e_x(x))`, and is then
taken with probability

.. math:: \min\Big(1,\ \frac{\tilde m(y)\,r\,\alpha_1(y,x)}{\tilde m(x)\,\alpha_1(x,y)}\Big),

where the way back goes by the sites of y.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._jit import jit, jit_apart
from ..likelihoods.terms import response_terms
from ..linalg.copies import copy_matrix, copy_vector
from ..linalg.factor_columns import refresh_products
from ..linalg.triangular import solve_lower_transposed
from ..linalg.whitened_factor import count_columns, log_evidence, refactor, write_column_scales
from ._compiled import register
from .feature_columns import value_features, write_columns

_LEAST_CURVATURE = 1e-9  # of a site: rows far on their side have next to none
_CLOSE = 1e-4  # length of a last step, in posterior deviations
_MOST_STEPS, _MOST_HALVINGS = 50, 30


class LaplaceColumns(NamedTuple):
    """Feature columns, the responses, and where Newton's method starts."""

    columns: np.ndarray  # float64[p, n], as those of FeatureColumns
    kind: int
    weight: np.ndarray
    n_features: np.ndarray
    features: np.ndarray
    bandwidths: np.ndarray
    data: Any  # TermsData
    response: np.ndarray  # float64[1, n], sites at the mode of the chain's state
    precision: np.ndarray  # float64[n]


@jit
def write_mean(factor, alpha, fitted):
    """Write the whitened coefficients by the factor's sites, and their function.

    Returns the columns' deviations.
    """
    q = count_columns(factor)
    scale = factor.short[2]
    write_column_scales(factor, factor.variances, q, scale)
    for a in range(q + 1):
        alpha[a] = factor.projected[0, a]
    solve_lower_transposed(factor.root, q + 1, alpha)
    function_of(factor, alpha, scale, fitted)
    return scale


@jit
def function_of(factor, alpha, scale, fitted):
    """Write the function of whitened coefficients; ``scale`` has the columns' deviations."""
    q = count_columns(factor)
    scaled = np.empty(q)
    for a in range(q):
        scaled[a] = scale[a + 1] * alpha[a + 1]
    if q > 0:
        np.dot(scaled, factor.whitened[:q], fitted)
    else:
        fitted[:] = 0.0
    intercept = scale[0] * alpha[0]
    for i in range(fitted.shape[0]):
        fitted[i] += intercept * factor.ones[i]


@jit
def last_parameter(data):
    """Return the logarithm of the one number that the law learns."""
    return math.log(data.parameters[0]) if data.parameters.shape[0] > 0 else 0.0


@jit
def _write_sites(data, fitted, response, precision):
    """Write the sites at a function; return the log-likelihood."""
    last, total = last_parameter(data), 0.0
    for i in range(fitted.shape[0]):
        latent = data.offset[i] + fitted[i]
        value, slope, curvature, _ = response_terms(data.code, data.response[i], latent, last, 0.0)
        total += data.weight[i] * value
        precision[i] = max(data.weight[i] * curvature, _LEAST_CURVATURE)
        response[i] = fitted[i] + data.weight[i] * slope / precision[i]
    return total


@jit
def _log_likelihood(data, fitted):
    last, total = last_parameter(data), 0.0
    for i in range(fitted.shape[0]):
        latent = data.offset[i] + fitted[i]
        total += data.weight[i] * response_terms(data.code, data.response[i], latent, last, 0.0)[0]
    return total


@jit_apart
def find_mode(data, factor):
    r"""Leave the factor at the mode, for the columns that stand in it; return :math:`\log\tilde m`.

    Newton's method starts from the sites in the factor, or nearer to no function at all where they
    suit these columns worse than that. Minus infinity where it does not arrive.
    """
    n = factor.precision.shape[0]
    size = count_columns(factor) + 1
    alpha, before = np.zeros(size), np.zeros(size)
    fitted, fitted_before = np.empty(n), np.zeros(n)
    response, precision = factor.response[0], factor.precision
    value = _log_likelihood(data, fitted_before)
    for step in range(_MOST_STEPS):
        refresh_products(factor)
        log_root, _ = refactor(factor)
        write_mean(factor, alpha, fitted)
        distance = math.inf
        if step > 0:
            distance = 0.0
            for a in range(size):
                distance += (alpha[a] - before[a]) ** 2
            for i in range(n):
                distance += precision[i] * (fitted[i] - fitted_before[i]) ** 2
        if not math.isfinite(fitted[0]):
            return -math.inf
        if distance < _CLOSE * _CLOSE:  # the sites were those of the mode
            return value - log_root
        reached = _write_sites(data, fitted, response, precision) - 0.5 * np.dot(alpha, alpha)
        for _ in range(_MOST_HALVINGS):  # a step too far is halved
            if reached >= value - 1e-9 * abs(value):  # what is no number compares as false
                break
            for a in range(size):
                alpha[a] = 0.5 * (alpha[a] + before[a])
            for i in range(n):
                fitted[i] = 0.5 * (fitted[i] + fitted_before[i])
            reached = _write_sites(data, fitted, response, precision) - 0.5 * np.dot(alpha, alpha)
        value = reached
        copy_vector(alpha, before)
        copy_vector(fitted, fitted_before)
    return -math.inf


@jit_apart
def _load_from_sums(basis, factor, sums):
    """Make the factor at the mode for its active rows from their sums; return the log evidence."""
    write_columns(basis, factor, sums)
    return load_mode(basis, factor)


@jit
def load_mode(basis, factor):
    """Find the mode for columns that stand in the factor, from the sites of the chain's state."""
    copy_vector(basis.response[0], factor.response[0])
    copy_vector(basis.precision, factor.precision)
    return find_mode(basis.data, factor)


@jit_apart
def _judge_proposal(basis, rng, factor, spare, sums, evidence, ratio):
    """Judge a proposal twice; minus infinity where it is not worth the search."""
    write_columns(basis, spare, sums)
    copy_vector(basis.response[0], spare.response[0])
    copy_vector(basis.precision, spare.precision)
    refresh_products(spare)
    refactor(spare)
    there = log_evidence(spare) - log_evidence(factor) + ratio
    # what is no number (a hopeless proposal, numerically) compares as false
    if not math.log(rng.random()) < there:
        return -math.inf, -math.inf
    value = find_mode(basis.data, spare)
    if not value > -math.inf:
        return -math.inf, -math.inf
    back = _evidence_by_sites(factor, spare) - log_evidence(spare) - ratio
    return value, value - evidence + ratio + min(0.0, back) - min(0.0, there)


@jit
def _evidence_by_sites(factor, other):
    """Return the log evidence of a factor's columns under the sites of another; O(n k^2)."""
    size = count_columns(factor) + 1
    gram, root = factor.gram[:size, :size].copy(), factor.root[:size, :size].copy()
    cross, projected = factor.cross[:, :size].copy(), factor.projected[:, :size].copy()
    response, precision = factor.response.copy(), factor.precision.copy()
    copy_vector(other.response[0], factor.response[0])
    copy_vector(other.precision, factor.precision)
    refresh_products(factor)
    refactor(factor)
    value = log_evidence(factor)
    copy_matrix(gram, factor.gram)
    copy_matrix(root, factor.root)
    copy_matrix(cross, factor.cross)
    copy_matrix(projected, factor.projected)
    copy_matrix(response, factor.response)
    copy_vector(precision, factor.precision)
    return value


register(
    LaplaceColumns,
    value_newcomer=value_features,
    load_from_sums=_load_from_sums,
    judge_proposal=_judge_proposal,
)
