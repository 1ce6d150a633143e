"""Limits that decide about the result are named; limits that do not are not."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsekern import (
    DoublySparseClassifier,
    DoublySparseRegressor,
    GKMClassifier,
    GKMRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    SparseGPClassifier,
)
from sparsekern.estimators.generalized_kernel.model import most_active
from sparsekern.estimators.shared.runner import Runner
from sparsekern.settings import (
    DoublySparseRegressionPriors,
    DoublySparseSelection,
    GKMPriors,
    GKMRegressionPriors,
    HybridPrediction,
    HybridRegressionSearch,
    HybridSearchOptions,
    HybridSelection,
    UntilConverged,
)

SHORT = {"draws": 60, "tune": 60, "chains": 1, "random_state": 0, "progress": False}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
TREND = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3]
LABELS = np.where(TREND > 0, "a", "b")


def said(model, y, X=X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(issubclass(w.category, ConvergenceWarning) for w in caught)
    return [str(w.message) for w in caught if "of the posterior has" in str(w.message)]


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: (GKMRegressor(**SHORT, priors=GKMRegressionPriors(**k)), TREND),
        lambda **k: (GKMClassifier(likelihood="logit", **SHORT, priors=GKMPriors(**k)), LABELS),
        lambda **k: (SparseGPClassifier(**SHORT, priors=GKMPriors(**k)), LABELS),
        lambda **k: (
            DoublySparseRegressor(
                **SHORT, priors=DoublySparseRegressionPriors(expected_vectors=20.0, **k)
            ),
            TREND,
        ),
    ],
    ids=["gkm regressor", "gkm classifier", "sparse gp", "doubly sparse"],
)
def test_the_largest_active_set_is_named_where_it_binds(make):
    model, y = make(max_active=2)
    (message,) = said(model, y)
    assert "2 active vectors, the most that max_active=2 allows" in message
    assert "Raise max_active, for instance by set_params(priors__max_active=4)." in message
    model.set_params(priors__max_active=4)  # the sentence can be followed
    model, y = make(max_active=60)  # every row may be active
    assert said(model, y) == []


@pytest.mark.parametrize(("rows", "most"), [(200, 400), (15_000, 266), (200_000, 100)])
def test_room_for_active_vectors(rows, most):
    """Room takes memory by the rows; what the user says goes before it."""
    assert most_active(None, rows) == most
    assert most_active(7, rows) == 7
    assert most_active(None, rows, 3) == max(100, most // 3)


def test_a_regressor_may_use_more_vectors_than_a_hundred():
    X = np.linspace(-3, 3, 160)[:, None]
    y = np.sin(4 * X[:, 0]) + 0.1 * RNG.standard_normal(160)
    model = GKMRegressor(**SHORT | {"draws": 300, "tune": 300})
    assert said(model, y, X) == []
    assert max(model.traces_["n_active"][0]) > 100  # the data hardly care how many there are


def test_most_draws_of_a_chain():
    """More where sweeps take little time, and as many as the user says."""
    assert Runner(GKMClassifier()).most_draws == 50_000
    assert Runner(SparseGPClassifier()).most_draws == 50_000
    assert Runner(DoublySparseRegressor()).most_draws == 10_000
    asked = UntilConverged(max_draws=70)
    assert Runner(GKMClassifier(draws=asked)).most_draws == 70
    assert Runner(GKMClassifier(draws=80)).most_draws == 80


def test_one_sentence_for_all_classes():
    y = np.digitize(TREND, [-0.7, 0.7])
    model = GKMClassifier(likelihood="logit", priors=GKMPriors(max_active=2), **SHORT)
    assert len(said(model, y)) == 1


@pytest.mark.parametrize("make", [DoublySparseRegressor, HybridSearchGPRegressor])
def test_the_largest_number_of_features_is_named_where_it_binds(make):
    short = SHORT if make is DoublySparseRegressor else {"random_state": 0}
    y = 3 * X[:, 0] + 3 * X[:, 1] + 3 * X[:, 2]
    (message,) = said(make(**short).set_params(selection__max_features=2), y)
    assert "2 features, the most that max_features=2 allows" in message
    assert said(make(**short).set_params(selection__max_features=4), y) == []


def test_several_searches_say_it_once():
    y = np.digitize(2 * X[:, 0] + 2 * X[:, 1], [-1.5, 1.5])
    found = HybridSearchGPClassifier(
        selection=HybridSelection(max_features=1),
        search=HybridSearchOptions(n_wander=0),
        random_state=0,
    )
    assert len(said(found, y)) == 1


def test_sampled_search_names_its_limit_too():
    y = 3 * X[:, 0] + 3 * X[:, 1] + 3 * X[:, 2]
    model = HybridSearchGPRegressor(
        selection=HybridSelection(max_features=2),
        search=HybridRegressionSearch(method="mcmc", tune=30, chains=1),
        prediction=HybridPrediction(draws=30),
        random_state=0,
    )
    assert len(said(model, y)) == 1


def test_no_word_where_the_model_is_small():
    model = DoublySparseClassifier(selection=DoublySparseSelection(max_features=3), **SHORT)
    assert said(model, np.where(X[:, 0] > 0, 1, 0)) == []


def test_a_plot_shows_where_the_room_ends():
    from sparsekern.plotting import plot_active_trace

    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 2))
    model = GKMRegressor(draws=40, tune=40, chains=2, random_state=0)
    model.set_params(priors__max_active=2, progress=False)
    with pytest.warns(UserWarning):
        model.fit(X, np.sin(2 * X[:, 0]))
    assert model.limits_ == {"n_active": 2}
    trace = plot_active_trace(model)[0]
    assert any("max_active" in text.get_text() for text in trace.texts)
    assert any(line.get_linestyle() == ":" for line in trace.lines)
