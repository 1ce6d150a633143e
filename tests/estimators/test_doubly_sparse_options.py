"""Options of the doubly-sparse estimators: large n, the continuous spike, the comparators."""

import numpy as np
import pytest

from sparsekern import DoublySparseClassifier, DoublySparseRegressor
from sparsekern.datasets import make_additive
from sparsekern.estimators.doubly_sparse.model import FIXED_ROWS, LARGE
from sparsekern.inference.feature_search.screening import screen_features
from sparsekern.inference.feature_search.subsample import spread_rows
from sparsekern.inference.hybrid.screening import screen_by_evidence
from sparsekern.kernels.feature_sums import FEATURE_KERNELS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"draws": 40, "tune": 40, "chains": 2, "random_state": 0, "progress": False}
X, Y = make_additive(80, 5, random_state=1, shuffle=False)
MANY, MANY_Y = make_additive(LARGE + 100, 4, random_state=2, shuffle=False)


def regress(features=X, response=Y, **options):
    return DoublySparseRegressor(**SHORT).set_params(**options).fit(features, response)


def classify(features, labels, **options):
    return DoublySparseClassifier(**SHORT).set_params(**options).fit(features, labels)


def test_fixed_rows_use_some_rows_and_report_them_by_number(rows_looked_at):
    model = regress(MANY, MANY_Y, moves__large_n="fixed_rows", priors__expected_vectors=5.0)
    used = rows_looked_at[-1].used
    assert model.active_probabilities_.shape == (len(MANY),)
    assert len(used) == FIXED_ROWS
    assert np.isin(model.active_vectors_, used).all()
    assert model.pointwise_log_likelihood().shape == (2, 40, FIXED_ROWS)
    total = model.pointwise_log_likelihood().sum(axis=-1)
    np.testing.assert_allclose(total, model.posterior_["sample_stats"]["log_likelihood"], rtol=1e-9)
    by_hand = regress(MANY[used], MANY_Y[used])
    assert by_hand.score(MANY, MANY_Y) > 0.5 and model.score(MANY, MANY_Y) > 0.5


def test_fixed_rows_of_one_vs_rest_models_keep_their_classes(rows_looked_at):
    labels = np.where(np.arange(len(MANY)) < 60, 2, (np.median(MANY_Y) < MANY_Y).astype(int))
    model = classify(MANY, labels, draws=10, tune=10, moves__large_n="fixed_rows")
    used = rows_looked_at[-1].used
    assert set(labels[used]) == {0, 1, 2}
    assert np.isin(model._posterior.monitored_rows, used).all()
    shares = model.sample_proba(MANY[used])[:, np.arange(len(used)), labels[used]]
    pointwise = model.pointwise_log_likelihood().reshape(shares.shape)
    np.testing.assert_allclose(pointwise, np.log(shares), rtol=1e-9)


def test_screening_by_evidence_sees_effects_of_any_shape(rows_looked_at):
    rng = np.random.default_rng(8)
    features = rng.uniform(-3, 3, (120, 30))
    response = 1.5 * np.cos(2 * features[:, 4]) + np.abs(features[:, 9])
    response += 0.2 * rng.standard_normal(120)
    regress(
        features, response, selection__screen=2, selection__screen_by="evidence", draws=10, tune=10
    )
    np.testing.assert_array_equal(rows_looked_at[-1].screened, [4, 9])
    classes = np.digitize(response, np.quantile(response, [1 / 3, 2 / 3]))[:, None] == range(3)
    found = screen_by_evidence(features, classes.astype(float), 2, FEATURE_KERNELS["rbf"], None)
    np.testing.assert_array_equal(found, [4, 9])
    assert 4 not in screen_features(features, response[:, None], 2)
    with pytest.raises(ValueError, match="screen_by must be one of"):
        regress(selection__screen=2, selection__screen_by="luck")


def test_a_dictionary_has_300_candidates_and_all_rows(rows_looked_at):
    model = regress(MANY, MANY_Y, draws=10, tune=10, chains=1)
    assert len(rows_looked_at[-1].used) == len(MANY)
    assert 0 < len(model.active_vectors_) <= 300


