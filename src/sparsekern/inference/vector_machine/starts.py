"""Columns that a fit may start from, in place of the bias alone."""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit
from .columns import CandidateColumns

START_COLUMNS = 10
START_VARIANCE = 10.0  # of what a column adds to the function, before it has seen the data
_EXPLAINED = 1e-10  # of a column's square: less that the others leave is rounding


def spread_columns(columns: CandidateColumns, most: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return candidates whose columns say different things, and precisions for their weights.

    The bias and the columns already chosen are projected out, and the longest rest is taken
    (pivoted Gram-Schmidt). The precision :math:`|r|^2/(Nv)`, r the rest of a column, gives what
    the column adds to the others the variance v at the training rows: columns of a wide kernel are
    nearly alike, and only large weights make something of their differences.

    Only the first block of candidates is looked at, which is as good as any other.
    """
    count = min(START_COLUMNS, most, len(columns.signs))
    if count == 0:
        return np.empty(0, np.int64), np.empty(0)
    # differences of squares: single precision would take rounding for a rest
    table = np.asarray(columns.block(0)[1], np.float64)
    chosen, squares = pivots(table, count)
    return chosen, squares / (columns.n_rows * START_VARIANCE)


@jit
def pivots(table, count):
    r"""Return at most ``count`` rows of ``table``, the longest rest first, and their squared rests.

    With :math:`q_0\propto(1,1,..)` and :math:`q_1,q_2,..` the orthonormal directions taken so far,
    the squared rest of row m is :math:`|t_m|^2-\sum_k(q_k^\top t_m)^2`: one product with the table
    for each row taken.
    """
    m, n = table.shape
    directions = np.empty((count + 1, n))
    directions[0] = 1.0 / math.sqrt(n)
    chosen, squares = np.empty(count, np.int64), np.empty(count)
    whole = np.empty(m)
    for i in range(m):
        whole[i] = np.dot(table[i], table[i])
    left = whole.copy()
    for taken in range(count):
        shared = np.dot(table, directions[taken])
        best = 0
        for i in range(m):
            left[i] -= shared[i] * shared[i]
            if left[i] > left[best]:
                best = i
        if left[best] <= _EXPLAINED * whole[best]:
            return chosen[:taken], squares[:taken]
        chosen[taken], squares[taken] = best, left[best]
        rest = table[best].copy()
        for _ in range(2):  # the second pass takes away what rounding left
            rest -= np.dot(np.dot(directions[: taken + 1], rest), directions[: taken + 1])
        directions[taken + 1] = rest / math.sqrt(np.dot(rest, rest))
        left[best] = 0.0
    return chosen, squares
