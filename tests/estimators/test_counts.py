"""Counts, exposure and Laplace noise in the regressions."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom, poisson

from sparsekern import DoublySparseRegressor, GKMRegressor, HybridSearchGPRegressor
from sparsekern.settings import (
    DoublySparseRegressionMoves,
    DoublySparseRegressionPriors,
    HybridRegressionSearch,
)

SHORT = {"draws": 300, "tune": 400, "chains": 2, "random_state": 0, "progress": False}
SAMPLED = {
    "gkm": lambda **options: GKMRegressor(**SHORT, **options),
    "doubly sparse": lambda **options: DoublySparseRegressor(**SHORT, **options),
}
families = pytest.mark.parametrize("family", SAMPLED)


def simulate(n=150, counts="poisson", seed=0):
    """Counts whose rate depends on the first column, with the exposure in the last."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-2, 2, (n, 2)), np.exp(rng.normal(1.5, 1.0, n))])
    log_rate = 1.2 * np.sin(1.5 * X[:, 0])
    mean = X[:, 2] * np.exp(log_rate)
    if counts == "poisson":
        return X, rng.poisson(mean).astype(float), log_rate
    return X, rng.negative_binomial(2.0, 2.0 / (2.0 + mean)).astype(float), log_rate


@families
@pytest.mark.parametrize("counts", ["poisson", "negative_binomial"])
def test_rates_are_recovered_with_exposure(family, counts):
    X, y, log_rate = simulate(counts=counts)
    model = SAMPLED[family](counts=counts, offset=2).fit(X, y)
    at_one = np.column_stack([X[:, :2], np.ones(len(X))])
    found = np.log(model.predict(at_one))
    error = 0.25 if counts == "poisson" else 0.45
    assert np.sqrt(np.mean((found - log_rate) ** 2)) < error
    # the exposure is a factor of the mean, and of nothing else
    np.testing.assert_allclose(model.predict(X), X[:, 2] * model.predict(at_one), rtol=1e-9)
    quantiles = model.predict_quantiles(X, [0.05, 0.5, 0.95])
    np.testing.assert_array_equal(quantiles, np.round(quantiles))
    covered = (quantiles[:, 0] <= y) & (y <= quantiles[:, 2])
    assert 0.85 < covered.mean() <= 1.0
    drawn = model.sample_predictive(X[:5], 400, random_state=0)
    assert drawn.shape == (400, 5) and (drawn >= 0).all() and (drawn == np.round(drawn)).all()
    means = model.sample_mean(X[:7])
    np.testing.assert_allclose(means.mean(axis=0), model.predict(X[:7]), rtol=1e-9)
    assert model.sample_mean(X[:7], thin=3).shape == (200, 7)
    if counts == "negative_binomial":
        dispersion = model.posterior_.posterior["dispersion"].values
        assert 0.3 < dispersion.mean() < 0.8
    if family == "doubly sparse":
        assert model.feature_inclusion_[2] == 0.0
        assert model.feature_inclusion_[0] > 0.9


@families
def test_densities_are_those_of_the_mixture(family):
    X, y, _ = simulate(40, "negative_binomial")
    model = SAMPLED[family](counts="negative_binomial", offset=2).fit(X, y)
    mean = model.sample_mean(X)
    size = 1.0 / model.posterior_.posterior["dispersion"].values.reshape(-1, 1)
    each = nbinom.pmf(y, size, size / (size + mean))
    np.testing.assert_allclose(
        model.log_predictive_density(X, y), np.log(each.mean(axis=0)), rtol=1e-8
    )
    pointwise = model.pointwise_log_likelihood().reshape(each.shape)
    np.testing.assert_allclose(pointwise, np.log(each), rtol=1e-8, atol=1e-8)
    total = model.posterior_.sample_stats["log_likelihood"].values.ravel()
    np.testing.assert_allclose(pointwise.sum(axis=1), total, rtol=1e-9)
    _, std = model.predict(X, return_std=True)
    variance = (mean + mean**2 / size).mean(axis=0) + mean.var(axis=0)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-9)


def test_a_column_by_name_or_by_position_and_none():
    X, y, _ = simulate(40)
    frame = pd.DataFrame(X, columns=["a", "b", "time"])
    named = SAMPLED["gkm"](counts="poisson", offset="time").fit(frame, y)
    placed = SAMPLED["gkm"](counts="poisson", offset=2).fit(X, y)
    np.testing.assert_array_equal(named.predict(frame), placed.predict(X))
    before = X.copy()
    placed.predict(X)
    np.testing.assert_array_equal(X, before)
    alone = SAMPLED["gkm"](counts="poisson").fit(X[:, :2], y)
    logs = poisson.logpmf(y, alone.sample_mean(X[:, :2]))
    assert np.isfinite(logs).all()


