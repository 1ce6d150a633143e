"""Counts in the sampled families: the corrected sweeps have the right posterior.

The oracle draws everything from the prior and weighs it by the likelihood of SciPy: nothing of the
samplers is used, no Gaussian stands in for anything. Two rules of the samplers are left out in turn
to show that the comparison would notice.
"""

import numpy as np
import pytest
from doubly_sparse_setup import MODEL, rewritten
from doubly_sparse_setup import make_sampler as make_doubly_sparse
from doubly_sparse_setup import run as run_doubly_sparse
from family_setup import JITTER, PRIOR, make_sampler, run
from scipy.stats import nbinom, poisson

from sparsekern.inference.doubly_sparse import corrected_sweep as doubly_sparse_sweep
from sparsekern.inference.doubly_sparse import sampler as doubly_sparse_sampler
from sparsekern.inference.generalized_kernel import corrected_sweep, sampler
from sparsekern.likelihoods import NegativeBinomial, Poisson

FEATURES = np.array([[0.0, 0.3], [0.7, -1.0], [1.5, 0.4], [2.1, 1.2], [3.0, -0.5]])
COUNTS = np.array([0.0, 1.0, 5.0, 2.0, 0.0])
OFFSET = np.log([0.5, 1.0, 2.0, 1.0, 3.0])
DISPERSION = (2.0, 1.0)  # shape and rate of its inverse
LAWS = {"poisson": Poisson(OFFSET), "negative_binomial": NegativeBinomial(OFFSET, DISPERSION)}
N, PRIOR_DRAWS = len(COUNTS), 1_500_000
quick_or_slow = [
    pytest.param("negative_binomial"),
    pytest.param("poisson", marks=pytest.mark.slow),
]


def functionals(active, fitted, scale, dispersion, features=None):
    """Return what is compared, a column each."""
    bounded = np.arctan(fitted)
    parts = [active, active[:, :1] * active[:, 1:2], bounded, bounded[:, :2] ** 2,
             np.log(scale)[:, None], np.log(dispersion)[:, None]]  # fmt: skip
    return np.column_stack(parts if features is None else [*parts, features])


def weigh(name, fitted, dispersion, values):
    """Return posterior means of ``values`` from draws of the prior, and their errors."""
    means = np.exp(OFFSET + fitted)
    if name == "poisson":
        logs = poisson.logpmf(COUNTS, means).sum(axis=1)
    else:
        size = 1.0 / dispersion[:, None]
        logs = nbinom.logpmf(COUNTS, size, size / (size + means)).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    centre = weights @ values
    return centre, np.sqrt(weights**2 @ (values - centre) ** 2)


def draw_dispersion(rng, name, count):
    if name == "poisson":
        return np.ones(count)
    return DISPERSION[1] / rng.standard_gamma(DISPERSION[0], count)


def generalized_kernel_oracle(name):
    rng = np.random.default_rng(0)
    kernel = np.exp(-0.5 * ((FEATURES[:, None] - FEATURES) ** 2).sum(-1))
    size = rng.integers(0, 4, PRIOR_DRAWS)  # uniform on 0..3, then a set of that size
    order = rng.random((PRIOR_DRAWS, 3)).argsort(axis=1).argsort(axis=1)
    active = order < size[:, None]
    g = rng.standard_gamma(PRIOR[0], PRIOR_DRAWS) / PRIOR[1]
    eta = rng.standard_gamma(PRIOR[2], PRIOR_DRAWS) / PRIOR[3]
    fitted = np.repeat(rng.standard_normal(PRIOR_DRAWS)[:, None] / np.sqrt(eta)[:, None], N, axis=1)
    for code in range(8):
        rows = [j for j in range(3) if code >> j & 1]
        here = np.flatnonzero((active == [code >> j & 1 for j in range(3)]).all(axis=1))
        if rows:
            root = np.linalg.cholesky(kernel[np.ix_(rows, rows)] + JITTER * np.eye(len(rows)))
            columns = np.linalg.solve(root, kernel[rows])
            noise = rng.standard_normal((len(here), len(rows))) / np.sqrt(g[here])[:, None]
            fitted[here] += noise @ columns
    dispersion = draw_dispersion(rng, name, PRIOR_DRAWS)
    values = functionals(active.astype(float), fitted, g, dispersion)
    return weigh(name, fitted, dispersion, values)


def generalized_kernel_draws(name, draws, seed=1):
    model = make_sampler(LAWS[name], FEATURES, COUNTS, candidates=np.arange(3), moves=2)
    kept, state = run(model, draws, 400, seed)
    active = np.zeros((draws, 3))
    for slot in range(kept.rows.shape[1]):
        t = np.flatnonzero(kept.n_active > slot)
        active[t, kept.rows[t, slot]] = 1.0
    kernel = np.exp(-0.5 * ((FEATURES[:, None] - FEATURES) ** 2).sum(-1))
    held = np.arange(kept.rows.shape[1]) < kept.n_active[:, None]
    beta = np.where(held, kept.coefficients[:, 0, : kept.rows.shape[1]], 0.0)
    fitted = kept.intercept + np.einsum("ts,tsn->tn", beta, kernel[kept.rows])
    dispersion = kept.parameters[:, 0] if kept.parameters.shape[1] else np.ones(draws)
    return functionals(active, fitted, 1.0 / kept.variances[:, 1], dispersion), state


SMALL = MODEL | {"max_features": 2, "max_active": 3}


