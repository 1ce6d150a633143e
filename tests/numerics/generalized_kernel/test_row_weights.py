"""Weights of rows in the sampled families: the likelihood of a row to the power of its weight.

The oracle draws everything from the prior and weighs it by powers of SciPy's likelihoods; with
Gaussian noise the doubly-sparse model has another, by enumeration. Without the weights the same
comparison fails.
"""

from functools import cache

import numpy as np
import pytest
from doubly_sparse_dense import posterior_moments, scores
from doubly_sparse_setup import MODEL, unpack
from doubly_sparse_setup import make_sampler as make_doubly_sparse
from doubly_sparse_setup import run as run_doubly_sparse
from family_setup import JITTER, NOISE_PRIOR, PRIOR, make_sampler, run
from numpy.testing import assert_allclose
from scipy.stats import norm, poisson
from sklearn.gaussian_process.kernels import RBF
from speed import slow_except

from sparsekern.inference.doubly_sparse.tempering import TemperedSampler
from sparsekern.likelihoods import Gaussian, Logit, Poisson
from sparsekern.likelihoods.logit import WeightedLogit

FEATURES = np.array([[0.0, 0.3], [0.7, -1.0], [1.5, 0.4], [2.1, 1.2], [3.0, -0.5]])
RESPONSES = {
    "gaussian": np.array([1.2, -0.6, 0.4, 2.0, -0.9]),
    "poisson": np.array([0.0, 1.0, 5.0, 2.0, 0.0]),
    "logit": np.array([-1.0, 1.0, 1.0, 1.0, -1.0]),
}
WEIGHTS = np.array([2.5, 0.3, 1.7, 0.6, 3.2])
N, PRIOR_DRAWS, DRAWS = 5, 600_000, 40_000
LAWS = {"gaussian": Gaussian, "poisson": Poisson, "logit": WeightedLogit}


def functionals(active, fitted, scale, variance):
    bounded = np.arctan(fitted)
    parts = [active, bounded, bounded[:, :2] ** 2, np.log(scale)[:, None]]
    return np.column_stack([*parts, np.log(variance)[:, None]])


def log_density(name, fitted, variance):
    y = RESPONSES[name]
    if name == "gaussian":
        return norm.logpdf(y, fitted, np.sqrt(variance)[:, None])
    return poisson.logpmf(y, np.exp(fitted)) if name == "poisson" else -np.logaddexp(0, -y * fitted)


@cache
def draw_prior(name):
    """Return functions, variances and functionals of draws of the prior."""
    rng = np.random.default_rng(0)
    kernel = np.exp(-0.5 * ((FEATURES[:, None] - FEATURES) ** 2).sum(-1))
    active = rng.random((PRIOR_DRAWS, 3)).argsort(axis=1).argsort(axis=1)
    active = active < rng.integers(0, 4, PRIOR_DRAWS)[:, None]
    g = rng.standard_gamma(PRIOR[0], PRIOR_DRAWS) / PRIOR[1]
    eta = rng.standard_gamma(PRIOR[2], PRIOR_DRAWS) / PRIOR[3]
    variance = np.ones(PRIOR_DRAWS)
    if name == "gaussian":
        variance = NOISE_PRIOR[1] / rng.standard_gamma(NOISE_PRIOR[0], PRIOR_DRAWS)
    fitted = np.tile((rng.standard_normal(PRIOR_DRAWS) / np.sqrt(eta))[:, None], N)
    for code in range(1, 8):
        rows = [j for j in range(3) if code >> j & 1]
        here = np.flatnonzero((active == [code >> j & 1 for j in range(3)]).all(axis=1))
        root = np.linalg.cholesky(kernel[np.ix_(rows, rows)] + JITTER * np.eye(len(rows)))
        noise = rng.standard_normal((len(here), len(rows))) / np.sqrt(g[here])[:, None]
        fitted[here] += noise @ np.linalg.solve(root, kernel[rows])
    fitted *= np.sqrt(variance)[:, None]
    return fitted, variance, functionals(active.astype(float), fitted, g, variance)


def oracle(name, weights):
    """Return posterior means and their errors from draws of the prior."""
    fitted, variance, values = draw_prior(name)
    logs = log_density(name, fitted, variance) @ weights
    share = np.exp(logs - logs.max())
    share /= share.sum()
    mean = share @ values
    return mean, np.sqrt(share**2 @ (values - mean) ** 2)


def chain(name, law):
    sampler = make_sampler(law, FEATURES, RESPONSES[name], candidates=np.arange(3), moves=3)
    kept, _ = run(sampler, DRAWS, 1000, 1)
    held = np.arange(kept.rows.shape[1]) < kept.n_active[:, None]
    active = np.zeros((DRAWS, 3))
    for slot in range(kept.rows.shape[1]):
        t = np.flatnonzero(held[:, slot])
        active[t, kept.rows[t, slot]] = 1.0
    kernel = np.exp(-0.5 * ((FEATURES[:, None] - FEATURES) ** 2).sum(-1))
    beta = np.where(held, kept.coefficients[:, 0, : kept.rows.shape[1]], 0.0)
    fitted = kept.intercept + np.einsum("ts,tsn->tn", beta, kernel[kept.rows])
    values = functionals(active, fitted, 1 / kept.variances[:, 1], kept.noise_variance)
    return values, fitted, kept


