r"""The sweep of the doubly-sparse model with every auxiliary variable integrated out.

A state :math:`\theta` is features, bandwidths, active vectors and slab. Moves go by Laplace's
evidence :math:`\tilde m(\theta)` (:mod:`sparsekern.bases.laplace_columns`); then the sweep as a
whole is taken with probability

.. math:: \min\Big(1,\ \frac{\hat R(\theta')}{\hat R(\theta)}\Big),

where :math:`\hat R` is an unbiased estimate of :math:`m/\tilde m`
(:mod:`..moves.evidence_estimate`). This is exact: a sweep that makes reversible moves in order or,
by a fair coin, in reverse order is reversible under :math:`\tilde m p`, so that only
:math:`m/\tilde m` is left of Metropolis' rule, and an unbiased estimate will do in its place. That
of the present state is made anew before each sweep, around the coefficients that the chain holds,
so that a lucky one holds nothing up.

In the first half of tuning the likelihood is raised to a power that rises from .05 to one: modes
that lie a hundred nats below the best are then no traps, and most chains find the same one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import jit, jit_apart
from ...bases.feature_columns import rebuild_features
from ..moves.evidence_estimate import estimate_ratio, renew_ratio
from ..moves.features import swap_features, toggle_features, toggle_pairs, walk_at_random
from ..moves.kept_draw import store_held_function
from ..moves.laplace_blocks import move_vector_blocks
from ..moves.laplace_slab import walk_slab
from ..moves.laplace_vectors import move_vectors
from ..moves.ridge import walk_ridge
from .sweep import BLOCK, RIDGE, store_features

_TOGGLES, _PAIRS, _SWAPS, _WALKS, _RIDGE, _VECTORS, _BLOCKS, _SLAB = range(8)
_CORRECTED = 9  # row of the tallies
_PAIRS_OF_DRAWS = 64
_SLIDES = 2  # of the coefficients that the chain holds
_LEAST_POWER = 0.05


class _Before(NamedTuple):
    """A state to go back to."""

    n_active: int
    rows: np.ndarray
    n_features: int
    features: np.ndarray
    bandwidths: np.ndarray
    variances: np.ndarray
    response: np.ndarray
    precision: np.ndarray
    function: np.ndarray


@jit
def _remember(state):
    return _Before(
        state.n_active[0], state.rows.copy(), state.n_features[0], state.features.copy(),
        state.bandwidths.copy(), state.variances.copy(), state.response.copy(),
        state.precision.copy(), state.function.copy(),
    )  # fmt: skip


@jit
def _go_back(state, before):
    state.n_active[0] = before.n_active
    state.rows[:] = before.rows
    state.n_features[0] = before.n_features
    state.features[:] = before.features
    state.bandwidths[:] = before.bandwidths
    state.variances[:] = before.variances
    state.response[:] = before.response
    state.precision[:] = before.precision
    state.function[:] = before.function


@jit_apart
def _move(which, rng, state, basis, factor, spare, sums, other, evidence, prior, settings, tuning):
    """Make the moves of one kind; return the log evidence."""
    tallies = state.tallies[3:]
    if which == _TOGGLES and settings.toggles > 0:
        return toggle_features(
            rng, basis, factor, spare, sums, other, evidence, settings.toggles,
            settings.log_odds, tallies,
        )  # fmt: skip
    if which == _PAIRS and settings.toggles > 0:
        return toggle_pairs(
            rng, basis, factor, spare, sums, other, evidence, settings.pair_toggles,
            settings.pairs, settings.log_odds, tallies,
        )  # fmt: skip
    if which == _SWAPS and settings.toggles > 0:
        return swap_features(
            rng, basis, factor, spare, sums, other, evidence, settings.swaps, settings.graph,
            tallies,
        )  # fmt: skip
    if which == _WALKS:
        return walk_at_random(
            rng, basis, factor, spare, sums, other, evidence, settings.walks, state.log_step,
            state.steps, tuning, tallies,
        )  # fmt: skip
    if which == _RIDGE:
        return walk_ridge(
            rng, basis, factor, spare, sums, other, evidence, prior, settings.walks,
            3 if settings.directions.shape[0] > 0 else 1, state.log_step, state.log_ridge,
            state.ridge_steps, tuning, state.tallies[RIDGE],
        )  # fmt: skip
    if which == _VECTORS and settings.moves > 0:
        return move_vectors(
            rng, basis, factor, spare, sums, other, evidence, settings.log_weights,
            settings.candidates, settings.moves, state.tallies,
        )  # fmt: skip
    if which == _BLOCKS and settings.moves > 0:
        return move_vector_blocks(
            rng, basis, factor, spare, sums, other, evidence, settings.log_weights,
            settings.candidates, settings.blocks, state.tallies[BLOCK],
        )  # fmt: skip
    if which == _SLAB and settings.directions.shape[0] > 0:
        return walk_slab(
            rng, basis, factor, spare, sums, other, evidence, prior, settings.walks,
            state.slice_width, state.sweep[0], tuning,
        )  # fmt: skip
    return evidence


@jit_apart
def _sweep(rng, state, basis, factor, spare, sums, other, prior, settings, tune):
    """Carry out one sweep; the state holds its function afterwards."""
    sweep = state.sweep[0]
    tuning = sweep < tune
    evidence = rebuild_features(basis, factor, sums)
    held = renew_ratio(rng, basis.data, factor, evidence, _PAIRS_OF_DRAWS, _SLIDES, state.function)
    before = _remember(state)
    spare.n_active[0] = factor.n_active[0]
    spare.rows[:] = factor.rows
    forward = rng.random() < 0.5
    for place in range(8):
        which = place if forward else 7 - place
        evidence = _move(
            which, rng, state, basis, factor, spare, sums, other, evidence, prior, settings, tuning
        )
    ratio = estimate_ratio(rng, basis.data, factor, evidence, _PAIRS_OF_DRAWS, state.function)
    state.tallies[_CORRECTED, 0] += 1
    if sweep == 0 or math.log(rng.random()) < ratio - held:
        state.tallies[_CORRECTED, 1] += 1
    else:
        _go_back(state, before)
    return evidence


@jit
def _power(sweep, tune):
    """Return the power of the likelihood in a sweep."""
    half = tune >> 1
    return _LEAST_POWER ** (1.0 - sweep / half) if sweep < half else 1.0


@jit
def run_collapsed(rng, state, work, prior, settings, draws, stop, tune, thin):
    """Run until ``stop`` sweeps are done; return whether everything stayed finite."""
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if sweep == tune:
            state.tallies[:] = 0
        power, weight = _power(sweep, tune), work.basis.data.weight
        for i in range(weight.shape[0]):
            weight[i] = power * settings.row_weights[i]
        evidence = _sweep(
            rng, state, work.basis, work.factor, work.spare, work.sums, work.other_sums, prior,
            settings, tune,
        )  # fmt: skip
        draws.size_trace[sweep] = state.n_active[0]
        draws.features_trace[sweep] = state.n_features[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            store_held_function(state, work, settings, draws, kept // thin - 1)
            store_features(state, draws, kept // thin - 1)
        state.sweep[0] = sweep + 1
        if not math.isfinite(evidence):
            return False
    return True