def doubly_sparse_oracle(name):
    rng = np.random.default_rng(0)
    p, candidates = FEATURES.shape[1], 3
    included = rng.random((PRIOR_DRAWS, p)) < SMALL["feature_probability"]
    eta = np.where(included, rng.standard_exponential((PRIOR_DRAWS, p)), 0.0)
    active = rng.random((PRIOR_DRAWS, candidates)) < SMALL["vector_probability"]
    shape, rate = SMALL["slab_prior"]
    slab = rate / rng.standard_gamma(shape, PRIOR_DRAWS)
    fitted = np.sqrt(SMALL["v0"]) * rng.standard_normal((PRIOR_DRAWS, 1)) + np.zeros(N)
    for j in range(candidates):
        beta = active[:, j] * np.sqrt(slab) * rng.standard_normal(PRIOR_DRAWS)
        fitted += beta[:, None] * np.exp(-eta @ ((FEATURES - FEATURES[j]) ** 2).T)
    dispersion = draw_dispersion(rng, name, PRIOR_DRAWS)
    extra = np.column_stack([included, np.arctan(eta)])
    values = functionals(active.astype(float), fitted, slab, dispersion, extra)
    return weigh(name, fitted, dispersion, values)


def doubly_sparse_draws(name, draws, seed=1):
    model = make_doubly_sparse(LAWS[name], FEATURES, COUNTS, SMALL, candidates=np.arange(3))
    kept, state = run_doubly_sparse(model, draws, 400, seed)
    active, eta = np.zeros((draws, 3)), np.zeros((draws, 2))
    included, fitted = np.zeros((draws, 2)), kept.intercept + np.zeros(N)
    for slot in range(kept.features.shape[1]):
        t = np.flatnonzero(kept.n_features > slot)
        included[t, kept.features[t, slot]] = 1.0
        eta[t, kept.features[t, slot]] = kept.bandwidths[t, slot]
    for slot in range(kept.rows.shape[1]):
        t = np.flatnonzero(kept.n_active > slot)
        rows = kept.rows[t, slot]
        active[t, rows] = 1.0
        squares = (FEATURES[rows][:, None] - FEATURES) ** 2
        kernel = np.exp(-np.einsum("tnp,tp->tn", squares, eta[t]))
        fitted[t] += kept.coefficients[t, 0, slot][:, None] * kernel
    dispersion = kept.parameters[:, 0] if kept.parameters.shape[1] else np.ones(draws)
    extra = np.column_stack([included, np.arctan(eta)])
    return functionals(active, fitted, kept.variances[:, 1], dispersion, extra), state


FAMILIES = {
    "generalized kernel": (generalized_kernel_oracle, generalized_kernel_draws, 150_000),
    "doubly sparse": (doubly_sparse_oracle, doubly_sparse_draws, 80_000),
}


def scores(family, name, draws=None):
    """Return differences between sampler and oracle in standard errors."""
    oracle, sample, default = FAMILIES[family]
    exact, error = oracle(name)
    values, _ = sample(name, default if draws is None else draws)
    batches = values[: len(values) // 100 * 100].reshape(100, -1, values.shape[1]).mean(axis=1)
    own = batches.std(axis=0, ddof=1) / 10
    return (values.mean(axis=0) - exact) / np.sqrt(own**2 + error**2 + 1e-300)


@pytest.mark.parametrize("name", quick_or_slow)
@pytest.mark.parametrize("family", FAMILIES)
def test_posterior_against_weighted_prior_draws(family, name):
    assert np.abs(scores(family, name)).max() < 4.5


ALWAYS = "is_free(sweep, tune) or is_taken(rng, work.data, response, precision, fitted, "


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["always taken", "dispersion left alone"])
def test_a_mistake_would_be_noticed(mistake, monkeypatch):
    old, new = f"{ALWAYS}proposal)", "True"
    if mistake != "always taken":
        old, new = "draw_working(work.data, rng, fitted, 1.0, response, precision)", "pass"
    sweep = rewritten(doubly_sparse_sweep._sweep, old, new)
    wrong = rewritten(doubly_sparse_sweep.run_corrected, "True", "True", _sweep=sweep)
    monkeypatch.setattr(doubly_sparse_sampler, "run_corrected", wrong)
    assert np.abs(scores("doubly sparse", "negative_binomial")).max() > 6


@pytest.mark.slow
def test_a_mistake_in_the_generalized_kernel_model_would_be_noticed(monkeypatch):
    sweep = rewritten(corrected_sweep._sweep, f"{ALWAYS}work.proposal)", "True")
    wrong = rewritten(
        corrected_sweep.run_corrected, "smallest = 1.0", "smallest = 1.0", _sweep=sweep
    )
    monkeypatch.setattr(sampler, "run_corrected", wrong)
    assert np.abs(scores("generalized kernel", "poisson")).max() > 6


def test_sites_stay_after_tuning_and_most_sweeps_are_taken():
    # Poisson counts of the doubly-sparse family need no stand-in
    laws = {generalized_kernel_draws: "poisson", doubly_sparse_draws: "negative_binomial"}
    for sample, law in laws.items():
        _, short = sample(law, 1)
        _, long = sample(law, 2000)
        np.testing.assert_array_equal(short.response, long.response)
        np.testing.assert_array_equal(short.precision, long.precision)
        assert not np.allclose(long.precision, 1.0)
    tried, taken = long.tallies[9]
    assert tried == 2000 and taken > 600
