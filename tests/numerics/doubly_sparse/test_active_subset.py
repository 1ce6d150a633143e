"""The active-subset scheme: its scan of members is exact where its data are held fixed."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from doubly_sparse_dense import covariance, feature_terms, log_evidence, scores
from doubly_sparse_setup import MODEL, generators, make_sampler, run
from scipy.stats import multivariate_normal
from speed import slow_rows_except

from sparsekern import DoublySparseRegressor
from sparsekern.datasets import make_additive
from sparsekern.estimators.doubly_sparse.model import LARGE
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.doubly_sparse.active_subset import (
    ActiveSubsetSampler,
    gather_subset,
    scan_members,
)
from sparsekern.inference.doubly_sparse.sweep import sweep_features
from sparsekern.likelihoods import Gaussian

N, SPIKE, SLAB, INTERCEPT, ETA = 4, 0.05, 3.0, 2.0, 0.4
ODDS = np.log(0.4 / 0.6)


def regress(features, response, **options):
    short = {"draws": 40, "tune": 40, "chains": 2, "random_state": 0, "progress": False}
    return DoublySparseRegressor(**short).set_params(**options).fit(features, response)


def _data():
    rng = np.random.default_rng(2)
    features = rng.standard_normal((N, 2))
    return features, np.array([1.1, -0.3, 0.6, -1.4])


def _kernel(features):
    return np.exp(-ETA * (features[:, :1] - features[:, 0]) ** 2)


def _exact(noise, most):
    """Inclusion probabilities of the pseudo-posterior whose data are all rows."""
    features, response = _data()
    kernel = _kernel(features)
    logs, sets = [], []
    for flags in product([False, True], repeat=N):
        chosen = np.array(flags)
        if chosen.sum() > most:
            continue
        columns = kernel[:, chosen]
        spread = np.eye(N) + INTERCEPT + SLAB * columns @ columns.T
        value = multivariate_normal(np.zeros(N), noise * spread).logpdf(response)
        squares = (kernel[:, ~chosen] ** 2).sum(0)
        value -= 0.5 * np.log1p(noise * SPIKE * squares).sum()
        logs.append(value + ODDS * chosen.sum())
        sets.append(chosen)
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum() @ np.array(sets, dtype=float)


def _sampler(**options):
    features, response = _data()
    model = MODEL | {"max_active": N, "max_features": 2, "v0": INTERCEPT, "nu": SLAB}
    make = partial(ActiveSubsetSampler, spike=SPIKE)
    return make_sampler(Gaussian(), features, response, model | options, make=make)


SCANS = [(0.5, N, 40_000), (2.0, N, 40_000), (0.5, 2, 15_000), (2.0, 1, 15_000)]


@pytest.mark.parametrize(("noise", "most", "sweeps"), slow_rows_except(SCANS, [SCANS[0], SCANS[2]]))
def test_scan_with_fixed_data_against_enumeration(noise, most, sweeps):
    """All active sets, up to the end of their prior."""
    features, response = _data()
    kernel = _kernel(features)
    sampler = _sampler()
    state = sampler.start(np.random.default_rng(0), 1)
    state.n_active[0], state.rows[:N] = N, np.arange(N)
    state.n_features[0], state.features[0], state.bandwidths[0] = 1, 0, ETA
    work = sampler.open(state)
    gather_subset(state, work)
    rng = np.random.default_rng(1)
    member = np.zeros((sweeps, N))
    work.member[:most] = 1
    for t in range(sweeps):
        chosen = np.flatnonzero(work.member)
        columns = np.column_stack([np.ones(N), kernel[:, chosen]])
        prior = np.diag(1.0 / np.array([INTERCEPT] + [SLAB] * len(chosen)))
        spread = np.linalg.inv(columns.T @ columns + prior)
        root = np.linalg.cholesky(spread)
        mean = spread @ columns.T @ response
        drawn = mean + np.sqrt(noise) * root @ rng.standard_normal(len(mean))
        work.coefficients[chosen] = drawn[1:]
        residual = response - columns @ drawn
        size = scan_members(rng, work, residual, N, most, ODDS, noise, SLAB, SPIKE)
        member[t] = work.member
        assert size == member[t].sum() <= most
    exact = {str(j): value for j, value in enumerate(_exact(noise, most))}
    assert most == N or (member.sum(1) == most).mean() > 0.2
    z = scores({str(j): member[:, j] for j in range(N)}, exact)
    assert max(map(abs, z.values())) < 4, z


def test_the_subset_is_all_there_is():
    """Rows that are not active do not touch the sweep's features, noise or coefficients."""
    sampler = _sampler(max_active=3)
    draws, state = run(sampler, 300, seed=3)
    assert ((draws.n_active >= 1) & (draws.n_active <= 3)).all()
    assert np.isfinite(draws.log_likelihood).all()
    assert state.noise[0] == MODEL["noise_prior"][0] + 0.5 * draws.n_active[-1]


def test_chains_continue_from_their_state():
    """All that a chain needs is in its state: a new workspace changes nothing."""
    sampler = _sampler()
    whole, _ = run(sampler, 60, seed=4)
    plan, rngs = Plan(0, 60, 1), generators(4)
    state, parts = sampler.start(rngs[0], 0), sampler.allocate(plan)
    for stop in (20, 60):
        sampler.advance(rngs, state, sampler.open(state), parts, stop, plan, True)
    for ours, theirs in zip(parts, whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_features_given_the_subset_against_quadrature(sweeps=60_000):
    """With the active rows held, features and bandwidths have the posterior of those rows alone."""
    features, response = _data()
    sampler = _sampler(feature_probability=0.3, slab_prior=None)
    state = sampler.start(np.random.default_rng(0), 1)
    rows = [0, 2, 3]
    state.n_active[0], state.rows[:3] = 3, rows
    work = sampler.open(state)
    eta = np.zeros((sweeps, 2))
    rng = np.random.default_rng(5)
    for t in range(sweeps):
        gather_subset(state, work)
        sweep_features(rng, work.inner, work.subset, sampler.settings, False)
        for place in range(state.n_features[0]):
            eta[t, state.features[place]] = state.bandwidths[place]
    grid, logs, kernels = feature_terms(features[rows], 0.3, 2, "rbf", 40)
    logs = logs + np.array(
        [
            log_evidence(
                np.atleast_2d(response[rows]),
                covariance(kernel, np.arange(3), SLAB, INTERCEPT, np.ones(3)),
                MODEL["noise_prior"],
            )
            for kernel in kernels
        ]
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    exact = {f"in {j}": float(weights @ (grid[:, j] > 0)) for j in range(2)}
    exact |= {f"eta {j}": float(weights @ grid[:, j]) for j in range(2)}
    found = {f"in {j}": (eta[:, j] > 0).astype(float) for j in range(2)}
    found |= {f"eta {j}": eta[:, j] for j in range(2)}
    z = scores(found, exact)
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_active_subset_learns_from_the_active_rows():
    features, response = make_additive(LARGE + 100, 4, random_state=2, shuffle=False)
    model = regress(
        features, response, moves__large_n="active_subset", priors__expected_vectors=60,
        priors__max_active=150, draws=200,
        tune=300,
    )  # fmt: skip
    assert model.score(features, response) > 0.5
    counts = model.posterior_["sample_stats"]["n_active"].to_numpy()
    assert counts.min() >= 1 and counts.max() <= 150
    assert model.pointwise_log_likelihood().shape == (2, 200, len(features))
    small = features[:80], response[:80]
    few, plain = regress(*small, moves__large_n="active_subset"), regress(*small)
    np.testing.assert_array_equal(few.predict(features), plain.predict(features))
