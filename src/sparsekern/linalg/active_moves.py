r"""One-vector changes of the whitened factor: birth, death, swap.

Costs for n rows and k active vectors: valuing a birth O(nk), a death O(k^2) without touching a
row of the data, a swap one birth and one death; committing a birth is free (the valuation already
wrote the new column behind the last one), committing a death O(nk) rotations.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit
from .triangular import dot, givens, solve_lower
from .whitened_factor import (
    FORM,
    PENDING,
    SHAPE,
    count_columns,
    count_kernels,
    exponent,
    write_column_scales,
)


@jit
def value_birth(factor, row, column, diagonal, jitter, kernel=0):
    r"""Return the log Bayes factor of adding basis column ``row``, leaving it behind the last one.

    With :math:`w_j=L_M^{-1}M_{act,j}`, :math:`\kappa=M_{jj}+\epsilon-w_j^\top w_j`,
    :math:`d=\Omega^{1/2}\sqrt{v}(\phi_j-Ww_j)/\sqrt\kappa`, :math:`t=L_B^{-1}D^\top d`:

    .. math::
        \delta^2=1+d^\top d-t^\top t,\quad \rho=(d^\top\Omega^{1/2}z-t^\top c)/\delta,\quad
        \log BF=-C\log\delta+\tfrac12\sum\rho^2

    (known noise; q falls by :math:`\sum\rho^2` in any case). With several kernels a newcomer has a
    column for each: call this for kernel 0, 1, .. in turn and add up.

    Parameters
    ----------
    factor : WhitenedFactor
    row : int
        Training row of the newcomer; it must not be active.
    column : float64[n]
        Its basis column.
    diagonal : float
        Its prior matrix entry without jitter.
    jitter : float
        Added to the diagonal. Exactly :math:`\kappa\ge\epsilon`: rounding below is clamped, never
        vetoed, since a one-sided veto would break reversibility.
    kernel : int
        Which kernel the column belongs to.
    """
    kernels = count_kernels(factor)
    k = count_columns(factor) + kernel
    prior_row = factor.prior_root[k]
    residual = factor.whitened[k]
    if kernels > 1:
        for a in range(k):
            prior_row[a] = 0.0  # between kernels
    for a in range(kernel, k, kernels):
        prior_row[a] = factor.whitened[a, row]
    scale = math.sqrt(max(diagonal + jitter - dot(prior_row, prior_row, k), jitter))
    prior_row[k] = scale
    if k > 0:
        np.dot(prior_row[:k], factor.whitened[:k], residual)
        for i in range(residual.shape[0]):
            residual[i] = (column[i] - residual[i]) / scale
    else:
        for i in range(residual.shape[0]):
            residual[i] = column[i] / scale
    return value_column(factor, kernel)


@jit
def value_column(factor, kernel=0):
    """Return the log Bayes factor of the whitened column that stands behind the last one."""
    k = count_columns(factor) + kernel
    residual = factor.whitened[k]
    weighted = factor.long[0]
    gram_row = factor.gram[k + 1]
    for i in range(residual.shape[0]):
        weighted[i] = factor.precision[i] * residual[i]
    square = dot(weighted, residual, residual.shape[0])
    gram_row[0] = dot(weighted, factor.ones, residual.shape[0])
    if k > 0:
        np.dot(factor.whitened[:k], weighted, gram_row[1 : k + 1])
    gram_row[k + 1] = square
    for a in range(k + 1):
        factor.gram[a, k + 1] = gram_row[a]

    variance = factor.variances[kernel + 1]
    root_row, column_scale = factor.root[k + 1], factor.short[2]
    write_column_scales(factor, factor.variances, k, column_scale)
    deviation = math.sqrt(variance)
    for a in range(k + 1):
        root_row[a] = deviation * column_scale[a] * gram_row[a]
    solve_lower(factor.root, k + 1, root_row)
    delta = math.sqrt(max(1.0, 1.0 + variance * square - dot(root_row, root_row, k + 1)))
    root_row[k + 1] = delta
    change = 0.0
    for c in range(factor.response.shape[0]):
        inner = dot(weighted, factor.response[c], weighted.shape[0])
        factor.cross[c, k + 1] = inner
        rho = (deviation * inner - dot(root_row, factor.projected[c], k + 1)) / delta
        factor.projected[c, k + 1] = rho
        change += rho * rho
    before = factor.noise[PENDING] if kernel > 0 else 0.0
    factor.noise[PENDING] = before + change
    return _gain(factor, before, change) - factor.response.shape[0] * math.log(delta)


@jit
def _gain(factor, before, change):
    """Return by how much the log evidence grows when q falls by ``change`` after ``before``."""
    if factor.noise[SHAPE] == 0.0:
        return 0.5 * change
    form = factor.noise[FORM] - before
    return exponent(factor.noise, form - change) - exponent(factor.noise, form)


@jit
def commit_birth(factor, row):
    """Take in the newcomer whose columns :func:`value_birth` has left behind the last one."""
    k = factor.n_active[0]
    factor.rows[k] = row
    factor.position[row] = k
    factor.n_active[0] = k + 1
    if factor.noise[SHAPE] > 0.0:
        factor.noise[FORM] = max(factor.noise[FORM] - factor.noise[PENDING], 0.0)


@jit
def value_death(factor, position, size):
    r"""Return the log Bayes factor of removing ``position`` from the first ``size`` vectors.

    With :math:`Q=L_M^{-1}[e_t]` for the columns t of the vector and :math:`R=L_B^{-1}(0,Q)`:
    :math:`\frac C2\log\frac{|Q^\top Q|}{|R^\top R|}-\frac12\sum c^\top R(R^\top R)^{-1}R^\top c`
    (known noise; q grows by the last sum in any case).
    ``size`` is the number of active vectors, or one more right after :func:`value_birth`.
    """
    kernels = count_kernels(factor)
    first, q = position * kernels, size * kernels
    inverse = np.zeros((kernels, q))
    shifted = np.zeros((kernels, q + 1))
    prior_square = np.empty((kernels, kernels))
    square = np.empty((kernels, kernels))
    for kernel in range(kernels):
        t = first + kernel
        here = inverse[kernel]
        here[t] = 1.0 / factor.prior_root[t, t]
        for a in range(t + 1, q):
            row = factor.prior_root[a]
            here[a] = -dot(row[t:], here[t:], a - t) / row[a]
        there = shifted[kernel]
        there[1:] = here
        solve_lower(factor.root, q + 1, there)
        for m in range(kernel + 1):
            prior_square[kernel, m] = dot(here, inverse[m], q)
            square[kernel, m] = dot(there, shifted[m], q + 1)
    # R'R = T T' and Q'Q = S S', small triangles of order L, one column at a time
    value = 0.0
    for kernel in range(kernels):
        for m in range(kernel + 1):
            for triangle in (prior_square, square):
                entry = triangle[kernel, m] - dot(triangle[kernel], triangle[m], m)
                triangle[kernel, m] = math.sqrt(entry) if kernel == m else entry / triangle[m, m]
        value += math.log(prior_square[kernel, kernel] / square[kernel, kernel])
    change = 0.0
    inner = np.empty(kernels)
    for c in range(factor.response.shape[0]):
        for kernel in range(kernels):
            inner[kernel] = dot(shifted[kernel], factor.projected[c], q + 1)
        solve_lower(square, kernels, inner)
        change += dot(inner, inner, kernels)
    before = factor.noise[PENDING] if size > factor.n_active[0] else 0.0
    return _gain(factor, before, -change) + factor.response.shape[0] * value


@jit
def _rotate_pair(upper, lower, cosine, sine):
    for i in range(upper.shape[0]):
        value = upper[i]
        upper[i] = cosine * value + sine * lower[i]
        lower[i] = cosine * lower[i] - sine * value


@jit
def _rotate_columns(matrix, left, first, last, cosine, sine):
    for a in range(first, last):
        value = matrix[a, left]
        matrix[a, left] = cosine * value + sine * matrix[a, left + 1]
        matrix[a, left + 1] = cosine * matrix[a, left + 1] - sine * value


@jit
def _drop_column(factor, position, size):
    """Remove column ``position`` of ``size`` columns by rotating it last and dropping it; O(nk)."""
    prior_root, root = factor.prior_root, factor.root
    steps = size - 1 - position
    cosines = np.empty(steps)
    sines = np.empty(steps)

    moved = prior_root[position].copy()
    for a in range(position, size - 1):
        for b in range(a + 2):
            prior_root[a, b] = prior_root[a + 1, b]
    prior_root[size - 1] = moved
    for b in range(position + 1, size):
        prior_root[size - 1, b] = 0.0

    for step in range(steps):
        a = position + step
        cosine, sine = givens(prior_root[a, a], prior_root[a, a + 1])
        cosines[step] = cosine
        sines[step] = sine
        _rotate_columns(prior_root, a, a, size, cosine, sine)
        # the same rotation acts on both sides of the Gram matrix and on the rows of L_B ...
        _rotate_pair(factor.gram[a + 1, : size + 1], factor.gram[a + 2, : size + 1], cosine, sine)
        _rotate_columns(factor.gram, a + 1, 0, size + 1, cosine, sine)
        for c in range(factor.cross.shape[0]):
            value = factor.cross[c, a + 1]
            factor.cross[c, a + 1] = cosine * value + sine * factor.cross[c, a + 2]
            factor.cross[c, a + 2] = cosine * factor.cross[c, a + 2] - sine * value
        root[a + 1, a + 2] = 0.0  # above the diagonal nothing is kept: clear it before use
        _rotate_pair(root[a + 1, : a + 3], root[a + 2, : a + 3], cosine, sine)
        # ... whose triangle a second rotation, of columns, restores
        cosine, sine = givens(root[a + 1, a + 1], root[a + 1, a + 2])
        _rotate_columns(root, a + 1, a + 1, size + 1, cosine, sine)
        for c in range(factor.projected.shape[0]):
            value = factor.projected[c, a + 1]
            factor.projected[c, a + 1] = cosine * value + sine * factor.projected[c, a + 2]
            factor.projected[c, a + 2] = cosine * factor.projected[c, a + 2] - sine * value

    n = factor.whitened.shape[1]
    block = 512  # all rotations pass over one block while it lies in the cache
    for start in range(0, n, block):
        stop = min(n, start + block)
        for step in range(steps):
            a = position + step
            _rotate_pair(
                factor.whitened[a, start:stop],
                factor.whitened[a + 1, start:stop],
                cosines[step],
                sines[step],
            )
    if factor.noise[SHAPE] > 0.0:
        for c in range(factor.projected.shape[0]):
            factor.noise[FORM] += factor.projected[c, size] ** 2


@jit
def commit_death(factor, position):
    """Remove the active vector at ``position``, one column after the other; O(nk) each."""
    kernels, size = count_kernels(factor), factor.n_active[0]
    victim = factor.rows[position]
    for kernel in range(kernels - 1, -1, -1):
        columns = (size - 1) * kernels + kernel + 1
        _drop_column(factor, position * kernels + kernel, columns)
    for a in range(position, size - 1):
        factor.rows[a] = factor.rows[a + 1]
        factor.position[factor.rows[a]] = a
    factor.position[victim] = -1
    factor.n_active[0] = size - 1
