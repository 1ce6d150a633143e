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

The first half of tuning is three annealings: the likelihood is raised to a power that rises from
.05 to one, so that modes that lie a hundred nats below the best are no traps, and every sweep is
taken, so that a state for which Laplace's evidence is far too low does not hold the chain. Nine of
ten annealings end near the best mode where one feature alone says nothing; a chain goes on from the
best of its three ends.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...bases.feature_columns import rebuild_features
from ...bases.laplace_columns import load_mode
from ...priors.scales import log_density_of_scale
from ..moves.evidence_estimate import estimate_ratio, renew_ratio
from ..moves.features import swap_features, toggle_features, toggle_pairs, walk_at_random
from ..moves.kept_draw import store_held_function
from ..moves.laplace_blocks import move_vector_blocks
from ..moves.laplace_slab import walk_slab
from ..moves.laplace_vectors import move_vectors
from ..moves.matched_sites import match_moments
from ..moves.ridge import walk_ridge
from .packed_state import pack_state, packed_size, unpack_state
from .sweep import BLOCK, RIDGE, store_features

_TOGGLES, _PAIRS, _SWAPS, _VECTORS, _BLOCKS, _WALKS, _RIDGE, _SLAB = range(8)
_PARTS = np.array([_TOGGLES, _VECTORS, _WALKS, 8])  # first moves of the parts of a sweep
_CORRECTED = 9  # row of the tallies
_PAIRS_OF_DRAWS = 64
_SLIDES = 2  # of the coefficients that the chain holds
_ANNEALINGS, _LEAST_POWER = 3, 0.05


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
def _move_part(
    rng, state, basis, factor, spare, sums, other, evidence, held, prior, settings, part, tuning,
    annealing,
):  # fmt: skip
    """Make the moves of one part of a sweep; return log evidence and the estimate of its rest."""
    before = np.empty(packed_size(state))
    pack_state(state, before)
    spare.n_active[0] = factor.n_active[0]
    spare.rows[:] = factor.rows
    first, end = _PARTS[part], _PARTS[part + 1]
    forward = rng.random() < 0.5
    for place in range(end - first):
        which = first + place if forward else end - 1 - place
        evidence = _move(
            which, rng, state, basis, factor, spare, sums, other, evidence, prior, settings, tuning
        )
    match_moments(basis.data, factor)
    ratio = estimate_ratio(rng, basis.data, factor, evidence, _PAIRS_OF_DRAWS, state.function)
    state.tallies[_CORRECTED, 0] += 1
    if annealing or math.log(rng.random()) < ratio - held:
        state.tallies[_CORRECTED, 1] += 1
        return load_mode(basis, factor), ratio
    unpack_state(before, state)
    return rebuild_features(basis, factor, sums), held


@jit_apart
def _sweep(
    rng, state, basis, factor, spare, sums, other, prior, settings, tuning, annealing
):  # fmt: skip
    """Carry out one sweep; return the estimated log evidence of the state, which has a function."""
    evidence = rebuild_features(basis, factor, sums)
    match_moments(basis.data, factor)
    held = renew_ratio(rng, basis.data, factor, evidence, _PAIRS_OF_DRAWS, _SLIDES, state.function)
    evidence = load_mode(basis, factor)
    for part in range(_PARTS.shape[0] - 1):
        evidence, held = _move_part(
            rng, state, basis, factor, spare, sums, other, evidence, held, prior, settings, part,
            tuning, annealing,
        )  # fmt: skip
    return evidence + held


@jit
def log_prior(state, prior, settings):
    """Return the log prior density of a state, constants apart."""
    value = settings.log_weights[state.n_active[0]] + settings.log_odds * state.n_features[0]
    for place in range(state.n_features[0]):
        value -= state.bandwidths[place]
    if settings.directions.shape[0] > 0:
        value += log_density_of_scale(prior, -math.log(state.variances[1]))
    return value


@jit
def _place_in_annealing(sweep, tune):
    """Return a sweep's place in its annealing and the length of one; no length: there is none."""
    length = (tune >> 1) // _ANNEALINGS
    if length < 2 or sweep >= _ANNEALINGS * length:
        return 0, 0
    return sweep % length, length


@jit
def _keep_best(state, value, prior, settings, last):
    """Keep the end of an annealing if it is the best so far; go on from the best after the last."""
    value += log_prior(state, prior, settings)
    if value > state.best[0]:
        state.best[0] = value
        pack_state(state, state.best[1:])
    elif last:
        unpack_state(state.best[1:], state)


@jit
def run_collapsed(rng, state, work, prior, settings, draws, stop, tune, thin):
    """Run until ``stop`` sweeps are done; return whether everything stayed finite."""
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if sweep == tune:
            state.tallies[:] = 0
        place, length = _place_in_annealing(sweep, tune)
        power = _LEAST_POWER ** (1.0 - place / (length - 1)) if length > 0 else 1.0
        weight = work.basis.data.weight
        for i in range(weight.shape[0]):
            weight[i] = power * settings.row_weights[i]
        evidence = _sweep(
            rng, state, work.basis, work.factor, work.spare, work.sums, work.other_sums, prior,
            settings, sweep < tune, sweep == 0 or length > 0,
        )  # fmt: skip
        if length > 0 and place == length - 1:
            _keep_best(state, evidence, prior, settings, sweep + 1 == _ANNEALINGS * length)
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
