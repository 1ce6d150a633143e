"""Expected utility, sharpness and predictions of the kernel projection classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from sparsekern.inference.kernel_projection.held_out import split_folds
from sparsekern.inference.kernel_projection.projections import project_training
from sparsekern.inference.kernel_projection.sharpness import best_power
from sparsekern.inference.kernel_projection.utility import choose_size, even_split, utility_table
from sparsekern.kernels import resolve_kernels
from sparsekern.posteriors.projection import ProjectionPosterior, sharpened


def test_a_useless_component_costs_exactly_its_price():
    sizes, n_train = np.array([1, 2, 3]), np.full(10, 43.0)
    accuracy = np.tile(np.random.default_rng(0).random((10, 1)), (1, 3))
    table = utility_table(sizes, accuracy, np.zeros((10, 3)), n_train, 1.0)
    assert_allclose(table["difference"].to_numpy()[1:], -1 / 43, rtol=1e-12)
    assert_allclose(table["difference_error"].to_numpy()[1:], 0, atol=1e-15)
    assert choose_size(table, False) == 0
    perfect = utility_table(sizes, np.ones((10, 3)), np.zeros((10, 3)), n_train, 2.0)
    assert_allclose(perfect["utility"], 1 - 2 * sizes / 43)
    assert perfect["utility_error"].max() < 1e-15


def test_errors_are_those_of_differences():
    rng = np.random.default_rng(1)
    split = rng.standard_normal((10, 1)) * 5  # luck of the split, the same for all sizes
    scores = split + [0.0, 1.0, 1.01] + 0.01 * rng.standard_normal((10, 3))
    table = utility_table(np.array([1, 2, 3]), scores, scores, np.full(10, 40.0), None)
    assert table["utility_error"].min() > 0.5
    assert table["difference_error"].to_numpy()[1:].max() < 0.01
    best = int(scores.mean(0).argmax())
    apart = scores - scores[:, best : best + 1]
    assert_allclose(table["to_best_error"], apart.std(0, ddof=1) / np.sqrt(10))
    assert choose_size(table, False) == best


def test_one_standard_error_takes_the_smallest_that_is_close():
    rng = np.random.default_rng(2)
    scores = np.array([0.0, 1.0, 1.001, 1.002]) + 0.05 * rng.standard_normal((10, 4))
    scores[:, 3] += 0.01
    table = utility_table(np.arange(1, 5), scores, scores, np.full(10, 40.0), None)
    assert choose_size(table, True) == 1
    single = utility_table(np.arange(1, 5), scores[:1], scores[:1], np.full(1, 40.0), None)
    assert choose_size(single, True) == choose_size(single, False)


def test_halves_and_folds_share_out_every_class():
    labels = np.repeat([0, 1, 2], [11, 20, 4])
    rng = np.random.default_rng(0)
    train, test = even_split(labels, rng)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(35))
    assert np.all(np.abs(np.bincount(labels[train]) - np.bincount(labels[test])) <= 1)
    folds = split_folds(labels, 5, rng)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(35))
    assert max(map(len, folds)) - min(map(len, folds)) <= 1


def test_sharpness_is_found_where_it_is_known():
    rng = np.random.default_rng(4)
    truth = rng.dirichlet(np.ones(4) * 0.3, size=4000)
    labels = np.array([rng.choice(4, p=row) for row in truth])
    dull = sharpened(truth, 1 / 2.5)
    assert best_power(dull, labels) == pytest.approx(2.5, rel=0.05)
    assert_allclose(sharpened(dull, 2.5), truth, atol=1e-12)
    assert best_power(truth[:5], labels[:5]) < 20  # held by its prior
    several = np.stack([dull[:30], truth[:30]])  # their scores are averaged, the prior counts once
    powers = [best_power(part, labels[:30]) for part in (*several, several)]
    assert powers[1] < powers[2] < powers[0]
    assert best_power(np.stack([dull[:30]] * 3), labels[:30]) == pytest.approx(powers[0], rel=1e-4)


def test_prediction_of_training_rows_and_noise():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 3)) + 4
    source = project_training(resolve_kernels("rbf", "mean_distance", X)[0], X, 4)
    coefficients = rng.standard_normal((2, 50, 2, 5))
    plain = ProjectionPosterior((source,), (1.3,), coefficients, True, True)
    found = plain.probabilities(plain.columns(X))
    assert_allclose(found, plain.probabilities(plain.training_columns()), atol=1e-10)
    assert_allclose(found.sum(1), 1, atol=1e-12)
    by_hand = np.hstack([1.3 * source.training, np.ones((12, 1))]) @ np.swapaxes(coefficients, 2, 3)
    by_hand = np.concatenate([by_hand, np.zeros((2, 50, 12, 1))], axis=3)
    by_hand = np.exp(by_hand - logsumexp(by_hand, axis=3, keepdims=True))
    assert_allclose(found, by_hand.mean((0, 1)), atol=1e-10)
    assert_allclose(plain.thinned(10).probability_draws(plain.columns(X)),
                    by_hand[:, ::10].reshape(10, 12, 3), atol=1e-10)  # fmt: skip
    labels = np.arange(12) % 3
    own = np.take_along_axis(by_hand, labels[None, None, :, None], axis=3)[..., 0]
    assert_allclose(plain.pointwise_log_likelihood(None, labels), np.log(own), atol=1e-9)


@pytest.mark.parametrize("reference", [False, True])
def test_geometric_pooling_is_softmax_of_the_mean_function(reference):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((10, 3))
    source = project_training(resolve_kernels("rbf", "mean_distance", X)[0], X, 4)
    coefficients, noise = rng.standard_normal((2, 50, 3, 5)), rng.standard_normal((2, 50, 3))
    for added in (None, noise):
        model = ProjectionPosterior(
            (source,), (1.3,), coefficients, True, reference, added, power=0.7, geometric=True
        )
        columns = model.columns(X)
        logs = np.log(model.probability_draws(columns)).mean(axis=0)
        expected = np.exp(0.7 * logs)
        expected /= expected.sum(axis=1, keepdims=True)
        assert_allclose(model.probabilities(columns), expected, rtol=1e-9)
        assert_allclose(model.probabilities(columns).sum(1), 1, atol=1e-12)
