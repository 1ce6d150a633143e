"""Inner Laplace approximations against a general optimiser, and estimators on top of them."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import k1, log_expit, log_ndtr
from scipy.stats import nbinom, poisson
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from speed import slow_except

from sparsekern import HybridSearchGPClassifier, HybridSearchGPRegressor
from sparsekern.datasets import make_additive, make_ring_and_blob
from sparsekern.inference.hybrid._contract import Batch
from sparsekern.inference.hybrid.laplace_backend import LaplaceBackend
from sparsekern.kernels.evaluate import RBF
from sparsekern.likelihoods import NegativeBinomial, Poisson, StudentT
from sparsekern.likelihoods.laplace import ROUNDED
from sparsekern.likelihoods.terms import CODES
from sparsekern.predictive.even_draws import even_draws
from sparsekern.predictive.mixture import Mixture
from sparsekern.settings import (
    HybridRegressionPriors,
    HybridRegressionSearch,
    HybridSearchOptions,
)

N, INTERCEPT, FREEDOM = 25, 5.0, 4.0
U = np.array([0.3, 0.7, -0.8])
QUICK = HybridSearchOptions(n_wander=0, close=False)
SHORT, STILL = HybridRegressionSearch(n_wander=3), HybridRegressionSearch(n_wander=0)


def log_density(name, y, f, last=U[2]):
    size = np.exp(-last)
    return {
        "probit": lambda: log_ndtr(y * f),
        "logit": lambda: log_expit(y * f),
        "scaled_logit": lambda: log_expit(np.sqrt(8 / np.pi) * y * f),
        "student_t": lambda: student.logpdf(y, FREEDOM, f, np.exp(0.5 * last)),
        "laplace": lambda: (
            -np.hypot(ROUNDED, (y - f) * np.exp(-0.5 * last))
            - np.log(2 * ROUNDED * k1(ROUNDED))
            - 0.5 * last
        ),
        "hinge": lambda: -0.4 * np.logaddexp(0.0, 5.0 * (1.0 - y * f)),  # the smooth one
        "poisson": lambda: poisson.logpmf(y, np.exp(f)),
        "negative_binomial": lambda: nbinom.logpmf(y, size, size / (size + np.exp(f))),
    }[name]()


def problem(name):
    rng = np.random.default_rng(4)
    features = rng.standard_normal((N, 3))
    f = 1.5 * np.sin(features[:, 0])
    y = {
        "probit": np.sign(f + rng.standard_normal(N)),
        "logit": np.sign(f + rng.logistic(size=N)),
        "scaled_logit": np.sign(f + rng.logistic(size=N)),
        "laplace": f + 0.4 * rng.laplace(size=N),
        "hinge": np.sign(f + rng.logistic(size=N)),
        "student_t": f + 0.4 * rng.standard_t(FREEDOM, N),
        "poisson": rng.poisson(np.exp(f)).astype(float),
        "negative_binomial": rng.negative_binomial(2, 2 / (2 + np.exp(f))).astype(float),
    }[name]
    return features, y


def batch_of(features, y, model):
    return Batch(
        np.ascontiguousarray(features.T), RBF, np.arange(N)[None], y[None],
        np.array([model or (0,)]), np.array([len(model)]), True,
    )  # fmt: skip


def dense(name, features, y, model, u):
    """Return evidence, mode and posterior covariance, by a general optimiser."""
    distance = sum(((features[:, [j]] - features[:, j]) ** 2 for j in model), np.zeros((N, N)))
    kernel = np.exp(u[0] - distance * np.exp(-u[1])) + INTERCEPT
    root = np.linalg.cholesky(kernel + 1e-9 * np.exp(u[0]) * np.eye(N))
    found = minimize(
        lambda z: 0.5 * z @ z - log_density(name, y, root @ z, u[2]).sum(), np.zeros(N),
        method="BFGS", options={"gtol": 1e-8},
    )  # fmt: skip
    mode, h = root @ found.x, 1e-4
    ends = log_density(name, y, mode + h, u[2]) + log_density(name, y, mode - h, u[2])
    weights = -(ends - 2 * log_density(name, y, mode, u[2])) / h**2
    if name == "student_t":  # the Fisher information, which is never negative
        weights = np.full(N, (FREEDOM + 1) / ((FREEDOM + 3) * np.exp(u[2])))
    if name == "laplace":
        weights = np.full(N, np.exp(-u[2]))
    inner = np.eye(N) + root.T @ (weights[:, None] * root)
    evidence = -found.fun - 0.5 * np.linalg.slogdet(inner)[1]
    return evidence, mode, root @ np.linalg.inv(inner) @ root.T


@pytest.mark.parametrize("name", CODES)
def test_evidence_and_predictions_against_a_general_optimiser(name):
    features, y = problem(name)
    backend = LaplaceBackend(name, FREEDOM, INTERCEPT)
    exact, mode, covariance = dense(name, features, y, (0, 2), U)
    batch = batch_of(features, y, (0, 2))
    np.testing.assert_allclose(backend.log_likelihood(batch, U[None]), exact, atol=1e-5)
    points = np.ascontiguousarray(features[None, :, [0, 2]])
    mean, variance = backend.predict(batch, U[None, None], points)
    np.testing.assert_allclose(mean[0, 0], mode, atol=1e-4)
    np.testing.assert_allclose(variance[0, 0], np.diag(covariance), atol=1e-5)


@pytest.mark.parametrize("name", CODES)
def test_toggles_and_derivatives(name):
    features, y = problem(name)
    backend = LaplaceBackend(name, FREEDOM, INTERCEPT)
    changes = np.array([[-1, 1], [0, -1], [0, 2], [-1, -1]])
    values = backend.toggles(batch_of(features, y, (0,)), U, changes, U[1])
    for value, model in zip(values, [(0, 1), (), (2,), (0,)], strict=True):
        alone = backend.log_likelihood(batch_of(features, y, model), U[None])[0]
        assert value == pytest.approx(alone, abs=1e-7)
    batch = batch_of(features, y, (0,))
    value, gradient, hessian = backend.derivatives(batch, U[None])
    assert value[0] == pytest.approx(backend.log_likelihood(batch, U[None])[0], abs=1e-9)
    for i, step in enumerate(1e-2 * np.eye(3)):
        ahead, behind = (backend.derivatives(batch, U[None] + s)[1][0] for s in (step, -step))
        np.testing.assert_allclose(hessian[0, i], (ahead - behind) / 0.02, atol=2e-3)
        ends = [backend.log_likelihood(batch, U[None] + s)[0] for s in (step, -step)]
        assert gradient[0, i] == pytest.approx((ends[0] - ends[1]) / 0.02, abs=2e-4)


@pytest.mark.parametrize("law", [StudentT([5.0]), Poisson(), NegativeBinomial()])
def test_predictive_laws_against_draws(law):
    rng = np.random.default_rng(0)
    mixture = Mixture(
        law, np.array([[0.3], [0.7]]), np.array([[0.5, 1.5], [1.0, 0.2]]),
        np.array([[0.2, 0.1], [0.05, 0.3]]), *law.read_last(np.array([[-1.0], [-0.5]])),
    )  # fmt: skip
    drawn = mixture.sample(rng, 200_000)
    error = drawn.std(0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(0) - mixture.mean()) < 5 * error).all()
    np.testing.assert_allclose(mixture.variance(), drawn.var(0), rtol=0.05)
    for level in (0.05, 0.5, 0.9):
        quantile = mixture.quantile(level)
        assert ((drawn <= quantile).mean(0) >= level - 0.005).all()
        assert ((drawn < quantile).mean(0) <= level + 0.005).all()
    whole = law.support == "counts"
    grid = np.arange(400.0) if whole else np.linspace(-40, 40, 801)
    step = 1.0 if whole else grid[1] - grid[0]
    total = sum(np.exp(mixture.log_density(np.full(2, y))) for y in grid) * step
    np.testing.assert_allclose(total, 1.0, atol=2e-3)


@pytest.mark.parametrize("likelihood", slow_except(("logit", "probit"), ("logit",)))
def test_classes(likelihood):
    X, y = make_ring_and_blob(500, random_state=1)
    X = np.hstack([X, np.random.default_rng(1).standard_normal((500, 4))])
    model = HybridSearchGPClassifier(
        likelihood=likelihood, search=HybridSearchOptions(n_wander=3), random_state=0
    )
    model.fit(X[:120], y[:120])
    np.testing.assert_array_equal(model.selected_features_, [0, 1])
    assert model.score(X[120:], y[120:]) > 0.94
    probability = model.predict_proba(X[120:])
    np.testing.assert_allclose(probability.sum(1), 1.0)
    np.testing.assert_array_equal(
        model.predict(X[120:]), model.classes_[(model.decision_function(X[120:]) > 0).astype(int)]
    )
    assert "noise_variance" not in model.models_


@pytest.mark.parametrize("likelihood", ["logit", "probit"])
@pytest.mark.parametrize("rows", [500, 40])
def test_draws_of_class_probabilities(likelihood, rows):
    """Each row has the law that its probability is the mean of, whatever rows are asked for."""
    X, y = make_ring_and_blob(80, random_state=2)
    model = HybridSearchGPClassifier(
        likelihood=likelihood, search=replace(QUICK, rows=rows), random_state=0
    ).fit(X, y)
    draws = model.sample_proba(X)
    assert draws.shape == (1000, 80, 2)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    np.testing.assert_allclose(draws.mean(axis=0), model.predict_proba(X), atol=4e-3)
    np.testing.assert_allclose(model.sample_proba(X[5:7]), draws[:, 5:7], rtol=1e-9)
    np.testing.assert_array_equal(model.sample_proba(X, thin=7), draws[:143])
    np.testing.assert_allclose(draws[:143].mean(axis=0), draws.mean(axis=0), atol=0.02)
    assert (draws.std(axis=0) > 1e-4).all()
    with pytest.raises(ValueError, match="thin must be at least 1"):
        model.sample_proba(X, thin=0)


def test_even_draws_of_a_mixture():
    weights = np.array([0.5, 0.2, 0.0, 0.3])
    chosen, normal = even_draws(weights, 4000)
    shares = np.bincount(chosen, minlength=4) / 4000
    np.testing.assert_allclose(shares, weights, atol=2e-3)
    for component in (0, 1, 3):
        here = normal[chosen == component]
        np.testing.assert_allclose([here.mean(), here.std()], [0.0, 1.0], atol=0.02)
    np.testing.assert_allclose(np.bincount(chosen[:100], minlength=4) / 100, weights, atol=0.03)


def test_a_fit_that_fails_leaves_the_classifier_as_it_was():
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = X[:, 0] > 0
    model = HybridSearchGPClassifier(search=QUICK).fit(X[:, :2], y)
    before = model.predict_proba(X[:, :2])
    for labels in (np.zeros(40), np.linspace(0, 1, 40)):
        with pytest.raises(ValueError):
            model.fit(X, labels)
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.predict_proba(X[:, :2]), before)


def test_three_classes():
    """A model for each against the rest, each with features of its own."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(-2, 2, (300, 4)), columns=list("pqrs"))
    y = np.where(X["p"] > 0.6, "right", np.where(X["r"] > 0, "up", "down"))
    model = HybridSearchGPClassifier(search=QUICK, random_state=0)
    model.fit(X[:90], y[:90])
    assert list(model.classes_) == ["down", "right", "up"]
    assert model.score(X[90:], y[90:]) > 0.85
    probability = model.predict_proba(X[90:])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    alone = [member.predict_proba(X[90:])[:, 1] for member in model.estimators_]
    np.testing.assert_allclose(probability, np.array(alone).T / np.sum(alone, axis=0)[:, None])
    np.testing.assert_allclose(np.exp(model.decision_function(X[90:])), probability)
    assert set(model.models_["class"]) == set(model.classes_)
    np.testing.assert_allclose(model.models_.groupby("class")["weight"].sum(), 1.0)
    inclusion = [member.feature_inclusion_ for member in model.estimators_]
    np.testing.assert_allclose(
        1 - model.feature_inclusion_, np.prod(1 - np.array(inclusion), axis=0)
    )
    np.testing.assert_array_equal(model.selected_features_, [0, 2])
    np.testing.assert_array_equal(model.estimators_[1].selected_features_, [0])
    draws = model.sample_proba(X[90:95], thin=10)
    assert draws.shape == (100, 5, 3)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    np.testing.assert_allclose(draws.mean(axis=0), probability[:5], atol=0.1)
    model.fit(X[:90], y[:90] == "up")
    assert not hasattr(model, "estimators_") and "class" not in model.models_


