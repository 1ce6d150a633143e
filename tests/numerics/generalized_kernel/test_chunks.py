"""Draws do not depend on how a chain is cut into compiled calls or on when it is reopened."""

import numpy as np
import pytest
from chain_setup import NO_CANDIDATES, open_chain, rbf_basis, table_basis
from dense_model import gaussian_kernel

from sparsekern.inference.generalized_kernel.sweep import REFRESH_EVERY, open_workspace, run_sweeps
from sparsekern.inference.moves.length_scale import FIXED, PER_FEATURE, SHARED
from sparsekern.priors import ScalePriors

N, LARGEST, SWEEPS, TUNE, THIN, MOVES = 60, 25, 4 * REFRESH_EVERY, 70, 3, 6
PRIOR = ScalePriors(2.0, 0.05, 0.5, 0.05)


def _run(cuts, mode=FIXED, table=False, reopen=False):
    """Run to each of ``cuts`` in turn; ``reopen`` starts every call from the state alone."""
    rng = np.random.default_rng(3)
    features = rng.standard_normal((N, 2))
    side = np.sign(features[:, 0] * features[:, 1])
    basis = rbf_basis(features, 1e-8)
    candidates = NO_CANDIDATES
    if table:
        basis = table_basis(gaussian_kernel(features, features, np.full(2, 0.9)), 1e-8)
        candidates = rng.integers(0, N, (SWEEPS, MOVES))
    kept = (SWEEPS - TUNE) // THIN
    state, work, settings, draws = open_chain(
        basis, side, LARGEST, np.arange(10), 0.5, 1.0, 0.9, mode,
        moves=MOVES, sweeps=SWEEPS, kept=kept, monitored=[0, 7],
    )  # fmt: skip
    fresh = True
    for stop in cuts:
        if reopen and not fresh:
            state = type(state)(*(part.copy() for part in state))
            work = open_workspace(state, settings, work.data)
            fresh = True
        part = candidates[state.sweep[0] : stop] if table else candidates
        run_sweeps(rng, state, work, basis, PRIOR, settings, draws, part, stop, TUNE, THIN, fresh)
        fresh = False
    assert state.sweep[0] == SWEEPS
    return state, draws


def _assert_same(left, right):
    for ours, theirs in zip((*left[0], *left[1]), (*right[0], *right[1]), strict=True):
        np.testing.assert_array_equal(ours, theirs)


CUTS = [list(range(1, SWEEPS + 1)), [1, 2, 49, 51, 137, SWEEPS], [70, 71, SWEEPS], [99, SWEEPS]]


@pytest.mark.parametrize("mode", [FIXED, SHARED, PER_FEATURE])
def test_cuts(mode):
    whole = _run([SWEEPS], mode)
    for cuts in CUTS:
        _assert_same(whole, _run(cuts, mode))


@pytest.mark.parametrize("mode", [FIXED, SHARED, PER_FEATURE])
def test_reopening_where_the_factor_is_rebuilt_anyway(mode):
    whole = _run([SWEEPS], mode)
    _assert_same(whole, _run(range(REFRESH_EVERY, SWEEPS + 1, REFRESH_EVERY), mode, reopen=True))
    _assert_same(whole, _run([2 * REFRESH_EVERY, SWEEPS], mode, reopen=True))


def test_cuts_with_candidates_drawn_beforehand():
    whole = _run([SWEEPS], table=True)
    for cuts in CUTS:
        _assert_same(whole, _run(cuts, table=True))
    _assert_same(whole, _run([REFRESH_EVERY, SWEEPS], table=True, reopen=True))


def test_chain_has_moved():
    state, draws = _run([SWEEPS])
    assert len(np.unique(draws.variances[:, 1])) == len(draws.variances)
    assert len(np.unique(draws.size_trace)) > 3
    assert (state.tallies[:3, 1] > 0).all()
    assert state.tallies[:3, 0].sum() == (SWEEPS - TUNE) * MOVES  # counted after tuning only
    assert (draws.n_active == draws.size_trace[TUNE + THIN - 1 :: THIN]).all()
    for t, k in enumerate(draws.n_active):
        assert len(set(draws.rows[t, :k])) == k
        coefficients = draws.coefficients[t, 0]
        assert (coefficients[:k] != 0).all() and (coefficients[k:] == 0).all()


def test_stored_draws_are_consistent():
    """Monitored probabilities and log-likelihood follow from the stored coefficients."""
    from scipy.special import log_ndtr, ndtr

    rng = np.random.default_rng(3)
    features = rng.standard_normal((N, 2))
    side = np.sign(features[:, 0] * features[:, 1])
    for mode in (FIXED, PER_FEATURE):
        _, draws = _run([SWEEPS], mode)
        for t in (0, 11, len(draws.n_active) - 1):
            rows = draws.rows[t, : draws.n_active[t]]
            width = draws.length_scale[t, 0] if mode else np.full(2, 0.9)
            kernel = gaussian_kernel(features, features[rows], width)
            f = draws.intercept[t] + kernel @ draws.coefficients[t, 0, : len(rows)]
            # coefficients are large where the kernel matrix is nearly singular: digits cancel
            limit = 1e-14 * (1 + np.abs(draws.coefficients[t]).sum())
            np.testing.assert_allclose(ndtr(f[[0, 7]]), draws.monitored[t], atol=limit)
            total = log_ndtr(side * f).sum()
            np.testing.assert_allclose(total, draws.log_likelihood[t], atol=N * 10 * limit)
