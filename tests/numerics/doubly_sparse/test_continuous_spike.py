"""The continuous spike, against weighted draws of its prior in plain NumPy."""

import numpy as np
import pytest
from doubly_sparse_dense import batch_error, feature_kernel, worst
from doubly_sparse_setup import generators, rewritten
from numba import njit
from scipy.stats import norm
from speed import slow_except

from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.doubly_sparse import continuous_spike
from sparsekern.inference.doubly_sparse import sampler as sampler_module
from sparsekern.inference.doubly_sparse.continuous_spike import run_continuous_spike
from sparsekern.inference.doubly_sparse.sampler import DoublySparseSampler
from sparsekern.kernels.evaluate import RBF
from sparsekern.likelihoods import Gaussian, Hinge, Logit, MultinomialProbit, Probit
from sparsekern.model import DoublySparseModel

ROWS, FEATURES, SPIKE = 4, 2, 0.05
X = np.random.default_rng(3).standard_normal((ROWS, FEATURES))
Y = np.array([1.3, -0.9, 0.8, -1.1])
LIKELIHOODS = {"gaussian": Gaussian(), "logit": Logit(), "probit": Probit(), "hinge": Hinge()}


def _model(likelihood):
    return DoublySparseModel(
        likelihood, RBF, feature_probability=0.4, vector_probability=0.35, slab_prior=(3.0, 4.0),
        slab_variance=1.0, intercept_variance=2.0, max_features=2, max_active=4,
        noise_prior=(3.0, 2.0) if likelihood.name == "gaussian" else None, spike_variance=SPIKE,
    )  # fmt: skip


def _functionals(included, eta, slab, nu, variance, fitted):
    return {
        "first": included[:, 0] * 1.0, "second": included[:, 1] * 1.0,
        "both": included.all(1) * 1.0, "eta": np.exp(-eta[:, 0]), "slab 1": slab[:, 0] * 1.0,
        "slab 2": slab[:, 1] * 1.0,
        "members": slab.sum(1) * 1.0, "log nu": np.log(nu), "log v": np.log(variance),
        "f1": np.arctan(fitted[:, 0]), "f2": np.arctan(fitted[:, 1]),
        "f^2": np.log1p((fitted**2).sum(1)), "members log nu": slab.sum(1) * np.log(nu),
        "slab f": slab[:, 0] * np.arctan(fitted[:, 0]),
    }  # fmt: skip


def _log_likelihood(name, response, fitted, variance):
    if name == "gaussian":
        return norm.logpdf(response, fitted, np.sqrt(variance)[:, None]).sum(1)
    if name == "logit":
        return -np.logaddexp(0, -response * fitted).sum(1)
    if name == "probit":
        return norm.logcdf(response * fitted).sum(1)
    return -2 * np.maximum(1 - response * fitted, 0).sum(1)


def _by_weighting(name, response, blocks):
    rng, count = np.random.default_rng(8), 50_000
    rows = []
    for _ in range(blocks):
        included = rng.random((count, FEATURES)) < 0.4
        eta = np.where(included, rng.standard_exponential((count, FEATURES)), 0.0)
        slab = rng.random((count, ROWS)) < 0.35
        nu = 1.0 / rng.gamma(3.0, 1 / 4.0, count)
        variance = np.ones(count)
        if name == "gaussian":
            variance = 1.0 / rng.gamma(3.0, 1 / 2.0, count)
        spread = np.sqrt(variance[:, None] * np.where(slab, nu[:, None], SPIKE))
        beta = spread * rng.standard_normal((count, ROWS))
        intercept = np.sqrt(2.0 * variance) * rng.standard_normal(count)
        fitted = intercept[:, None] + np.einsum("tij,tj->ti", feature_kernel(X, eta), beta)
        weight = np.exp(_log_likelihood(name, response, fitted, variance))
        found = _functionals(included, eta, slab, nu, variance, fitted)
        rows.append([weight.mean(), *((weight * value).mean() for value in found.values())])
    rows = np.array(rows)
    mean = rows.mean(0)
    ratio = mean[1:] / mean[0]
    residual = (rows[:, 1:] - ratio * rows[:, :1]) / mean[0]
    return ratio, residual.std(0, ddof=1) / np.sqrt(blocks)


