"""Eigenvectors of a symmetric matrix, by LAPACK without the GIL.

scipy calls the same routine and keeps the GIL: with thousands of rows no other thread moves for
many seconds, and Ctrl-C is not heard. There is one BLAS thread: several are slower by far where
other work has the cores, and a process that ends while they run may hang.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

from .._threads import single_blas_thread

_dsyevr = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 21)(
    get_cython_function_address("scipy.linalg.cython_lapack", "dsyevr")
)


def symmetric_eigen(
    matrix: np.ndarray, subset: tuple[int, int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, smallest first, and eigenvectors in columns.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Finite; its lower triangle is read.
    subset : (int, int), optional
        The first and the last position that is asked for; None: all.
    """
    size = len(matrix)
    first, last = subset or (0, size - 1)
    wanted = last - first + 1
    work_matrix = np.array(matrix, dtype=np.float64, order="F")  # it is overwritten
    values, vectors = np.empty(size), np.empty((size, wanted), order="F")
    support = np.empty(2 * size, np.int32)
    letters = [ctypes.c_char(letter) for letter in (b"V", b"A" if subset is None else b"I", b"L")]
    number, low, high = ctypes.c_int(size), ctypes.c_int(first + 1), ctypes.c_int(last + 1)
    found, info, nothing = ctypes.c_int(), ctypes.c_int(), ctypes.c_double(0.0)

    def call(work: np.ndarray, work_size: int, numbers: np.ndarray, numbers_size: int) -> None:
        arguments: list[Any] = [
            *letters, number, work_matrix, number, nothing, nothing, low, high, nothing, found,
            values, vectors, number, support, work, ctypes.c_int(work_size), numbers,
            ctypes.c_int(numbers_size), info,
        ]  # fmt: skip
        _dsyevr(*[
            one.ctypes.data if isinstance(one, np.ndarray) else ctypes.addressof(one)
            for one in arguments
        ])  # fmt: skip

    asked, asked_numbers = np.empty(1), np.empty(1, np.int32)
    call(asked, -1, asked_numbers, -1)  # how much room it works best in
    room, numbers_room = int(asked[0]), int(asked_numbers[0])
    with single_blas_thread():
        call(np.empty(room), room, np.empty(numbers_room, np.int32), numbers_room)
    if info.value != 0 or found.value != wanted:
        raise np.linalg.LinAlgError("The eigenvalues of a kernel matrix could not be found.")
    return values[:wanted], vectors
