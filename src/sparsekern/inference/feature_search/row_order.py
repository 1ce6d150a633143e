r"""An order of the rows that is made of what they hold, not of where they stand.

A subset of "the first" rows in this order is as good as a random one, and the same rows are in it
however the data are sorted, by row or by column. Each row has a key, a sum over its values that
are mixed with the key of their column; that of a column is a sum over its values mixed with the
responses:

.. math:: c_j=\sum_ih(x_{ij}+h(y_i)),\qquad r_i=h(y_i)+\sum_jh(x_{ij}+h(c_j)) ,

with a hash h of 64 bits and sums that wrap around. Without the keys of columns rows of two-valued
features would differ only by their number of ones.
"""

from __future__ import annotations

import numpy as np

_DROPPED = 2**20  # of the 52 bits after the point, the last 20 are left out
_BLOCK_NUMBERS = 1_000_000  # values mixed at once


def content_order(features: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Return the row indices in the order of their keys.

    Rows that hold the same are told apart by nothing, so that their order does not matter.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        Values count to nine digits: scaling rounds the last ones by the order of rows.
    response : ndarray of shape (n,)
    """
    n, p = features.shape
    responses = _mix(_bits(response))
    keys = responses.copy()
    step = max(1, _BLOCK_NUMBERS // max(n, 1))
    for first in range(0, p, step):
        values = _bits(features[:, first : first + step])
        columns = _mix(values + responses[:, None]).sum(axis=0, dtype=np.uint64)
        keys += _mix(values + _mix(columns)).sum(axis=1, dtype=np.uint64)
    return np.argsort(keys, kind="stable")


def exact_keys(rows: np.ndarray, salt: int = 0) -> np.ndarray:
    """Return a key of every row, the same for rows that hold the same to the last digit.

    Unlike the order above it looks at one row at a time.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    salt : int
        Another one makes other keys.
    """
    n, p = rows.shape
    keys = np.zeros(n, dtype=np.uint64)
    columns = _mix(np.arange(p, dtype=np.uint64) + _mix(np.array([salt], dtype=np.uint64)))
    step = max(1, _BLOCK_NUMBERS // max(n, 1))
    for first in range(0, p, step):
        block = slice(first, first + step)
        values = _whole_bits(rows[:, block]) + columns[block]
        keys += _mix(values).sum(axis=1, dtype=np.uint64)
    return keys


def _bits(values: np.ndarray) -> np.ndarray:
    """Return the first bits of each number, rounded; there is one zero only."""
    return (_whole_bits(values) + np.uint64(_DROPPED >> 1)) & ~np.uint64(_DROPPED - 1)


def _whole_bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mix(bits: np.ndarray) -> np.ndarray:
    """Return numbers each of whose bits depends on all bits of the argument (splitmix64)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
