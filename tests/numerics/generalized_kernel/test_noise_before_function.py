"""Where the noise is learned, a function is drawn given the very noise drawn before it.

Given everything else (f - mean) / sigma is standard normal and independent of sigma. A function
drawn first is over another sigma: too wide by the spread of the noise. Chains hardly show it.
"""

import numpy as np
from doubly_sparse_dense import feature_kernel
from doubly_sparse_setup import MODEL, generators, make_sampler

from sparsekern.bases.feature_columns import rebuild_features
from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.generalized_kernel.sweep import store_function
from sparsekern.likelihoods import Gaussian, StudentT
from sparsekern.likelihoods._compiled import update_working

N, COUNT, ROWS = 9, 20_000, [1, 5, 7]
_RNG = np.random.default_rng(11)
FEATURES, RESPONSE = _RNG.standard_normal((N, 2)), 1.5 * _RNG.standard_normal(N)
PRECISION = np.exp(_RNG.standard_normal(N))


def _open(likelihood, precision):
    """Return a sampler at a fixed state, and mean and spread (over sigma) of the function there."""
    model = MODEL | {"max_active": 5, "max_features": 2}
    sampler = make_sampler(likelihood, FEATURES, RESPONSE, model, n_monitored=N)
    state = sampler.start(generators(0)[0], 1)
    state.n_active[0], state.rows[:3] = 3, ROWS
    state.n_features[0], state.features[:2], state.bandwidths[:2] = 2, [0, 1], [0.4, 0.9]
    state.precision[:] = precision
    work = sampler.open(state)
    rebuild_features(work.basis, work.factor, work.sums)
    kernel = feature_kernel(FEATURES, [0.4, 0.9])
    design = np.column_stack([np.ones(N), kernel[:, ROWS]])
    prior = np.diag(1 / np.r_[state.variances[0], [state.variances[1]] * 3])
    inverse = np.linalg.inv(design.T @ (precision[:, None] * design) + prior)
    mean = design @ inverse @ design.T @ (precision * RESPONSE)
    return sampler, state, work, mean, np.sqrt(np.einsum("ia,ab,ib->i", design, inverse, design))


def _check(functions, variance, mean, spread):
    standard = (functions - mean) / (spread * np.sqrt(variance)[:, None])
    z = [standard.mean(0) * np.sqrt(COUNT), (standard**2 - 1).mean(0) * np.sqrt(COUNT / 2)]
    both = (standard**2 - 1) * (np.log(variance) - np.log(variance).mean())[:, None]
    z.append(both.mean(0) / both.std(0) * np.sqrt(COUNT))
    print(f"max|z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < 4


def test_function_that_weights_are_drawn_from():
    """Student's noise: the weights of the rows condition on function and noise."""
    sampler, state, work, mean, spread = _open(StudentT([4.0]), PRECISION)
    functions, variance, rng = np.empty((COUNT, N)), np.empty(COUNT), np.random.default_rng(1)
    for t in range(COUNT):
        update_working(work.data, rng, work.factor, sampler.settings.diagonal, 1, work.memory)
        functions[t], variance[t] = work.memory.fitted, state.noise[2]
        state.precision[:] = PRECISION
        rebuild_features(work.basis, work.factor, work.sums)
    _check(functions, variance, mean, spread)


def test_function_that_is_kept():
    """Gaussian noise: what is written down as a draw."""
    sampler, state, work, mean, spread = _open(Gaussian(), np.ones(N))
    draws, rng = sampler.allocate(Plan(0, COUNT, 1)), np.random.default_rng(2)
    for t in range(COUNT):
        store_function(rng, state, work, sampler.settings, draws, t)
    assert draws.monitored.shape == (COUNT, N)
    _check(draws.monitored, draws.noise_variance, mean, spread)
