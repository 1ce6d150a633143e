"""The generators of sparse regression problems against theory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import erf

from sparsekern.datasets import make_additive, make_bump

N_BIG = 200_000
every_generator = pytest.mark.parametrize("make", [make_bump, make_additive])
EFFECTS = [lambda x: 2 * np.cos(x), lambda x: x**2 / 2, lambda x: np.exp(x) / 5, lambda x: x]


def assert_variance(values, expected):
    """Five standard errors, the kurtosis taken from the sample."""
    centred = values - values.mean()
    error = np.sqrt((np.mean(centred**4) - np.mean(centred**2) ** 2) / len(values))
    assert abs(centred.var() - expected) < 5 * error


@every_generator
def test_shapes_and_defaults(make):
    X, y = make(31, 7, random_state=0)
    assert X.shape == (31, 7) and y.shape == (31,)
    assert X.dtype == y.dtype == np.float64 and np.isfinite(X).all() and np.isfinite(y).all()
    default_X, default_y = make()
    assert default_X.shape == ({make_bump: 50, make_additive: 100}[make], 20)
    assert len(default_y) == len(default_X)


@every_generator
def test_seeds(make):
    first = make(40, random_state=5, return_features=True)
    for again in (5, np.random.RandomState(5)):
        for a, b in zip(first, make(40, random_state=again, return_features=True), strict=True):
            assert_array_equal(a, b)
    stream = np.random.RandomState(5)
    make(40, random_state=stream)
    assert not np.array_equal(make(40, random_state=stream)[0], first[0])  # the stream moved on
    with pytest.raises(ValueError, match="seed"):
        make(40, random_state="five")


@every_generator
def test_features_are_distinct_random_and_do_not_depend_on_being_returned(make):
    found = [make(3, 5, random_state=seed, return_features=True) for seed in range(60)]
    sets = np.array([features for _, _, features in found])
    assert all(len(set(row)) == len(row) for row in sets)
    for column in sets.T:
        assert set(column) == set(range(5))
    X, y = make(3, 5, random_state=0)
    assert_array_equal(X, found[0][0])
    assert_array_equal(y, found[0][1])
    *_, first = make(3, 5, shuffle=False, return_features=True)
    assert_array_equal(first, np.arange(sets.shape[1]))


def test_bump_is_what_it_says():
    X, y, (feature,) = make_bump(N_BIG, 3, random_state=1, return_features=True)
    assert X.min() >= -5 and X.max() <= 5
    assert_allclose(X.var(axis=0), 100 / 12, rtol=0.01)
    noise = y - 10 * np.exp(-(X[:, feature] ** 2))
    assert noise.min() >= -2 and noise.max() <= 2
    assert_variance(noise, 16 / 12)
    mean = np.sqrt(np.pi) * erf(5) / 10
    square = np.sqrt(np.pi / 2) * erf(5 * np.sqrt(2)) / 10
    exact = 100 * (square - mean**2) + 16 / 12
    assert round(exact, 2) == 10.72  # the value in the docstring
    assert_variance(y, exact)
    assert np.all(np.abs(np.corrcoef(X.T, y)[-1, :-1]) < 5 / np.sqrt(N_BIG))


@pytest.mark.parametrize(("n_effects", "rounded"), [(3, 6.33), (4, 9.62)])
def test_additive_effects_are_what_they_say(n_effects, rounded):
    X, y, features = make_additive(
        N_BIG, 6, n_effects=n_effects, random_state=2, return_features=True
    )
    assert X.min() >= -np.pi and X.max() <= np.pi
    effects = [EFFECTS[j](X[:, feature]) for j, feature in enumerate(features)]
    exponential = (np.sinh(2 * np.pi) / (2 * np.pi) - (np.sinh(np.pi) / np.pi) ** 2) / 25
    variances = [2, np.pi**4 / 45, exponential, np.pi**2 / 3]
    assert_allclose(variances, [2, 2.16, 1.16, 3.29], atol=0.005)  # those of the docstring
    for effect, variance in zip(effects, variances, strict=False):
        assert_variance(effect, variance)
    noise = y - sum(effects)
    assert_variance(noise, 1)
    assert abs(noise.mean()) < 5 / np.sqrt(N_BIG)
    exact = 1 + sum(variances[:n_effects])
    assert round(exact, 2) == rounded
    assert_variance(y, exact)


def test_the_noise_of_additive_effects_can_be_set():
    X, y, features = make_additive(50, noise=0.0, n_effects=4, random_state=3, return_features=True)
    assert_allclose(y, sum(EFFECTS[j](X[:, k]) for j, k in enumerate(features)))
    same_X, noisy, _ = make_additive(
        50, noise=2.5, n_effects=4, random_state=3, return_features=True
    )
    _, unit, _ = make_additive(50, n_effects=4, random_state=3, return_features=True)
    assert_array_equal(same_X, X)
    assert_allclose(noisy - y, 2.5 * (unit - y))


@every_generator
@pytest.mark.parametrize("argument", ["n_samples", "n_features"])
@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError), ("9", TypeError)]
)
def test_unusable_counts_are_named(make, argument, value, error):
    with pytest.raises(error, match=f"{argument} must be .*{value}.*pass a"):
        make(**{argument: value})


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("n_effects", 2, ValueError),
        ("n_effects", True, ValueError),
        ("n_features", 2, ValueError),
        ("noise", -0.1, ValueError),
        ("noise", np.nan, ValueError),
        ("noise", "loud", TypeError),
    ],
)
def test_unusable_arguments_are_named(argument, value, error):
    with pytest.raises(error, match=f"{argument} must be .*{value}.*; pass"):
        make_additive(**{argument: value})


def test_four_effects_need_four_features():
    with pytest.raises(ValueError, match="n_features must be at least 4, got 3"):
        make_additive(n_features=3, n_effects=4)
