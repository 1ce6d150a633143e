"""Kernel columns of the training rows, by training row.

Built-in kernels are evaluated where they are needed, from the features. Other kernels (a Python
callable, an exotic kernel object, a matrix given by the user) are read from a table that is filled
outside compiled code: ``slot[row]`` says which row of ``table`` holds the column, -1 that it is
not there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit
from ..kernels.evaluate import TABLE, kernel_against
from ..linalg.whitened_factor import refactor, refresh_cross, refresh_gram, whiten_loaded_columns


class KernelColumns(NamedTuple):
    """What compiled code needs to produce the kernel column of any training row."""

    columns: np.ndarray  # float64[p, n], the training data by feature
    kind: int
    amplitude: float
    diagonal: np.ndarray
    table: np.ndarray
    slot: np.ndarray
    jitter: float


@jit
def write_column(basis, length_scale, row, out):
    """Write the kernel between all training rows and ``row`` into ``out``."""
    if basis.kind == TABLE:
        out[:] = basis.table[basis.slot[row]]
    else:
        kernel_against(
            basis.columns,
            basis.columns[:, row].copy(),
            1.0 / length_scale,
            basis.kind,
            basis.amplitude,
            out,
        )


@jit
def rebuild(factor, basis, length_scale):
    """Recompute the whole factor for its active rows from the kernel; O(n k (p + k)).

    Returns the smallest pivot of the kernel matrix at the active vectors, before clamping.
    """
    factor.position[:] = -1
    for a in range(factor.n_active[0]):
        factor.position[factor.rows[a]] = a
        write_column(basis, length_scale, factor.rows[a], factor.whitened[a])
    smallest = whiten_loaded_columns(factor, basis.jitter)
    refresh_gram(factor)
    refresh_cross(factor)
    refactor(factor)
    return smallest
