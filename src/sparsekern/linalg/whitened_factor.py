r"""The whitened factor of a Gaussian model with an active set of basis columns.

For rows :math:`i=1..n`, latent columns :math:`z_1..z_C` with working precision
:math:`\Omega=\mathrm{diag}(w)`, an intercept of prior variance :math:`v_0` and coefficients of
prior covariance :math:`v_1M^{-1}` at the active vectors, with :math:`M=L_ML_M^\top` (jitter
included):

.. math::
    W=\Phi L_M^{-\top},\quad D=\Omega^{1/2}[\sqrt{v_0}\,1,\ \sqrt{v_1}\,W],\quad
    B=I+D^\top D=L_BL_B^\top,\quad c=L_B^{-1}D^\top\Omega^{1/2}z .

Then :math:`\log p(z\mid\text{active set})=-C\sum\log L_{B,ii}+\tfrac12\mathrm{tr}\,c^\top c` up
to terms that do not depend on the active set. Whitening keeps :math:`B` well conditioned where
:math:`\Phi^\top\Phi` is not. The Gram matrix of :math:`[1,W]` is carried along, so changing
:math:`v_0,v_1` costs one small Cholesky factorisation and touches no row of the data.

All arrays are buffers of capacity ``max_active + 1``: one more than the largest model, so that a
swap can be valued as "newcomer added, then victim removed" without moving anything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import jit
from .blas import cholesky_in_place, solve_lower_rows
from .triangular import cholesky_with_floor, dot, solve_lower


class WhitenedFactor(NamedTuple):
    r"""Buffers of the factor; the leading ``n_active`` (plus one for the intercept) entries hold.

    Attributes
    ----------
    n_active : int64[1]
        Number of active vectors k.
    rows : int64[m]
        Training row at each position of the factor.
    position : int64[n]
        Position of each training row in the factor, -1 when it is not active.
    prior_root, whitened : float64[m, m], float64[m, n]
        :math:`L_M` and :math:`W^\top`.
    gram, cross : float64[m+1, m+1], float64[C, m+1]
        :math:`[1,W]^\top\Omega[1,W]` and :math:`[1,W]^\top\Omega z`.
    root, projected : float64[m+1, m+1], float64[C, m+1]
        :math:`L_B` and :math:`c`.
    response, precision : float64[C, n], float64[n]
        Working response z and working precision w.
    variances : float64[2]
        :math:`(v_0, v_1)`.
    long, short : float64[2, n], float64[2, m+1]
        Scratch memory.
    """

    n_active: np.ndarray
    rows: np.ndarray
    position: np.ndarray
    prior_root: np.ndarray
    whitened: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    root: np.ndarray
    projected: np.ndarray
    response: np.ndarray
    precision: np.ndarray
    variances: np.ndarray
    long: np.ndarray
    short: np.ndarray


def empty_factor(n_rows: int, max_active: int, n_latent: int = 1) -> WhitenedFactor:
    """Allocate a factor without active vectors, unit precision and zero response."""
    m = max_active + 1
    return WhitenedFactor(
        n_active=np.zeros(1, np.int64),
        rows=np.zeros(m, np.int64),
        position=np.full(n_rows, -1, np.int64),
        prior_root=np.zeros((m, m)),
        whitened=np.zeros((m, n_rows)),
        gram=np.zeros((m + 1, m + 1)),
        cross=np.zeros((n_latent, m + 1)),
        root=np.zeros((m + 1, m + 1)),
        projected=np.zeros((n_latent, m + 1)),
        response=np.zeros((n_latent, n_rows)),
        precision=np.ones(n_rows),
        variances=np.ones(2),
        long=np.zeros((2, n_rows)),
        short=np.zeros((2, m + 1)),
    )


@jit
def whiten_loaded_columns(factor, jitter):
    """Whiten the raw basis columns that stand in ``whitened[:k]`` for ``rows[:k]``; O(n k^2).

    Returns the smallest pivot of the prior matrix before clamping (below zero by more than
    rounding: the kernel is not positive definite).
    """
    k = factor.n_active[0]
    for a in range(k):
        row = factor.prior_root[a]
        for b in range(a + 1):
            row[b] = factor.whitened[a, factor.rows[b]]
        row[a] += jitter
    smallest = cholesky_with_floor(factor.prior_root, k, jitter)
    if k > 0:
        solve_lower_rows(factor.prior_root, k, factor.whitened)
    return smallest


@jit
def refresh_gram(factor):
    r"""Recompute :math:`[1,W]^\top\Omega[1,W]` from the rows; O(n k^2)."""
    k = factor.n_active[0]
    gram = factor.gram
    total = 0.0
    for w in factor.precision:
        total += w
    gram[0, 0] = total
    if k == 0:
        return
    whitened = factor.whitened[:k]
    inner = np.empty(k)
    np.dot(whitened, factor.precision, inner)
    weighted = whitened * factor.precision
    square = np.dot(weighted, whitened.T)
    for a in range(k):
        gram[0, a + 1] = inner[a]
        gram[a + 1, 0] = inner[a]
        for b in range(k):
            gram[a + 1, b + 1] = square[a, b]


@jit
def refresh_cross(factor):
    r"""Recompute :math:`[1,W]^\top\Omega z` after the working response has changed; O(n k)."""
    k = factor.n_active[0]
    weighted = factor.long[0]
    for c in range(factor.response.shape[0]):
        response = factor.response[c]
        total = 0.0
        for i in range(response.shape[0]):
            weighted[i] = factor.precision[i] * response[i]
            total += weighted[i]
        factor.cross[c, 0] = total
        if k > 0:
            cross = factor.cross[c]
            np.dot(factor.whitened[:k], weighted, cross[1 : k + 1])


@jit
def copy_active_set(source, target):
    """Copy which rows are active, and the part of the factor that knows no response; O(nk)."""
    k = source.n_active[0]
    target.n_active[0] = k
    target.position[:] = source.position
    for a in range(k):
        target.rows[a] = source.rows[a]
        target.whitened[a] = source.whitened[a]
        for b in range(a + 1):
            target.prior_root[a, b] = source.prior_root[a, b]


@jit
def factorize(factor, root, projected, intercept_variance, variance):
    r"""Write :math:`L_B` and :math:`c` for the given variances into the buffers; O(k^3).

    Returns the pair :math:`(\sum\log L_{B,ii},\ \mathrm{tr}\,c^\top c)`.
    """
    size = factor.n_active[0] + 1
    scale0 = math.sqrt(intercept_variance)
    scale1 = math.sqrt(variance)
    for a in range(size):
        row = root[a]
        left = scale0 if a == 0 else scale1
        row[0] = left * scale0 * factor.gram[a, 0]
        for b in range(1, a + 1):
            row[b] = left * scale1 * factor.gram[a, b]
        row[a] += 1.0
    cholesky_in_place(root, size)
    log_root = 0.0
    for a in range(size):
        log_root += math.log(root[a, a])
    squares = 0.0
    for c in range(projected.shape[0]):
        vector = projected[c]
        vector[0] = scale0 * factor.cross[c, 0]
        for a in range(1, size):
            vector[a] = scale1 * factor.cross[c, a]
        solve_lower(root, size, vector)
        squares += dot(vector, vector, size)
    return log_root, squares


@jit
def refactor(factor):
    r"""Refresh :math:`L_B` and :math:`c` of the factor itself from its Gram matrix; O(k^3)."""
    return factorize(
        factor, factor.root, factor.projected, factor.variances[0], factor.variances[1]
    )


@jit
def log_evidence(factor):
    r"""Return :math:`-C\sum\log L_{B,ii}+\frac12\mathrm{tr}\,c^\top c`."""
    size = factor.n_active[0] + 1
    value = 0.0
    for a in range(size):
        value -= math.log(factor.root[a, a])
    value *= factor.response.shape[0]
    for c in range(factor.response.shape[0]):
        value += 0.5 * dot(factor.projected[c], factor.projected[c], size)
    return value
