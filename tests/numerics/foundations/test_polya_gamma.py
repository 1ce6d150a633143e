"""Polya-Gamma and inverse Gaussian draws against laws known in closed form."""

import numpy as np
import pytest
from scipy.stats import invgauss, kstest

from sparsekern._jit import jit
from sparsekern.random.polya_gamma import inverse_gaussian, polya_gamma


@jit
def _fill_polya_gamma(rng, z, out):
    for i in range(out.shape[0]):
        out[i] = polya_gamma(rng, z)


@jit
def _fill_inverse_gaussian(rng, mean, out):
    for i in range(out.shape[0]):
        out[i] = inverse_gaussian(rng, mean)


def _log_cosh(x):
    return np.logaddexp(x, -x) - np.log(2)


@pytest.mark.parametrize("z", [0.0, 1e-6, 0.3, -1.0, 2.5, 3.1, 3.2, 8.0, -20.0, 60.0])
def test_laplace_transform(z):
    """E exp(-t w) = cosh(z/2) / cosh(sqrt((z^2 + 2t)/4))."""
    draws = np.empty(400_000)
    _fill_polya_gamma(np.random.default_rng(0), z, draws)
    assert (draws > 0).all()
    for t in (0.1, 1.0, 5.0, 25.0, 100.0):
        values = np.exp(-t * draws)
        exact = np.exp(_log_cosh(abs(z) / 2) - _log_cosh(np.sqrt(z * z + 2 * t) / 2))
        error = values.std() / np.sqrt(len(draws))
        assert abs(values.mean() - exact) < 4.5 * error, (z, t)


@pytest.mark.parametrize("z", [1.0, 12.0, 400.0])
def test_mean_and_variance(z):
    draws = np.empty(400_000)
    _fill_polya_gamma(np.random.default_rng(1), z, draws)
    mean = np.tanh(z / 2) / (2 * z)
    variance = (np.tanh(z / 2) / z**3 - 0.5 / (z * np.cosh(min(z, 600) / 2)) ** 2) / 2
    assert abs(draws.mean() - mean) < 4.5 * np.sqrt(variance / len(draws))
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - variance) < 4.5 * squares.std() / np.sqrt(len(draws))


def test_not_a_number_is_handed_on():
    assert np.isnan(polya_gamma(np.random.default_rng(0), np.nan))


@pytest.mark.parametrize("mean", [1e-3, 0.4, 1.0, 7.0, 1e3])
def test_inverse_gaussian(mean):
    draws = np.empty(100_000)
    _fill_inverse_gaussian(np.random.default_rng(2), mean, draws)
    assert kstest(draws, invgauss(mean).cdf).pvalue > 1e-4


def test_inverse_gaussian_of_a_huge_mean_is_the_law_of_one_over_a_square():
    draws = np.empty(100_000)
    _fill_inverse_gaussian(np.random.default_rng(3), 1e14, draws)
    share = np.mean(1.0 / draws < 1.0)  # 1 / chi-square(1): P(N^2 < 1) = .6827
    assert abs(share - 0.6827) < 0.007