@pytest.mark.parametrize("counts", slow_except(("poisson", "negative_binomial"), ("poisson",)))
def test_counts(counts):
    X, signal = make_additive(400, 6, random_state=3, shuffle=False)
    rate = np.exp((signal - signal.mean()) / signal.std())
    rng = np.random.default_rng(2)
    y = rng.poisson(rate) if counts == "poisson" else rng.negative_binomial(2, 2 / (2 + rate))
    model = HybridSearchGPRegressor(counts=counts, search=SHORT, random_state=0)
    model.fit(X[:150], y[:150])
    assert set(model.selected_features_) <= {0, 1, 2}
    assert len(model.selected_features_) >= 2
    low, high = model.predict_quantiles(X[150:], [0.05, 0.95]).T
    assert (low == np.round(low)).all()
    assert 0.86 < np.mean((low <= y[150:]) & (y[150:] <= high)) < 0.99
    mean, std = model.predict(X[150:], return_std=True)
    assert np.mean((mean - y[150:]) ** 2) < 0.9 * np.var(y[150:])
    assert (std**2 > 0.9 * mean).all()
    assert ("dispersion" in model.models_) == (counts == "negative_binomial")
    with pytest.raises(ValueError, match=f"counts={counts!r} needs whole numbers"):
        model.fit(X[:150], signal[:150])


