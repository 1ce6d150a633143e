"""More than two classes with the logit likelihood: one model for each class."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from sparsekern import GKMClassifier
from sparsekern.estimators.shared import runner
from sparsekern.inference.chains.runner import start_chains
from sparsekern.plotting import plot_active_trace, plot_traces

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

DATA = load_iris()
X, Y = DATA.data, DATA.target_names[DATA.target]
LOGIT = GKMClassifier(likelihood="logit", draws=60, tune=60, chains=2, random_state=3)


def fit(**changes):
    return GKMClassifier(**{**LOGIT.get_params(deep=False), **changes}).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit()


def test_the_first_model_is_a_two_class_fit_with_the_same_seed(model):
    alone = GKMClassifier(**LOGIT.get_params(deep=False)).fit(X, model.classes_[0] == Y)
    member = model.estimators_[0]
    np.testing.assert_array_equal(member.active_probabilities_, alone.active_probabilities_)
    np.testing.assert_array_equal(member.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(member.diagnostics_, alone.diagnostics_)


def test_models_draw_random_numbers_of_their_own(monkeypatch):
    """A draw of one model stands beside that of another: they must be independent."""
    used = []

    def start(sampler, plan, seeds):
        used.extend((str(seed.entropy), seed.spawn_key) for seed in seeds)
        return start_chains(sampler, plan, seeds)

    monkeypatch.setattr(runner, "start_chains", start)
    fit(draws=4, tune=4)
    assert len(set(used)) == len(used) == 6


def test_probabilities_are_those_of_the_models_normalised_draw_by_draw(model):
    draws = np.stack([m.sample_proba(X)[..., 1] for m in model.estimators_], axis=-1)
    shares = draws / draws.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(model.sample_proba(X), shares, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), shares.mean(axis=0), rtol=1e-12)
    chosen = shares[:, np.arange(len(Y)), DATA.target].reshape(2, 60, -1)
    np.testing.assert_allclose(model.pointwise_log_likelihood(), np.log(chosen), rtol=1e-10)
    assert np.mean(model.predict(X) == Y) > 0.95
    assert (
        model.decision_function(X).argmax(axis=1) == model.predict_proba(X).argmax(axis=1)
    ).all()


def test_a_row_is_active_if_any_model_has_it(model):
    absent = np.prod([1 - m.active_probabilities_ for m in model.estimators_], axis=0)
    np.testing.assert_allclose(model.active_probabilities_, 1 - absent)
    np.testing.assert_array_equal(model.active_vectors_, np.flatnonzero(absent < 1))


def test_reports_name_the_classes(model):
    assert len(model.diagnostics_) == 3 * len(model.estimators_[0].diagnostics_)
    row = model.diagnostics_.loc["log_likelihood[virginica]"]
    np.testing.assert_array_equal(row, model.estimators_[2].diagnostics_.loc["log_likelihood"])
    posterior = model.posterior_["posterior"]
    assert posterior["scale"].sel({"class": "setosa"}).shape == (2, 60)
    assert posterior["probability"].dims == ("chain", "draw", "monitored_row", "class")
    coefficients = model.posterior_["sparse_coefficients"]["coefficient"]
    assert coefficients.sel({"class": "versicolor"}).shape[:2] == (2, 60)
    assert model.posterior_["log_likelihood"]["y"].shape == (2, 60, 150)
    plot_active_trace(model)
    plot_traces(model, "scale")


def test_a_warning_names_quantity_and_class():
    with pytest.warns(ConvergenceWarning, match=r"\[.*(setosa|versicolor|virginica)\]") as caught:
        fit(draws=10, tune=1)
    assert caught[0].filename == __file__  # it points at the caller


def test_threads_pickles_warm_starts_and_checkpoints_keep_the_draws(model, tmp_path):
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(fit(n_jobs=3).predict_proba(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)
    np.testing.assert_array_equal(fit(checkpoint=tmp_path).predict_proba(X), expected)
    np.testing.assert_array_equal(fit(checkpoint=tmp_path).predict_proba(X), expected)
    longer = fit(draws=40, warm_start=True).set_params(draws=60).fit(X, Y)
    np.testing.assert_array_equal(longer.predict_proba(X), expected)


def test_several_kernels_and_learned_widths_have_a_row_for_each_class():
    kernels = fit(kernel=["rbf", "linear"], draws=10, tune=10)
    assert kernels.kernel_weights_.shape == kernels.kernel_inclusion_.shape == (3, 2)
    widths = fit(learn_length_scale="per_feature", draws=10, tune=10)
    assert widths.length_scale_.shape == (3, 4)
    assert "length_scale[0, setosa]" in widths.diagnostics_.index


def test_a_later_fit_to_two_classes_forgets_the_models(model):
    again = pickle.loads(pickle.dumps(model)).fit(X[:100], Y[:100])
    assert not hasattr(again, "estimators_") and again.predict_proba(X).shape == (150, 2)


def test_a_later_fit_with_one_kernel_forgets_the_weights_of_several():
    model = fit(kernel=["rbf", "linear"], draws=10, tune=10)
    model.set_params(kernel="rbf").fit(X[:100], Y[:100])
    assert not hasattr(model, "kernel_weights_") and not hasattr(model, "kernel_inclusion_")
    model.fit(X, Y)
    assert not hasattr(model, "kernel_weights_")


def test_hinge_is_for_two_classes():
    with pytest.raises(ValueError, match=r"likelihood='hinge'.*3 classes.*likelihood='probit'"):
        fit(likelihood="hinge")
