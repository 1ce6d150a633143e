r"""The sweep of the fully Bayesian generalized kernel model, and its compiled loop.

Order matters: everything that conditions on the latent variables with the coefficients integrated
out comes first, the coefficients last, and a draw is stored before anything else moves.

1. active set, 2. length scale, 3. g, eta and their joint scale, 4. latent variables (several scans,
each followed by the radial move), 5. every other sweep the size of the latent function, 6. every
few sweeps set, scales and function together through a stand-in, 7. on kept sweeps the coefficients.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import jit
from ...bases.kernel_columns import rebuild
from ...likelihoods.probit import (
    probability,
    rescale_latents,
    scan_latents,
    total_log_likelihood,
)
from ...linalg.triangular import dot
from ...linalg.whitened_factor import WhitenedFactor, empty_factor, refactor, refresh_cross
from ...linalg.whitened_response import draw_coefficients, hat_rows, response_energy
from .active_set import move_active_set
from .function_scale import move_function_scale
from .length_scale import FIXED, adapt_step, move_length_scale
from .scales import DIRECTIONS, adapt_width, slice_scales
from .stand_in import learn_sites, move_through_stand_in

REFRESH_EVERY = 50  # sweeps between full rebuilds: bounds rounding drift, and a chain can be
# continued from its small state at these sweeps with exactly the draws it would have given
WIDTH, JOINT = 3, 4  # rows of the tallies that count length-scale and joint moves
FUNCTION_SCALE_EVERY = 2  # sweeps; as many effective samples as every sweep, at half the cost
JOINT_EVERY = 5  # sweeps between joint moves


class ChainState(NamedTuple):
    """All that a chain needs to go on; everything else is rebuilt from it."""

    sweep: np.ndarray  # int64[1], sweeps done
    n_active: np.ndarray  # int64[1], active vectors
    rows: np.ndarray  # int64[m], which
    latent: np.ndarray  # float64[1, n]
    variances: np.ndarray  # float64[2], 1/eta and 1/g
    length_scale: np.ndarray  # float64[p]
    slice_width: np.ndarray  # float64[4], one per direction of the scale moves, the function last
    log_step: np.ndarray  # float64[1], length-scale walk
    sites: np.ndarray  # float64[2, n], response and precision of the stand-in likelihood
    site_sums: np.ndarray  # float64[3, n], what the next sites are made of
    site_counts: np.ndarray  # int64[2], draws in the sums and updates made
    tallies: np.ndarray  # int64[5, 2], attempts and acceptances after tuning


class Draws(NamedTuple):
    """Kept draws of one chain, active vectors stored sparsely, and the trace of the size."""

    n_active: np.ndarray  # int32[T]
    rows: np.ndarray  # int32[T, m]
    coefficients: np.ndarray  # float64[T, m]
    intercept: np.ndarray  # float64[T]
    scale: np.ndarray  # float64[T], g
    intercept_precision: np.ndarray  # float64[T], eta
    length_scale: np.ndarray  # float64[T, p] (p = 0 unless learned)
    log_likelihood: np.ndarray  # float64[T]
    monitored: np.ndarray  # float64[T, q], class probability at the monitored rows
    size_trace: np.ndarray  # int32[sweeps], active vectors after every sweep, tuning included


class Workspace(NamedTuple):
    """Memory of one running chain that can be rebuilt from its state."""

    factor: WhitenedFactor
    spare: WhitenedFactor
    stand_in: WhitenedFactor
    hat: np.ndarray
    free: np.ndarray
    root: np.ndarray
    projected: np.ndarray
    fitted: np.ndarray
    proposal: np.ndarray
    coefficients: np.ndarray
    unused: np.ndarray


class Settings(NamedTuple):
    """What stays the same over all chains of a fit."""

    side: np.ndarray  # float64[n], the labels as -1 and +1
    log_weights: np.ndarray  # float64[max_active + 1]
    box: np.ndarray  # float64[p, 2]
    monitored_rows: np.ndarray  # int64[q]
    moves: int
    scans: int
    joint_moves: int
    width_mode: int


def open_workspace(state: ChainState, settings: Settings) -> Workspace:
    """Allocate the memory of a running chain around its state (arrays are shared)."""
    n = state.latent.shape[1]
    largest = len(state.rows) - 1
    shared = {
        "n_active": state.n_active,
        "rows": state.rows,
        "response": state.latent,
        "variances": state.variances,
    }
    factor = empty_factor(n, largest)._replace(**shared)
    spare = factor
    if settings.width_mode != FIXED:
        spare = empty_factor(n, largest)._replace(**shared)
    stand_in = factor
    if settings.joint_moves > 0:
        stand_in = empty_factor(n, largest)._replace(
            response=state.sites[:1], precision=state.sites[1]
        )
    return Workspace(
        factor=factor,
        spare=spare,
        stand_in=stand_in,
        hat=np.empty((largest + 1) * n),
        free=np.empty(n),
        root=np.empty_like(factor.root),
        projected=np.empty_like(factor.projected),
        fitted=np.empty(n),
        proposal=np.empty(n),
        coefficients=np.empty(largest + 1),
        unused=np.zeros((3, 2), np.int64),
    )


@jit
def _update_latents(rng, work, settings, diagonal):
    """Draw the latent variables with coefficients integrated out; the factor is left exact."""
    factor = work.factor
    hat = hat_rows(factor, work.hat)
    size = hat.shape[1]
    for i in range(hat.shape[0]):
        # exactly, 1 - h_i is at least this bound; rounding may push it to zero
        most = 1.0 + factor.variances[0] + factor.variances[1] * diagonal[i]
        work.free[i] = max(1.0 - dot(hat[i], hat[i], size), 1.0 / most)
    response, projected = factor.response[0], factor.projected[0]
    for _ in range(settings.scans):
        scan_latents(rng, response, projected, hat, work.free, settings.side)
        rescale_latents(rng, factor)
    refresh_cross(factor)
    refactor(factor)


@jit
def sweep_once(rng, state, work, basis, prior, settings, candidates, tuning):
    """Carry out one sweep, all but the coefficients."""
    factor = work.factor
    sweep = state.sweep[0]
    if settings.moves > 0:
        move_active_set(
            rng, factor, basis, state.length_scale, settings.log_weights, settings.moves,
            candidates, state.tallies,
        )  # fmt: skip
    if settings.width_mode != FIXED:
        accepted_probability, taken = move_length_scale(
            rng, factor, work.spare, basis, state.length_scale, settings.box,
            settings.width_mode, state.log_step[0],
        )  # fmt: skip
        state.tallies[WIDTH, 0] += 1
        state.tallies[WIDTH, 1] += 1 if taken else 0
        if tuning:
            state.log_step[0] = adapt_step(
                state.log_step[0], accepted_probability, settings.width_mode, sweep
            )
    for d in range(DIRECTIONS.shape[0]):
        step = slice_scales(
            rng, factor, prior, DIRECTIONS[d], state.slice_width[d], work.root, work.projected
        )
        if tuning:
            state.slice_width[d] = adapt_width(state.slice_width[d], step, sweep)
    refactor(factor)
    _update_latents(rng, work, settings, basis.diagonal)
    if sweep % FUNCTION_SCALE_EVERY == 0:
        step = move_function_scale(
            rng, factor, prior, settings.side, state.slice_width[3], work.coefficients, work.fitted
        )
        if tuning:
            state.slice_width[3] = adapt_width(state.slice_width[3], step, sweep)
    if settings.joint_moves > 0 and sweep % JOINT_EVERY == 0 and state.site_counts[1] > 0:
        taken = move_through_stand_in(
            rng, factor, work.stand_in, basis, state.length_scale, prior, settings.log_weights,
            settings.joint_moves, settings.side, state.sites, state.slice_width, work.root,
            work.projected, work.coefficients, work.fitted, work.proposal, work.unused,
        )  # fmt: skip
        state.tallies[JOINT, 0] += 1
        state.tallies[JOINT, 1] += 1 if taken else 0


@jit
def store_draw(rng, state, work, settings, draws, at):
    """Draw the coefficients and write everything down as kept draw ``at``."""
    factor = work.factor
    k = state.n_active[0]
    coefficients = draws.coefficients[at]
    draws.intercept[at] = draw_coefficients(rng, factor, 0, coefficients, work.fitted)
    draws.n_active[at] = k
    for a in range(k):
        draws.rows[at, a] = state.rows[a]
    draws.intercept_precision[at] = 1.0 / state.variances[0]
    draws.scale[at] = 1.0 / state.variances[1]
    for j in range(draws.length_scale.shape[1]):
        draws.length_scale[at, j] = state.length_scale[j]
    draws.log_likelihood[at] = total_log_likelihood(settings.side, work.fitted)
    for q in range(settings.monitored_rows.shape[0]):
        draws.monitored[at, q] = probability(work.fitted[settings.monitored_rows[q]])


@jit
def run_sweeps(
    rng, state, work, basis, prior, settings, draws, candidates, stop, tune, thin, fresh
):
    """Run until ``stop`` sweeps are done; ``fresh`` says that the workspace is not yet filled.

    Returns the smallest pivot seen when the kernel matrix was factored anew, before clamping, or
    NaN if the latent variables are no longer finite.
    """
    smallest = 1.0
    empty = candidates[:0, 0] if candidates.shape[0] == 0 else candidates[0, :0]
    first = state.sweep[0]
    while state.sweep[0] < stop:
        sweep = state.sweep[0]
        if fresh or sweep % REFRESH_EVERY == 0:
            smallest = min(smallest, rebuild(work.factor, basis, state.length_scale))
            fresh = False
        if sweep == tune:
            state.tallies[:] = 0
        chosen = candidates[sweep - first] if candidates.shape[0] > 0 else empty
        sweep_once(rng, state, work, basis, prior, settings, chosen, sweep < tune)
        if settings.joint_moves > 0 and sweep < tune:
            learn_sites(
                rng, work.factor, settings.side, state.sites, state.site_sums, state.site_counts,
                sweep, tune, work.coefficients, work.fitted,
            )  # fmt: skip
        draws.size_trace[sweep] = state.n_active[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            store_draw(rng, state, work, settings, draws, kept // thin - 1)
        state.sweep[0] = sweep + 1
        if not math.isfinite(response_energy(work.factor)):
            return math.nan
    return smallest
