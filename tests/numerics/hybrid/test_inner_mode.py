"""Modes of latent functions: every response, large counts and starts from far away."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, root
from scipy.special import expit, gammaln, log_expit, log_ndtr
from scipy.stats import norm, poisson

from sparsekern.inference.hybrid._contract import Batch
from sparsekern.inference.hybrid.inner_mode import find_mode
from sparsekern.inference.hybrid.laplace_backend import LaplaceBackend
from sparsekern.kernels.evaluate import RBF
from sparsekern.likelihoods.negative_binomial import negative_binomial_terms
from sparsekern.likelihoods.poisson import poisson_terms
from sparsekern.likelihoods.terms import CODES

N, FREEDOM, LAST, INTERCEPT = 30, 4.0, -1.0, 10.0
CASES = [
    ("probit", 1.0), ("logit", 1.0), ("student_t", 1.0),
    *((name, mean) for name in ("poisson", "negative_binomial") for mean in (1.0, 1e3, 1e4, 1e6)),
]  # fmt: skip


def kernel_matrix(x, amplitude=2.0, bandwidth=1.5):
    apart = (x[:, None] - x) ** 2
    return amplitude * (np.exp(-apart / bandwidth) + 1e-9 * np.eye(len(x))) + INTERCEPT


def problem(name, mean):
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(-2, 2, N))
    f = 1.5 * np.sin(2 * x)
    y = {
        "probit": np.sign(f + rng.standard_normal(N)),
        "logit": np.sign(f + rng.logistic(size=N)),
        "student_t": f + 0.5 * rng.standard_t(FREEDOM, N),
        "poisson": rng.poisson(mean * np.exp(f)).astype(float),
        "negative_binomial": rng.negative_binomial(3, 3 / (3 + mean * np.exp(f))).astype(float),
    }[name]
    return x, y


def log_density(name, y, f):
    """Up to what does not depend on f."""
    size = np.exp(-LAST)
    return {
        "probit": lambda: log_ndtr(y * f),
        "logit": lambda: log_expit(y * f),
        "student_t": lambda: -0.5 * (FREEDOM + 1) * np.log(FREEDOM * np.exp(LAST) + (y - f) ** 2),
        "poisson": lambda: y * f - np.exp(f),
        "negative_binomial": lambda: y * f - (y + size) * np.log(size + np.exp(f)),
    }[name]().sum()


def slope(name, y, f):
    if name == "probit":
        return y * np.exp(norm.logpdf(f) - log_ndtr(y * f))
    if name == "logit":
        return y * expit(-y * f)
    if name == "student_t":
        return (FREEDOM + 1) * (y - f) / (FREEDOM * np.exp(LAST) + (y - f) ** 2)
    size = np.inf if name == "poisson" else np.exp(-LAST)
    return (y - np.exp(f)) / (1 + np.exp(f) / size)


def found_by_scipy(name, y, kernel, mean):
    """Return the mode: a zero of the gradient, sought from a minimiser's best point."""
    factor = np.linalg.cholesky(kernel)

    def minus(z):
        return 0.5 * z @ z - log_density(name, y, mean + factor @ z)

    def gradient(z):
        return z - factor.T @ slope(name, y, mean + factor @ z)

    near = minimize(minus, np.zeros(N), jac=gradient, method="BFGS", options={"maxiter": 2000})
    exact = root(gradient, near.x, method="hybr", options={"xtol": 1e-13, "maxfev": 20000})
    assert np.abs(gradient(exact.x)).max() < 1e-5 * max(1.0, np.abs(slope(name, y, mean)).max())
    return mean + factor @ exact.x


def mode(name, y, kernel, mean, start):
    a, f, slopes, weights = start.copy(), np.empty(N), np.empty(N), np.empty(N)
    value, settled = find_mode(
        kernel, CODES[name], y, np.full(N, mean), LAST, FREEDOM, a, f, slopes, weights,
        np.empty((N, N)), np.empty((5, N)),
    )  # fmt: skip
    return value, settled, a, f, slopes


@pytest.mark.parametrize(("name", "size"), CASES)
def test_the_mode_is_an_independent_optimisers_from_any_start(name, size):
    x, y = problem(name, size)
    kernel = kernel_matrix(x)
    mean = math.log(y.mean()) if size > 1 else 0.0
    exact = found_by_scipy(name, y, kernel, mean)
    rng = np.random.default_rng(0)
    other = mode(name, y, kernel_matrix(x[rng.permutation(N)], 50.0, 0.02), mean, np.zeros(N))[2]
    starts = [np.zeros(N), other, 1e3 * rng.standard_normal(N), np.full(N, 1e2), np.full(N, np.nan)]
    values = []
    for start in starts:
        value, settled, a, f, slopes = mode(name, y, kernel, mean, start)
        assert settled
        np.testing.assert_allclose(f, exact, atol=1e-6)
        np.testing.assert_allclose(a, slopes, atol=1e-6 * (1 + np.abs(slopes).max()))
        np.testing.assert_allclose(mean + kernel @ a, f, atol=1e-8)
        values.append(value)
    np.testing.assert_allclose(values, values[0], rtol=1e-11)


