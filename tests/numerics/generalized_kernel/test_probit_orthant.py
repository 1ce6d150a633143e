"""Probit posterior of all 64 active sets of six rows, from exact orthant probabilities."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis, recompiled
from dense_model import (
    by_size,
    covariance,
    exact_set_posterior,
    gaussian_kernel,
    total_variation,
)
from numba import njit
from scipy.stats import multivariate_normal

from sparsekern._jit import jit
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.likelihoods.probit import rescale_latents, scan_latents
from sparsekern.linalg.factor_columns import refresh_cross
from sparsekern.linalg.triangular import dot
from sparsekern.linalg.whitened_factor import refactor
from sparsekern.linalg.whitened_response import hat_rows
from sparsekern.priors.model_size import beta_binomial_log_weights

N, G, ETA, JITTER = 6, 0.15, 0.8, 1e-6
SCALE = np.array([0.9, 1.1])
SIDE = np.array([1.0, 1.0, -1.0, 1.0, -1.0, -1.0])


def _features():
    features = np.random.default_rng(4).standard_normal((N, 2))
    features[:, 0] += 0.7 * SIDE
    return features


@pytest.fixture(scope="module")
def exact():
    features = _features()
    kernel = gaussian_kernel(features, features, SCALE)

    def log_orthant(rows):
        q = covariance(kernel, rows, G, ETA, JITTER) * np.outer(SIDE, SIDE)
        law = multivariate_normal(cov=q, maxpts=200_000, abseps=1e-6, releps=1e-5, seed=1)
        return np.log(law.cdf(np.zeros(N)))

    return exact_set_posterior(N, N, log_orthant)


@jit
def _sample(rng, factor, basis, scale, log_weights, side, radial, sweeps, visits):
    """Sweep over sets and latent variables with fixed scales and count the sets visited."""
    n = side.shape[0]
    tallies = np.zeros((4, 2), np.int64)
    none = np.zeros(0, np.int64)
    buffer = np.empty((n + 2) * n)
    rows = np.arange(n)
    free = np.empty(n)
    for _ in range(sweeps):
        move_active_set(rng, factor, basis, scale, log_weights, rows, 2, none, tallies)
        hat = hat_rows(factor, buffer)
        size = hat.shape[1]
        for i in range(n):
            free[i] = 1.0 - dot(hat[i], hat[i], size)
        scan_latents(rng, factor.response[0], factor.projected[0], hat, free, side)
        if radial:
            rescale_latents(rng, factor)
        refresh_cross(factor)
        refactor(factor)
        code = 0
        for i in range(n):
            if factor.position[i] >= 0:
                code += 1 << i
        visits[code] += 1


def _visited(sample, sweeps, radial, seed=1):
    basis = rbf_basis(_features(), JITTER)
    factor = factor_at(basis, SCALE, [0, 3], 0.8 * SIDE, G, ETA, N)
    weights = beta_binomial_log_weights(N, N, (1.0, 1.0))
    visits = np.zeros(2**N)
    rng = np.random.default_rng(seed)
    sample(rng, factor, basis, SCALE[None], weights, SIDE, radial, sweeps, visits)
    assert (np.sign(factor.response[0]) == SIDE).all()
    return visits / sweeps


@pytest.mark.parametrize("radial", [True, False])
def test_sets_of_the_probit_posterior(exact, radial):
    visited = _visited(_sample, 200_000, radial)
    print(f"TV {total_variation(visited, exact):.4f}")
    assert total_variation(visited, exact) < 0.015
    assert np.abs(by_size(visited) - by_size(exact)).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("radial", [True, False])
def test_sets_of_the_probit_posterior_long(exact, radial):
    visited = _visited(_sample, 2_000_000, radial, seed=2)
    print(f"TV {total_variation(visited, exact):.4f}")
    assert total_variation(visited, exact) < 0.005


@pytest.mark.slow
def test_radial_move_of_wrong_dimension_is_noticed(exact):
    @njit
    def one_degree_less(rng, factor):
        size = factor.n_active[0] + 1
        response, projected = factor.response[0], factor.projected[0]
        energy = dot(response, response, response.shape[0]) - dot(projected, projected, size)
        stretch = np.sqrt(rng.chisquare(response.shape[0] - 1.0) / energy)
        response *= stretch
        projected[:size] *= stretch

    visited = _visited(recompiled(_sample, rescale_latents=one_degree_less), 200_000, True)
    print(f"TV {total_variation(visited, exact):.4f}")
    assert total_variation(visited, exact) > 0.03


@pytest.mark.slow
def test_latents_without_their_own_leverage_are_noticed(exact):
    """Centring the conditional at E'c, as if coefficients were fixed, is wrong when collapsed."""

    @njit
    def no_leverage(rng, response, projected, hat, free, side):
        scan_latents(rng, response, projected, hat, np.ones(len(free)), side)

    visited = _visited(recompiled(_sample, scan_latents=no_leverage), 200_000, False)
    print(f"TV {total_variation(visited, exact):.4f}")
    assert total_variation(visited, exact) > 0.03
