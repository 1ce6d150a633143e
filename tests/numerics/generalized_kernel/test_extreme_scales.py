"""States far out: digits must not cancel, nothing may hang, and chains must come back."""

import numpy as np
import pytest
from chain_setup import NO_CANDIDATES, factor_at, open_chain, rbf_basis
from dense_model import batch_error
from numpy.testing import assert_allclose
from speed import slow_rows_except

from sparsekern.inference.generalized_kernel.sweep import run_sweeps
from sparsekern.linalg.whitened_factor import quadratic_form, response_energy
from sparsekern.priors import ScalePriors

PRIOR = ScalePriors(2.0, 0.6, 2.0, 1.0)
APART = 1e3 * np.arange(6.0)[:, None]  # rows so far apart that the kernel matrix is I


def _form(factor):
    squares = float((factor.projected[:, : factor.n_active[0] + 1] ** 2).sum())
    return quadratic_form(
        factor, factor.root, factor.projected, factor.variances, response_energy(factor), squares
    )


@pytest.mark.parametrize("latents", [1, 2])
@pytest.mark.parametrize("g", [1e-11, 1e-8, 1e-2, 1.0, 1e4])
@pytest.mark.parametrize("eta", [1e-11, 1e-8, 1e-2, 1.0, 1e4])
def test_quadratic_form_with_every_row_active(g, eta, latents):
    """K = I and k = n: Q = a I + 11'/eta with a = 1 + 1/g, so all is known in closed form."""
    latent = np.random.default_rng(0).standard_normal((latents, 6)) + 1.0
    factor = factor_at(rbf_basis(APART, 0.0), [1.0], range(6), latent, g, eta, 6)
    a, centre = 1 + 1 / g, latent.mean(1, keepdims=True)
    within = ((latent - centre) ** 2).sum() / a
    exact = within + (6 * centre**2 / (a + 6 / eta)).sum()
    assert_allclose(_form(factor), exact, rtol=1e-6)


@pytest.mark.parametrize("eta", [1e-14, 1e-9, 1.0])
def test_quadratic_form_of_equal_latent_variables(eta):
    """k = 0 and s constant, as at the start with labels of one class: s'Q^-1 s nearly vanishes."""
    factor = factor_at(rbf_basis(APART, 0.0), [1.0], [], np.full(6, 0.8), 1.0, eta, 6)
    assert_allclose(_form(factor), 6 * 0.64 / (1 + 6 / eta), rtol=1e-6)


def _labels(kind):
    return {"one class": np.ones(12), "two classes": np.where(np.arange(12) % 3 == 0, 1.0, -1.0)}[
        kind
    ]


def _log_scales(side, largest, rows, g, eta, sweeps, latent=None, moves=3):
    rng = np.random.default_rng(1)
    features = np.random.default_rng(0).standard_normal((12, 2))
    basis = rbf_basis(features, 1e-6)
    state, work, settings, draws = open_chain(
        basis,
        side,
        largest,
        rows,
        g,
        eta,
        1.0,
        moves=moves,
        joint_moves=moves,
        sweeps=sweeps,
        monitored=[0],
    )
    if latent is not None:
        state.response[0] = latent * side
    outcome = run_sweeps(
        rng, state, work, basis, PRIOR, settings, draws, NO_CANDIDATES, sweeps, 0, 1, True
    )
    assert np.isfinite(outcome)
    assert (np.sign(state.response[0]) == side).all()
    for part in draws:
        assert np.isfinite(part).all()
    return np.column_stack([*(-np.log(draws.variances.T)), draws.n_active])


CASES = [
    (*case, labels)
    for case in [(6, [0, 5], 3), (12, range(12), 3), (12, range(12), 0)]
    for labels in ("one class", "two classes")
]


@pytest.mark.parametrize(
    ("largest", "rows", "moves", "labels"),
    slow_rows_except(CASES, [CASES[3], CASES[4]]),
)
def test_chains_come_back_from_anywhere(largest, rows, moves, labels):
    """Scales nine orders of magnitude off, latent variables tiny, huge or all equal."""
    side, sweeps = _labels(labels), 10_000
    usual = _log_scales(side, largest, rows, 1.0, 1.0, sweeps, 1 + np.arange(12) / 12, moves)[1000:]
    for g, eta, latent in (
        (1e-9, 1e-9, 0.8),
        (1e9, 1e9, 0.8),
        (1e-9, 1e-9, 3e4),
        (1.0, 1.0, 0.8),
        (1.0, 1.0, 1e-9),
    ):
        start = np.full(12, latent)
        there = _log_scales(side, largest, rows, g, eta, sweeps, start, moves)[1000:]
        error = np.hypot(batch_error(usual, 50), batch_error(there, 50))
        z = (there.mean(0) - usual.mean(0)) / np.where(error > 0, error, 1.0)
        assert np.abs(z).max() < 4.5, (g, eta, latent, z)
