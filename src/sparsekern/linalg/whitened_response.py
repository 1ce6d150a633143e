r"""What the whitened factor says about the response: fit, misfit, draws, hat matrix.

Given the factor of :mod:`.whitened_factor` and :math:`E=L_B^{-1}D^\top`, the precision of z is
:math:`Q^{-1}=\Omega-\Omega^{1/2}E^\top E\,\Omega^{1/2}`, and the coefficients given z are
:math:`\alpha\sim N(L_B^{-\top}c,\,B^{-1})` in whitened form.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit
from .blas import invert_lower_in_place, multiply_lower_rows
from .triangular import dot, solve_lower_transposed

_CANCELLED = 1e-6  # share of z'z under which z'z - c'c has lost too many digits
_BLOCK = 512  # rows of the data worked on at a time
_TILE = 32  # rows transposed at a time


@jit
def response_energy(factor):
    r"""Return :math:`\mathrm{tr}\,z^\top\Omega z`."""
    energy = 0.0
    for c in range(factor.response.shape[0]):
        response = factor.response[c]
        for i in range(response.shape[0]):
            energy += factor.precision[i] * response[i] * response[i]
    return energy


@jit
def quadratic_form(factor, root, projected, intercept_variance, variance, energy, squares):
    r"""Return :math:`\mathrm{tr}\,z^\top Q^{-1}z` from the two sums of squares.

    Their difference is the answer; where the model explains z almost exactly it is all rounding
    error, and the sum of squares :math:`|\Omega^{1/2}(z-\Phi\hat\beta)|^2+|\hat\alpha|^2`,
    :math:`\hat\alpha=L_B^{-\top}c`, which cannot cancel, is taken instead; O(nk).
    """
    difference = energy - squares
    if difference > _CANCELLED * energy:
        return difference
    k = factor.n_active[0]
    alpha = factor.short[0]
    fitted = factor.long[0]
    total = 0.0
    for c in range(factor.response.shape[0]):
        for a in range(k + 1):
            alpha[a] = projected[c, a]
        solve_lower_transposed(root, k + 1, alpha)
        total += dot(alpha, alpha, k + 1)
        intercept = math.sqrt(intercept_variance) * alpha[0]
        if k > 0:
            np.dot(alpha[1 : k + 1], factor.whitened[:k], fitted)
        scale = math.sqrt(variance) if k > 0 else 0.0
        response = factor.response[c]
        for i in range(response.shape[0]):
            residual = response[i] - intercept - scale * fitted[i]
            total += factor.precision[i] * residual * residual
    return total


@jit
def draw_coefficients(rng, factor, latent, coefficients, fitted):
    r"""Draw :math:`\alpha=L_B^{-\top}(c+\xi)` and turn it into coefficients and fitted values.

    ``coefficients[:k]`` receives :math:`\sqrt{v_1}L_M^{-\top}\alpha_{1:}` in factor order and
    ``fitted`` the latent function at the training rows; the intercept is returned.
    """
    k = factor.n_active[0]
    alpha = factor.short[0]
    for a in range(k + 1):
        alpha[a] = factor.projected[latent, a] + rng.standard_normal()
    solve_lower_transposed(factor.root, k + 1, alpha)
    intercept = math.sqrt(factor.variances[0]) * alpha[0]
    scale = math.sqrt(factor.variances[1])
    if k > 0:
        for a in range(k):
            coefficients[a] = scale * alpha[a + 1]
        np.dot(coefficients[:k], factor.whitened[:k], fitted)
        solve_lower_transposed(factor.prior_root, k, coefficients)
        fitted += intercept
    else:
        fitted[:] = intercept
    return intercept


@jit
def hat_rows(factor, buffer):
    r"""Write the rows of :math:`E^\top=D L_B^{-\top}` and return the view of them; O(n k^2).

    ``buffer`` is a flat array of at least n (k+1) numbers; the returned C-ordered array of shape
    (n, k+1) is what a scan over the rows wants to read. The product and the
    transposition pass over a few hundred rows at a time, while these lie in the cache.
    """
    k = factor.n_active[0]
    n = factor.precision.shape[0]
    # B is well conditioned, so its factor may be inverted: a product takes half the time of a
    # triangular solve. The prior scales go into the small triangle, not into every row.
    inverse = np.empty((k + 1, k + 1))
    for a in range(k + 1):
        for b in range(a + 1):
            inverse[a, b] = factor.root[a, b]
    invert_lower_in_place(inverse, k + 1)
    for a in range(k + 1):
        for b in range(a + 1):
            inverse[a, b] *= math.sqrt(factor.variances[0 if b == 0 else 1])
    rows = buffer[: n * (k + 1)].reshape(n, k + 1)
    block = np.empty((k + 1, min(n, _BLOCK)))
    for start in range(0, n, _BLOCK):
        size = min(n - start, _BLOCK)
        if size < block.shape[1]:
            block = np.empty((k + 1, size))
        square_root = block[0]
        for i in range(size):
            square_root[i] = math.sqrt(factor.precision[start + i])
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
