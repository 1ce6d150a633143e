"""Eigenvectors without the GIL."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from sparsekern.linalg.eigen import symmetric_eigen

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", [1, 2, 60])
@pytest.mark.parametrize("some", [False, True])
def test_they_are_those_of_scipy(size, some):
    half = RNG.standard_normal((size, size))
    matrix = half @ half.T
    before = matrix.copy()
    subset = (size // 2, size - 1) if some else None
    values, vectors = symmetric_eigen(matrix, subset)
    wanted, directions = eigh(matrix, subset_by_index=subset)
    assert_allclose(values, wanted, rtol=1e-9, atol=1e-12)
    assert_allclose(np.abs(np.sum(vectors * directions, axis=0)), 1.0, rtol=1e-9)
    np.testing.assert_array_equal(matrix, before)


def test_the_lower_triangle_is_read():
    lower = np.array([[2.0, 9.0], [1.0, 2.0]])
    assert_allclose(symmetric_eigen(lower)[0], [1.0, 3.0])


def test_other_threads_move_meanwhile():
    half = RNG.standard_normal((900, 900))
    work = threading.Thread(target=symmetric_eigen, args=(half + half.T,))
    work.start()
    moved = 0
    while work.is_alive():
        time.sleep(0.002)
        moved += 1
    assert moved > 10
