r"""What the whitened factor says about the response: draws, hat matrix.

Given the factor of :mod:`.whitened_factor` and :math:`E=L_B^{-1}D^\top`, the precision of z is
:math:`Q^{-1}=\Omega-\Omega^{1/2}E^\top E\,\Omega^{1/2}`, and the coefficients given z are
:math:`\alpha\sim N(L_B^{-\top}c,\,\sigma^2B^{-1})` in whitened form.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit, jit_apart
from .blas import invert_lower_in_place, multiply_lower_rows, solve_lower_rows
from .triangular import solve_lower_transposed
from .whitened_factor import FORM, RATE, SHAPE, VARIANCE, count_columns, write_column_scales

_BLOCK = 512  # rows of the data worked on at a time
_TILE = 32  # rows transposed at a time


@jit
def draw_noise(rng, factor):
    r"""Draw :math:`\sigma^2\sim IG(a+nC/2,b+q/2)` if learned, coefficients integrated out."""
    noise = factor.noise
    if noise[SHAPE] > 0.0:
        noise[VARIANCE] = (noise[RATE] + 0.5 * noise[FORM]) / rng.standard_gamma(noise[SHAPE])


@jit_apart
def draw_coefficients(rng, factor, latent, coefficients, fitted):
    r"""Draw :math:`\alpha=L_B^{-\top}(c+\sigma\xi)` ; make coefficients and fitted values of it.

    ``coefficients[:q]`` receives :math:`L_M^{-\top}\mathrm{diag}(\sqrt v)\alpha_{1:}` in factor
    order and ``fitted`` the latent function at the training rows; the intercept is returned.
    """
    q = count_columns(factor)
    alpha, scale = factor.short[0], factor.short[2]
    deviation = math.sqrt(factor.noise[VARIANCE])
    for a in range(q + 1):
        alpha[a] = factor.projected[latent, a] + deviation * rng.standard_normal()
    solve_lower_transposed(factor.root, q + 1, alpha)
    write_column_scales(factor, factor.variances, q, scale)
    intercept = scale[0] * alpha[0]
    if q > 0:
        for a in range(q):
            coefficients[a] = scale[a + 1] * alpha[a + 1]
        np.dot(coefficients[:q], factor.whitened[:q], fitted)
        solve_lower_transposed(factor.prior_root, q, coefficients)
    else:
        fitted[:] = 0.0
    for i in range(fitted.shape[0]):
        fitted[i] += intercept * factor.ones[i]
    return intercept


@jit_apart
def pack_state(factor, means, packed):
    r"""Write what prediction needs once the coefficients are integrated out; O(q^3).

    With :math:`T=L_B^{-1}\mathrm{diag}(\sqrt v)\,\mathrm{diag}(1,L_M)^{-1}`, lower triangular, and
    :math:`e=T\,(1,k(x))` the function at x has the variance :math:`e^\top e` and the mean
    :math:`e^\top c`. ``packed`` receives the rows of T one after the other, each up to its
    diagonal, and ``means[c]`` receives :math:`T^\top c_c`, the means of intercept and coefficients.
    """
    size = count_columns(factor) + 1
    scale = factor.short[2]
    write_column_scales(factor, factor.variances, size - 1, scale)
    rows = np.zeros((size, size))
    for a in range(1, size):
        for b in range(a):
            rows[a, b + 1] = factor.prior_root[a - 1, b]
    rows[0, 0] = 1.0
    invert_lower_in_place(rows, size)
    for a in range(size):
        for b in range(a + 1):
            rows[a, b] *= scale[a]
    solve_lower_rows(factor.root, size, rows)
    at = 0
    for a in range(size):
        for b in range(a + 1):
            packed[at] = rows[a, b]
            at += 1
    for c in range(means.shape[0]):
        for b in range(size):
            total = 0.0
            for a in range(b, size):
                total += rows[a, b] * factor.projected[c, a]
            means[c, b] = total


@jit_apart
def hat_rows(factor, buffer):
    r"""Write the rows of :math:`E^\top=D L_B^{-\top}` and return the view of them; O(n q^2).

    ``buffer`` is a flat array of at least n (k+1) numbers; the returned C-ordered array of shape
    (n, k+1) is what a scan over the rows wants to read. The product and the
    transposition pass over a few hundred rows at a time, while these lie in the cache.
    """
    k = count_columns(factor)
    n = factor.precision.shape[0]
    # B is well conditioned, so its factor may be inverted: a product takes half the time of a
    # triangular solve. The prior scales go into the small triangle, not into every row.
    inverse = np.empty((k + 1, k + 1))
    for a in range(k + 1):
        for b in range(a + 1):
            inverse[a, b] = factor.root[a, b]
    invert_lower_in_place(inverse, k + 1)
    scale = factor.short[2]
    write_column_scales(factor, factor.variances, k, scale)
    for a in range(k + 1):
        for b in range(a + 1):
            inverse[a, b] *= scale[b]
    rows = buffer[: n * (k + 1)].reshape(n, k + 1)
    block = np.empty((k + 1, min(n, _BLOCK)))
    for start in range(0, n, _BLOCK):
        size = min(n - start, _BLOCK)
        if size < block.shape[1]:
            block = np.empty((k + 1, size))
        square_root = factor.long[0]
        for i in range(size):
            square_root[i] = math.sqrt(factor.precision[start + i])
            block[0, i] = square_root[i] * factor.ones[start + i]
        for a in range(k):
            source, target = factor.whitened[a], block[a + 1]
            for i in range(size):
                target[i] = square_root[i] * source[start + i]
        multiply_lower_rows(inverse, k + 1, block)
        for low in range(0, size, _TILE):
            high = min(size, low + _TILE)
            for a in range(k + 1):
                source = block[a]
                for i in range(low, high):
                    rows[start + i, a] = source[i]
    return rows
