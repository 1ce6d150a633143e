r"""Columns of the whitened factor and their inner products, from the rows of the data."""

from __future__ import annotations

import numpy as np

from .._jit import jit_apart
from .blas import solve_lower_rows
from .gram import weighted_gram
from .triangular import cholesky_with_floor
from .whitened_factor import count_columns, count_kernels


@jit_apart
def whiten_loaded_columns(factor, jitter):
    """Whiten the raw basis columns that stand in ``whitened`` for the active rows; O(n q^2).

    ``jitter[l]`` is that of kernel l. Returns the smallest pivot of the prior matrix before
    clamping (below zero by more than rounding: a kernel is not positive definite).
    """
    kernels = count_kernels(factor)
    q = count_columns(factor)
    for a in range(q):
        row = factor.prior_root[a]
        for b in range(a + 1):
            row[b] = 0.0
        for b in range(a % kernels, a + 1, kernels):
            row[b] = factor.whitened[a, factor.rows[b // kernels]]
        row[a] += jitter[a % kernels]
    smallest = cholesky_with_floor(factor.prior_root, q, jitter)
    if q > 0:
        solve_lower_rows(factor.prior_root, q, factor.whitened)
    return smallest


@jit_apart
def refresh_products(factor):
    r"""Recompute :math:`[o,W]^\top\Omega[o,W]` and :math:`[o,W]^\top\Omega z`; O(n q^2).

    Products with intercept and response in the same pass as the Gram matrix were slower.
    """
    q = count_columns(factor)
    gram = factor.gram
    inner = factor.long[0]
    total = 0.0
    for i in range(inner.shape[0]):
        inner[i] = factor.precision[i] * factor.ones[i]
        total += inner[i] * factor.ones[i]
    gram[0, 0] = total
    if q > 0:
        whitened = factor.whitened[:q]
        against_ones = np.dot(whitened, inner)
        square = np.empty((q, q))
        weighted_gram(whitened, factor.precision, q, square)
        for a in range(q):
            gram[0, a + 1] = against_ones[a]
            gram[a + 1, 0] = against_ones[a]
            for b in range(q):
                gram[a + 1, b + 1] = square[a, b]
    refresh_cross(factor)


@jit_apart
def refresh_cross(factor):
    r"""Recompute :math:`[o,W]^\top\Omega z` after the working response has changed; O(n q)."""
    q = count_columns(factor)
    weighted = factor.long[0]
    for c in range(factor.response.shape[0]):
        response = factor.response[c]
        total = 0.0
        for i in range(response.shape[0]):
            weighted[i] = factor.precision[i] * response[i]
            total += weighted[i] * factor.ones[i]
        factor.cross[c, 0] = total
        if q > 0:
            cross = factor.cross[c]
            np.dot(factor.whitened[:q], weighted, cross[1 : q + 1])
