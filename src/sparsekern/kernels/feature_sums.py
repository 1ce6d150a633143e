r"""Kernels as functions of one weighted sum over features, and how a feature changes it.

With bandwidths :math:`\eta_l\ge0` (zero: the feature is not in the kernel) and
:math:`d_l=(x_l-x'_l)^2`, or :math:`|x_l-x'_l|` for the Laplacian kernel, all kernels here depend on
:math:`E=\sum_l\eta_ld_l` alone:

=========  ==============================================================
rbf        :math:`e^{-E}`, that is :math:`\ell_l=1/\sqrt{2\eta_l}`
laplacian  :math:`e^{-E}`, that is :math:`\ell_l=1/\eta_l`
matern32   :math:`(1+r)e^{-r}`, :math:`r=\sqrt{6E}`, :math:`\ell_l` as rbf
matern52   :math:`(1+r+r^2/3)e^{-r}`, :math:`r=\sqrt{10E}`, :math:`\ell_l` as rbf
=========  ==============================================================

so a kernel column under a changed feature costs one addition and one exponential a row.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit, jit_apart
from .evaluate import LAPLACIAN, MATERN32, MATERN52, RBF
from .exponential import exp_of_negative

FEATURE_KERNELS = {
    "rbf": RBF, "laplacian": LAPLACIAN, "matern32": MATERN32, "matern52": MATERN52,
}  # fmt: skip
FARTHEST = 1e290  # infinite distances would not cancel when a feature leaves
FAR = 1e4  # exp(-r) is zero long before


@jit
def add_feature(column, here, bandwidth, kind, sums, out):
    r"""Write :math:`E+\eta d` for one feature: ``column`` against the value ``here``.

    ``bandwidth`` is negative where a feature leaves; rounding never makes a sum negative.
    """
    if kind == LAPLACIAN:
        for i in range(column.shape[0]):
            distance = min(abs(column[i] - here), FARTHEST)
            out[i] = max(sums[i] + bandwidth * distance, 0.0)
    else:
        for i in range(column.shape[0]):
            difference = column[i] - here
            distance = min(difference * difference, FARTHEST)
            out[i] = max(sums[i] + bandwidth * distance, 0.0)


@jit
def add_two_features(one, other, here, bandwidth, other_bandwidth, kind, out):
    """Add two features to sums: their columns against their values at the place ``here``.

    For bandwidths that are not negative; two at a time without a floor take a third of the time.
    """
    value, other_value = one[here], other[here]
    if kind == LAPLACIAN:
        for i in range(out.shape[0]):
            distance = min(abs(one[i] - value), FARTHEST)
            other_distance = min(abs(other[i] - other_value), FARTHEST)
            out[i] = (out[i] + bandwidth * distance) + other_bandwidth * other_distance
    else:
        for i in range(out.shape[0]):
            difference, other_difference = one[i] - value, other[i] - other_value
            distance = min(difference * difference, FARTHEST)
            other_distance = min(other_difference * other_difference, FARTHEST)
            out[i] = (out[i] + bandwidth * distance) + other_bandwidth * other_distance


@jit_apart
def kernel_of_sums(sums, kind, out):
    """Write the kernel at every sum; both arrays are flat."""
    if kind in (MATERN32, MATERN52):
        factor = 6.0 if kind == MATERN32 else 10.0
        roots = np.empty(sums.shape[0])
        for i in range(sums.shape[0]):
            roots[i] = min(math.sqrt(factor * sums[i]), FAR)
        exp_of_negative(roots, out)
        share = 0.0 if kind == MATERN32 else 1.0 / 3.0
        for i in range(sums.shape[0]):
            out[i] *= 1.0 + roots[i] + share * roots[i] * roots[i]
    else:
        exp_of_negative(sums, out)


@jit
def expand_draws(
    columns, vectors, kind, counts, slots, coefficients, n_features, features, bandwidths, out
):
    r"""Write :math:`\sum_jk_{t}(x_i,x_j)\beta_{tcj}` of every draw t and function c.

    Parameters
    ----------
    columns : float64[p, m]
        New rows, by feature.
    vectors : float64[v, p]
        Active vectors of all draws.
    kind : int
    counts, slots : int[T], int[T, k]
        Active vectors of each draw, as indices into ``vectors``.
    coefficients : float64[T, C, k]
    n_features, features, bandwidths : int[T], int[T, s], float64[T, s]
        Features of each draw and their bandwidths.
    out : float64[C, T, m]
    """
    rows = columns.shape[1]
    sums, values = np.empty(rows), np.empty(rows)
    out[:] = 0.0
    for t in range(counts.shape[0]):
        for a in range(counts[t]):
            vector = vectors[slots[t, a]]
            sums[:] = 0.0
            for place in range(n_features[t]):
                feature = features[t, place]
                add_feature(
                    columns[feature], vector[feature], bandwidths[t, place], kind, sums, sums
                )
            kernel_of_sums(sums, kind, values)
            for c in range(out.shape[0]):
                weight, total = coefficients[t, c, a], out[c, t]
                for i in range(rows):
                    total[i] += weight * values[i]
