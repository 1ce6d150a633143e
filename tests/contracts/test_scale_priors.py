"""A prior's log density and its draw say the same."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from sparsekern.priors import ScalePriors, inclusion_log_odds, independent_log_weights
from sparsekern.priors.gamma import draw_gamma, draw_precision, log_gamma_density
from sparsekern.priors.scales import (
    draw_amplitude,
    draw_variance,
    log_density_of_scale,
    walk_ratio_of_amplitude,
)

SHAPE, RATE = 1.7, 0.6
DRAWS = 20_000


def gamma_cdf(x):
    """Distribution function made of the log density, by quadrature."""
    total = quad(lambda s: math.exp(log_gamma_density(s, SHAPE, RATE)), -30, 8)[0]
    below = quad(lambda s: math.exp(log_gamma_density(s, SHAPE, RATE)), -30, math.log(x))[0]
    return below / total


def p_value(drawn, cdf):
    return stats.kstest(drawn, np.vectorize(cdf)).pvalue


def test_draws_have_the_density():
    rng = np.random.default_rng(0)
    drawn = [draw_gamma(rng, SHAPE, RATE) for _ in range(2000)]
    assert p_value(drawn, gamma_cdf) > 1e-3


def test_precision_given_coefficients():
    """Against the posterior on a grid: prior times normal densities of three coefficients."""
    coefficients, noise = np.array([0.4, -1.1, 2.0]), 0.7
    grid = np.linspace(-9, 5, 4001)
    logs = [
        log_gamma_density(s, SHAPE, RATE)
        + stats.norm.logpdf(coefficients, scale=math.sqrt(noise * math.exp(-s))).sum()
        for s in grid
    ]
    weights = np.exp(np.array(logs) - max(logs))
    expected = np.array([weights @ np.exp(grid), weights @ np.exp(2 * grid)]) / weights.sum()
    rng = np.random.default_rng(1)
    squares = float(coefficients @ coefficients) / noise
    drawn = np.array([draw_precision(rng, SHAPE, RATE, 3, squares) for _ in range(DRAWS)])
    for power, value in enumerate(expected, 1):
        error = (drawn**power).std() / math.sqrt(DRAWS)
        assert abs((drawn**power).mean() - value) < 4.5 * error


def test_the_prior_ends():
    prior = ScalePriors(SHAPE, RATE, 1.0, 1.0, 0.0, largest_variance=2.0)
    assert log_density_of_scale(prior, -math.log(2.1)) == -math.inf
    assert math.isfinite(log_density_of_scale(prior, -math.log(1.9)))
    rng = np.random.default_rng(2)
    drawn = {draw_variance(rng, prior, 1, 9.0, 1.25) for _ in range(500)}
    assert 1.25 in drawn and max(drawn) < 2.0 and len(drawn) > 50


def test_a_known_variance_stays():
    prior = ScalePriors(0.0, 0.0, 0.0, 0.0)
    assert draw_variance(np.random.default_rng(0), prior, 3, 1.0, 0.3) == 0.3


def test_amplitudes():
    prior = ScalePriors(SHAPE, RATE, 1.0, 1.0, 0.3)
    rng = np.random.default_rng(3)
    drawn = np.array([draw_amplitude(rng, prior) for _ in range(4000)])
    zero = (drawn == 0).mean()
    assert abs(zero - 0.3) < 4.5 * math.sqrt(0.3 * 0.7 / len(drawn))
    assert p_value(drawn[drawn > 0][:2000], gamma_cdf) > 1e-3
    old, new = 0.4, 1.3
    ratio = stats.gamma.logpdf(new, SHAPE, scale=1 / RATE) + math.log(new)
    ratio -= stats.gamma.logpdf(old, SHAPE, scale=1 / RATE) + math.log(old)
    assert walk_ratio_of_amplitude(prior, old, new) == pytest.approx(ratio)


def test_independent_inclusion():
    weights = independent_log_weights(4, 0.2)
    np.testing.assert_allclose(np.diff(weights), math.log(0.25))
    assert inclusion_log_odds(1.0) == math.inf
