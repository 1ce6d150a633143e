"""Vectorised exponentials against those of NumPy."""

import numpy as np
import pytest

from sparsekern.kernels.exponential import exp_of_negative


@pytest.mark.parametrize("size", [0, 1, 7, 512, 1300])
def test_two_units_in_the_last_place(size):
    rng = np.random.default_rng(size)
    values = rng.standard_normal(size) ** 2 * np.exp(rng.uniform(-40, 4, size))
    values = np.minimum(values, 700.0)
    out = np.empty(size)
    exp_of_negative(values, out)
    exact = np.exp(-values)
    assert (np.abs(out - exact) <= 2 * np.spacing(exact)).all()


def test_ends_of_the_range():
    values = np.array([0.0, 5e-324, 1e-17, 706.0, 707.9, 708.0, 1e300, np.inf])
    out = np.empty(len(values))
    exp_of_negative(values, out)
    assert (out[:3] == 1.0).all()
    np.testing.assert_allclose(out[3:5], np.exp(-values[3:5]), rtol=1e-15)
    assert (out[5:] == 0.0).all()
