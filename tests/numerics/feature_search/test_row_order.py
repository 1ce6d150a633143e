"""Which rows stand for all: by what they hold, in whatever order they come."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsekern.inference.feature_search.row_order import content_order
from sparsekern.inference.feature_search.subsample import spread_over_classes


def data(kind, n=400, p=6):
    rng = np.random.default_rng(3)
    if kind == "real":
        return rng.standard_normal((n, p)), rng.standard_normal(n)
    if kind == "two-valued":  # many rows have the same number of ones
        return rng.integers(0, 2, (n, 12)) * 1.0, np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return np.round(rng.standard_normal((n, p))), rng.poisson(2.0, n) * 1.0


@pytest.mark.parametrize("kind", ["real", "two-valued", "whole numbers"])
def test_order_does_not_depend_on_how_the_data_are_sorted(kind):
    features, response = data(kind)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(features)), rng.permutation(features.shape[1])
    order = content_order(features, response)
    other = content_order(features[rows][:, columns], response[rows])
    assert_array_equal(features[order][:, columns], features[rows][:, columns][other])
    assert_array_equal(response[order], response[rows][other])


def test_zeros_of_both_signs_are_the_same():
    features, response = data("whole numbers")
    flipped = np.where(features == 0, -0.0, features)
    assert_array_equal(content_order(features, response), content_order(flipped, response))


def test_rounding_of_scaled_features_changes_nothing():
    """Sums over rows in another order differ in their last digits."""
    features, response = data("real")
    rows = np.random.default_rng(1).permutation(len(features))

    def scaled(values):
        return (values - values.mean(axis=0)) / values.std(axis=0)

    one, other = scaled(features), scaled(features[rows])
    assert (one[rows] != other).any()
    assert_array_equal(content_order(one, response), rows[content_order(other, response[rows])])


@pytest.mark.parametrize("kind", ["real", "two-valued", "whole numbers"])
def test_first_rows_are_like_a_random_sample(kind):
    """Means of features over a quarter of 4,000 rows differ from the whole as by chance."""
    features, response = data(kind, 4000)
    first = content_order(features, response)[:1000]
    error = features.std(axis=0) * np.sqrt(1 / 1000 - 1 / 4000)
    z = (features[first].mean(axis=0) - features.mean(axis=0)) / error
    assert np.abs(z).max() < 4
    spread = response.std() * np.sqrt(1 / 1000 - 1 / 4000)
    assert abs(response[first].mean() - response.mean()) < 4 * spread


@pytest.mark.parametrize(("share", "kept"), [(0.5, 250), (0.2, 100), (0.05, 25), (0.01, 25)])
def test_classes_keep_their_shares_and_rare_ones_five_per_cent(share, kept):
    labels = np.where(np.arange(5000) < round(5000 * share), 1.0, -1.0)
    rows = spread_over_classes(labels, 500, 0.05)
    assert len(np.unique(rows)) == 500
    assert (labels[rows] == 1).sum() == kept


def test_a_class_of_a_few_rows_keeps_them_all():
    labels = np.r_[np.ones(7), np.zeros(4993)]
    rows = spread_over_classes(labels, 500, 0.05)
    assert labels[rows].sum() == 7 and len(rows) == 500