@families
def test_bad_input(family):
    X, y, _ = simulate(30)
    make = SAMPLED[family]
    with pytest.raises(ValueError, match="counts='poisson' needs whole numbers from 0 on"):
        make(counts="poisson").fit(X, y - 5)
    with pytest.raises(
        ValueError, match="counts='negative_binomial' needs whole numbers from 0 on"
    ):
        make(counts="negative_binomial").fit(X, y + 0.5)
    with pytest.raises(ValueError, match=r"offset='time' names no column of X.*no column names"):
        make(counts="poisson", offset="time").fit(X, y)
    with pytest.raises(ValueError, match=r"position of a column of X \(0 to 2\), got 3"):
        make(counts="poisson", offset=3).fit(X, y)
    with pytest.raises(ValueError, match=r"exposure, column 0 of X, must be positive"):
        make(counts="poisson", offset=0).fit(X, y)
    with pytest.raises(ValueError, match=r"offset=2 is for counts, not for noise='gaussian'"):
        make(offset=2).fit(X, y)
    with pytest.raises(ValueError, match=r"offset=0 is the only column"):
        make(counts="poisson", offset=0).fit(X[:, 2:], y)
    with pytest.raises(ValueError, match=r"noise='probit' cannot be used .* it is for labels"):
        make(noise="probit").fit(X, y)
    with pytest.raises(
        ValueError, match=r"noise='poisson' is a law of counts: use counts='poisson'"
    ):
        make(noise="poisson").fit(X, y)
    with pytest.raises(ValueError, match=r"noise='laplace' is for real responses and counts='poi"):
        make(counts="poisson", noise="laplace").fit(X, y)


def test_what_a_sweep_cannot_correct_is_refused():
    X, y, _ = simulate(30)
    with pytest.raises(ValueError, match=r"spike of variance 0.01 .*poisson.* lacks: working"):
        DoublySparseRegressor(
            counts="poisson", priors=DoublySparseRegressionPriors(spike=0.01), **SHORT
        ).fit(X, y)
    with pytest.raises(ValueError, match=r"temperatures.*Gaussian noise, not for the poisson"):
        DoublySparseRegressor(
            counts="poisson", moves=DoublySparseRegressionMoves(temperatures=(1, 2)), **SHORT
        ).fit(X, y)


@pytest.mark.parametrize("rows", [500, 60])
def test_exposure_in_a_hybrid_search(rows):
    """Searched on all rows, and on some with a model of its own for each prediction."""
    X, y, log_rate = simulate(120)
    model = HybridSearchGPRegressor(
        counts="poisson",
        offset=2,
        search=HybridRegressionSearch(rows=rows),
        random_state=0,
        progress=False,
    ).fit(X, y)
    assert list(model.selected_features_) == [0]
    at_one = np.column_stack([X[:, :2], np.ones(len(X))])
    found = np.log(model.predict(at_one))
    assert np.sqrt(np.mean((found - log_rate) ** 2)) < 0.25
    np.testing.assert_allclose(model.predict(X), X[:, 2] * model.predict(at_one), rtol=1e-9)
    means = model.sample_mean(X[:9], thin=2)
    np.testing.assert_allclose(means.mean(axis=0), model.predict(X[:9]), rtol=0.1)
    assert np.isfinite(model.log_predictive_density(X, y)).all()
    with pytest.raises(ValueError, match="offset=2 is for counts"):
        HybridSearchGPRegressor(offset=2).fit(X, y)
    with pytest.raises(ValueError, match="exposure, column 2 of X, must be positive"):
        model.predict(X * [1, 1, -1])


@pytest.mark.parametrize("family", [*SAMPLED, "hybrid"])
def test_laplace_noise(family):
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (150, 2))
    truth = np.sin(2 * X[:, 0])
    y = 50.0 + 10.0 * (truth + 0.2 * rng.laplace(size=150))
    if family == "hybrid":
        model = HybridSearchGPRegressor(noise="laplace", random_state=0, progress=False)
    else:
        model = SAMPLED[family](noise="laplace")
    model.fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean - 50.0 - 10.0 * truth) ** 2)) < 1.5
    low, high = model.predict_quantiles(X, [0.05, 0.95]).T
    assert 0.84 < np.mean((low <= y) & (y <= high)) < 0.97
    # of the true law: quantiles 2 log 10 scales apart, a variance of two squared scales
    assert 0.8 < np.median(high - low) / (2.0 * 2.0 * np.log(10)) < 1.3
    assert 0.8 < np.median(std) / (2.0 * np.sqrt(2.0)) < 1.3
    drawn = model.sample_predictive(X[:20], 300, random_state=0)
    assert 0.7 < np.mean(np.abs(drawn - mean[:20])) / 2.0 < 1.4
