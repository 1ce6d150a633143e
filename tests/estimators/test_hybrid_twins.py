"""Features that stand in for each other, and several starts."""

import numpy as np
import pytest

from sparsekern import HybridSearchGPRegressor

SHORT = {"search__n_wander": 2, "device": "cpu", "random_state": 0}


def search(**changes):
    return HybridSearchGPRegressor().set_params(**{**SHORT, **changes})


def twins(seed, n=50, correlation=0.97):
    """Three groups of three features; the first features of two groups make the response."""
    rng = np.random.default_rng(seed)
    common = np.repeat(rng.standard_normal((n, 3)), 3, axis=1)
    X = np.sqrt(correlation) * common
    X += np.sqrt(1 - correlation) * rng.standard_normal((n, 9))
    return X, 1.5 * np.sin(X[:, 0]) + X[:, 3] + 0.6 * rng.standard_normal(n)


def unlike(seed, n=50):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 9))
    return X, 1.5 * np.sin(X[:, 0]) + X[:, 3] + 1.5 * rng.standard_normal(n)


@pytest.mark.parametrize("seed", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_inclusion_of_twins_is_that_of_a_sampler(seed):
    data = twins(seed)
    found = search().fit(*data).feature_inclusion_
    sampled = search(search__method="mcmc", prediction__draws=2000, search__tune=300).fit(*data)
    shared = np.abs(sampled.feature_inclusion_ - 0.5) < 0.35
    assert shared.sum() >= 4  # nothing that 0 or 1 would do for
    np.testing.assert_allclose(found, sampled.feature_inclusion_, atol=0.1)


def test_the_window_is_wide_where_features_are_exchanged():
    X, y = twins(2)
    wide = search().fit(X, y)
    same = search(search__window=500).fit(X, y)
    narrow = search(search__window=20).fit(X, y)
    np.testing.assert_array_equal(wide.feature_inclusion_, same.feature_inclusion_)
    reach = [model.models_.score[0] - model.models_.score.min() for model in (wide, narrow)]
    assert np.log(20) < reach[0] <= np.log(500) and reach[1] <= np.log(20)
    assert set(narrow.models_.features) < set(wide.models_.features)
    for data, options in (
        (unlike(0), {}),
        ((X, y), {"search__swaps": False}),
        ((X, y), {"search__rows": 40}),
    ):
        one, other = (
            search(**options, **window).fit(*data) for window in ({}, {"search__window": 20})
        )
        np.testing.assert_array_equal(one.feature_inclusion_, other.feature_inclusion_)


def test_parameters_of_models_of_little_weight_are_at_their_mode():
    X, y = twins(2)
    model = search().fit(X, y)
    points = np.array([len(kept.weights) for kept in model._posterior.models])
    heavy = model.models_.weight * 20 >= model.models_.weight[0]
    np.testing.assert_array_equal(points, np.where(heavy, 15, 1))
    assert 0 < heavy.sum() < len(heavy)
    model.set_params(prediction__integration="mode").fit(X, y)
    assert all(len(kept.weights) == 1 for kept in model._posterior.models)


@pytest.mark.parametrize("make", [twins, unlike])
def test_more_starts_never_find_less(make):
    for seed in range(3):
        scores = [
            search(search__n_starts=n_starts).fit(*make(seed)).models_.score[0]
            for n_starts in (1, 2, 5)
        ]
        assert (np.diff(scores) >= 0).all()