def test_what_cannot_be_settled_is_said():
    """Digits run out where the prior is wider than the data by 20 orders of magnitude."""
    x = problem("poisson", 1.0)[0]
    y = np.round(1e12 * np.exp(np.sin(2 * x)))
    _, settled, *_ = mode("poisson", y, kernel_matrix(x, 1e5), 0.0, np.zeros(N))
    assert not settled
    backend = LaplaceBackend("poisson", FREEDOM, INTERCEPT)
    batch = Batch(
        x[None], RBF, np.arange(N)[None], y[None], np.zeros((1, 1), np.int64),
        np.ones(1, np.int64), True,
    )  # fmt: skip
    backend.predict(batch, np.array([[[11.5, 0.4, 0.0]]]), x[None, :3, None])
    assert backend.unsettled == 1


@pytest.mark.parametrize("y", [0.0, 1.0, 7.0, 40.0, 1e3])
def test_log_probabilities_of_counts(y):
    for f in np.log(y + 0.5) + np.array([-40.0, -2.0, -0.1, 0.0, 0.3, 3.0]):
        value, first, second, _ = poisson_terms(y, f, 0.0, 0.0)
        assert value == pytest.approx(poisson.logpmf(y, np.exp(f)), rel=1e-10, abs=1e-10)
        assert first == pytest.approx(y - np.exp(f), abs=1e-9 * (1 + y))
        assert second == pytest.approx(np.exp(f), rel=1e-9, abs=1e-12)
        for last in (-9.0, -1.0, 4.0):
            size, h = np.exp(-last), 1e-5
            value, first, second, _ = negative_binomial_terms(y, f, last, 0.0)
            expected = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
            expected -= size * np.log1p(np.exp(f) / size) - y * (f - np.log(size + np.exp(f)))
            assert value == pytest.approx(expected, rel=1e-7, abs=1e-9)
            ends = [negative_binomial_terms(y, f + s, last, 0.0) for s in (h, -h)]
            assert first == pytest.approx((ends[0][0] - ends[1][0]) / (2 * h), rel=1e-4, abs=1e-5)
            assert second == pytest.approx(-(ends[0][1] - ends[1][1]) / (2 * h), rel=1e-4, abs=1e-6)


def test_large_counts_keep_their_digits():
    """Second differences of log probabilities are the curvature: sums of large terms lose it."""
    y, f, h = 1e6, math.log(1e6) + 1e-3, 1e-5
    for terms in (poisson_terms, negative_binomial_terms):
        ends, here = [terms(y, f + s, -2.0, 0.0)[0] for s in (h, -h)], terms(y, f, -2.0, 0.0)
        assert (2 * here[0] - sum(ends)) / h**2 == pytest.approx(here[2], rel=1e-3)


@pytest.mark.parametrize("name", ["poisson", "negative_binomial"])
@pytest.mark.parametrize("size", [1e4, 1e6])
def test_evidence_of_large_counts(name, size):
    """Plug-in scores start from another model's mode; derivatives are those of the evidence."""
    x, y = problem(name, size)
    rng = np.random.default_rng(1)
    columns = np.array([x, rng.standard_normal(N)])
    backend = LaplaceBackend(name, FREEDOM, INTERCEPT, mean=math.log(y.mean()))
    u = np.array([0.7, 0.4, LAST])

    def batch(model):
        return Batch(
            columns, RBF, np.arange(N)[None], y[None], np.array([model or (0,)]),
            np.array([len(model)]), True,
        )  # fmt: skip

    changes = np.array([[-1, 1], [0, -1], [0, 1], [-1, -1]])
    values = backend.toggles(batch((0,)), u, changes, u[1])
    for value, model in zip(values, [(0, 1), (), (1,), (0,)], strict=True):
        assert value == pytest.approx(backend.log_likelihood(batch(model), u[None])[0], rel=1e-9)
    _, gradient, hessian = backend.derivatives(batch((0,)), u[None])
    for i, step in enumerate(0.02 * np.eye(3)):
        ahead, behind = (backend.derivatives(batch((0,)), u[None] + s) for s in (step, -step))
        by_value, by_gradient = ((ahead[k] - behind[k])[0] / 0.04 for k in (0, 1))
        assert gradient[0, i] == pytest.approx(by_value, rel=0.01, abs=0.02)
        np.testing.assert_allclose(hessian[0, i], by_gradient, rtol=0.01, atol=0.05)
