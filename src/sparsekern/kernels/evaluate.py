r"""Compiled kernel columns with one length scale per feature.

With :math:`r^2=\sum_l (x_l-x'_l)^2/\ell_l^2` and :math:`r_1=\sum_l|x_l-x'_l|/\ell_l`:

=========  ===========================================
rbf        :math:`\exp(-r^2/2)`
laplacian  :math:`\exp(-r_1)`
matern12   :math:`\exp(-r)`
matern32   :math:`(1+\sqrt3 r)\exp(-\sqrt3 r)`
matern52   :math:`(1+\sqrt5 r+5r^2/3)\exp(-\sqrt5 r)`
linear     :math:`x^\top x'`
=========  ===========================================

each times an amplitude. ``TABLE`` stands for kernels evaluated outside compiled code.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit, jit_apart
from .exponential import exp_of_negative

_FAR = 1e4  # exp(-r) is zero long before; an infinite r would make 0 * inf of it
TABLE, RBF, LAPLACIAN, MATERN12, MATERN32, MATERN52, LINEAR = range(7)
CODES = {
    "rbf": RBF,
    "laplacian": LAPLACIAN,
    "matern12": MATERN12,
    "matern32": MATERN32,
    "matern52": MATERN52,
    "linear": LINEAR,
}


@jit
def _pair_sums(columns, point, inverse_scale, kind, out):
    """Write the sum over features that the kernel is a function of, for every row."""
    p, n = columns.shape
    out[:] = 0.0
    for j in range(p):
        column = columns[j]
        here, scale = point[j], inverse_scale[j]
        if scale == 0.0:  # a feature that this kernel does not see
            continue
        if kind == LINEAR:
            for i in range(n):
                out[i] += column[i] * here
        elif kind == LAPLACIAN:
            for i in range(n):
                out[i] += abs(column[i] - here) * scale
        else:
            for i in range(n):
                difference = (column[i] - here) * scale
                out[i] += difference * difference


@jit_apart
def kernel_against(columns, point, inverse_scale, kind, amplitude, out):
    """Write the kernel between ``point`` and every row of the data into ``out``.

    ``columns`` is the data by feature, C-ordered of shape (p, n), so that the loops run along rows
    of the data and vectorise without reordering a sum.
    """
    if kind == LINEAR:
        _pair_sums(columns, point, inverse_scale, kind, out)
        for i in range(out.shape[0]):
            out[i] = amplitude * out[i]
        return
    sums = np.empty(out.shape[0])
    _pair_sums(columns, point, inverse_scale, kind, sums)
    if kind == RBF:
        for i in range(sums.shape[0]):
            sums[i] *= 0.5
    elif kind != LAPLACIAN:
        order = 1.0 if kind == MATERN12 else (3.0 if kind == MATERN32 else 5.0)
        for i in range(sums.shape[0]):
            sums[i] = min(math.sqrt(order * sums[i]), _FAR)
    exp_of_negative(sums, out)
    if kind == MATERN32:
        for i in range(sums.shape[0]):
            out[i] *= 1.0 + sums[i]
    elif kind == MATERN52:
        for i in range(sums.shape[0]):
            out[i] *= 1.0 + sums[i] + sums[i] * sums[i] / 3.0
    for i in range(out.shape[0]):
        out[i] *= amplitude


@jit
def kernel_block(columns, points, inverse_scale, kind, amplitude, out):
    """Write the kernel between all ``points`` (rows of ``out``) and all rows of the data."""
    for a in range(points.shape[0]):
        kernel_against(columns, points[a], inverse_scale, kind, amplitude, out[a])
