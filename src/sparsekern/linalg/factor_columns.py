r"""Columns of the whitened factor and their inner products, from the rows of the data."""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit
from .blas import solve_lower_rows
from .gram import BLOCK, add_gram, scale_into
from .triangular import cholesky_with_floor
from .whitened_factor import count_columns, count_kernels


@jit
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


@jit
def refresh_products(factor):
    r"""Recompute :math:`[o,W]^\top\Omega[o,W]` and :math:`[o,W]^\top\Omega z`; O(n q^2).

    One pass over the rows of the data: intercept, columns and responses stand in one block.
    """
    q, latents = count_columns(factor), factor.response.shape[0]
    n, size = factor.precision.shape[0], q + 1 + latents
    products = np.zeros((size, size))
    block, root = np.empty(size * BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        for i in range(count):
            root[i] = math.sqrt(factor.precision[start + i])
            block[i] = root[i] * factor.ones[start + i]
        for a in range(q):
            scale_into(block, a + 1, count, root, factor.whitened[a], start)
        for c in range(latents):
            scale_into(block, q + 1 + c, count, root, factor.response[c], start)
        add_gram(block, size, count, products)
    for a in range(q + 1):
        for b in range(a + 1):
            factor.gram[a, b] = products[a, b]
            factor.gram[b, a] = products[a, b]
        for c in range(latents):
            factor.cross[c, a] = products[q + 1 + c, a]


@jit
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
