"""A freshly built factor against dense algebra: evidence, Q, hat rows, coefficient draws."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis
from dense_model import covariance, gaussian_kernel, log_normal
from numpy.testing import assert_allclose

from sparsekern.linalg.factor_columns import refresh_cross, refresh_products
from sparsekern.linalg.whitened_factor import empty_factor, factorize, log_evidence, refactor
from sparsekern.linalg.whitened_response import draw_coefficients, hat_rows

JITTER = 1e-6
# n, p, k, latent columns, unit precision?, tolerance
CASES = [
    (12, 2, 0, 1, True, 1e-10),
    (12, 2, 5, 1, True, 1e-10),
    (12, 2, 5, 2, False, 1e-10),
    (12, 2, 12, 1, True, 1e-10),
    (1, 1, 1, 1, True, 1e-10),
    (30, 3, 0, 2, False, 1e-10),
    (60, 4, 25, 2, False, 1e-10),
    (200, 5, 120, 1, True, 1e-8),
    (130, 5, 130, 2, False, 1e-8),
]


def _problem(n, p, k, latents, unit, seed=0):
    rng = np.random.default_rng([seed, n, k, latents])
    features = rng.standard_normal((n, p))
    rows = rng.permutation(n)[:k]
    latent = 1.5 * rng.standard_normal((latents, n))
    precision = np.ones(n) if unit else rng.gamma(2.0, 0.5, n) + 0.05
    scale = np.sqrt(p) * rng.uniform(0.6, 1.2, p)
    g, eta = 0.3, 0.7
    kernel = gaussian_kernel(features, features, scale)
    factor = factor_at(
        rbf_basis(features, JITTER), scale, rows, latent, g, eta, max(k, 1), precision
    )
    return factor, kernel, rows, latent, precision, g, eta


@pytest.mark.parametrize(("n", "p", "k", "latents", "unit", "tolerance"), CASES)
def test_evidence_determinant_and_inverse(n, p, k, latents, unit, tolerance):
    factor, kernel, rows, latent, precision, g, eta = _problem(n, p, k, latents, unit)
    q = covariance(kernel, rows, g, eta, JITTER, precision)
    log_det = 2 * np.log(np.diag(factor.root)[: k + 1]).sum() - np.log(precision).sum()
    assert_allclose(log_det, np.linalg.slogdet(q)[1], rtol=tolerance)

    constant = -0.5 * latents * (n * np.log(2 * np.pi) - np.log(precision).sum())
    constant -= 0.5 * (precision * latent**2).sum()
    assert_allclose(log_evidence(factor) + constant, log_normal(latent, q), rtol=tolerance)

    down = np.empty(n * (k + 1))
    hat = hat_rows(factor, down)
    root = np.sqrt(precision)
    inverse = root[:, None] * (np.eye(n) - hat @ hat.T) * root
    assert_allclose(inverse, np.linalg.inv(q), rtol=0, atol=tolerance * np.abs(inverse).max())
    projected = hat.T @ (root * latent).T
    assert_allclose(factor.projected[:, : k + 1], projected.T, rtol=tolerance, atol=tolerance)
    assert (hat**2).sum(1).max() < 1


@pytest.mark.parametrize(("n", "p", "k", "latents", "unit", "tolerance"), CASES)
def test_other_variances_need_only_the_gram_matrix(n, p, k, latents, unit, tolerance):
    factor, kernel, rows, latent, precision, _, _ = _problem(n, p, k, latents, unit)
    before = factor.root.copy()
    root, projected = np.empty_like(factor.root), np.empty_like(factor.projected)
    for g, eta in ((1e-3, 20.0), (50.0, 1e-2)):
        log_root, squares = factorize(factor, root, projected, 1 / np.array([eta, g]))
        value = -latents * log_root + 0.5 * squares - 0.5 * (precision * latent**2).sum()
        value -= 0.5 * latents * (n * np.log(2 * np.pi) - np.log(precision).sum())
        dense = log_normal(latent, covariance(kernel, rows, g, eta, JITTER, precision))
        assert_allclose(value, dense, rtol=tolerance)
    assert (factor.root == before).all()


@pytest.mark.parametrize(("n", "p", "k", "latents", "unit", "tolerance"), CASES[:7])
def test_conditional_moments_of_one_latent_variable(n, p, k, latents, unit, tolerance):
    """N((m - h s_i)/(1 - h), 1/(1 - h)), on the scale of the noise, is the law under N(0, Q)."""
    factor, kernel, rows, latent, precision, g, eta = _problem(n, p, k, latents, unit)
    hat = hat_rows(factor, np.empty(n * (k + 1)))
    inverse = np.linalg.inv(covariance(kernel, rows, g, eta, JITTER, precision))
    leverage = (hat**2).sum(1)
    root = np.sqrt(precision)
    for c in range(latents):
        scaled = root * latent[c]
        mean = (hat @ factor.projected[c, : k + 1] - leverage * scaled) / (1 - leverage) / root
        dense = latent[c] - inverse @ latent[c] / np.diag(inverse)
        assert_allclose(mean, dense, rtol=tolerance, atol=tolerance)
    assert_allclose(1 / (1 - leverage) / precision, 1 / np.diag(inverse), rtol=tolerance)


@pytest.mark.parametrize(("n", "p", "k", "latents", "unit", "tolerance"), CASES)
def test_coefficient_draw(n, p, k, latents, unit, tolerance):
    """Same noise, dense square root: mean Y^-1 Phi' Omega z and covariance Y^-1 exactly."""
    factor, kernel, rows, latent, precision, g, eta = _problem(n, p, k, latents, unit)
    design = np.hstack([np.ones((n, 1)), kernel[:, rows]])
    prior = np.zeros((k + 1, k + 1))
    prior[0, 0] = eta
    prior[1:, 1:] = g * (kernel[np.ix_(rows, rows)] + JITTER * np.eye(k))
    upsilon = design.T @ (precision[:, None] * design) + prior
    basis_draws = []
    for c in range(latents):
        mean = np.linalg.solve(upsilon, design.T @ (precision * latent[c]))
        for seed in range(3):
            coefficients, fitted = np.zeros(max(k, 1)), np.empty(n)
            rng = np.random.default_rng(seed)
            intercept = draw_coefficients(rng, factor, c, coefficients, fitted)
            draw = np.concatenate([[intercept], coefficients[:k]])
            assert_allclose(fitted, design @ draw, rtol=1e-7, atol=1e-7)
            # whitened by the dense posterior precision the noise keeps its length exactly
            noise = np.random.default_rng(seed).standard_normal(k + 1)
            length = (draw - mean) @ upsilon @ (draw - mean)
            assert_allclose(length, noise @ noise, rtol=1e-6 if k >= 100 else 1e-8)
            basis_draws.append(draw)
    assert len({tuple(draw) for draw in basis_draws}) == 3 * latents


