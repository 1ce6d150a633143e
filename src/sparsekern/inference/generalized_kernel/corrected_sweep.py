"""The sweep of the generalized kernel model under a stand-in, corrected (:mod:`..moves.corrected`).

The working response and precision are the sites of the stand-in; the state holds the function.
"""

from __future__ import annotations

import math

from ..._jit import jit
from ...bases.kernel_columns import rebuild
from ...likelihoods._compiled import draw_working
from ...linalg.whitened_factor import refactor, response_energy
from ...linalg.whitened_response import draw_coefficients
from ..moves.active_set import move_active_set
from ..moves.blocks import move_blocks
from ..moves.corrected import is_free, is_taken, learn_stand_in, write_function
from ..moves.kept_draw import store_held_function
from ..moves.kernel_amplitudes import move_amplitudes
from ..moves.length_scale import FIXED, adapt_step, move_length_scale
from ..moves.scales import DIRECTIONS, adapt_width, slice_scales
from .sweep import AMPLITUDE, BLOCK, JOINT, REFRESH_EVERY, WIDTH

_SET, _BLOCKS, _WIDTHS, _AMPLITUDES, _SCALES = range(5)


@jit
def _move_widths(rng, state, work, basis, settings, tuning):
    probability, taken = move_length_scale(
        rng, work.factor, work.spare, basis, state.length_scale, settings.box, settings.width_mode,
        state.log_step[0],
    )  # fmt: skip
    state.tallies[WIDTH, 0] += 1
    state.tallies[WIDTH, 1] += 1 if taken else 0
    if tuning:
        state.log_step[0] = adapt_step(
            state.log_step[0], probability, settings.width_mode, state.sweep[0]
        )


@jit
def _move_amplitudes(rng, state, work, prior, forward, tuning):
    rate = move_amplitudes(
        rng, work.factor, prior, state.slice_width[0], work.root, work.projected,
        state.tallies[AMPLITUDE], forward,
    )  # fmt: skip
    refactor(work.factor)
    if tuning and rate >= 0.0:
        state.slice_width[0] *= math.exp((state.sweep[0] + 1.0) ** -0.6 * (rate - 0.44))


@jit
def _slice_scales(rng, state, work, prior, settings, forward, tuning):
    count = settings.directions.shape[0]
    for place in range(count):
        d = settings.directions[place if forward else count - 1 - place]
        step = slice_scales(
            rng, work.factor, prior, DIRECTIONS[d], state.slice_width[d], work.root, work.projected
        )
        if tuning:
            state.slice_width[d] = adapt_width(state.slice_width[d], step, state.sweep[0])
    refactor(work.factor)


@jit
def _move_all(rng, state, work, basis, prior, settings, drawn, forward, tuning):
    """Make every move once, in order or in reverse order; the factor is left exact."""
    for place in range(5):
        which = place if forward else 4 - place
        if which == _SET and settings.moves > 0:
            move_active_set(
                rng, work.factor, basis, state.length_scale, settings.log_weights,
                settings.candidates, settings.moves, drawn, state.tallies,
            )  # fmt: skip
        elif which == _BLOCKS and settings.moves > 0:
            move_blocks(
                rng, work.factor, basis, state.length_scale, settings.log_weights,
                settings.candidates, settings.blocks, state.tallies[BLOCK],
            )  # fmt: skip
        elif which == _WIDTHS and settings.width_mode != FIXED:
            _move_widths(rng, state, work, basis, settings, tuning)
        elif which == _AMPLITUDES and state.variances.shape[0] > 2:
            _move_amplitudes(rng, state, work, prior, forward, tuning)
        elif which == _SCALES:
            _slice_scales(rng, state, work, prior, settings, forward, tuning)


@jit
def _sweep(rng, state, work, basis, prior, settings, drawn, tune):
    """Carry out one sweep; the state holds its function afterwards."""
    factor, memory, sweep = work.factor, work.memory, state.sweep[0]
    response, precision = state.response[0], state.precision
    fitted = state.function[state.function.shape[0] - precision.shape[0] :]
    count, rows = state.n_active[0], state.rows.copy()
    variances, length_scale = state.variances.copy(), state.length_scale.copy()
    forward = rng.random() < 0.5
    _move_all(rng, state, work, basis, prior, settings, drawn, forward, sweep < tune)
    intercept = draw_coefficients(rng, factor, 0, memory.coefficients, work.proposal)
    state.tallies[JOINT, 0] += 1
    if is_free(sweep, tune) or is_taken(rng, work.data, response, precision, fitted, work.proposal):
        state.tallies[JOINT, 1] += 1
        write_function(state.function, intercept, memory.coefficients, work.proposal)
    else:
        state.n_active[0] = count
        state.rows[:] = rows
        state.variances[:] = variances
        state.length_scale[:] = length_scale
        rebuild(factor, basis, state.length_scale)
    draw_working(work.data, rng, fitted, 1.0, response, precision)  # the law's own number
    if learn_stand_in(work.data, fitted, response, precision, state.site_sums, sweep, tune):
        rebuild(factor, basis, state.length_scale)


@jit
def run_corrected(rng, state, work, basis, prior, settings, draws, drawn, stop, tune, thin, fresh):
    """Run until ``stop`` sweeps are done, as :func:`.sweep.run_sweeps` does."""
    smallest = 1.0
    first = state.sweep[0]
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if fresh or sweep % REFRESH_EVERY == 0:
            smallest = min(smallest, rebuild(work.factor, basis, state.length_scale))
            fresh = False
        if sweep == tune:
            state.tallies[:] = 0
        chosen = drawn[sweep - first] if drawn.shape[0] > 0 else settings.candidates[:0]
        _sweep(rng, state, work, basis, prior, settings, chosen, tune)
        draws.size_trace[sweep] = state.n_active[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            at = kept // thin - 1
            store_held_function(state, work, settings, draws, at)
            for kernel in range(draws.length_scale.shape[1]):
                draws.length_scale[at, kernel] = state.length_scale[kernel]
        state.sweep[0] = sweep + 1
        if not math.isfinite(response_energy(work.factor)):
            return math.nan
    return smallest