def test_fixed_rows_and_named_candidates_do_not_go_together():
    with pytest.raises(ValueError, match="candidates names rows, but large_n='fixed_rows'"):
        regress(MANY, MANY_Y, moves__large_n="fixed_rows", candidates=[0, 1, 2])


def test_few_rows_know_no_large_n():
    one, other = regress(), regress(moves__large_n="fixed_rows")
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("response", [np.repeat([0.0, 1.0, 2.0], [50, 30, 20]), np.arange(100.0)])
def test_spread_rows_keep_shares(response):
    rows = spread_rows(response, 10, np.random.RandomState(0))
    assert len(np.unique(rows)) == 10 and (np.diff(rows) > 0).all()
    assert abs(np.mean(response[rows]) - response.mean()) < 0.05 * (np.ptp(response) + 1)


def test_spike_and_point_mass_agree_on_what_matters():
    options = {"draws": 400, "tune": 400}
    models = [regress(**options), regress(**options, priors__spike=1e-3)]
    for model in models:
        assert {0, 1, 2} <= set(model.selected_features_)
    one, other = (model.predict(X) for model in models)
    assert np.corrcoef(one, other)[0, 1] > 0.98
    spike = models[1]
    assert spike._posterior.draws.counts.max() == len(X)  # every candidate has a coefficient
    assert spike.diagnostics_.loc["n_active", "mean"] < 30
    np.testing.assert_allclose(
        spike.active_probabilities_.sum(), spike.diagnostics_.loc["n_active", "mean"]
    )


@pytest.mark.slow
def test_spike_of_a_classifier_and_what_it_refuses():
    labels = np.median(Y) < Y
    model = classify(X, labels, priors__spike=1e-3)
    assert model.score(X, labels) > 0.7
    with pytest.raises(ValueError, match=r"spike of variance 0.001 .*multinomial_probit.*'logit'"):
        classify(X, np.arange(80) % 3, likelihood="probit", priors__spike=1e-3)
    with pytest.raises(ValueError, match=r"spike=0.001 has no part"):
        regress(priors__spike=1e-3, priors__select_vectors=False)


def test_comparators_are_configurations():
    full = regress(priors__select_features=False)
    assert (full.feature_inclusion_ == 1.0).all() and (full.feature_inclusion_error_ == 0).all()
    ridge = regress(X[:30], Y[:30], priors__select_vectors=False)
    assert (ridge.active_probabilities_ == 1.0).all()
    np.testing.assert_array_equal(ridge.active_vectors_, np.arange(30))


@pytest.mark.parametrize(("p", "expected"), [(4, 1.0), (30, 3.0), (90, 5.0)])
def test_features_expected_by_default(p, expected):
    wide = np.hstack([X, np.random.default_rng(1).standard_normal((len(X), p))])[:, :p]
    found, named = (
        regress(wide, priors__expected_features=value).feature_inclusion_
        for value in (None, expected)
    )
    np.testing.assert_array_equal(found, named)


def test_no_feature_of_noise_is_selected_for_classes():
    rng = np.random.default_rng(0)
    noise, coin = rng.standard_normal((100, 10)), rng.integers(0, 2, 100)
    model = DoublySparseClassifier(draws=300, tune=300, chains=2, random_state=0).fit(noise, coin)
    assert len(model.selected_features_) == 0
    assert model.feature_inclusion_.mean() < 0.1


def test_a_constant_feature_is_never_included():
    features = np.column_stack([X[:, :2], np.full(80, 3.0)])
    model = regress(features, priors__expected_features=1.4)
    assert model.feature_inclusion_[2] == 0.0
    only = regress(np.ones((80, 2)))
    np.testing.assert_allclose(only.predict(np.ones((2, 2))), Y.mean(), atol=1.0)


def test_active_subset_is_for_gaussian_noise():
    with pytest.raises(ValueError, match="large_n='active_subset' is for Gaussian noise"):
        regress(MANY, MANY_Y, moves__large_n="active_subset", noise="student_t")
    labels = np.median(MANY_Y) < MANY_Y
    with pytest.raises(ValueError, match="not for the logit likelihood"):
        classify(MANY, labels, moves__large_n="active_subset")