def test_coefficient_moments():
    """The map from noise to draws, column by column, gives the posterior covariance."""
    factor, kernel, rows, latent, precision, g, eta = _problem(12, 2, 5, 1, False)
    design = np.hstack([np.ones((12, 1)), kernel[:, rows]])
    prior = np.zeros((6, 6))
    prior[0, 0] = eta
    prior[1:, 1:] = g * (kernel[np.ix_(rows, rows)] + JITTER * np.eye(5))
    upsilon = design.T @ (precision[:, None] * design) + prior
    draws, noises = [], []
    for seed in range(7):
        coefficients = np.zeros(5)
        intercept = draw_coefficients(
            np.random.default_rng(seed), factor, 0, coefficients, np.empty(12)
        )
        draws.append(np.concatenate([[intercept], coefficients]))
        noises.append(np.concatenate([[1.0], np.random.default_rng(seed).standard_normal(6)]))
    solution = np.linalg.solve(np.array(noises), np.array(draws)).T  # [mean, square root]
    mean, root = solution[:, 0], solution[:, 1:]
    exact = np.linalg.solve(upsilon, design.T @ (precision * latent[0]))
    assert_allclose(mean, exact, rtol=1e-8)
    assert_allclose(root @ root.T, np.linalg.inv(upsilon), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n", [511, 512, 1100])
def test_hat_rows_in_several_blocks(n):
    """The blocks of the triangular solve meet without gap or overlap, the short last one too."""
    rng = np.random.default_rng(n)
    factor = empty_factor(n, 4)
    factor.n_active[0] = 3
    factor.whitened[:3] = rng.normal(size=(3, n))
    factor.precision[:] = rng.uniform(0.5, 2.0, size=n)
    factor.variances[:] = 0.7, 1.9
    refresh_products(factor)
    refactor(factor)
    scaled = np.sqrt([0.7, 1.9, 1.9, 1.9]) * np.column_stack([np.ones(n), factor.whitened[:3].T])
    scaled *= np.sqrt(factor.precision)[:, None]
    dense = np.linalg.solve(np.linalg.cholesky(np.eye(4) + scaled.T @ scaled), scaled.T).T
    assert_allclose(hat_rows(factor, np.empty(4 * n)), dense, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("n", [1023, 1024, 2500])
def test_products_in_several_blocks(n):
    """All inner products of intercept, columns and two responses, in one pass over the rows."""
    rng = np.random.default_rng(n)
    factor = empty_factor(n, 4, 2)
    factor.n_active[0] = 3
    factor.ones[:] = rng.normal(1.0, 0.1, size=n)
    factor.whitened[:3] = rng.normal(0.3, 1.0, size=(3, n))
    factor.response[:] = rng.normal(-0.4, 1.0, size=(2, n))
    factor.precision[:] = rng.uniform(0.5, 2.0, size=n)
    refresh_products(factor)
    design = np.vstack([factor.ones, factor.whitened[:3]])
    assert_allclose(factor.gram[:4, :4], design * factor.precision @ design.T, rtol=1e-11)
    assert_allclose(factor.cross[:, :4], factor.response * factor.precision @ design.T, rtol=1e-10)
    cross = factor.cross.copy()
    factor.cross[:] = 0.0
    refresh_cross(factor)
    assert_allclose(factor.cross, cross, rtol=1e-10)