def _scores(name, sweeps=60_000, blocks=40, toggles=2):
    likelihood = LIKELIHOODS[name]
    response = Y if name == "gaussian" else np.sign(Y)
    sampler = DoublySparseSampler(
        _model(likelihood), np.asfortranarray(X), response, toggles=toggles, swaps=1, walks=1
    )
    plan, rngs = Plan(500, sweeps, 1), generators(4)
    state, draws = sampler.start(rngs[0], 0), sampler.allocate(plan)
    sampler.advance(rngs, state, sampler.open(state), draws, plan.sweeps, plan, True)
    assert (draws.n_active == ROWS).all() and (draws.rows == np.arange(ROWS)).all()
    included, eta = np.zeros((sweeps, FEATURES), bool), np.zeros((sweeps, FEATURES))
    for size in range(FEATURES):
        t = np.flatnonzero(draws.n_features > size)
        included[t, draws.features[t, size]] = True
        eta[t, draws.features[t, size]] = draws.bandwidths[t, size]
    fitted = draws.intercept + np.einsum(
        "tij,tj->ti", feature_kernel(X, eta), draws.coefficients[:, 0]
    )
    found = _functionals(
        included, eta, draws.slab > 0, draws.variances[:, 1], draws.noise_variance, fitted
    )
    exact, error = _by_weighting(name, response, blocks)
    z = {}
    for (key, values), value, spread in zip(found.items(), exact, error, strict=True):
        if np.ptp(values) > 0:
            z[key] = (values.mean() - value) / np.hypot(batch_error(values), spread)
    print(name, worst(z))
    return z


@pytest.mark.parametrize("name", slow_except(LIKELIHOODS, ("gaussian", "hinge")))
def test_posterior(name):
    z = _scores(name)
    assert len(z) >= 13
    assert max(map(abs, z.values())) < 4, z


def _with(monkeypatch, old, new, **replacements):
    wrong = rewritten(run_continuous_spike, old, new, **replacements)
    monkeypatch.setattr(sampler_module, "run_continuous_spike", wrong)


@njit
def _nothing(rng, state, work, prior, settings, spike_variance):
    return None


@pytest.mark.slow
def test_membership_given_stale_coefficients_is_noticed(monkeypatch):
    """The order printed for the support vector machine: membership right after the features."""
    features = "        sweep_features(rng, state, work, settings, sweep < tune)\n"
    early = "        early_slab(rng, state, work, prior, settings, spike_variance)\n"
    fresh = "        rebuild_features(work.basis, work.factor, work.sums)\n"
    _with(
        monkeypatch, features, features + early + fresh, early_slab=continuous_spike._draw_slab,
        rebuild_features=rebuild_features, _draw_slab=_nothing,
    )  # fmt: skip
    assert max(map(abs, _scores("gaussian", 300_000, 80, toggles=10).values())) > 6


@pytest.mark.slow
def test_coefficients_given_stale_noise_are_noticed(monkeypatch):
    """The order printed for regression: coefficients given the noise of the sweep before."""
    draw = rewritten(
        continuous_spike._draw_function,
        "    draw_noise(rng, factor)\n    intercept",
        "    intercept",
    )
    late = rewritten(
        continuous_spike._draw_slab,
        "    noise, coefficients = work.factor",
        "    draw_noise(rng, work.factor)\n    noise, coefficients = work.factor",
        draw_noise=continuous_spike.draw_noise,
    )
    _with(monkeypatch, "kept > 0", "kept > 0", _draw_function=draw, _draw_slab=late)
    assert max(map(abs, _scores("gaussian", 60_000).values())) > 6


def test_several_latent_functions_are_refused():
    with pytest.raises(
        ValueError, match=r"spike of variance 0.05 .*multinomial.*likelihood='logit'"
    ):
        DoublySparseSampler(_model(MultinomialProbit(3)), X, np.array([0.0, 1.0, 2.0, 0.0]))
