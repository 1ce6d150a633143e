"""Weighted Gram matrices against plain products."""

import numpy as np
import pytest

from sparsekern.linalg.gram import BLOCK, weighted_gram


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 7])
@pytest.mark.parametrize("size", [1, 5])
def test_weighted_gram(n, size):
    rng = np.random.default_rng([n, size])
    columns, weights = rng.standard_normal((7, n)), rng.random(n)
    weights[: n // 3] = 0.0
    total = np.full((9, 9), 7.0)
    weighted_gram(columns, weights, size, total)
    exact = (columns[:size] * weights) @ columns[:size].T
    np.testing.assert_allclose(total[:size, :size], exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(total[:size, :size], total[:size, :size].T)
    assert (total[size:] == 7.0).all() and (total[:, size:] == 7.0).all()
