"""The law of new responses: blocks put together, in the units of the user."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from sparsekern.likelihoods import Gaussian, Poisson
from sparsekern.predictive.class_shares import by_class, normalized_shares
from sparsekern.predictive.law import PredictiveLaw
from sparsekern.predictive.mixture import Mixture

CENTRE, SPREAD = 40.0, 3.0
RNG = np.random.default_rng(0)
LATENT = RNG.normal(size=(5, 7))
NOISE = RNG.uniform(0.2, 1.0, (5, 1))
LEVELS = np.array([0.05, 0.5, 0.8])


def draws_law(cuts=(3,)):
    """Return the law of five draws of a function at seven rows, in blocks."""
    edges = [0, *cuts, 7]
    made = []

    def blocks():
        for start, end in pairwise(edges):
            made.append((start, end))
            block = slice(start, end)
            yield block, Mixture.of_draws(Gaussian(), LATENT[:, block], NOISE, np.zeros(0))

    return PredictiveLaw(blocks, 7, CENTRE, SPREAD, n_draws=5), made


def test_the_law_is_that_of_a_mixture_of_normals():
    law, made = draws_law()
    assert made == []  # blocks are made when asked for
    means, deviations = CENTRE + SPREAD * LATENT, SPREAD * np.sqrt(NOISE)
    mean, variance = law.moments()
    np.testing.assert_allclose(mean, means.mean(axis=0))
    np.testing.assert_allclose(variance, means.var(axis=0) + (deviations**2).mean())
    np.testing.assert_allclose(law.mean(), mean)
    y = RNG.normal(CENTRE, SPREAD, 7)
    each = stats.norm.logpdf(y, means, deviations)
    np.testing.assert_allclose(law.log_density(y), np.log(np.exp(each).mean(axis=0)))
    expected = stats.norm.cdf(y, means, deviations).mean(axis=0)
    np.testing.assert_allclose(law.distribution(y), expected)
    quantiles = law.quantiles(LEVELS)
    for place, level in enumerate(LEVELS):
        np.testing.assert_allclose(law.distribution(quantiles[:, place]), level, atol=1e-10)


@pytest.mark.parametrize("cuts", [(), (1, 2), (4,)])
def test_blocks_do_not_matter(cuts):
    law, other = draws_law()[0], draws_law(cuts)[0]
    y = np.linspace(CENTRE - SPREAD, CENTRE + SPREAD, 7)
    for found, again in zip(law.moments(), other.moments(), strict=True):
        np.testing.assert_allclose(found, again)
    np.testing.assert_allclose(law.quantiles(LEVELS), other.quantiles(LEVELS))
    np.testing.assert_allclose(law.log_density(y), other.log_density(y))


def test_draws_keep_their_function_in_all_blocks():
    latent = np.repeat(100.0 * np.arange(5.0)[:, None], 7, axis=1)  # far apart: seen in a draw

    def blocks():
        for start in range(7):
            part = latent[:, start : start + 1]
            yield slice(start, start + 1), Mixture.of_draws(Gaussian(), part, NOISE, np.zeros(0))

    law = PredictiveLaw(blocks, 7, CENTRE, SPREAD, n_draws=5)

    def functions(draws):
        return np.round((draws - CENTRE) / SPREAD / 100.0)

    found = functions(law.sample(np.random.default_rng(1), 400))
    assert found.shape == (400, 7)
    assert (found == found[:, :1]).all()
    assert set(found[:, 0]) == set(range(5))
    every = functions(law.sample(np.random.default_rng(1)))
    np.testing.assert_array_equal(every, np.repeat(np.arange(5.0)[:, None], 7, axis=1))


def test_samples_have_the_moments_of_the_law():
    weights = np.array([[0.2], [0.8]])
    means, variances = np.array([[0.0, 1.0], [3.0, 2.0]]), np.array([[0.5, 0.1], [0.2, 1.0]])
    mixture = Mixture(Gaussian(), weights, means, variances, np.array([[0.3], [0.1]]))
    law = PredictiveLaw.of_mixture(mixture, CENTRE, SPREAD)
    mean, variance = law.moments()
    draws = law.sample(np.random.default_rng(0), 100_000)
    deviation = np.sqrt(variance)
    assert (np.abs(draws.mean(axis=0) - mean) < 4 * deviation / np.sqrt(1e5)).all()
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.02)


def test_counts_stay_whole_numbers():
    mixture = Mixture.of_draws(
        Poisson(), np.log([[2.0, 9.0], [3.0, 9.0]]), np.ones((2, 1)), np.zeros(0)
    )
    law = PredictiveLaw.of_mixture(mixture, 0.0, 1.0)
    np.testing.assert_allclose(law.mean(), [2.5, 9.0])
    np.testing.assert_allclose(law.quantiles(LEVELS)[1], stats.poisson.ppf(LEVELS, 9.0))
    draws = law.sample(np.random.default_rng(0), 50)
    np.testing.assert_array_equal(draws, np.round(draws))


def test_shares_of_models_of_one_class():
    positive = [np.array([0.5, 0.0]), np.array([0.25, 0.0]), np.array([0.25, 0.0])]
    np.testing.assert_allclose(normalized_shares(positive), [[0.5, 0.25, 0.25], [1 / 3] * 3])
    np.testing.assert_array_equal(
        by_class(np.array([0.25, 1.0 + 1e-15]), 2), [[0.75, 0.25], [0, 1]]
    )
