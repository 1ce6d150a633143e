"""Parallel tempering: the coldest replica against enumeration, and through the estimator."""

from functools import partial

import numpy as np
import pytest
from chain_setup import recompiled
from doubly_sparse.test_enumeration import BASE, compare, engine, exact_means
from doubly_sparse_dense import covariance, feature_kernel
from doubly_sparse_setup import make_sampler, rewritten
from scipy.special import logsumexp
from speed import slow_except

from sparsekern import DoublySparseRegressor
from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.datasets import make_additive
from sparsekern.inference.doubly_sparse import tempering
from sparsekern.inference.doubly_sparse.tempering import (
    TemperedSampler,
    exchange_replicas,
    run_tempered,
)
from sparsekern.likelihoods import Gaussian

SHORT = {"draws": 40, "tune": 40, "chains": 2, "random_state": 0, "progress": False}
X, Y = make_additive(80, 5, random_state=1, shuffle=False)


def regress(**options):
    return DoublySparseRegressor(**SHORT).set_params(**options).fit(X, Y)


def _tempered(sweeps, seed):
    make = partial(TemperedSampler, temperatures=(1.0, 3.0, 9.0))
    return engine(BASE, sweeps, seed, make=make)


@pytest.mark.parametrize("sweeps", slow_except([75_000, 150_000], [75_000]))
def test_tempered_chains_have_the_same_posterior(sweeps):
    exact, error = exact_means(BASE)
    sample, state = _tempered(sweeps, 5)
    z = compare(sample, exact, error)
    tried, accepted = state.tallies[8]
    assert tried == sweeps
    assert 0.3 < accepted / tried < 0.999
    assert max(map(abs, z.values())) < 4, z


def test_a_replica_has_the_likelihood_to_its_power():
    """Evidence of two sets of vectors under every replica, by quadrature over the noise."""
    rng = np.random.default_rng(2)
    features, response = rng.standard_normal((6, 2)), rng.standard_normal(6)
    kernel, temperatures = feature_kernel(features, [0.7, 0.0]), (1.0, 3.0, 9.0)
    shape, rate = BASE["noise_prior"]
    make = partial(TemperedSampler, temperatures=temperatures)
    sampler = make_sampler(Gaussian(), features, response, BASE, make=make)
    states, works = sampler.open(sampler.start(rng, 0))
    log_noise = np.linspace(-12.0, 12.0, 4001)
    for temperature, state, work in zip(temperatures, states, works, strict=True):
        power, nu = 1.0 / temperature, state.variances[1]
        state.n_features[0], state.features[0], state.bandwidths[0] = 1, 0, 0.7
        found, exact = [], []
        for rows in ([1, 4], [0, 2, 5]):
            state.n_active[0], state.rows[: len(rows)] = len(rows), rows
            found.append(rebuild_features(work.basis, work.factor, work.sums))
            # N(y; f, v)^power is N(y; f, v / power) times a power of v
            q = covariance(kernel, rows, nu, BASE["v0"], np.full(6, power))
            form, log_det = response @ np.linalg.solve(q, response), np.linalg.slogdet(q)[1]
            logs = -0.5 * (6 * power * log_noise + log_det + form * np.exp(-log_noise))
            logs += -shape * log_noise - rate * np.exp(-log_noise)
            exact.append(logsumexp(logs))
        np.testing.assert_allclose(found[1] - found[0], exact[1] - exact[0], atol=1e-7)


@pytest.mark.slow
def test_replicas_that_always_trade_are_noticed(monkeypatch):
    trade = rewritten(exchange_replicas, "after - before", "1.0")
    monkeypatch.setattr(
        tempering, "run_tempered", recompiled(run_tempered, exchange_replicas=trade)
    )
    exact, error = exact_means(BASE)
    sample, _ = _tempered(60_000, 5)
    z = compare(sample, exact, error)
    assert max(map(abs, z.values())) > 6


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LADDER = {"moves__temperatures": (1, 1.5, 3)}


def test_tempered_chains_fit_report_and_repeat():
    model = regress(**LADDER, draws=200, tune=200)
    np.testing.assert_array_equal(model.selected_features_, [0, 1, 2])
    assert 0.05 < model.acceptance_rates_["temperature_swap"] < 1
    assert "temperature_swap" not in regress().acceptance_rates_
    again = regress(**LADDER, draws=200, tune=200, n_jobs=2)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def test_tempered_chains_go_on_where_they_stopped(tmp_path):
    whole = regress(**LADDER, draws=60)
    first = regress(**LADDER, draws=20, warm_start=True, checkpoint=tmp_path)
    first.set_params(draws=60, checkpoint=None).fit(X, Y)
    np.testing.assert_array_equal(whole.predict(X), first.predict(X))
    stored = regress(**LADDER, draws=20, checkpoint=tmp_path)
    np.testing.assert_array_equal(stored.predict(X), regress(**LADDER, draws=20).predict(X))


@pytest.mark.parametrize("ladder", [(1,), (2, 3), (1, 3, 2), 4, "hot", (1, -2), (1, np.inf)])
def test_ladders_that_are_none(ladder):
    with pytest.raises(ValueError, match="temperatures must be"):
        regress(moves__temperatures=ladder)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"noise": "student_t"}, "is for Gaussian noise, not for the student_t"),
        ({"priors__select_vectors": False}, "needs priors with select_vectors=True"),
        ({"priors__spike": 0.01}, "cannot be combined with a spike"),
    ],
)
def test_what_cannot_be_tempered(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        regress(**LADDER | options)
