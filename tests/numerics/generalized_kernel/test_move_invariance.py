"""Every move alone leaves the joint law as it is: draw from the prior, move once, compare.

The replicates are independent, so there is no autocorrelation to correct for and no other move
can hide a mistake; the paired differences make the test sharp.
"""

import numpy as np
import pytest
from chain_setup import open_chain, rbf_basis, recompiled
from dense_model import draw_prior
from joint_law import reduced, report, stack
from numba import njit

from sparsekern._jit import jit
from sparsekern.bases.kernel_columns import rebuild
from sparsekern.inference.generalized_kernel.sweep import sweep_once
from sparsekern.inference.moves import function_scale, stand_in
from sparsekern.inference.moves.active_set import move_active_set
from sparsekern.inference.moves.function_scale import move_function_scale
from sparsekern.inference.moves.length_scale import PER_FEATURE, SHARED, move_length_scale
from sparsekern.inference.moves.scales import DIRECTIONS, _log_density, slice_scales
from sparsekern.inference.moves.stand_in import move_through_stand_in
from sparsekern.likelihoods._compiled import update_working
from sparsekern.priors import ScalePriors

N, LARGEST, JITTER, BOX = 5, 4, 0.05, (0.4, 2.5)
PRIOR = (3.0, 1.5, 3.0, 2.0)
MOVES = [
    "active set", "width", "g", "eta", "joint scale", "latents", "sweep", "function scale", "joint",
]  # fmt: skip
REPLICATES = 100_000


@jit
def _move_all(rng, state, work, basis, prior, settings, which, active, scale, g, eta, latent):
    """Put the chain at every replicate in turn, make one move, write back where it ends."""
    none = np.zeros(0, np.int64)
    n = latent.shape[1]
    taken = 0
    for t in range(latent.shape[0]):
        k = 0
        for i in range(n):
            if active[t, i]:
                state.rows[k] = i
                k += 1
            state.response[0, i] = latent[t, i]
            work.data.side[i] = 1.0 if latent[t, i] > 0 else -1.0
        state.n_active[0] = k
        state.variances[0] = 1.0 / eta[t]
        state.variances[1] = 1.0 / g[t]
        state.length_scale[:] = scale[t]
        rebuild(work.factor, basis, state.length_scale)
        if which == 0:
            move_active_set(
                rng, work.factor, basis, state.length_scale, settings.log_weights,
                settings.candidates, 3, none, state.tallies,
            )  # fmt: skip
        elif which == 1:
            move_length_scale(
                rng, work.factor, work.spare, basis, state.length_scale, settings.box,
                settings.width_mode, state.log_step[0],
            )  # fmt: skip
        elif which <= 4:
            slice_scales(
                rng, work.factor, prior, DIRECTIONS[which - 2], state.slice_width[which - 2],
                work.root, work.projected,
            )  # fmt: skip
        elif which == 5:
            update_working(work.data, rng, work.factor, basis.diagonal, 2, work.memory)
        elif which == 7:
            move_function_scale(
                rng,
                work.factor,
                prior,
                work.data,
                1.0,
                work.memory.coefficients,
                work.memory.fitted,
            )
        elif which == 8:
            taken += move_through_stand_in(
                rng, work.factor, work.stand_in, basis, state.length_scale, prior,
                settings.log_weights, settings.candidates, 3, 2, work.data, state.sites,
                state.slice_width, work.root, work.projected, work.memory.coefficients,
                work.memory.fitted, work.proposal, work.unused,
            )  # fmt: skip
        else:
            sweep_once(rng, state, work, basis, prior, settings, none, False)
        for i in range(n):
            active[t, i] = False
            latent[t, i] = state.response[0, i]
        for a in range(state.n_active[0]):
            active[t, state.rows[a]] = True
        eta[t] = 1.0 / state.variances[0]
        g[t] = 1.0 / state.variances[1]
        scale[t] = state.length_scale
    return taken


def _features():
    return np.random.default_rng(8).standard_normal((N, 2))