@pytest.mark.parametrize(
    "case",
    slow_except(
        [
            (counts, size, rows)
            for counts in ("poisson", "negative_binomial")
            for size in (1, 30, 1e3, 1e4, 1e6)
            for rows in (50, 150, 400)
        ],
        [("poisson", 1e3, 50), ("poisson", 1e4, 50), ("poisson", 1e6, 50),
         ("negative_binomial", 1e4, 50)],
    ),
)  # fmt: skip
def test_counts_of_any_size(case):
    """A wrong start of Newton's method makes predictions infinite from means of 1,000 on."""
    counts, size, rows = case
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (rows + 200, 5))
    mean = size * np.exp(np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1])
    spread = 0.01 if counts == "negative_binomial" else 0.0
    y = rng.poisson(mean * (rng.gamma(1 / spread, spread, len(X)) if spread else 1.0))
    model = HybridSearchGPRegressor(counts=counts, search=SHORT, random_state=0)
    model.fit(X[:rows], y[:rows])
    if size > 1:
        np.testing.assert_array_equal(model.selected_features_, [0, 1])
    predicted = model.predict(X[rows:])
    error = np.sqrt(np.mean((predicted / mean[rows:] - 1) ** 2))
    noise_to_signal = np.sqrt(1 / size + spread)  # of one count
    assert error < 0.02 + 1.5 * noise_to_signal
    density = model.log_predictive_density(X[rows:], y[rows:])
    assert np.isfinite(density).all()


