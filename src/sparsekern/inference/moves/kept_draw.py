"""A kept draw: noise and coefficients, drawn given everything else, and what follows from them."""

from __future__ import annotations

from ..._jit import jit, jit_apart
from ...likelihoods._compiled import monitor, total_log_likelihood
from ...linalg.copies import copy_vector
from ...linalg.whitened_factor import VARIANCE
from ...linalg.whitened_response import draw_coefficients, draw_noise


@jit_apart
def store_function(rng, state, work, settings, draws, at):
    """Draw noise and coefficients and write them down as kept draw ``at``, with what follows."""
    factor, functions = work.factor, work.functions
    draw_noise(rng, factor)
    for c in range(draws.coefficients.shape[1]):
        draws.intercept[at, c] = draw_coefficients(
            rng, factor, c, draws.coefficients[at, c], functions[c]
        )
    _store_what_follows(state, work, settings, draws, at)


@jit_apart
def store_held_function(state, work, settings, draws, at):
    """Write down the function that the state holds as kept draw ``at``, with what follows."""
    n, largest = work.functions.shape[1], draws.coefficients.shape[2]
    draws.intercept[at, 0] = state.function[0]
    draws.coefficients[at, 0] = state.function[1 : 1 + largest]
    work.functions[0] = state.function[state.function.shape[0] - n :]
    _store_what_follows(state, work, settings, draws, at)


@jit
def _store_what_follows(state, work, settings, draws, at):
    factor, functions = work.factor, work.functions
    draws.n_active[at] = state.n_active[0]
    for a in range(state.n_active[0]):
        draws.rows[at, a] = state.rows[a]
    copy_vector(state.variances, draws.variances[at])
    variance = factor.noise[VARIANCE]
    draws.noise_variance[at] = variance
    copy_vector(state.parameters, draws.parameters[at])
    draws.log_likelihood[at] = total_log_likelihood(work.data, functions, variance)
    for m in range(settings.monitored_rows.shape[0]):
        draws.monitored[at, m] = monitor(work.data, functions, settings.monitored_rows[m])
