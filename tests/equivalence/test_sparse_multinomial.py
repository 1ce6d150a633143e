"""The benchmarks' sparse multinomial logistic regression reaches the maximum that others reach."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from sparsekern.datasets import make_ripley

_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "sparse_multinomial.py"


def _load_script():
    spec = importlib.util.spec_from_file_location("sparse_multinomial", _SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


smlr = _load_script()


def _columns(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n_columns)), rng


def _labels(rng, latent):
    return (latent + rng.gumbel(size=latent.shape)).argmax(axis=1)


@pytest.fixture(scope="module")
def three_classes():
    columns, rng = _columns(90, 8)
    return columns, _labels(rng, columns @ (2.0 * rng.standard_normal((8, 3))))


def _kernel_problem(n_rows=120, n_classes=2):
    features, side = make_ripley(n_rows, random_state=0)
    labels = (side > 0).astype(int) + (n_classes == 3) * (features[:, 0] > 0.2)
    return features, labels


def _gradients(columns, labels, fit):
    """Return the gradients of the log-likelihood in intercepts and weights."""
    latent = np.column_stack([np.zeros(len(labels)), fit.intercepts + columns @ fit.weights.T])
    indicators = labels[:, None] == np.arange(latent.shape[1])
    residual = (indicators - softmax(latent, axis=1))[:, 1:]
    return residual.sum(axis=0), residual.T @ columns


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalty", [0.3, 3.0])
def test_objective_grows_to_where_the_conditions_of_a_maximum_hold(n_classes, penalty):
    features, labels = _kernel_problem(n_classes=n_classes)
    square = ((features[:, None] - features[None]) ** 2).sum(axis=-1)
    columns = np.exp(-square / (2 * 0.3**2))
    fit = smlr.fit_sparse_multinomial(columns, labels, penalty, tolerance=1e-9)
    assert fit.converged
    assert np.diff(fit.objective).min() > -1e-10 * abs(fit.objective[0])
    intercept_gradient, gradient = _gradients(columns, labels, fit)
    assert 0 < np.count_nonzero(fit.weights) < 60  # sparse
    np.testing.assert_allclose(intercept_gradient, 0, atol=1e-6)
    in_use = fit.weights != 0
    np.testing.assert_allclose(gradient[in_use], penalty * np.sign(fit.weights[in_use]), atol=1e-6)
    assert np.abs(gradient[~in_use]).max() <= penalty + 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_component_wise_updates_alone_never_lower_the_objective(n_classes):
    columns, rng = _columns(60, 10, seed=1)
    labels = _labels(rng, 3 * rng.standard_normal((60, n_classes)))
    design = np.vstack([np.ones(60), columns.T])
    problem = smlr._Problem(
        design,
        (labels == np.arange(1, n_classes)[:, None]).astype(float),
        0.5 * (1 - 1 / n_classes) * (design**2).sum(axis=1),
        np.r_[0.0, np.full(10, 2.0)],
    )
    weights = 3 * rng.standard_normal((n_classes - 1, 11))
    latent = weights @ design
    path = [smlr._objective(problem, weights, latent)]
    for _ in range(5):
        for k in range(11):  # one column at a time
            smlr._sweep(np.array([k]), problem, weights, latent)
            path.append(smlr._objective(problem, weights, latent))
    np.testing.assert_allclose(latent, weights @ design, atol=1e-10)
    assert np.diff(path).min() > -1e-10
    assert path[-1] > path[0] + 10


@pytest.mark.parametrize("penalty", [0.5, 4.0])
def test_two_classes_are_those_of_scikit_learn(penalty):
    columns, rng = _columns(80, 6)
    labels = (columns[:, 0] - 2 * columns[:, 1] + rng.logistic(size=80) > 0.7).astype(int)
    fit = smlr.fit_sparse_multinomial(columns, labels, penalty, tolerance=1e-12)
    peer = LogisticRegression(
        C=1 / penalty, l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=50_000, random_state=0
    ).fit(columns, labels)
    assert penalty < 1 or np.any(fit.weights == 0)
    np.testing.assert_allclose(fit.weights, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(fit.intercepts, peer.intercept_, atol=1e-7)


def test_three_classes_are_those_of_a_general_optimiser(three_classes):
    columns, labels = three_classes
    penalty = 2.0
    fit = smlr.fit_sparse_multinomial(columns, labels, penalty, tolerance=1e-10)

    def cost(values):  # weights are differences of non-negative parts
        intercepts, up, down = values[:2], *values[2:].reshape(2, 2, 8)
        latent = np.column_stack([np.zeros(90), intercepts + columns @ (up - down).T])
        residual = softmax(latent, axis=1)[:, 1:] - (labels[:, None] == [1, 2])
        slope = residual.T @ columns
        loss = -log_softmax(latent, axis=1)[np.arange(90), labels].sum()
        gradient = np.concatenate(
            [residual.sum(axis=0), (slope + penalty).ravel(), (penalty - slope).ravel()]
        )
        return loss + penalty * (up + down).sum(), gradient

    found = minimize(
        cost, np.zeros(34), jac=True, method="L-BFGS-B",
        bounds=[(None, None)] * 2 + [(0, None)] * 32,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10_000},
    )  # fmt: skip
    up, down = found.x[2:].reshape(2, 2, 8)
    assert fit.objective[-1] == pytest.approx(-found.fun, abs=1e-9)
    np.testing.assert_allclose(fit.weights, up - down, atol=1e-5)
    np.testing.assert_allclose(fit.intercepts, found.x[:2], atol=1e-5)


def test_a_large_penalty_leaves_the_shares_of_the_classes(three_classes):
    columns, labels = three_classes
    fit = smlr.fit_sparse_multinomial(columns, labels, 1e3, tolerance=1e-10)
    assert not fit.weights.any()
    shares = np.bincount(labels) / len(labels)
    np.testing.assert_allclose(softmax([0, *fit.intercepts]), shares, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_estimator_predicts_with_its_vectors(n_classes):
    features, labels = _kernel_problem(200, n_classes)
    names = np.array(["a", "b", "c"])[labels]
    model = smlr.SparseMultinomial(penalty=0.5, length_scale=0.4).fit(features[:120], names[:120])
    probabilities = model.predict_proba(features[120:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.predict(features[120:]), model.classes_[probabilities.argmax(axis=1)]
    )
    assert model.score(features[120:], names[120:]) > 0.75
    assert 0 < len(model.active_vectors_) < 40


def test_repeated_rows_and_separated_classes_are_no_trouble():
    features, labels = _kernel_problem(60)
    features, labels = np.repeat(features, 3, axis=0), np.repeat(labels, 3)
    repeated = smlr.SparseMultinomial(penalty=0.1, length_scale=0.3).fit(features, labels)
    features[:, 0] += 10.0 * labels
    apart = smlr.SparseMultinomial(penalty=1e-3, length_scale=3.0).fit(features, labels)
    assert repeated.fit_.converged and apart.fit_.converged
    assert apart.score(features, labels) == 1


def test_bad_values_and_too_few_rounds_are_named():
    columns, labels = _kernel_problem()
    with pytest.raises(ValueError, match="positive penalty: 2, 0"):
        smlr.fit_sparse_multinomial(columns, labels, 0.0)
    with pytest.raises(ValueError, match="two classes"):
        smlr.fit_sparse_multinomial(columns, np.zeros(len(columns), dtype=int), 1.0)
    with pytest.warns(ConvergenceWarning, match="2 rounds"):
        smlr.SparseMultinomial(max_rounds=2).fit(columns, labels)
