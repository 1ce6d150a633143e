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

import numpy as np
from scipy.stats import rankdata

MOST_FEATURES = 5000  # beyond, all products cost more than the search
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


def promising_pairs(polynomials: np.ndarray, slope: np.ndarray, count: int) -> np.ndarray:
    """Return the pairs of features that go with ``slope`` the most, without repetition.

    Parameters
    ----------
    polynomials : ndarray of shape (degrees, p, n)
    slope : ndarray of shape (n,)
    count : int
        Pairs of each list.

    Returns
    -------
    pairs : ndarray of int of shape (at most degrees * count, 2)
    """
    degrees, p, _ = polynomials.shape
    centred = slope - slope.mean()
    size = np.sqrt(centred @ centred)
    if size == 0.0 or not np.isfinite(size):
        return np.zeros((0, 2), np.int64)
    centred /= size
    lists = [(np.zeros(0), np.zeros((0, 2), np.int64))] * degrees
    for first in range(0, p - 1, _BLOCK):
        last = min(first + _BLOCK, p - 1)
        rows = polynomials[:, first:last] * centred
        others = polynomials[:, first + 1 :]
        total = np.zeros((last - first, p - 1 - first))
        for d in range(degrees):
            for a, b in {*((d, b) for b in range(d + 1)), *((a, d) for a in range(d + 1))}:
                total += (rows[a] @ others[b].T) ** 2
            # row i and column j stand for first + i and first + 1 + j: each pair once;
            # rounded, so that copies of a feature count as equal whatever BLAS made of them
            lists[d] = _longest(lists[d], np.round(np.triu(total), 9), first, count)
    pairs = np.vstack([pairs[scores > 0.0] for scores, pairs in lists])
    _, kept = np.unique(pairs, axis=0, return_index=True)
    return pairs[np.sort(kept)]


def _longest(
    known: tuple[np.ndarray, np.ndarray], block: np.ndarray, first: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best ``count`` of the pairs known and those of a block, best first."""
    flat = block.ravel()
    near = np.arange(len(flat))
    if len(flat) > count:
        # all that are as large as the last one taken, so that ties do not hang on their order
        near = np.flatnonzero(flat >= np.partition(flat, len(flat) - count)[len(flat) - count])
    near = near[np.argsort(-flat[near], kind="stable")[:count]]
    rows, places = np.unravel_index(near, block.shape)
    scores = np.concatenate([known[0], flat[near]])
    pairs = np.vstack([known[1], np.column_stack([first + rows, first + 1 + places])])
    order = np.argsort(-scores, kind="stable")[:count]
    return scores[order], pairs[order]
