r"""Weighted Gram matrices :math:`\sum_iw_ir_ir_i^\top` of many rows.

Rows are scaled by :math:`\sqrt{w_i}` in blocks that stay in the cache and added up by BLAS's
symmetric product: half the operations of a general one, one pass over memory, no large copy.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import jit, jit_apart
from .blas import CHAR, DOUBLE, INT, external

BLOCK = 256  # rows at a time

_dsyrk = external(
    "cython_blas", "dsyrk", CHAR, CHAR, INT, INT, DOUBLE, DOUBLE, INT, DOUBLE, DOUBLE, INT
)


@jit
def add_gram(block, size, count, total):
    r"""Add :math:`SS^\top` to the lower triangle of ``total[:size, :size]``.

    ``block`` is flat and holds S row after row, ``size`` rows of ``count`` numbers.
    """
    letters = np.empty(2, np.uint8)
    letters[0] = 85  # "U": the lower triangle of a C-ordered array is BLAS's upper one
    letters[1] = 84  # "T": S is the transpose of what BLAS sees
    numbers = np.empty(3, np.int32)
    numbers[0] = size
    numbers[1] = count
    numbers[2] = total.shape[1]
    one = np.ones(1)
    _dsyrk(
        letters[0:].ctypes, letters[1:].ctypes, numbers[0:].ctypes, numbers[1:].ctypes, one.ctypes,
        block.ctypes, numbers[1:].ctypes, one.ctypes, total.ctypes, numbers[2:].ctypes,
    )  # fmt: skip


@jit_apart
def weighted_gram(columns, weights, size, total):
    r"""Overwrite ``total[:size, :size]`` by :math:`C\,\mathrm{diag}(w)\,C^\top`.

    ``columns[:size]`` holds C, whose rows are the columns of the design; weights are not negative.
    """
    n = weights.shape[0]
    for a in range(size):
        for b in range(a + 1):
            total[a, b] = 0.0
    block = np.empty(size * BLOCK)
    root = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        for i in range(count):
            root[i] = math.sqrt(weights[start + i])
        for a in range(size):
            row = columns[a]
            for i in range(count):
                block[a * count + i] = root[i] * row[start + i]
        add_gram(block, size, count, total)
    for a in range(size):
        for b in range(a):
            total[b, a] = total[a, b]