def largest_z(values, mean, error):
    batches = values.reshape(50, -1, values.shape[1]).mean(axis=1)
    vary = np.ptp(values, axis=0) > 0
    total = np.hypot(error, batches.std(axis=0, ddof=1) / np.sqrt(50))[vary]
    return np.abs((batches.mean(axis=0) - mean)[vary] / total).max()


@pytest.mark.parametrize("name", LAWS)
def test_posterior_of_the_generalized_kernel_model(name):
    values, fitted, kept = chain(name, LAWS[name](weights=WEIGHTS))
    mean, error = oracle(name, WEIGHTS)
    assert largest_z(values, mean, error) < 4.5
    density = log_density(name, fitted, kept.noise_variance) @ WEIGHTS
    assert_allclose(kept.log_likelihood, density, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", slow_except(LAWS, ["gaussian"]))
def test_without_the_weights_the_comparison_fails(name):
    values, _, _ = chain(name, LAWS[name]())
    mean, error = oracle(name, WEIGHTS)
    assert largest_z(values, mean, error) > 6.0


def test_weighted_logit_with_unit_weights_is_logit():
    mean, error = oracle("logit", np.ones(N))
    for law in (Logit(), WeightedLogit(weights=np.ones(N))):
        assert largest_z(chain("logit", law)[0], mean, error) < 4.5


def doubly_sparse_moments(eta, active, log_nu, log_variance):
    included = (eta > 0).astype(float)
    found = {f"in {j}": included[j] for j in range(2)} | {f"a{i}": active[i] for i in range(N)}
    return found | {"log v": log_variance, "log nu": log_nu, "eta": np.arctan(eta[0])}


SMALL = MODEL | {"max_features": 2, "max_active": 5, "feature_probability": 0.3}


@cache
def enumerated(counts):
    """Return posterior moments of the weighted doubly-sparse model by enumeration."""
    return posterior_moments(
        FEATURES, RESPONSES["gaussian"], SMALL, doubly_sparse_moments, counts, precision=WEIGHTS,
        counted=WEIGHTS.sum(),
    )  # fmt: skip


@pytest.mark.parametrize(
    "temperatures", slow_except([None, (1.0, 3.0)], [None]), ids=["plain", "tempered"]
)
def test_posterior_of_the_doubly_sparse_model_by_enumeration(temperatures):
    fine, rough = enumerated((56, 44)), enumerated((40, 33))
    error = {name: abs(fine[name] - rough[name]) for name in fine}

    def z(law):
        make = {}
        if temperatures is not None:
            make["make"] = lambda *a, **k: TemperedSampler(*a, temperatures=temperatures, **k)
        sampler = make_doubly_sparse(law, FEATURES, RESPONSES["gaussian"], SMALL, **make)
        sample = unpack(run_doubly_sparse(sampler, 60_000, tune=500, seed=1)[0], N, 2)
        found = doubly_sparse_moments(
            sample["eta"].T, sample["active"].T.astype(float), np.log(sample["nu"]),
            np.log(sample["variance"]),
        )  # fmt: skip
        return max(abs(value) for value in scores(found, fine, error).values())

    assert z(Gaussian(WEIGHTS)) < 4.5
    if temperatures is None:
        assert z(Gaussian()) > 6.0


def test_rotated_columns_carry_the_weights():
    rng = np.random.default_rng(4)
    features, y, weights = (
        rng.uniform(-2, 2, (400, 2)),
        rng.standard_normal(400),
        rng.gamma(1, 1, 400),
    )
    rows = np.arange(0, 400, 40)
    sampler = make_sampler(Gaussian(weights), features, y, candidates=rows, largest=9)
    layout = sampler.layout
    top = layout.data_rows
    assert top < 400
    columns = np.column_stack([np.ones(400), y, RBF(1.0)(features, features[rows])])
    short = np.column_stack(
        [layout.ones[:top], layout.response[:top], layout.basis.table[0][:, :top].T]
    )
    weighted = weights[:, None] * columns
    assert_allclose(short.T @ short, columns.T @ weighted, rtol=1e-10, atol=1e-9)
    kept, state = run(sampler, 50, 20, 1)
    assert state.noise[0] == NOISE_PRIOR[0] + 0.5 * weights.sum()
    held = np.arange(kept.rows.shape[1]) < kept.n_active[:, None]
    beta = np.where(held, kept.coefficients[:, 0, : kept.rows.shape[1]], 0.0)
    vectors = layout.training_row[kept.rows]
    for t in range(50):
        f = kept.intercept[t] + RBF(1.0)(features, features[vectors[t]]) @ beta[t]
        density = norm.logpdf(y, f, np.sqrt(kept.noise_variance[t])) @ weights
        assert_allclose(kept.log_likelihood[t], density, rtol=1e-8)
