r"""What the whitened factor says about the response: draws, hat matrix.

Given the factor of :mod:`.whitened_factor` and :math:`E=L_B^{-1}D^\top`, the precision of z is
:math:`Q^{-1}=\Omega-\Omega^{1/2}E^\top E\,\Omega^{1/2}`, and the coefficients given z are
:math:`\alpha\sim N(L_B^{-\top}c,\,\sigma^2B^{-1})` in whitened form.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit
from .blas import invert_lower_in_place, multiply_lower_rows
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


@jit
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


@jit
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
