r"""The sweep of the generalized kernel model, and its compiled loop.

Order matters: everything that conditions on the working response with the coefficients integrated
out comes first, the coefficients last, and a draw is stored before anything else moves. The file
knows no likelihood: what depends on one is found by the type of ``work.data``.

1. active set, 2. length scale, 3. g, eta and, if the likelihood allows, their joint scale with
the latent variables (several kernels: their amplitudes and eta), 4. working response, 5. every
other sweep the size of the latent function, 6. every few sweeps set, scales and function together
through a stand-in, 7. on kept sweeps the coefficients.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._jit import jit, jit_inlined
from ...bases.kernel_columns import rebuild
from ...likelihoods._augmented import WorkingMemory
from ...likelihoods._compiled import update_working
from ...linalg.copies import copy_vector
from ...linalg.whitened_factor import (
    WhitenedFactor,
    empty_factor,
    refactor,
    response_energy,
)
from ...linalg.whitened_response import pack_state
from ..moves.active_set import move_active_set
from ..moves.blocks import move_blocks
from ..moves.function_scale import move_function_scale
from ..moves.kept_draw import store_function
from ..moves.kernel_amplitudes import move_amplitudes
from ..moves.length_scale import FIXED, adapt_step, move_length_scale
from ..moves.scales import DIRECTIONS, adapt_width, slice_scales
from ..moves.stand_in import learn_sites, move_through_stand_in

REFRESH_EVERY = 50  # sweeps between full rebuilds: bounds rounding drift, and a chain can be
# continued from its small state at these sweeps with exactly the draws it would have given
WIDTH, JOINT, AMPLITUDE, BLOCK = 3, 4, 5, 6  # rows of the tallies, after births, deaths and swaps
FUNCTION_SCALE_EVERY = 2  # sweeps; as many effective samples as every sweep, at half the cost
# sweeps between joint moves, which are half of the work: where chains are slow they give up to
# five times the effective samples a second of one in six, where they are fast nine tenths
JOINT_EVERY = 3


class ChainState(NamedTuple):
    """All that a chain needs to go on; everything else is rebuilt from it."""

    sweep: np.ndarray  # int64[1], sweeps done
    n_active: np.ndarray  # int64[1], active vectors
    rows: np.ndarray  # int64[m], which
    response: np.ndarray  # float64[C, n], working response
    precision: np.ndarray  # float64[n], working precision
    noise: np.ndarray  # float64[5], see the whitened factor
    parameters: np.ndarray  # float64[r], the likelihood's own
    variances: np.ndarray  # float64[1 + L], 1/eta and 1/g (several kernels: squared amplitudes)
    length_scale: np.ndarray  # float64[L, p]
    slice_width: np.ndarray  # float64[4], one per direction of the scale moves, the function last
    log_step: np.ndarray  # float64[1], length-scale walk
    sites: np.ndarray  # float64[2, n], response and precision of the stand-in likelihood
    site_sums: np.ndarray  # float64[3, n], what the next sites are made of
    site_counts: np.ndarray  # int64[2], draws in the sums and updates made
    tallies: np.ndarray  # int64[7, 2], attempts and acceptances after tuning
    function: np.ndarray  # float64[1 + m L + n], see corrected moves (nothing where none is held)


class Draws(NamedTuple):
    """Kept draws of one chain, active vectors stored sparsely, and the trace of the size."""

    n_active: np.ndarray  # int32[T]
    rows: np.ndarray  # int32[T, m]
    coefficients: np.ndarray  # float64[T, C, m L], the kernels taking turns
    intercept: np.ndarray  # float64[T, C]
    variances: np.ndarray  # float64[T, 1 + L], as in the state
    length_scale: np.ndarray  # float64[T, L, p] (p = 0 unless learned)
    noise_variance: np.ndarray  # float64[T], sigma^2
    parameters: np.ndarray  # float64[T, r], the likelihood's own
    log_likelihood: np.ndarray  # float64[T]
    monitored: np.ndarray  # float64[T, q], expected response at the monitored rows
    means: np.ndarray  # float64[T, C, m L + 1], coefficient means (nothing unless integrated out)
    packed: np.ndarray  # float64[T, ..], see pack_state (nothing unless integrated out)
    size_trace: np.ndarray  # int32[sweeps], active vectors after every sweep, tuning included


class Workspace(NamedTuple):
    """Memory of one running chain that can be rebuilt from its state."""

    data: Any  # training responses as the likelihood's compiled functions want them
    factor: WhitenedFactor
    spare: WhitenedFactor
    stand_in: WhitenedFactor
    memory: WorkingMemory
    root: np.ndarray
    projected: np.ndarray
    functions: np.ndarray  # float64[C, n], latent functions of a stored draw
    proposal: np.ndarray
    unused: np.ndarray


class Settings(NamedTuple):
    """What stays the same over all chains of a fit."""

    log_weights: np.ndarray  # float64[max_active + 1]
    candidates: np.ndarray  # int64[c], rows that may become active
    box: np.ndarray  # float64[L, p, 2]
    monitored_rows: np.ndarray  # int64[q]
    moves: int
    blocks: int
    scans: int
    directions: np.ndarray  # int64[d], scale slices to make, by their row in DIRECTIONS
    function_moves: bool
    joint_moves: int
    width_mode: int


def open_workspace(state: ChainState, settings: Settings, data: Any, ones: Any = 1.0) -> Workspace:
    """Allocate the memory of a running chain around its state (arrays are shared)."""
    latents, n = state.response.shape
    largest = len(state.rows) - 1
    kernels = len(state.variances) - 1

    def make(**shared: np.ndarray) -> WhitenedFactor:
        factor = empty_factor(n, largest, latents, kernels)._replace(**shared)
        factor.ones[:] = ones
        return factor

    shared = {
        "n_active": state.n_active,
        "rows": state.rows,
        "response": state.response,
        "precision": state.precision,
        "variances": state.variances,
    }
    factor = make(**shared, noise=state.noise)
    spare = stand_in = factor
    if settings.width_mode != FIXED:
        spare = make(**shared, noise=state.noise.copy())
    if settings.joint_moves > 0:
        stand_in = make(response=state.sites[:1], precision=state.sites[1])
    columns = len(factor.prior_root)
    return Workspace(
        data=data,
        factor=factor,
        spare=spare,
        stand_in=stand_in,
        memory=WorkingMemory(
            hat=np.empty((columns + 1) * n),
            free=np.empty(n),
            coefficients=np.empty(columns),
            fitted=np.empty(n),
        ),
        root=np.empty_like(factor.root),
        projected=np.empty_like(factor.projected),
        functions=np.empty((latents, n)),
        proposal=np.empty(n),
        unused=np.zeros((3, 2), np.int64),
    )


@jit_inlined
def sweep_once(rng, state, work, basis, prior, settings, drawn, tuning):
    """Carry out one sweep, all but the coefficients."""
    factor = work.factor
    sweep = state.sweep[0]
    if settings.moves > 0:
        move_active_set(
            rng, factor, basis, state.length_scale, settings.log_weights, settings.candidates,
            settings.moves, drawn, state.tallies,
        )  # fmt: skip
        move_blocks(
            rng, factor, basis, state.length_scale, settings.log_weights, settings.candidates,
            settings.blocks, state.tallies[BLOCK],
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
    if state.variances.shape[0] > 2:
        rate = move_amplitudes(
            rng, factor, prior, state.slice_width[0], work.root, work.projected,
            state.tallies[AMPLITUDE], True,
        )  # fmt: skip
        if tuning and rate >= 0.0:
            state.slice_width[0] *= math.exp((sweep + 1.0) ** -0.6 * (rate - 0.44))
    for d in settings.directions:
        step = slice_scales(
            rng, factor, prior, DIRECTIONS[d], state.slice_width[d], work.root, work.projected
        )
        if tuning:
            state.slice_width[d] = adapt_width(state.slice_width[d], step, sweep)
    refactor(factor)
    memory = work.memory
    update_working(work.data, rng, factor, basis.diagonal, settings.scans, memory)
    if settings.function_moves and sweep % FUNCTION_SCALE_EVERY == 0:
        step = move_function_scale(
            rng, factor, prior, work.data, state.slice_width[3], memory.coefficients, memory.fitted
        )
        if tuning:
            state.slice_width[3] = adapt_width(state.slice_width[3], step, sweep)
    if settings.joint_moves > 0 and sweep % JOINT_EVERY == 0 and state.site_counts[1] > 0:
        taken = move_through_stand_in(
            rng, factor, work.stand_in, basis, state.length_scale, prior, settings.log_weights,
            settings.candidates, settings.joint_moves, 3 * settings.blocks, work.data, state.sites,
            state.slice_width, work.root, work.projected, memory.coefficients, memory.fitted,
            work.proposal, work.unused,
        )  # fmt: skip
        state.tallies[JOINT, 0] += 1
        state.tallies[JOINT, 1] += 1 if taken else 0


@jit
def store_draw(rng, state, work, settings, draws, at):
    """Write everything down as kept draw ``at``."""
    store_function(rng, state, work, settings, draws, at)
    if draws.packed.shape[1] > 0:
        pack_state(work.factor, draws.means[at], draws.packed[at])
    for kernel in range(draws.length_scale.shape[1]):
        copy_vector(state.length_scale[kernel], draws.length_scale[at, kernel])


@jit
def run_sweeps(rng, state, work, basis, prior, settings, draws, drawn, stop, tune, thin, fresh):
    """Run until ``stop`` sweeps are done; ``fresh`` says that the workspace is not yet filled.

    ``drawn`` holds newcomers drawn beforehand, a row for each sweep, or nothing.

    Returns the smallest pivot seen when the kernel matrix was factored anew, before clamping, or
    NaN if the working response is no longer finite.
    """
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
        sweep_once(rng, state, work, basis, prior, settings, chosen, sweep < tune)
        if settings.joint_moves > 0 and sweep < tune:
            learn_sites(
                rng, work.factor, work.data, state.sites, state.site_sums, state.site_counts,
                sweep, tune, work.memory.coefficients, work.memory.fitted,
            )  # fmt: skip
        draws.size_trace[sweep] = state.n_active[0]
        kept = sweep - tune + 1
        if kept > 0 and kept % thin == 0:
            store_draw(rng, state, work, settings, draws, kept // thin - 1)
        state.sweep[0] = sweep + 1
        if not math.isfinite(response_energy(work.factor)):
            return math.nan
    return smallest
