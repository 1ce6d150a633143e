"""Copies inside compiled code, entry by entry.

``target[:] = source`` would bring along the code that writes numba's message on unequal shapes,
which takes longer to compile than a whole move.
"""

from __future__ import annotations

from .._jit import jit


@jit
def copy_vector(source, target):
    """Write all of ``source`` to the beginning of ``target``."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@jit
def copy_matrix(source, target):
    """Write all rows of ``source`` to the first ones of ``target``."""
    for row in range(source.shape[0]):
        for i in range(source.shape[1]):
            target[row, i] = source[row, i]
