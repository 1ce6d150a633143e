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

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.stats import rankdata

from ..._threads import count_workers, single_blas_thread

# first feature and one past the last -> of each degree, places in the block of products with all
# later features, and scores there: the strongest, and whatever else is at hand
Block = Callable[[int, int], list[tuple[np.ndarray, np.ndarray]]]

DEGREE = 3
_BLOCK = 256  # features whose products with all others are held at a time
_DIGITS = 9  # of scores: copies of a feature count as equal whatever BLAS made of them
TIED = 10.0**-_DIGITS
_FLAT = 1e-6  # of a polynomial's variance, below which it is a combination of those before


def rank_polynomials(columns: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the polynomials of every feature, [degree, feature, row].

    They have mean zero and variance one over the rows; what ties leave no room for is zero: an
    indicator has no square of its own.
    """
    p, n = columns.shape
    out = np.zeros((DEGREE, p, n))
    starts = range(0, p if n else 0, _BLOCK)
    parts = [(columns[first : first + _BLOCK], out[:, first : first + _BLOCK]) for first in starts]
    with ThreadPoolExecutor(max(1, count_workers(n_jobs, len(parts)))) as pool:
        list(pool.map(lambda part: _write_polynomials(*part), parts))
    return out


def _write_polynomials(columns: np.ndarray, out: np.ndarray) -> None:
    ranks = (2.0 * rankdata(columns, axis=1) - 1.0) / columns.shape[1] - 1.0
    for degree in range(DEGREE):
        part = ranks ** (degree + 1)
        for _ in range(2):  # twice, since once leaves rounding errors of the parts taken out
            part -= part.mean(axis=1, keepdims=True)
            for before in out[:degree]:
                part -= np.mean(part * before, axis=1, keepdims=True) * before
        variance = np.mean(part**2, axis=1, keepdims=True)
        out[degree] = np.where(variance > _FLAT, part / np.sqrt(np.maximum(variance, _FLAT)), 0.0)


def new_products(degree: int) -> Iterator[tuple[int, int]]:
    """Yield the (a, b) up to ``degree`` that are not up to the degree before, from zero."""
    yield from ((degree, b) for b in range(degree))
    yield from ((a, degree) for a in range(degree + 1))


def blocks_of_pairs(polynomials: np.ndarray, weighted: np.ndarray, count: int) -> Block:
    """Return the function that looks for the strongest pairs of a block of features."""

    def look(first: int, last: int) -> list[tuple[np.ndarray, np.ndarray]]:
        rows = polynomials[:, first:last] * weighted
        others = polynomials[:, first + 1 :]
        total = np.zeros((last - first, others.shape[1]))
        found = []
        for degree in range(len(polynomials)):
            for a, b in new_products(degree):
                total += (rows[a] @ others[b].T) ** 2
            # row i and column j stand for first + i and first + 1 + j: each pair once
            corner = total[:, : last - first]
            corner[:] = np.triu(corner)
            floor = 0.0
            if len(total) >= count:  # so many rows, so many entries are at least as large
                floor = np.partition(total.max(axis=1), -count)[-count]
            near = np.flatnonzero(total >= floor - TIED)
            found.append((near, total.ravel()[near]))
        return found

    return look


def promising_pairs(
    polynomials: np.ndarray,
    slope: np.ndarray,
    count: int,
    n_jobs: int | None = None,
    open_blocks: Callable[[np.ndarray, np.ndarray, int], Block] = blocks_of_pairs,
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
    open_blocks : callable
        What computes the products; :func:`blocks_of_pairs` does on the CPU.

    Returns
    -------
    pairs : ndarray of int of shape (at most degrees * count, 2)
    """
    degrees, p, _ = polynomials.shape
    centred = slope - slope.mean()
    size = np.sqrt(centred @ centred)
    if size == 0.0 or not np.isfinite(size) or p < 2:
        return np.zeros((0, 2), np.int64)
    look = open_blocks(polynomials, centred / size, count)

    def search(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
        found = []
        for near, scores in look(first, min(first + _BLOCK, p - 1)):
            rounded = np.round(scores, _DIGITS)
            top = np.argsort(-rounded, kind="stable")[:count]
            i, j = np.divmod(near[top], p - 1 - first)
            found.append((rounded[top], np.column_stack([first + i, first + 1 + j])))
        return found

    starts = range(0, p - 1, _BLOCK)
    with single_blas_thread(), ThreadPoolExecutor(count_workers(n_jobs, len(starts))) as pool:
        blocks = list(pool.map(search, starts))
    listed = []
    for degree in range(degrees):
        scores = np.concatenate([block[degree][0] for block in blocks])
        pairs = np.vstack([block[degree][1] for block in blocks])
        order = np.argsort(-scores, kind="stable")[:count]
        listed.append(pairs[order[scores[order] > 0.0]])
    joined = np.vstack(listed)
    _, kept = np.unique(joined, axis=0, return_index=True)
    return joined[np.sort(kept)]
