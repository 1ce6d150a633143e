"""The sweep of the doubly-sparse model under a stand-in, corrected (:mod:`..moves.corrected`).

The working response and precision are the sites of the stand-in; the state holds the function.
Which place a feature has in its list depends on the past, so that walks through the list in order
would not be reversible: they are made at random places.
"""

from __future__ import annotations

import math

from ..._jit import jit
from ...bases.feature_columns import rebuild_features
from ...likelihoods._compiled import draw_working
from ...linalg.whitened_factor import refactor, response_energy
from ...linalg.whitened_response import draw_coefficients
from ..moves.active_set import move_active_set
from ..moves.blocks import move_blocks
from ..moves.corrected import is_free, is_taken, learn_stand_in, write_function
from ..moves.features import swap_features, toggle_features, toggle_pairs, walk_at_random
from ..moves.kept_draw import store_held_function
from ..moves.scales import DIRECTIONS, adapt_width, slice_scales
from .sweep import BLOCK, store_features

_FEATURES, _SET, _SLAB = range(3)
_CORRECTED = 9  # row of the tallies


@jit
def _move_features(rng, state, work, settings, forward, tuning):
    """Toggle, toggle pairs, exchange and walk, or the same in reverse order."""
    basis, factor, spare, sums, other = (
        work.basis, work.factor, work.spare, work.sums, work.other_sums,
    )  # fmt: skip
    tallies = state.tallies[3:]
    evidence = rebuild_features(basis, factor, sums)
    for place in range(4):
        which = place if forward else 3 - place
        if which == 3:
            evidence = walk_at_random(
                rng, basis, factor, spare, sums, other, evidence, settings.walks, state.log_step,
                state.steps, tuning, tallies,
            )  # fmt: skip
        elif settings.toggles == 0:
            continue
        elif which == 0:
            evidence = toggle_features(
                rng, basis, factor, spare, sums, other, evidence, settings.toggles,
                settings.log_odds, tallies,
            )  # fmt: skip
        elif which == 1:
            evidence = toggle_pairs(
                rng, basis, factor, spare, sums, other, evidence, settings.pair_toggles,
                settings.pairs, settings.log_odds, tallies,
            )  # fmt: skip
        else:
            evidence = swap_features(
                rng, basis, factor, spare, sums, other, evidence, settings.swaps, settings.graph,
                tallies,
            )  # fmt: skip


@jit
def _move_set(rng, state, work, settings, forward):
    """Move vectors one by one and then in blocks, or the other way round."""
    factor, basis = work.factor, work.basis
    for place in range(2):
        if (place == 0) == forward:
            move_active_set(
                rng, factor, basis, work.unused, settings.log_weights, settings.candidates,
                settings.moves, settings.candidates[:0], state.tallies,
            )  # fmt: skip
        else:
            move_blocks(
                rng, factor, basis, work.unused, settings.log_weights, settings.candidates,
                settings.blocks, state.tallies[BLOCK],
            )  # fmt: skip


@jit
def _slice_slab(rng, state, work, prior, settings, tuning):
    for d in settings.directions:  # one at most: the slab's own
        step = slice_scales(
            rng, work.factor, prior, DIRECTIONS[d], state.slice_width[d], work.root, work.projected
        )
        if tuning:
            state.slice_width[d] = adapt_width(state.slice_width[d], step, state.sweep[0])
    refactor(work.factor)


@jit
def _move_all(rng, state, work, prior, settings, forward, tuning):
    """Make every move once, in order or in reverse order; the factor is left exact."""
    if not forward:
        rebuild_features(work.basis, work.factor, work.sums)
    for place in range(3):
        which = place if forward else 2 - place
        if which == _FEATURES:
            _move_features(rng, state, work, settings, forward, tuning)
        elif which == _SET and settings.moves > 0:
            _move_set(rng, state, work, settings, forward)
        elif which == _SLAB:
            _slice_slab(rng, state, work, prior, settings, tuning)


@jit
def _sweep(rng, state, work, prior, settings, tune):
    """Carry out one sweep; the state holds its function afterwards."""
    memory, sweep = work.memory, state.sweep[0]
    response, precision = state.response[0], state.precision
    n = precision.shape[0]
    fitted, proposal = state.function[state.function.shape[0] - n :], memory.fitted
    count, rows, variances = state.n_active[0], state.rows.copy(), state.variances.copy()
    size, features, widths = state.n_features[0], state.features.copy(), state.bandwidths.copy()
    _move_all(rng, state, work, prior, settings, rng.random() < 0.5, sweep < tune)
    intercept = draw_coefficients(rng, work.factor, 0, memory.coefficients, proposal)
    state.tallies[_CORRECTED, 0] += 1
    if is_free(sweep, tune) or is_taken(rng, work.data, response, precision, fitted, proposal):
        state.tallies[_CORRECTED, 1] += 1
        write_function(state.function, intercept, memory.coefficients, proposal)
    else:
        state.n_active[0] = count
        state.rows[:] = rows
        state.variances[:] = variances
        state.n_features[0] = size
        state.features[:] = features
        state.bandwidths[:] = widths
    draw_working(work.data, rng, fitted, 1.0, response, precision)  # the law's own number
    learn_stand_in(work.data, fitted, response, precision, state.site_sums, sweep, tune)


@jit
def run_corrected(rng, state, work, prior, settings, draws, stop, tune, thin):
    """Run until ``stop`` sweeps are done; return whether everything stayed finite."""
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if sweep == tune:
            state.tallies[:] = 0
        _sweep(rng, state, work, prior, settings, tune)
        draws.size_trace[sweep] = state.n_active[0]
        draws.features_trace[sweep] = state.n_features[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            store_held_function(state, work, settings, draws, kept // thin - 1)
            store_features(state, draws, kept // thin - 1)
        state.sweep[0] = sweep + 1
        if not math.isfinite(response_energy(work.factor)):
            return False
    return True
