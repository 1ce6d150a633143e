"""The compiled loops: sweeps, and what is kept of them."""

from __future__ import annotations

import math

from ..._jit import jit, jit_apart
from ...linalg.copies import copy_matrix
from . import latent_noise, least_squares, polya_gamma
from .softmax import log_likelihood, row_log_likelihood

_sweep_polya_gamma = polya_gamma.sweep_once
_sweep_latent_noise = latent_noise.sweep_once
_sweep_least_squares = least_squares.sweep_once


@jit
def store(state, functions, settings, draws, at):
    """Write everything down as kept draw ``at``."""
    copy_matrix(state.coefficients, draws.coefficients[at])
    if draws.included.shape[1] > 0:
        for k in range(state.included.shape[0]):
            for a in range(state.included.shape[1]):
                draws.included[at, k, a] = state.included[k, a]
    for block in range(state.scales.shape[0]):
        parts = 0
        for k in range(state.used.shape[0]):
            parts += state.used[k, block]
            if draws.used.shape[1] > 0:
                draws.used[at, k, block] = state.used[k, block]
        draws.scales[at, block] = math.sqrt(state.scales[block]) if parts > 0 else 0.0
    draws.noise_variance[at] = state.noise[0]
    draws.log_likelihood[at] = log_likelihood(functions, settings.labels, settings.reference)
    for q in range(settings.monitored.shape[0]):
        row = settings.monitored[q]
        label = settings.labels[row]
        value = row_log_likelihood(functions, row, label, settings.reference)
        draws.monitored[at, q] = math.exp(value)


@jit_apart
def finish_sweep(state, functions, settings, draws, tune, thin):
    """Count a sweep, and keep its draw if it is one to keep."""
    state.sweep[0] += 1
    if state.sweep[0] == tune:
        state.tallies[:] = 0
    kept = state.sweep[0] - tune
    if kept > 0 and kept % thin == 0:
        store(state, functions, settings, draws, kept // thin - 1)


@jit
def run_polya_gamma(rng, state, work, settings, draws, stop, tune, thin):
    """Run the noise-free model until ``stop`` sweeps are done; returns whether all went well."""
    while state.sweep[0] < stop:
        if not _sweep_polya_gamma(rng, state, work, settings, state.sweep[0] < tune):
            return False
        finish_sweep(state, state.latent, settings, draws, tune, thin)
    return True


@jit
def run_latent_noise(rng, state, work, settings, draws, stop, tune, thin):
    """Run the latent-noise model until ``stop`` sweeps are done."""
    while state.sweep[0] < stop:
        if not _sweep_latent_noise(rng, state, work, settings, state.sweep[0] < tune):
            return False
        finish_sweep(state, work.rows, settings, draws, tune, thin)
    return True


@jit
def run_least_squares(rng, state, work, settings, draws, stop, tune, thin):
    """Run the least-squares model until ``stop`` sweeps are done."""
    while state.sweep[0] < stop:
        if not _sweep_least_squares(rng, state, work, settings, state.sweep[0] < tune):
            return False
        finish_sweep(state, state.latent, settings, draws, tune, thin)
    return True
