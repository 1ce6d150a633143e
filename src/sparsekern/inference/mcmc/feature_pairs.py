r"""Pairs of features that matter only together.

In :math:`y=x_1x_2+\varepsilon` with independent features neither says anything alone: every single
toggle lowers the score, and a climb by toggles ends before it began. So pairs are ranked by how
products of simple functions of the two, :math:`\phi_a(x_i)\phi_b(x_j)`, go with the slope :math:`r`
of the log-likelihood at the function fitted so far,

.. math::
    s_{ij}^{(d)}=\sum_{a,b\le d}\Bigl(\sum_lr_l\phi_a(x_{il})\phi_b(x_{jl})\Bigr)^2,

where :math:`\phi_1,\phi_2,\phi_3` are polynomials in the ranks of a feature, orthonormal over the
rows: of bounded size whatever the law of the feature, odd, even, and with a turn. A plain product
is seen best with d = 1, others with 2 or 3; the first of all three lists are returned. One matrix
product for each (a, b), and never p x p numbers at a time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.stats import rankdata

from .chains import count_workers

DEGREE = 3
_BLOCK = 256  # features whose products with all others are held at a time
_FLAT = 1e-6  # of a polynomial's variance, below which it is a combination of those before


def rank_polynomials(columns: np.ndarray) -> np.ndarray:
    """Return the polynomials of every feature, [degree, feature, row].

    They have mean zero and variance one over the rows; what ties leave no room for is zero: an
    indicator has no square of its own.
    """
    p, n = columns.shape
    out = np.zeros((DEGREE, p, n))
    ranks = (2.0 * rankdata(columns, axis=1) - 1.0) / n - 1.0 if n else np.zeros((p, 0))
    for degree in range(DEGREE):
        part = ranks ** (degree + 1)
        for _ in range(2):  # twice, since once leaves rounding errors of the parts taken out
            part -= part.mean(axis=1, keepdims=True)
            for before in out[:degree]:
                part -= np.mean(part * before, axis=1, keepdims=True) * before
        variance = np.mean(part**2, axis=1, keepdims=True)
        out[degree] = np.where(variance > _FLAT, part / np.sqrt(np.maximum(variance, _FLAT)), 0.0)
    return out


def promising_pairs(
    polynomials: np.ndarray, slope: np.ndarray, count: int, n_jobs: int | None = None
) -> np.ndarray:
    """Return the pairs of features that go with ``slope`` the most, without repetition.

    Parameters
    ----------
    polynomials : ndarray of shape (degrees, p, n)
    slope : ndarray of shape (n,)
    count : int
        Pairs of each list.
    n_jobs : int or None
        Threads; the pairs do not depend on it.

    Returns
    -------
    pairs : ndarray of int of shape (at most degrees * count, 2)
    """
    degrees, p, _ = polynomials.shape
    centred = slope - slope.mean()
    size = np.sqrt(centred @ centred)
    if size == 0.0 or not np.isfinite(size) or p < 2:
        return np.zeros((0, 2), np.int64)
    weighted = centred / size
    starts = range(0, p - 1, _BLOCK)
    with ThreadPoolExecutor(count_workers(n_jobs, len(starts))) as pool:
        blocks = list(
            pool.map(lambda first: _pairs_of_block(polynomials, weighted, first, count), starts)
        )
    found = []
    for d in range(degrees):
        scores = np.concatenate([block[d][0] for block in blocks])
        pairs = np.vstack([block[d][1] for block in blocks])
        order = np.argsort(-scores, kind="stable")[:count]
        found.append(pairs[order[scores[order] > 0.0]])
    listed = np.vstack(found)
    _, kept = np.unique(listed, axis=0, return_index=True)
    return listed[np.sort(kept)]


def _pairs_of_block(
    polynomials: np.ndarray, weighted: np.ndarray, first: int, count: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return scores and pairs of each list whose smaller feature is in the block from ``first``."""
    degrees, p, _ = polynomials.shape
    last = min(first + _BLOCK, p - 1)
    rows = polynomials[:, first:last] * weighted
    others = polynomials[:, first + 1 :]
    total = np.zeros((last - first, p - 1 - first))
    found = []
    for d in range(degrees):
        for a, b in [*((d, b) for b in range(d)), *((a, d) for a in range(d + 1))]:
            total += (rows[a] @ others[b].T) ** 2
        # row i and column j stand for first + i and first + 1 + j: each pair once;
        # rounded, so that copies of a feature count as equal whatever BLAS made of them
        flat = np.round(np.triu(total), 9).ravel()
        near = np.arange(len(flat))
        if len(flat) > count:
            # all as large as the last one taken, so that ties do not hang on their order
            near = np.flatnonzero(flat >= np.partition(flat, len(flat) - count)[len(flat) - count])
        near = near[np.argsort(-flat[near], kind="stable")[:count]]
        i, j = np.unravel_index(near, total.shape)
        found.append((flat[near], np.column_stack([first + i, first + 1 + j])))
    return found
