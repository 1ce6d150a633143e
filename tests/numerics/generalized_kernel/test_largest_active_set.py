"""The end of the active set's prior, where chains sit often: moves against all sets enumerated.

A birth into the largest set and a death out of it have other probabilities of being tried than
those below it. Few rows and strong signals let a chain spend much of its time at the end. (The scan
of the active-subset scheme has its own such test, beside the others of that scheme.)
"""

import numpy as np
import pytest
from chain_setup import factor_at, rbf_basis, table_basis
from dense_model import all_sets, covariance, gaussian_kernel, log_normal, normalized, set_log_prior
from doubly_sparse_dense import covariance as slab_covariance
from doubly_sparse_dense import feature_kernel, log_evidence, scores, worst
from doubly_sparse_setup import MODEL, bare

from sparsekern._jit import jit
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.priors.model_size import beta_binomial_log_weights

N, G, ETA, JITTER = 4, 0.05, 1.1, 1e-6
SCALE = np.array([0.5, 0.6])
FEATURES = np.random.default_rng(20).standard_normal((N, 2))
LATENT = np.array([2.2, -2.6, 1.8, -2.4])
SHAPES = (1.0, 3.0)  # births into the largest set are refused now and then: else nothing shows
MOVES = 100_000


@jit
def _record(rng, factor, basis, scale, log_weights, pre_drawn, tallies, codes):
    """Make single moves and write down the set after each, as bits."""
    rows = np.arange(factor.position.shape[0])
    drawn = np.zeros(1, np.int64)
    none = drawn[:0]
    for t in range(codes.shape[0]):
        if pre_drawn:
            drawn[0] = rng.integers(0, rows.shape[0])
        chosen = drawn if pre_drawn else none
        move_active_set(rng, factor, basis, scale, log_weights, rows, 1, chosen, tallies)
        for i in range(rows.shape[0]):
            if factor.position[i] >= 0:
                codes[t] += 1 << i


def _moments(codes):
    """Membership of every row, and the size's law."""
    member = codes[:, None] >> np.arange(N) & 1
    found = {f"row {i}": member[:, i] for i in range(N)}
    return found | {f"size {k}": member.sum(1) == k for k in range(N + 1)}


def _check(codes, largest, log_weight):
    """Hold the sets visited against all sets, by their log weights."""
    sets = all_sets(N, largest)
    probabilities = normalized([log_weight(rows) for rows in sets.values()])
    values = _moments(np.array(list(sets)))
    exact = {name: float(probabilities @ values[name]) for name in values}
    assert 0.1 < exact[f"size {largest}"] < 0.95, "the chain should sit there often, not always"
    found = _moments(codes)
    assert (codes < 2**N).all() and found[f"size {largest}"].any()
    # what hardly ever happens has no normal error
    exact = {name: value for name, value in exact.items() if 0.005 < value < 0.995}
    z = scores(found, exact)
    print(worst(z), f"p({largest}) = {exact[f'size {largest}']:.3f}")
    assert max(map(abs, z.values())) < 4, z


@pytest.mark.parametrize("pre_drawn", [False, True])
@pytest.mark.parametrize("largest", [1, 2, 3, 4])
def test_generalized_kernel_model(largest, pre_drawn):
    kernel = gaussian_kernel(FEATURES, FEATURES, SCALE)
    basis = table_basis(kernel, JITTER) if pre_drawn else rbf_basis(FEATURES, JITTER)
    factor = factor_at(basis, SCALE, [1], LATENT, G, ETA, largest)
    codes, tallies = np.zeros(MOVES, np.int64), np.zeros((3, 2), np.int64)
    weights = beta_binomial_log_weights(N, largest, SHAPES)
    rng = np.random.default_rng([5, largest])
    _record(rng, factor, basis, SCALE[None], weights, pre_drawn, tallies, codes)
    assert (tallies[:, 1] > 300).all()  # births, deaths and swaps

    def log_weight(rows):
        q = covariance(kernel, rows, G, ETA, JITTER)
        return log_normal(LATENT, q) + set_log_prior(N, len(rows), SHAPES)

    _check(codes, largest, log_weight)


@pytest.mark.parametrize("largest", [2, 4])
@pytest.mark.parametrize("noise_prior", [None, (2.3, 0.7)])
def test_doubly_sparse_model(largest, noise_prior):
    """The same moves with independent coefficients, the noise known or integrated out."""
    nu, odds = 4.0, -0.6
    basis, factor, _, _, _ = bare(
        FEATURES, MODEL, [0, 1], [2.0, 1.5], [1], LATENT, nu, noise_prior=noise_prior,
        largest=largest,
    )  # fmt: skip
    codes, tallies = np.zeros(MOVES, np.int64), np.zeros((3, 2), np.int64)
    rng = np.random.default_rng([5, largest])
    weights = odds * np.arange(largest + 1.0)
    _record(rng, factor, basis, np.ones((1, 1)), weights, False, tallies, codes)
    kernel = feature_kernel(FEATURES, [2.0, 1.5])

    def log_weight(rows):
        q = slab_covariance(kernel, rows, nu, MODEL["v0"])
        return log_evidence(LATENT, q, noise_prior) + odds * len(rows)

    _check(codes, largest, log_weight)