def _scores(move_all, which, mode, prior=PRIOR, seed=0):
    """Return the names and z scores of the paired differences."""
    rng = np.random.default_rng(seed)
    features = _features()
    start = draw_prior(
        rng, REPLICATES, features, prior, JITTER, LARGEST, BOX, per_feature=mode == PER_FEATURE
    )
    end = {name: start[name].copy() for name in ("active", "scale", "g", "eta", "latent")}
    basis = rbf_basis(features, JITTER)
    state, work, settings, _ = open_chain(
        basis, np.ones(N), LARGEST, [], 1.0, 1.0, 1.0, mode, box=BOX, log_step=-0.7
    )
    move_all(
        rng, state, work, basis, ScalePriors(*prior), settings, which,
        end["active"], end["scale"], end["g"], end["eta"], end["latent"],
    )  # fmt: skip
    names, before = stack(reduced(start))
    difference = np.column_stack([reduced(end)[name] for name in names]) - before
    moved = difference.std(0) > 0
    z = difference.mean(0)[moved] / (difference.std(0)[moved] / np.sqrt(REPLICATES))
    names = [name for name, flag in zip(names, moved, strict=True) if flag]
    print(report(names, z))
    return names, z


@pytest.mark.parametrize(
    ("move", "mode"),
    [
        # slices of g and eta alone: test_scale_target.py; sweeps: test_family_geweke.py
        *((move, SHARED) for move in MOVES if move not in ("g", "eta", "sweep")),
        *(pytest.param(m, SHARED, marks=pytest.mark.slow) for m in ("g", "eta", "sweep")),
        ("width", PER_FEATURE),
        pytest.param("sweep", PER_FEATURE, marks=pytest.mark.slow),
    ],
)
def test_move_keeps_the_joint_law(move, mode):
    names, z = _scores(_move_all, MOVES.index(move), mode)
    assert len(names) >= 4
    assert np.abs(z).max() < 4, dict(zip(names, z, strict=True))


@pytest.mark.slow
def test_wrong_prior_in_the_function_scale_move_is_noticed():
    """One power of the stretch too few."""

    @njit
    def density(data, fitted, prior, intercept, log_intercept, log_scale, x):
        value = function_scale._log_density(
            data, fitted, prior, intercept, log_intercept, log_scale, x
        )
        return value - x

    move = recompiled(move_function_scale, _log_density=density)
    _, z = _scores(recompiled(_move_all, move_function_scale=move), 7, SHARED)
    assert np.abs(z).max() > 8


@pytest.mark.slow
def test_joint_move_without_its_correction_is_noticed():
    """The stand-in must not replace the likelihood: without L~ in the ratio the law is another."""

    @njit
    def nothing(sites, fitted):
        return 0.0

    move = recompiled(move_through_stand_in, _site_log_likelihood=nothing)
    _, z = _scores(recompiled(_move_all, move_through_stand_in=move), 8, SHARED)
    assert np.abs(z).max() > 8
    assert stand_in._site_log_likelihood(np.ones((2, 1)), np.zeros(1)) == -0.5


@pytest.mark.slow
def test_vague_prior_of_the_scales():
    """Shapes below one and small rates: long tails in log g and log eta."""
    _, z = _scores(_move_all, MOVES.index("sweep"), SHARED, prior=(1.0, 0.05, 0.5, 0.05), seed=1)
    assert np.abs(z).max() < 4


@pytest.mark.slow
def test_wrong_jacobian_of_the_joint_scale_move_is_noticed():
    """lambda^(n-1) in place of lambda^n."""

    @njit
    def density(factor, prior, root, projected, start, direction, summary, x):
        value = _log_density(factor, prior, root, projected, start, direction, summary, x)
        return value - direction[2] * x

    wrong = recompiled(_move_all, slice_scales=recompiled(slice_scales, _log_density=density))
    _, z = _scores(wrong, MOVES.index("joint scale"), SHARED)
    assert np.abs(z).max() > 8