def test_counts_are_alike_in_other_units_of_exposure():
    """The prior is that of the function less the log of the mean count: nothing else changes."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (60, 3))
    y = rng.poisson(3000 * np.exp(np.sin(1.5 * X[:, 0])))
    one, other = (
        HybridSearchGPRegressor(counts="negative_binomial", search=STILL, random_state=0)
        .fit(X, factor * y)
        .models_.iloc[0]
        for factor in (1, 100)
    )
    assert one["features"] == other["features"]
    assert one["amplitude"] == pytest.approx(other["amplitude"], rel=0.1)
    assert one["length_scale"] == pytest.approx(other["length_scale"], rel=0.05)


@pytest.mark.parametrize("rows", [500, 40])
def test_inner_fits_that_have_not_converged_are_mentioned_once(rows, monkeypatch):
    X, y = make_ring_and_blob(60, random_state=2)
    model = HybridSearchGPClassifier(search=replace(QUICK, rows=rows), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    genuine = LaplaceBackend.predict

    def unsettled(self, *arguments):
        self.unsettled += 1
        return genuine(self, *arguments)

    monkeypatch.setattr(LaplaceBackend, "predict", unsettled)
    with pytest.warns(ConvergenceWarning, match="inner fits have not converged") as caught:
        model.fit(X, y)
    assert len(caught) == 1


@pytest.mark.parametrize("noise", ["gaussian", "student_t"])
def test_intervals_where_there_is_little_noise(noise):
    """A prior that allows it, and no bound above it: the deviation was 3.7 times too large."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-2, 2, (300, 2))
    y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] + 0.003 * rng.standard_t(4, 300)
    priors = HybridRegressionPriors(noise=(1, 1e-6))
    model = HybridSearchGPRegressor(noise=noise, priors=priors, search=STILL, random_state=0)
    model.fit(X[:100], y[:100])
    scale = np.sqrt(model.models_["noise_variance"][0])
    assert scale < 1.8 * 0.003  # of Gaussian noise 1.41
    low, high = model.predict_quantiles(X[100:], [0.05, 0.95]).T
    assert 0.82 < np.mean((low <= y[100:]) & (y[100:] <= high)) < 0.97


def test_outliers():
    X, y = make_additive(300, 6, random_state=5, shuffle=False)
    spoiled = y.copy()
    spoiled[:6] += 40.0
    errors = {}
    for noise in ("gaussian", "student_t"):
        model = HybridSearchGPRegressor(noise=noise, search=SHORT, random_state=0)
        model.fit(X[:100], spoiled[:100])
        errors[noise] = np.mean((model.predict(X[100:]) - y[100:]) ** 2)
    assert errors["student_t"] < 0.7 * errors["gaussian"]
