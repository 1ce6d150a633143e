"""SparseGPClassifier, and classifiers of several classes and other likelihoods."""

import pickle

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import log_loss

from sparsekern import GKMClassifier, SparseGPClassifier
from sparsekern.datasets import make_ripley
from sparsekern.settings import GKMPriors

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FAMILY = [GKMClassifier, SparseGPClassifier]


@pytest.fixture(scope="module")
def ripley():
    return make_ripley(120, random_state=2)


@pytest.fixture(scope="module")
def pair(ripley):
    """Both estimators on the same chains: the seed and the engine are the same."""
    options = {"draws": 500, "tune": 500, "chains": 4, "random_state": 0}
    return [Estimator(**options).fit(*ripley) for Estimator in FAMILY]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    names = np.array(["setosa", "versicolor", "virginica"])
    return X[order[:75]], names[y[order[:75]]], X[order[75:]], names[y[order[75:]]]


def test_both_agree_and_integration_has_the_smaller_error(pair):
    """Same states, same expectation; the error of the mean by chains is smaller."""
    new = make_ripley(60, random_state=9)[0]
    chains, errors = [], []
    for model in pair:
        draws = model.sample_proba(new)[..., 1].reshape(4, 500, 60)
        np.testing.assert_allclose(draws.mean((0, 1)), model.predict_proba(new)[:, 1], rtol=1e-10)
        chains.append(draws)
        batches = draws.reshape(4 * 20, 25, 60).mean(1)
        errors.append(batches.std(0, ddof=1) / np.sqrt(80))
    assert (errors[1] < 1.02 * errors[0]).mean() > 0.9
    assert np.median(errors[1] / errors[0]) < 0.95
    z = (chains[0].mean((0, 1)) - chains[1].mean((0, 1))) / np.hypot(*errors)
    assert np.abs(z).max() < 4


def test_states_against_dense_algebra(ripley, pair):
    """Mean and variance of one state from the definition: condition on s, integrate the rest."""
    model = pair[1]
    states, features = model._posterior.draws, model._posterior.features
    new = model._prepare(make_ripley(7, random_state=4)[0])
    kernel = states.kernels[0]
    _, means, variances = next(iter(states.moment_blocks(new)))
    for t in (0, 777, 1999):
        chain, draw = divmod(t, 500)
        k = states.counts[chain, draw]
        rows = states.rows[states.slots[chain, draw, :k]]
        matrix = kernel.matrix(features[rows], features[rows]) + 1e-8 * np.eye(k)
        g = model.posterior_["posterior"]["scale"].values[chain, draw]
        eta = model.posterior_["posterior"]["intercept_precision"].values[chain, draw]
        design = np.column_stack([np.ones(len(features)), kernel.matrix(features, features[rows])])
        prior = np.zeros((k + 1, k + 1))
        prior[0, 0], prior[1:, 1:] = eta, g * matrix
        precision = design.T @ design + prior
        columns = np.column_stack([np.ones(7), kernel.matrix(new, features[rows])])
        exact = np.einsum("ij,ij->i", columns, np.linalg.solve(precision, columns.T).T)
        np.testing.assert_allclose(variances[t], exact, rtol=1e-4)
        again = states.means[chain, draw, 0, : k + 1] @ columns.T
        np.testing.assert_allclose(means[t, :, 0], again, rtol=1e-10)


def test_latent_moments(pair):
    model = pair[1]
    new = make_ripley(30, random_state=5)[0]
    mean, std = model.predict_latent(new, return_std=True)
    assert mean.shape == std.shape == (30,)
    features = model._prepare(new)
    latent = np.concatenate([f for _, f in model._posterior.draws.latent_blocks(features)], axis=1)
    np.testing.assert_allclose(mean, latent.mean(0), atol=0.25)  # drawn functions, same law
    np.testing.assert_allclose(std, latent.std(0), rtol=0.25)
    np.testing.assert_array_equal(model.predict_latent(new), mean)


