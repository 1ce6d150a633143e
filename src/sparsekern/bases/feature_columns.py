r"""Kernel columns of a kernel that sees some of the features, with independent coefficients.

Column j is :math:`k_{\gamma,\eta}(\cdot,x_j)` for the included features :math:`\gamma` and their
bandwidths :math:`\eta`; coefficients are :math:`N(0,v)` each, so nothing is whitened: the prior
root of the factor is the identity. Where there is a continuous spike, column j is multiplied by
``weight[j]``, the prior standard deviation of its coefficient over that of a slab.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit, jit_apart
from ..kernels.feature_sums import add_feature, kernel_of_sums
from ..linalg.active_moves import value_column
from ..linalg.factor_columns import refresh_products
from ..linalg.whitened_factor import count_columns, log_evidence, refactor
from ._compiled import load_from_sums, register


class FeatureColumns(NamedTuple):
    """What compiled code needs to make columns; the last three arrays are the chain's state."""

    columns: np.ndarray  # float64[p, n], the training data by feature
    kind: int
    weight: np.ndarray  # float64[n], or nothing: all ones
    n_features: np.ndarray  # int64[1], features included
    features: np.ndarray  # int64[s], which
    bandwidths: np.ndarray  # float64[s], and their bandwidths


@jit
def write_sums(basis, row, out):
    r"""Write :math:`E=\sum_l\eta_ld_l` between all training rows and ``row``."""
    out[:] = 0.0
    for place in range(basis.n_features[0]):
        column = basis.columns[basis.features[place]]
        add_feature(column, column[row], basis.bandwidths[place], basis.kind, out, out)


@jit
def write_columns(basis, factor, sums):
    """Write the kernel columns of the active rows from their sums."""
    k, n = factor.n_active[0], sums.shape[1]
    if k > 0:
        columns = factor.whitened[:k].reshape(k * n)
        kernel_of_sums(sums[:k].reshape(k * n), basis.kind, columns)


@jit_apart
def _load_from_sums(basis, factor, sums):
    """Make the whole factor for its active rows from their sums; return its log evidence.

    ``sums[a]`` belongs to the active vector at position a; O(n k^2).
    """
    k = factor.n_active[0]
    write_columns(basis, factor, sums)
    _weigh(basis, factor, 0, k)
    refresh_products(factor)
    refactor(factor)
    return log_evidence(factor)


@jit
def _judge_proposal(basis, rng, factor, spare, sums, evidence, ratio):
    """Judge a proposal by Metropolis' rule."""
    value = _load_from_sums(basis, spare, sums)
    return value, value - evidence + ratio


@jit
def _weigh(basis, factor, first, last):
    """Multiply the columns from position ``first`` on by their weights."""
    if basis.weight.shape[0] > 0:
        for a in range(first, last):
            column = factor.whitened[a]
            column *= basis.weight[factor.rows[a]]


@jit_apart
def rebuild_features(basis, factor, sums):
    """Recompute sums and factor from the data; return the log evidence; O(n k (s + k))."""
    factor.position[:] = -1
    for a in range(factor.n_active[0]):
        factor.position[factor.rows[a]] = a
        write_sums(basis, factor.rows[a], sums[a])
        for b in range(a):
            factor.prior_root[a, b] = 0.0
        factor.prior_root[a, a] = 1.0
    return load_from_sums(basis, factor, sums)


@jit_apart
def value_features(basis, factor, length_scale, row, column):
    """Return the log Bayes factor of adding ``row``."""
    k = count_columns(factor)
    prior_row = factor.prior_root[k]
    for a in range(k):
        prior_row[a] = 0.0
    prior_row[k] = 1.0
    write_sums(basis, row, column)
    kernel_of_sums(column, basis.kind, factor.whitened[k])
    if basis.weight.shape[0] > 0:
        newcomer = factor.whitened[k]
        newcomer *= basis.weight[row]
    return value_column(factor)


register(
    FeatureColumns,
    value_newcomer=value_features,
    load_from_sums=_load_from_sums,
    judge_proposal=_judge_proposal,
)
