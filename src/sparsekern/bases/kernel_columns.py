"""Kernel columns of the training rows, by training row.

Built-in kernels are evaluated where they are needed, from the features. Other kernels (a Python
callable, an exotic kernel object, a matrix given by the user) are read from a table that is filled
outside compiled code: ``slot[row]`` says which row of the kernel's table holds the column, -1 that
it is not there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import jit_apart
from ..kernels.evaluate import TABLE, kernel_against
from ..linalg.active_moves import value_birth
from ..linalg.copies import copy_vector
from ..linalg.factor_columns import refresh_products, whiten_loaded_columns
from ..linalg.whitened_factor import refactor
from ._compiled import register


class KernelColumns(NamedTuple):
    """What compiled code needs to produce the kernel column of any training row."""

    columns: np.ndarray  # float64[p, n], the training data by feature
    kind: np.ndarray  # int64[L], code of each kernel
    amplitude: np.ndarray  # float64[L]
    diagonal: np.ndarray  # float64[L, n]
    table: np.ndarray  # float64[L, slots, n], no slots where every kernel compiles
    slot: np.ndarray  # int64[n]
    jitter: np.ndarray  # float64[L]


@jit_apart
def write_column(basis, length_scale, kernel, row, out):
    """Write the kernel between all training rows and ``row`` into ``out``.

    ``length_scale[kernel]`` may be infinite for features that the kernel does not see.
    """
    if basis.kind[kernel] == TABLE:
        copy_vector(basis.table[kernel, basis.slot[row]], out)
    else:
        kernel_against(
            basis.columns,
            basis.columns[:, row].copy(),
            1.0 / length_scale[kernel],
            basis.kind[kernel],
            basis.amplitude[kernel],
            out,
        )


@jit_apart
def _value_newcomer(basis, factor, length_scale, row, column):
    """Return the log Bayes factor of adding ``row`` with the columns of all kernels."""
    value = 0.0
    for kernel in range(basis.kind.shape[0]):
        write_column(basis, length_scale, kernel, row, column)
        value += value_birth(
            factor, row, column, basis.diagonal[kernel, row], basis.jitter[kernel], kernel
        )
    return value


register(KernelColumns, value_newcomer=_value_newcomer)


@jit_apart
def rebuild(factor, basis, length_scale):
    """Recompute the whole factor for its active rows from the kernel; O(n k (p + k)).

    Returns the smallest pivot of the kernel matrix at the active vectors, before clamping.
    """
    factor.position[:] = -1
    kernels = basis.kind.shape[0]
    for a in range(factor.n_active[0]):
        factor.position[factor.rows[a]] = a
        for kernel in range(kernels):
            target = factor.whitened[a * kernels + kernel]
            write_column(basis, length_scale, kernel, factor.rows[a], target)
    smallest = whiten_loaded_columns(factor, basis.jitter)
    refresh_products(factor)
    refactor(factor)
    return smallest
