r"""What one-vector changes of the whitened factor are worth: birth, death, swap.

Costs for n rows and k active vectors: a birth O(nk), a death O(k^2) without touching a row of the
data, a swap one birth and one death. :mod:`.active_changes` carries them out.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit, jit_apart
from .blas import add_row_products, combine_rows
from .copies import copy_vector
from .triangular import dot, solve_lower
from .whitened_factor import (
    FORM,
    PENDING,
    SHAPE,
    count_columns,
    count_kernels,
    exponent,
    write_column_scales,
)

_BLOCK = 2048  # rows of the data worked on at a time


@jit_apart
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
    n = residual.shape[0]
    _clear_products(factor, k)
    for start in range(0, n, _BLOCK):
        stop = min(n, start + _BLOCK)
        if k > 0:
            combine_rows(factor.whitened, k, start, stop - start, prior_row, residual[start:])
            for i in range(start, stop):
                residual[i] = (column[i] - residual[i]) / scale
        else:
            for i in range(start, stop):
                residual[i] = column[i] / scale
        _add_products(factor, k, start, stop)
    return _value_products(factor, kernel)


@jit_apart
def value_column(factor):
    """Return the log Bayes factor of the whitened column that stands behind the last one."""
    k = count_columns(factor)
    n = factor.precision.shape[0]
    _clear_products(factor, k)
    for start in range(0, n, _BLOCK):
        _add_products(factor, k, start, min(n, start + _BLOCK))
    return _value_products(factor, 0)


@jit
def _clear_products(factor, k):
    for a in range(k + 2):
        factor.gram[k + 1, a] = 0.0
    for c in range(factor.response.shape[0]):
        factor.cross[c, k + 1] = 0.0


@jit
def _add_products(factor, k, start, stop):
    """Add what a block of rows has to say of the column behind the last one.

    Its inner products with the intercept, the other columns, itself and the responses are formed
    while the block lies in the cache: for many rows the time is that of one reading of the columns.
    """
    residual, weighted, gram_row = factor.whitened[k], factor.long[0], factor.gram[k + 1]
    count = stop - start
    for i in range(count):
        weighted[i] = factor.precision[start + i] * residual[start + i]
    gram_row[0] += dot(weighted, factor.ones[start:], count)
    if k > 0:
        add_row_products(factor.whitened, k, start, count, weighted, gram_row[1:])
    gram_row[k + 1] += dot(weighted, residual[start:], count)
    for c in range(factor.response.shape[0]):
        factor.cross[c, k + 1] += dot(weighted, factor.response[c, start:], count)


@jit
def _value_products(factor, kernel):
    """Return the log Bayes factor of the column behind the last one from its inner products."""
    k = count_columns(factor) + kernel
    gram_row = factor.gram[k + 1]
    square = gram_row[k + 1]
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
        rho = (
            deviation * factor.cross[c, k + 1] - dot(root_row, factor.projected[c], k + 1)
        ) / delta
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


@jit_apart
def value_removal(factor, positions, size, gains):
    r"""Write the log Bayes factors of removing vectors from the first ``size``, one by one.

    ``gains[i]`` is that of removing ``positions[0]`` to ``positions[i]`` together. With
    :math:`Q=L_M^{-1}[e_t]` for their columns t and :math:`R=L_B^{-1}(0,Q)`:
    :math:`\frac C2\log\frac{|Q^\top Q|}{|R^\top R|}-\frac12\sum c^\top R(R^\top R)^{-1}R^\top c`
    (known noise; q grows by the last sum in any case). O(b q^2) for b columns of q.
    ``size`` is the number of active vectors, or one more right after :func:`value_birth`.
    """
    kernels = count_kernels(factor)
    q, columns = size * kernels, positions.shape[0] * kernels
    latents = factor.response.shape[0]
    inverse = np.zeros((columns, q))
    shifted = np.zeros((columns, q + 1))
    prior_square = np.empty((columns, columns))
    square = np.empty((columns, columns))
    inner = np.empty((latents, columns))
    before = factor.noise[PENDING] if size > factor.n_active[0] else 0.0
    value, change = 0.0, 0.0
    for column in range(columns):
        t = positions[column // kernels] * kernels + column % kernels
        here = inverse[column]
        here[t] = 1.0 / factor.prior_root[t, t]
        for a in range(t + 1, q):
            row = factor.prior_root[a]
            here[a] = -dot(row[t:], here[t:], a - t) / row[a]
        there = shifted[column]
        copy_vector(here, there[1:])
        solve_lower(factor.root, q + 1, there)
        # R'R = T T' and Q'Q = S S', small triangles, one row at a time
        for m in range(column + 1):
            prior_square[column, m] = dot(here, inverse[m], q)
            square[column, m] = dot(there, shifted[m], q + 1)
            for triangle in (prior_square, square):
                entry = triangle[column, m] - dot(triangle[column], triangle[m], m)
                triangle[column, m] = math.sqrt(entry) if column == m else entry / triangle[m, m]
        value += math.log(prior_square[column, column] / square[column, column])
        for c in range(latents):
            entry = dot(there, factor.projected[c], q + 1) - dot(square[column], inner[c], column)
            inner[c, column] = entry / square[column, column]
            change += inner[c, column] ** 2
        gains[column // kernels] = _gain(factor, before, -change) + latents * value


@jit_apart
def value_death(factor, position, size):
    """Return the log Bayes factor of removing ``position`` from the first ``size`` vectors."""
    positions, gain = np.empty(1, np.int64), np.empty(1)
    positions[0] = position
    value_removal(factor, positions, size, gain)
    return gain[0]
