r"""One-vector changes of the whitened factor, carried out: birth and death.

A birth is free (its valuation in :mod:`.active_moves` has written the new column behind the last
one), a death takes O(nk) rotations.
"""

from __future__ import annotations

import numpy as np

from .._jit import jit, jit_apart
from .triangular import givens
from .whitened_factor import FORM, PENDING, SHAPE, count_kernels

_BLOCK = 512  # rows of the data that all rotations of a column pass over


@jit_apart
def commit_birth(factor, row):
    """Take in the newcomer whose columns :func:`value_birth` has left behind the last one."""
    k = factor.n_active[0]
    factor.rows[k] = row
    factor.position[row] = k
    factor.n_active[0] = k + 1
    if factor.noise[SHAPE] > 0.0:
        factor.noise[FORM] = max(factor.noise[FORM] - factor.noise[PENDING], 0.0)


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
    for start in range(0, n, _BLOCK):
        stop = min(n, start + _BLOCK)
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


@jit_apart
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
