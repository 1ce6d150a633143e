"""BLAS and LAPACK routines that numba does not offer, called from compiled code.

The routines come from the library scipy is linked with. Their addresses are registered as
linker symbols at import, so that binaries from the disk cache find them in every process.
C-ordered arrays are the transposes of what LAPACK sees; the wrappers below hide that.
"""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.extending import get_cython_function_address

from .._jit import jit

CHAR = types.CPointer(types.uint8)
INT = types.CPointer(types.int32)
DOUBLE = types.CPointer(types.float64)


def external(module: str, name: str, *arguments: types.Type) -> types.ExternalFunction:
    """Return a routine of ``scipy.linalg`` for compiled code."""
    symbol = "sparsekern_" + name
    llvm.add_symbol(symbol, get_cython_function_address("scipy.linalg." + module, name))
    return types.ExternalFunction(symbol, types.void(*arguments))


_dpotrf = external("cython_lapack", "dpotrf", CHAR, INT, DOUBLE, INT, INT)
_dtrtri = external("cython_lapack", "dtrtri", CHAR, CHAR, INT, DOUBLE, INT, INT)
_TRIANGLE_TIMES_MATRIX = (
    CHAR, CHAR, CHAR, CHAR, INT, INT, DOUBLE, DOUBLE, INT, DOUBLE, INT,
)  # fmt: skip
_dtrsm = external("cython_blas", "dtrsm", *_TRIANGLE_TIMES_MATRIX)
_dtrmm = external("cython_blas", "dtrmm", *_TRIANGLE_TIMES_MATRIX)
_dgemv = external(
    "cython_blas", "dgemv", CHAR, INT, INT, DOUBLE, DOUBLE, INT, DOUBLE, INT, DOUBLE, DOUBLE, INT
)


@jit
def cholesky_in_place(matrix, size):
    """Replace the lower triangle of ``matrix[:size, :size]`` by its Cholesky factor.

    Returns 0, or the 1-based position of the first non-positive pivot. The entries above the
    diagonal are left as they were.
    """
    letter = np.empty(1, np.uint8)
    letter[0] = 85  # "U": the lower triangle of a C-ordered array is LAPACK's upper one
    numbers = np.empty(3, np.int32)
    numbers[0] = size
    numbers[1] = matrix.shape[1]
    numbers[2] = 0
    _dpotrf(
        letter.ctypes, numbers[0:].ctypes, matrix.ctypes, numbers[1:].ctypes, numbers[2:].ctypes
    )
    return numbers[2]


@jit
def invert_lower_in_place(matrix, size):
    """Replace the lower triangle of ``matrix[:size, :size]`` by that of its inverse."""
    letters = np.empty(2, np.uint8)
    letters[0] = 85  # "U", as above
    letters[1] = 78  # "N": the diagonal is not unit
    numbers = np.empty(3, np.int32)
    numbers[0] = size
    numbers[1] = matrix.shape[1]
    numbers[2] = 0
    _dtrtri(
        letters[0:].ctypes, letters[1:].ctypes, numbers[0:].ctypes, matrix.ctypes,
        numbers[1:].ctypes, numbers[2:].ctypes,
    )  # fmt: skip


@jit
def _describe(triangle, size, rows):
    """Return letters and numbers for X := rows' T' or X T' = rows', T lower triangular."""
    letters = np.empty(4, np.uint8)
    letters[0] = 82  # "R": seen from LAPACK the triangle stands on the right
    letters[1] = 85  # "U"
    letters[2] = 78  # "N"
    letters[3] = 78  # "N": the diagonal is not unit
    numbers = np.empty(4, np.int32)
    numbers[0] = rows.shape[1]
    numbers[1] = size
    numbers[2] = triangle.shape[1]
    numbers[3] = rows.shape[1]
    return letters, numbers


@jit
def solve_lower_rows(root, size, rows):
    r"""Overwrite the C-ordered ``rows[:size]`` by :math:`L^{-1}` times them.

    ``root[:size, :size]`` holds the lower factor :math:`L`.
    """
    letters, numbers = _describe(root, size, rows)
    one = np.ones(1)
    _dtrsm(
        letters[0:].ctypes, letters[1:].ctypes, letters[2:].ctypes, letters[3:].ctypes,
        numbers[0:].ctypes, numbers[1:].ctypes, one.ctypes, root.ctypes, numbers[2:].ctypes,
        rows.ctypes, numbers[3:].ctypes,
    )  # fmt: skip


@jit
def multiply_lower_rows(triangle, size, rows):
    """Overwrite the C-ordered ``rows[:size]`` by the lower ``triangle`` times them."""
    letters, numbers = _describe(triangle, size, rows)
    one = np.ones(1)
    _dtrmm(
        letters[0:].ctypes, letters[1:].ctypes, letters[2:].ctypes, letters[3:].ctypes,
        numbers[0:].ctypes, numbers[1:].ctypes, one.ctypes, triangle.ctypes, numbers[2:].ctypes,
        rows.ctypes, numbers[3:].ctypes,
    )  # fmt: skip


@jit
def _multiply_block(letter, rows, size, start, count, vector, keep, out):
    letters = np.empty(1, np.uint8)
    letters[0] = letter
    numbers = np.empty(4, np.int32)
    numbers[0] = count
    numbers[1] = size
    numbers[2] = rows.shape[1]
    numbers[3] = 1
    factors = np.empty(2)
    factors[0] = 1.0
    factors[1] = keep
    _dgemv(
        letters.ctypes, numbers[0:].ctypes, numbers[1:].ctypes, factors[0:].ctypes,
        rows[0, start:].ctypes, numbers[2:].ctypes, vector.ctypes, numbers[3:].ctypes,
        factors[1:].ctypes, out.ctypes, numbers[3:].ctypes,
    )  # fmt: skip


@jit
def combine_rows(rows, size, start, count, weights, out):
    """Overwrite ``out[:count]`` by ``weights`` times ``rows[:size, start:start + count]``."""
    _multiply_block(78, rows, size, start, count, weights, 0.0, out)  # "N"


@jit
def add_row_products(rows, size, start, count, vector, out):
    """Add ``rows[:size, start:start + count]`` times ``vector`` to ``out[:size]``."""
    _multiply_block(84, rows, size, start, count, vector, 1.0, out)  # "T"
