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

from .._jit import jit

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


@jit
def kernel_against(columns, point, inverse_scale, kind, amplitude, out):
    """Write the kernel between ``point`` and every row of the data into ``out``.

    ``columns`` is the data by feature, C-ordered of shape (p, n), so that the loops run along rows
    of the data and vectorise without reordering a sum.
    """
    _pair_sums(columns, point, inverse_scale, kind, out)
    if kind == RBF:
        for i in range(out.shape[0]):
            out[i] = amplitude * math.exp(-0.5 * out[i])
    elif kind == LAPLACIAN:
        for i in range(out.shape[0]):
            out[i] = amplitude * math.exp(-out[i])
    elif kind == MATERN12:
        for i in range(out.shape[0]):
            out[i] = amplitude * math.exp(-math.sqrt(out[i]))
    elif kind == MATERN32:
        for i in range(out.shape[0]):
            r = min(math.sqrt(3.0 * out[i]), _FAR)
            out[i] = amplitude * (1.0 + r) * math.exp(-r)
    elif kind == MATERN52:
        for i in range(out.shape[0]):
            r = min(math.sqrt(5.0 * out[i]), _FAR)
            out[i] = amplitude * (1.0 + r + r * r / 3.0) * math.exp(-r)
    else:
        for i in range(out.shape[0]):
            out[i] = amplitude * out[i]


@jit
def kernel_block(columns, points, inverse_scale, kind, amplitude, out):
    """Write the kernel between all ``points`` (rows of ``out``) and all rows of the data."""
    for a in range(points.shape[0]):
        kernel_against(columns, points[a], inverse_scale, kind, amplitude, out[a])
