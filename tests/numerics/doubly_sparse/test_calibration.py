"""Simulation-based calibration: data from the prior, so posterior statements must come true."""

import itertools

import numpy as np
import pytest
from doubly_sparse_dense import draw_prior
from doubly_sparse_setup import MODEL, make_sampler, run
from scipy.stats import kstest

from sparsekern.likelihoods import Gaussian, Logit

ROWS, FEATURES = 12, 4


def _collect(likelihood, sets, draws, seed):
    """Return, for every set, truths and what the posterior says about them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, FEATURES))
    model = MODEL | {"max_features": FEATURES, "max_active": ROWS}
    if likelihood.name != "gaussian":
        model["noise_prior"] = None
    prior = draw_prior(rng, sets, X, model)
    included, shares, ranks = prior["included"], np.empty((sets, FEATURES)), np.empty((sets, 2))
    for t in range(sets):
        fitted = prior["fitted"][t, 0]
        if likelihood.name == "gaussian":
            response = fitted + np.sqrt(prior["variance"][t]) * rng.standard_normal(ROWS)
        else:
            response = np.where(rng.random(ROWS) < likelihood.mean(fitted), 1.0, -1.0)
        sampler = make_sampler(likelihood, X, response, model, toggles=8, swaps=1, walks=2, moves=8)
        kept, _ = run(sampler, draws, tune=200, seed=1000 * seed + t)
        held = np.arange(kept.features.shape[1]) < kept.n_features[:, None]
        for feature in range(FEATURES):
            shares[t, feature] = (held & (kept.features == feature)).any(1).mean()
        noise = np.log(kept.variances[::20, 1])
        ranks[t, 0] = np.mean(noise < np.log(prior["nu"][t]))
        size = kept.n_active[::20] + rng.uniform(0, 1, len(noise))
        ranks[t, 1] = np.mean(size < prior["active"][t].sum() + rng.uniform())
    return included, shares, ranks


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", [Gaussian(), Logit()], ids=lambda law: law.name)
def test_inclusion_probabilities_come_true(likelihood):
    included, shares, ranks = _collect(likelihood, sets=400, draws=1500, seed=5)
    truth, share = included.ravel().astype(float), shares.ravel()
    edges = np.array([0.0, 0.1, 0.25, 0.35, 0.45, 0.6, 0.8, 1.01])
    z = []
    for low, high in itertools.pairwise(edges):
        inside = (share >= low) & (share < high)
        if inside.sum() >= 20:
            spread = np.sqrt(np.sum(share[inside] * (1 - share[inside])) + 1e-9)
            z.append((truth[inside] - share[inside]).sum() / spread)
    total = (truth - share).sum() / np.sqrt(np.sum(share * (1 - share)))
    print(likelihood.name, np.round(z, 2), round(total, 2))
    assert len(z) >= 4
    assert max(map(abs, [*z, total])) < 4
    for column in ranks.T:
        assert kstest(column, "uniform").pvalue > 1e-4
