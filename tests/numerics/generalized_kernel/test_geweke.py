"""Geweke's joint test of the whole sweep: parameters and data must keep their prior law.

One side draws parameters and data from the prior in NumPy. The other alternates the compiled sweep
and coefficient draw (given the labels) with fresh latent variables and labels given the
coefficients. Both have the same law if and only if the sampler is right.
"""

import numpy as np
import pytest
from chain_setup import open_chain, rbf_basis, recompiled
from dense_model import batch_error, draw_prior
from joint_law import complete, report, stack
from numba import njit

from sparsekern._jit import jit
from sparsekern.bases.kernel_columns import rebuild
from sparsekern.inference.generalized_kernel.sweep import sweep_once
from sparsekern.inference.moves.length_scale import PER_FEATURE, SHARED
from sparsekern.inference.moves.scales import _log_density, slice_scales
from sparsekern.linalg.factor_columns import refresh_cross
from sparsekern.linalg.whitened_factor import refactor
from sparsekern.linalg.whitened_response import draw_coefficients
from sparsekern.priors import ScalePriors

N, LARGEST, JITTER, BOX = 5, 4, 0.05, (0.4, 2.5)
PRIOR = (3.0, 1.5, 3.0, 2.0)
FEATURES = np.random.default_rng(8).standard_normal((N, 2))


@jit
def _alternate(rng, state, work, basis, prior, settings, active, scale, numbers, beta, f, s, side):
    """Alternate sweeps and fresh data; write everything down after each."""
    none = np.zeros(0, np.int64)
    factor = work.factor
    rebuild(factor, basis, state.length_scale)
    coefficients = np.zeros(settings.log_weights.shape[0])
    for t in range(s.shape[0]):
        sweep_once(rng, state, work, basis, prior, settings, none, False)
        state.sweep[0] += 1
        numbers[t, 2] = draw_coefficients(rng, factor, 0, coefficients, work.memory.fitted)
        numbers[t, 0] = 1.0 / state.variances[1]
        numbers[t, 1] = 1.0 / state.variances[0]
        scale[t] = state.length_scale
        for a in range(state.n_active[0]):
            active[t, state.rows[a]] = True
            beta[t, state.rows[a]] = coefficients[a]
        for i in range(s.shape[1]):
            state.response[0, i] = work.memory.fitted[i] + rng.standard_normal()
            work.data.side[i] = 1.0 if state.response[0, i] > 0 else -1.0
            f[t, i] = work.memory.fitted[i]
            s[t, i] = state.response[0, i]
            side[t, i] = work.data.side[i]
        refresh_cross(factor)
        refactor(factor)


def _run_chain(alternate, mode, sweeps, seed):
    rng = np.random.default_rng(seed)
    basis = rbf_basis(FEATURES, JITTER)
    state, work, settings, _ = open_chain(
        basis, np.ones(N), LARGEST, [1], 1.0, 1.0, 1.0, mode, box=BOX, log_step=-0.5
    )
    active = np.zeros((sweeps, N), np.bool_)
    scale, numbers = np.zeros((sweeps, 2)), np.zeros((sweeps, 3))
    beta, f, s, side = (np.zeros((sweeps, N)) for _ in range(4))
    alternate(
        rng, state, work, basis, ScalePriors(*PRIOR), settings,
        active, scale, numbers, beta, f, s, side,
    )  # fmt: skip
    return {
        "active": active, "scale": scale, "g": numbers[:, 0], "eta": numbers[:, 1],
        "intercept": numbers[:, 2], "beta": beta, "fitted": f, "latent": s, "side": side,
    }  # fmt: skip


def _scores(alternate, mode, sweeps, seed=0):
    chain = _run_chain(alternate, mode, sweeps, seed)
    rng = np.random.default_rng(seed + 100)
    prior = draw_prior(rng, sweeps, FEATURES, PRIOR, JITTER, LARGEST, BOX, mode == PER_FEATURE)
    names, ours = stack(complete(chain, FEATURES, JITTER))
    others = complete(prior, FEATURES, JITTER)
    theirs = np.column_stack([others[name] for name in names])
    ours = ours[sweeps // 100 :]
    error = np.hypot(batch_error(ours), theirs.std(0) / np.sqrt(len(theirs)))
    z = (ours.mean(0) - theirs.mean(0)) / error
    print(report(names, z))
    return names, z


@pytest.mark.slow
@pytest.mark.parametrize("mode", [SHARED, PER_FEATURE])
def test_joint_law(mode):
    names, z = _scores(_alternate, mode, 200_000)
    assert len(names) > 30
    assert np.abs(z).max() < 4, dict(zip(names, z, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("mode", [SHARED, PER_FEATURE])
def test_joint_law_long(mode):
    total = []
    for seed in (1, 2, 3):  # in parts, for memory
        names, z = _scores(_alternate, mode, 1_000_000, seed)
        total.append(z)
    together = np.sum(total, axis=0) / np.sqrt(len(total))
    print("together:", report(names, together))
    assert np.abs(total).max() < 4
    assert np.abs(together).max() < 4


@pytest.mark.slow
def test_wrong_jacobian_is_noticed():
    """The sweep with lambda^(n-1) in its joint scale move, all else right, must fail."""

    @njit
    def density(factor, prior, root, projected, start, direction, summary, x):
        value = _log_density(factor, prior, root, projected, start, direction, summary, x)
        return value - direction[2] * x

    slices = recompiled(slice_scales, _log_density=density)
    sweep = recompiled(sweep_once, slice_scales=slices)
    _, z = _scores(recompiled(_alternate, sweep_once=sweep), SHARED, 200_000)
    assert np.abs(z).max() > 6
