"""Multinomial probit: probabilities, enumeration of active sets, symmetry in the classes."""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis
from dense_model import covariance, exact_set_posterior, gaussian_kernel, total_variation
from family_setup import make_sampler, run
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from sparsekern.likelihoods import MultinomialProbit
from sparsekern.likelihoods._contract import Likelihood
from sparsekern.likelihoods.multinomial_probit import _complete, contrast_matrix

N, CLASSES, LARGEST = 4, 3, 4
FEATURES = np.random.default_rng(8).standard_normal((N, 2))
LABELS = np.array([0, 1, 2, 1])
G, ETA, JITTER = 0.5, 1.0, 0.05
SHARP = 1e7


def test_contract():
    likelihood = MultinomialProbit(4)
    assert isinstance(likelihood, Likelihood)
    contrasts = contrast_matrix(4)
    np.testing.assert_allclose(contrasts.T @ contrasts, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(contrasts.sum(0), 0, atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_probabilities_against_quadrature(classes):
    rng = np.random.default_rng(0)
    likelihood = MultinomialProbit(classes)
    for size in (0.3, 2.0, 6.0):
        latent = size * rng.standard_normal((5, classes - 1))
        functions = latent @ likelihood.contrasts.T
        ours = likelihood.mean(latent)
        for i in range(5):
            for j in range(classes):

                def density(e, here=functions[i], j=j):
                    others = np.delete(here, j)
                    return norm.pdf(e) * norm.cdf(here[j] - others + e).prod()

                exact = quad(density, -12, 12, epsabs=1e-13, limit=200)[0]
                assert abs(ours[i, j] - exact) < 1e-9
            value = likelihood.log_likelihood(np.array([1.0]), latent[i : i + 1])
            np.testing.assert_allclose(np.exp(value), ours[i, 1], rtol=1e-12)


def test_two_classes_are_probit_of_the_difference():
    latent = np.linspace(-4, 4, 9)[:, None]
    functions = latent @ contrast_matrix(2).T
    exact = norm.cdf((functions[:, 1] - functions[:, 0]) / np.sqrt(2))
    np.testing.assert_allclose(MultinomialProbit(2).mean(latent)[:, 1], exact, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_mean_part_is_drawn_from_its_prior(classes, count=20_000):
    """Labels do not see it: contrasts stay as they are, s = S 1 / sqrt(c) comes from N(0, Q)."""
    rng = np.random.default_rng(classes)
    rows, latent = [2, 0], rng.standard_normal((classes - 1, N))
    factor = factor_at(rbf_basis(FEATURES, JITTER), np.ones(2), rows, latent, G, ETA, LARGEST)
    data = MultinomialProbit(classes).compiled(np.arange(N) % classes, np.zeros(0))
    full, means = np.empty((classes, N)), np.empty((count, N))
    for t in range(count):
        _complete(data, rng, factor, full)
        means[t] = full.sum(axis=0) / np.sqrt(classes)
    np.testing.assert_allclose(data.contrasts.T @ full, latent, atol=1e-12)
    q = covariance(gaussian_kernel(FEATURES, FEATURES, np.ones(2)), rows, G, ETA, JITTER)
    standard = np.linalg.solve(np.linalg.cholesky(q), means.T)
    error = standard @ standard.T / count - np.eye(N)
    z = error * np.sqrt(count) / np.sqrt(1.0 + np.eye(N))
    assert np.abs(z).max() < 4, z
    assert np.abs(standard.mean(axis=1)).max() * np.sqrt(count) < 4


def _log_orthant(kernel, rows):
    """Log probability that every label wins: an orthant of the stacked differences."""
    q = covariance(kernel, rows, G, ETA, JITTER)
    differences = []
    for i, winner in enumerate(LABELS):
        for loser in range(CLASSES):
            if loser != winner:
                row = np.zeros((CLASSES, N))
                row[winner, i], row[loser, i] = -1.0, 1.0
                differences.append(row.ravel())
    matrix = np.array(differences)
    spread = matrix @ np.kron(np.eye(CLASSES), q) @ matrix.T
    law = multivariate_normal(cov=spread, maxpts=400_000, abseps=1e-7, releps=1e-5, seed=1)
    return np.log(law.cdf(np.zeros(len(spread))))


def _visited(sweeps, seed, labels=LABELS):
    sampler = make_sampler(
        MultinomialProbit(CLASSES), FEATURES, labels.astype(float), largest=LARGEST,
        prior=(G * SHARP, SHARP, ETA * SHARP, SHARP), jitter=JITTER, moves=4,
    )  # fmt: skip
    draws, _ = run(sampler, sweeps, tune=500, seed=seed)
    codes = [sum(1 << int(r) for r in draws.rows[t, :k]) for t, k in enumerate(draws.n_active)]
    return np.bincount(codes, minlength=2**N) / len(codes), draws


def test_active_sets_enumerated():
    """Four rows, three classes, scales held by a sharp prior: all sixteen sets."""
    kernel = gaussian_kernel(FEATURES, FEATURES, np.ones(2))
    exact = exact_set_posterior(N, LARGEST, lambda rows: _log_orthant(kernel, rows))
    visited, _ = _visited(100_000, 1)
    distance = total_variation(visited, exact)
    print(f"TV {distance:.4f}")
    assert distance < 0.012


@pytest.mark.slow
def test_naming_the_classes_otherwise_changes_nothing():
    one, first = _visited(60_000, 2)
    other, second = _visited(60_000, 3, labels=np.array([2, 0, 1, 0]))
    assert total_variation(one, other) < 0.02
    for name in ("log_likelihood", "monitored"):
        a, b = getattr(first, name), getattr(second, name)
        assert np.abs(a.mean(0) - b.mean(0)).max() < 0.08 * a.std(0).max()
