r"""Small triangular systems inside larger buffers, in place.

Every function works on the leading block of a C-ordered buffer, so that a factor can grow and
shrink without being copied. The loops are dot products over contiguous rows: for the few
hundred active vectors of a model they are as fast as a BLAS call and need no memory.
"""

from __future__ import annotations

import math

from .._jit import jit


@jit
def dot(left, right, size):
    """Return the inner product of the first ``size`` entries.

    Eight running sums, added in a fixed order, let the processor work on several terms at once
    without leaving the order of summation to the compiler.
    """
    a = b = c = d = e = f = g = h = 0.0
    whole = size - size % 8
    for i in range(0, whole, 8):
        a += left[i] * right[i]
        b += left[i + 1] * right[i + 1]
        c += left[i + 2] * right[i + 2]
        d += left[i + 3] * right[i + 3]
        e += left[i + 4] * right[i + 4]
        f += left[i + 5] * right[i + 5]
        g += left[i + 6] * right[i + 6]
        h += left[i + 7] * right[i + 7]
    for i in range(whole, size):
        a += left[i] * right[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@jit
def solve_lower(root, size, vector):
    r"""Overwrite ``vector[:size]`` by :math:`L^{-1}` times it."""
    for i in range(size):
        vector[i] = (vector[i] - dot(root[i], vector, i)) / root[i, i]


@jit
def solve_lower_transposed(root, size, vector):
    r"""Overwrite ``vector[:size]`` by :math:`L^{-\top}` times it."""
    for i in range(size - 1, -1, -1):
        value = vector[i] / root[i, i]
        vector[i] = value
        row = root[i]
        for j in range(i):
            vector[j] -= row[j] * value


@jit
def cholesky_with_floor(matrix, size, floors):
    """Factor ``matrix[:size, :size]`` in place, pivot i clamped to at least its floor.

    For a kernel matrix with jitter ``floors[i % len(floors)]`` on the diagonal every exact pivot is
    at least the jitter; rounding can only push it below, and the clamp puts it back. Returns the
    smallest raw pivot.
    """
    smallest = math.inf
    periods = floors.shape[0]
    for i in range(size):
        row = matrix[i]
        for j in range(i):
            row[j] = (row[j] - dot(row, matrix[j], j)) / matrix[j, j]
        pivot = row[i] - dot(row, row, i)
        smallest = min(smallest, pivot)
        row[i] = math.sqrt(max(pivot, floors[i % periods]))
    return smallest


@jit
def givens(a, b):
    """Return ``(c, s)`` with ``c*a + s*b = hypot(a, b)`` and ``-s*a + c*b = 0``."""
    length = math.hypot(a, b)
    if length == 0.0:
        return 1.0, 0.0
    return a / length, b / length