def test_far_points_rest_on_the_intercept_and_are_shown(pair):
    model = pair[1]
    near, far = make_ripley(20, random_state=6)[0], np.full((1, 2), 1e3)
    residual = model.support_residual(np.vstack([near, far]))
    assert residual[-1] > 1 - 1e-12
    assert (residual[:-1] < 0.1).all() and (residual >= 0).all()
    u = model._posterior.draws.means[..., 0, 0]
    _, means, variances = next(iter(model._posterior.draws.moment_blocks(model._prepare(far))))
    np.testing.assert_allclose(means[:, 0, 0], u.ravel(), rtol=1e-9)
    probability = ndtr(means[:, 0, 0] / np.sqrt(1 + variances[:, 0])).mean()
    np.testing.assert_allclose(model.predict_proba(far)[0, 1], probability, rtol=1e-9)


@pytest.mark.parametrize("Estimator", FAMILY)
def test_several_classes(iris, Estimator):
    X, y, new, truth = iris
    model = Estimator(draws=300, tune=300, chains=2, random_state=0).fit(X, y)
    probability = model.predict_proba(new)
    assert probability.shape == (75, 3)
    np.testing.assert_allclose(probability.sum(1), 1, rtol=1e-9)
    assert np.mean(model.predict(new) != truth) <= 0.08
    assert log_loss(truth, probability) < 0.25
    decision = model.decision_function(new)
    np.testing.assert_array_equal(model.classes_[decision.argmax(1)], model.predict(new))
    samples = model.sample_proba(new, thin=10)
    assert samples.shape == (60, 75, 3)
    pointwise = model.pointwise_log_likelihood()
    total = model.posterior_["sample_stats"]["log_likelihood"].values
    np.testing.assert_allclose(pointwise.sum(-1), total, rtol=1e-5, atol=1e-5)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(new), probability)


def test_latent_functions_of_several_classes_are_centred(iris):
    X, y, new, _ = iris
    model = SparseGPClassifier(draws=60, tune=60, chains=2, random_state=0).fit(X, y)
    mean, std = model.predict_latent(new, return_std=True)
    assert mean.shape == std.shape == (75, 3)
    np.testing.assert_allclose(mean.sum(1), 0, atol=1e-10)
    agree = mean.argmax(1) == model.predict_proba(new).argmax(1)
    assert agree.mean() > 0.95


def test_probit_and_logit_predict_alike(ripley, pair):
    options = {"draws": 500, "tune": 500, "chains": 4, "random_state": 0}
    new = make_ripley(200, random_state=7)[0]
    assert pair[0].likelihood == "probit"
    logit = GKMClassifier(likelihood="logit", **options).fit(*ripley)
    one, other = (model.predict_proba(new)[:, 1] for model in (pair[0], logit))
    assert np.corrcoef(one, other)[0, 1] > 0.99


def test_hinge_classifies_as_well(ripley, pair):
    options = {"draws": 500, "tune": 500, "chains": 2, "random_state": 0}
    model = GKMClassifier(likelihood="hinge", **options).fit(*ripley)
    new, truth = make_ripley(2000, random_state=8)
    errors = [np.mean(m.predict(new) != truth) for m in (pair[0], model)]
    assert errors[1] < errors[0] + 0.02
    probability = model.predict_proba(new)[:, 1]
    assert ((probability > 0.5) == (model.decision_function(new) > 0)).all()


def test_several_kernels_and_learned_widths(ripley):
    X, y = ripley
    options = {"draws": 60, "tune": 60, "chains": 2, "random_state": 0}
    options["priors"] = GKMPriors(max_active=20)
    for extra in ({"kernel": ["rbf", "linear"]}, {"learn_length_scale": "per_feature"}):
        model = SparseGPClassifier(**options, **extra).fit(X, y)
        draws = model.sample_proba(X[:9])
        np.testing.assert_allclose(draws.mean(0), model.predict_proba(X[:9]), rtol=1e-10)
        drawn = GKMClassifier(**options, **extra).fit(X, y).predict_proba(X[:9])
        np.testing.assert_allclose(model.predict_proba(X[:9]), drawn, atol=0.15)
        assert (model.support_residual(X[:9]) < 0.5).all()


def test_precomputed_has_no_residual(ripley):
    X, y = ripley
    kernel = RBF(0.5)(X)
    model = SparseGPClassifier("precomputed", draws=30, tune=30, chains=1, random_state=0)
    model.fit(kernel, y)
    assert model.predict_proba(kernel[:4]).shape == (4, 2)
    with pytest.raises(ValueError, match="precomputed"):
        model.support_residual(kernel[:4])
