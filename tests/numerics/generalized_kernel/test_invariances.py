"""Symmetries of the model that the factor must share: duplicates, permutations, sign."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis
from dense_model import covariance, gaussian_kernel, log_normal
from numpy.testing import assert_allclose

from sparsekern.linalg.active_moves import value_birth, value_death
from sparsekern.linalg.whitened_factor import log_evidence

SCALE = np.array([0.9, 1.2])


def _data(n=15, seed=3):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, 2))
    features[n - 1] = features[0]  # the last row repeats the first
    return features, rng.standard_normal((1, n)) * 1.4


@pytest.mark.parametrize(("jitter", "limit"), [(1e-4, 3e-4), (1e-6, 3e-6), (1e-8, 1e-7)])
def test_duplicate_of_an_active_row(jitter, limit):
    features, latent = _data()
    n = len(features)
    factor = factor_at(rbf_basis(features, jitter), SCALE, [0, 3, 7, 9], latent, 0.5, 1.0, 6)
    column = gaussian_kernel(features, features[-1:], SCALE)[:, 0]
    birth = value_birth(factor, n - 1, column, 1.0, jitter)
    assert 0 < abs(birth) < limit
    swap = value_birth(factor, n - 1, column, 1.0, jitter)
    swap += value_death(factor, 0, factor.n_active[0] + 1)
    assert abs(swap) < 1e-10
    if jitter > 1e-7:  # below, the dense side has no digits left
        kernel = gaussian_kernel(features, features, SCALE)
        both = log_normal(latent, covariance(kernel, [0, 3, 7, 9, n - 1], 0.5, 1.0, jitter))
        one = log_normal(latent, covariance(kernel, [0, 3, 7, 9], 0.5, 1.0, jitter))
        assert_allclose(birth, both - one, atol=1e-10 * 1e-6 / jitter + 1e-10)


def test_duplicate_shrinks_with_the_jitter():
    features, latent = _data()
    column = gaussian_kernel(features, features[-1:], SCALE)[:, 0]
    births = []
    for jitter in (1e-4, 1e-6):
        factor = factor_at(rbf_basis(features, jitter), SCALE, [0, 3, 7], latent, 0.5, 1.0, 6)
        births.append(value_birth(factor, len(features) - 1, column, 1.0, jitter))
    assert_allclose(births[0] / births[1], 100.0, rtol=0.01)


def test_many_duplicates_stay_finite():
    """Twenty copies of one point: every pivot after the first is the jitter."""
    features = np.zeros((20, 2))
    latent = np.random.default_rng(0).standard_normal((1, 20))
    factor = factor_at(rbf_basis(features, 1e-8), SCALE, range(19), latent, 0.5, 1.0, 20)
    one = factor_at(rbf_basis(features, 1e-8), SCALE, [0], latent, 0.5, 1.0, 20)
    assert_allclose(log_evidence(factor), log_evidence(one), atol=1e-6)
    assert abs(value_birth(factor, 19, np.ones(20), 1.0, 1e-8)) < 1e-6
    assert abs(value_death(factor, 7, 19)) < 1e-6


def test_row_permutation():
    features, latent = _data()
    n = len(features)
    rows = [2, 5, 11, 4]
    order = np.random.default_rng(1).permutation(n)
    place = np.argsort(order)
    plain = factor_at(rbf_basis(features, 1e-8), SCALE, rows, latent, 0.5, 1.0, 6)
    moved = factor_at(
        rbf_basis(features[order], 1e-8), SCALE, place[rows][::-1], latent[:, order], 0.5, 1.0, 6
    )
    assert_allclose(log_evidence(plain), log_evidence(moved), rtol=0, atol=1e-10)
    kernel = gaussian_kernel(features, features, SCALE)
    here = value_birth(plain, 8, kernel[8].copy(), 1.0, 1e-8)
    there = value_birth(moved, place[8], kernel[8][order], 1.0, 1e-8)
    assert_allclose(here, there, rtol=0, atol=1e-10)
    for position in range(4):
        assert_allclose(
            value_death(plain, position, 4), value_death(moved, 3 - position, 4), atol=1e-10
        )


def test_sign_of_the_latent_variables():
    """log p(s) = log p(-s), bit for bit, with every Bayes factor."""
    features, latent = _data()
    kernel = gaussian_kernel(features, features, SCALE)
    values = []
    for sign in (1.0, -1.0):
        factor = factor_at(rbf_basis(features, 1e-8), SCALE, [1, 4, 6], sign * latent, 0.5, 1, 6)
        values.append([
            log_evidence(factor),
            value_birth(factor, 8, kernel[8].copy(), 1.0, 1e-8),
            value_death(factor, 1, 3),
            value_birth(factor, 9, kernel[9].copy(), 1.0, 1e-8)
            + value_death(factor, 2, factor.n_active[0] + 1),
        ])  # fmt: skip
    assert values[0] == values[1]
