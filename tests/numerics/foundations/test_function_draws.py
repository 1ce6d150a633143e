"""Draws of functions have the mean and the covariance, between rows too, of the posterior."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import expit, logit

from sparsekern import (
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    DoublySparseRegressor,
    HybridSearchGPClassifier,
    HybridSearchGPRegressor,
    PCVMClassifier,
    RVMClassifier,
    RVMRegressor,
)
from sparsekern.inference.multiple_kernel.additive.function_draws import AdditiveDraws
from sparsekern.settings import HybridPrediction, HybridRegressionSearch, HybridSearchOptions

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (40, 2))
Y = 100 + 10 * (np.sin(X[:, 0]) + X[:, 1] / 2) + 3 * RNG.standard_normal(40)
NEW = np.vstack([X[:3], RNG.uniform(-2.5, 2.5, (4, 2))])
QUIET = {"progress": False, "random_state": 0}


def assert_moments(draws, mean, covariance, errors=4.5):
    """Compare with mean and covariance, in standard errors of this many draws."""
    count = len(draws)
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=0) - mean) < errors * spread / np.sqrt(count)).all()
    found = np.cov(draws.T)
    error = np.sqrt((np.outer(spread**2, spread**2) + covariance**2) / count)
    assert (np.abs(found - covariance) < errors * error).all()


def kernel_value(kernel, sums):
    if kernel in ("rbf", "laplacian"):
        return np.exp(-sums)
    order = 6.0 if kernel == "matern32" else 10.0
    r = np.sqrt(order * sums)
    return np.exp(-r) * (1 + r + (0 if kernel == "matern32" else r**2 / 3))


def dense_kernel(model, kernel):
    """Return the covariance function of the one model of a search."""
    (best,) = model._posterior.models
    u, chosen = best.parameters[0], list(best.features)
    metric = "cityblock" if kernel == "laplacian" else "sqeuclidean"

    def covariance(a, b):
        sums = cdist(a[:, chosen], b[:, chosen], metric) * np.exp(-u[1])
        return np.exp(u[0]) * kernel_value(kernel, sums)

    return covariance, np.exp(u[-1])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern32", "matern52"])
def test_a_hybrid_search_draws_gaussian_processes(kernel):
    model = HybridSearchGPRegressor(
        kernel,
        search=HybridRegressionSearch(window=1.001, n_wander=0, close=False),
        prediction=HybridPrediction(integration="mode", draws=2000),
        **QUIET,
    ).fit(X, Y)
    k, noise = dense_kernel(model, kernel)
    rows, new = model._points(X), model._points(NEW)
    inner = k(rows, rows) + noise * np.eye(40)
    covariance = k(new, new) - k(new, rows) @ np.linalg.solve(inner, k(rows, new))
    draws = model.sample_mean(NEW)
    assert_moments(draws, model.predict(NEW), covariance * model._target.spread[0] ** 2)
    np.testing.assert_allclose(model.sample_mean(NEW[2:4]), draws[:, 2:4])  # the same functions
    # the same draws in a smaller product, which BLAS adds up in another order on some processors
    np.testing.assert_allclose(model.sample_mean(NEW, thin=9), draws[:223], rtol=1e-12)


def test_a_hybrid_search_draws_latent_functions_of_classes():
    labels = np.where(np.median(Y) < Y, 1.0, -1.0)
    model = HybridSearchGPClassifier(
        search=HybridSearchOptions(window=1.001, n_wander=0, close=False),
        prediction=HybridPrediction(integration="mode", draws=2000),
        **QUIET,
    ).fit(X, labels)
    k, _ = dense_kernel(model, "rbf")
    rows, new = model._points(X), model._points(NEW)
    prior, cross = k(rows, rows) + 10.0, k(new, rows) + 10.0  # of the constant, too
    f = np.zeros(40)
    for _ in range(50):  # Newton's method, by definition
        p = expit(f)
        precision = p * (1 - p)
        inner = np.eye(40) + precision[:, None] * prior
        f = prior @ np.linalg.solve(inner, precision * f + (labels + 1) / 2 - p)
    precision = expit(f) * (1 - expit(f))
    solved = np.linalg.solve(np.diag(1 / precision) + prior, cross.T)
    covariance = k(new, new) + 10.0 - cross @ solved
    mean = cross @ ((labels + 1) / 2 - expit(f))
    assert_moments(logit(model.sample_proba(NEW, joint=True)[..., 1]), mean, covariance)
    plain = logit(model.sample_proba(NEW)[..., 1])  # right for each row, not for rows together
    np.testing.assert_allclose(plain.std(axis=0), np.sqrt(np.diag(covariance)), rtol=0.03)
    assert np.corrcoef(plain.T).min() > 0.99 > np.corrcoef(covariance).min()


@pytest.mark.parametrize("law", [{"noise": "student_t"}, {"counts": "poisson"}], ids=str)
def test_draws_of_other_responses_average_to_the_prediction(law):
    y = np.round(np.exp(Y / 50)) if "counts" in law else Y
    model = HybridSearchGPRegressor(
        **law, search=HybridRegressionSearch(n_wander=0, close=False), **QUIET
    ).fit(X, y)
    draws = model.sample_mean(NEW)
    error = draws.std(axis=0) / np.sqrt(1000)
    assert (np.abs(draws.mean(axis=0) - model.predict(NEW)) < 4.5 * error).all()
    if "counts" in law:
        assert (draws > 0).all()


def test_a_relevance_vector_machine_draws_its_weights():
    model = RVMRegressor(length_scale=1.0, progress=False).fit(X, np.column_stack([Y, -2 * Y]))
    ((_, fit),) = model._average.kept
    design = fit.expansion.columns(model._prepare(NEW))
    half = fit.expansion.inverse @ design
    draws = model.sample_mean(NEW)
    assert draws.shape == (1000, 7, 2)
    for output in range(2):
        unit = model._target.spread[output] ** 2 * fit.noise_variance[output]
        assert_moments(draws[..., output], model.predict(NEW)[:, output], unit * half.T @ half)


@pytest.mark.parametrize(
    "options", [{}, {"priors__sample_sparsity": True}, {"candidates": 10}], ids=str
)
@pytest.mark.parametrize("vectors", ["per_kernel", "shared"])
def test_several_kernels_draw_functions_whose_noise_is_what_is_left(vectors, options):
    model = BayesianMKLRegressor(vectors=vectors, **QUIET).set_params(**options).fit(X, Y)
    mean, std = model.predict(NEW, return_std=True)
    draws, noise = model.sample_mean(NEW), model._draw_outputs(NEW, 1)[1]
    variance = std**2 - model._target.spread[0] ** 2 * noise.mean()
    error = draws.std(axis=0) / np.sqrt(1000)
    assert (np.abs(draws.mean(axis=0) - mean) < 4.5 * error).all()
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.2)
    np.testing.assert_allclose(model.sample_mean(NEW[2:4], thin=3), draws[::3, 2:4])


def test_functions_of_several_kernels_belong_together_at_the_training_rows():
    model = BayesianMKLRegressor(**QUIET).fit(X, Y)
    posterior, rows = model._functions.posterior, model._prepare(X)

    def cross(m):
        return model._stack.cross(m, rows)

    prior = posterior.covariance_with_rows(cross, 40)
    inner = prior + posterior.scales.noise[0] * np.eye(40)
    covariance = prior - prior @ np.linalg.solve(inner, prior)
    (spanned,) = AdditiveDraws(posterior).spanned(cross, 40)
    np.testing.assert_allclose(spanned @ spanned.T, covariance, atol=1e-6)
    few = covariance[:8, :8] * model._target.spread[0] ** 2
    assert_moments(model.sample_mean(X[:8]), model.predict(X[:8]), few)


@pytest.mark.parametrize(
    "model",
    [
        RVMClassifier(progress=False),
        PCVMClassifier(progress=False),
        PCVMClassifier(likelihood="scaled_logit", progress=False),
        BayesianMKLClassifier(**QUIET),
        BayesianMKLClassifier(likelihood="probit", **QUIET),
        BayesianMKLClassifier(likelihood="multinomial_probit", vectors="shared", **QUIET),
    ],
    ids=lambda model: f"{type(model).__name__} {model.likelihood}",
)
def test_draws_of_probabilities_average_to_the_prediction(model):
    model.fit(X, np.median(Y) < Y)
    draws = model.sample_proba(NEW)
    assert draws.shape == (1000, 7, 2)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    error = draws.std(axis=0) / np.sqrt(1000)
    # predictions take the integrals of logits by a formula, within one per cent
    slack = 0.01 if "logit" in model.likelihood else 0.0
    assert (np.abs(draws.mean(axis=0) - model.predict_proba(NEW)) < 4.5 * error + slack).all()
    assert draws.std(axis=0).max() > 0.02
    np.testing.assert_allclose(model.sample_proba(NEW[2:4], thin=3), draws[::3, 2:4])


def test_draws_of_three_classes_have_probabilities_for_each():
    labels = np.digitize(Y, [96, 104])
    for model in (
        RVMClassifier(progress=False),
        RVMClassifier(multi_class="multinomial", progress=False),
        BayesianMKLClassifier(**QUIET),
    ):
        model.fit(X, labels)
        draws = model.sample_proba(NEW)
        np.testing.assert_allclose(draws.sum(axis=2), 1.0)
        # draws of models of one class each are normalised one by one
        tolerance = 0.07 if getattr(model, "multi_class", "") == "one_vs_rest" else 0.03
        np.testing.assert_allclose(draws.mean(axis=0), model.predict_proba(NEW), atol=tolerance)


def test_draws_of_chains_average_to_the_prediction():
    model = DoublySparseRegressor(chains=2, draws=20, tune=20, **QUIET).fit(X, Y)
    draws = model.sample_mean(NEW)
    assert draws.shape == (40, 7)
    np.testing.assert_allclose(draws.mean(axis=0), model.predict(NEW))
    np.testing.assert_array_equal(
        model.sample_mean(NEW, thin=5), draws.reshape(2, 20, 7)[:, ::5].reshape(8, 7)
    )
